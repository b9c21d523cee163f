use super::policy::Class;
use super::*;
use crate::config::{Settings, Sources};

pub(super) fn told(r#type: &str, title: &str, subtitle: &str) -> Told {
    Told {
        id: 12,
        uid: String::from("0199-x"),
        r#type: r#type.to_owned(),
        title: title.to_owned(),
        subtitle: subtitle.to_owned(),
        project: String::from("app"),
        created_at: Timestamp(1_770_000_000_000),
    }
}

fn settings() -> Settings {
    Settings::resolve(&Sources::default()).unwrap()
}

fn telegram(token: &str, chat: &str) -> Settings {
    Settings { telegram_bot_token: token.to_owned(), telegram_chat_id: chat.to_owned(), ..settings() }
}

fn outlet(settings: &Settings) -> Result<Option<Outlet>, SetupError> {
    Outlet::from_settings(Destination::Telegram, settings)
}

#[test]
fn nothing_is_told_unless_it_is_set_up() {
    assert!(outlet(&settings()).unwrap().is_none());
    assert!(Outlet::from_settings(Destination::Webhook, &settings()).unwrap().is_none());
    assert!(outlet(&Settings { telegram_trigger_types: vec![], ..telegram("1:a", "2") }).unwrap().is_none());
    assert!(outlet(&Settings { telegram_enabled: false, ..telegram("1:a", "2") }).unwrap().is_none());
    assert_eq!(outlet(&telegram("1:a", "2")).unwrap().unwrap().types(), ["security_alert", "sensitive"]);
}

#[test]
fn half_a_set_up_and_a_wrong_one_are_named_without_their_values() {
    let half = |set, missing| Some(SetupError::Half { set, missing });
    let (token, chat) = ("CMEM_TELEGRAM_BOT_TOKEN", "CMEM_TELEGRAM_CHAT_ID");
    assert_eq!(outlet(&telegram("1:a", " ")).err(), half(token, chat));
    assert_eq!(outlet(&telegram("", "2")).err(), half(chat, token));
    assert_eq!(outlet(&telegram("SECRET/x", "2")).err(), Some(SetupError::BadToken));
    let base = Settings { telegram_base_url: String::from("api.telegram.org"), ..telegram("1:SECRET", "2") };
    let hook = Settings { webhook_url: String::from("hooks/SECRET"), ..settings() };
    let errors = [
        outlet(&base).unwrap_err(),
        outlet(&telegram("SECRET/x", "2")).unwrap_err(),
        Outlet::from_settings(Destination::Webhook, &hook).unwrap_err(),
    ];
    for error in errors {
        let told = format!("{error} {}", error.remedy());
        assert!(told.contains("CMEM_") && !told.contains("SECRET"), "{told}");
    }
}

#[test]
fn types_are_chosen_by_name() {
    let round = Round::new(&Settings {
        webhook_url: String::from("http://127.0.0.1:9/x"),
        webhook_trigger_types: vec![String::from("Decision"), String::from("sensitive")],
        ..telegram("1:a", "2")
    });
    let wanting = |r#type: &str| round.wanting(r#type).collect::<Vec<_>>();
    assert_eq!(wanting("security_alert"), ["telegram"]);
    assert_eq!(wanting("decision"), ["webhook"]);
    assert_eq!(wanting("sensitive"), ["telegram", "webhook"]);
    assert_eq!(wanting("discovery"), Vec::<&str>::new());
}

#[test]
fn what_came_back_as_far_as_a_status_counts() {
    use crate::http::HttpError;

    let outlet = outlet(&telegram("1:a", "2")).unwrap().unwrap();
    let class = |error| outlet.judge(Err(error)).0;
    let broken = |status| HttpError::Failed { status, reason: String::from("Peer disconnected") };
    assert_eq!(class(broken(None)), Class::Transient);
    assert_eq!(class(broken(Some(200))), Class::Sent, "a second one would be a double");
    assert_eq!(class(broken(Some(503))), Class::Transient);
    assert_eq!(class(HttpError::TooLarge { most: 1, status: 200 }), Class::Sent);
    assert_eq!(class(HttpError::NoAnswer), Class::Unknown);
}

#[test]
fn texts_become_one_line() {
    assert_eq!(one_line(" a\n\tb\u{7}c  d "), "a b c d");
}
