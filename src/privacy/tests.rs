use proptest::prelude::*;
use serde_json::json;

use super::*;

fn clean(text: &str) -> String {
    Cleaner::new(&[]).clean_text(text)
}

/// Texts are put together here so that no scanner takes this file for a leak.
fn token(prefix: &str, length: usize) -> String {
    let alphabet = b"a1B2c3D4e5F6g7H8i9J0";
    prefix.to_owned() + &(0..length).map(|i| alphabet[i % alphabet.len()] as char).collect::<String>()
}

#[test]
fn credentials_are_gone_and_their_surroundings_stay() {
    let bearer = token("", 44);
    let cases: Vec<(String, String, &str)> = vec![
        (format!("curl -H 'Authorization: Bearer {bearer}' http://h/x"), bearer.clone(), "http://h/x"),
        (format!("Authorization: Token tok-cred-{bearer}"), bearer.clone(), "Authorization"),
        (format!("{{\"Authorization\": \"Bearer {bearer}\", \"a\": 1}}"), bearer.clone(), "\"a\": 1"),
        (format!("bearer {bearer} ok"), bearer, "ok"),
        (String::from("Cookie: sessionid=abcdef; theme=dark\nnext"), String::from("abcdef"), "next"),
        (String::from("export API_KEY=abc123secretvalue"), String::from("abc123secretvalue"), "API_KEY="),
        (String::from("password: hunter2secret"), String::from("hunter2secret"), "password"),
        (String::from("run --password=ab1 --verbose"), String::from("ab1"), "--verbose"),
        (String::from("password: my secret pass\nnext line"), String::from("my secret pass"), "next line"),
        (String::from("password: 'abc def 9!'"), String::from("abc def"), "password"),
        (String::from("https://h/x?token=abc12&user=bob"), String::from("abc12"), "&user=bob"),
        (
            String::from("postgresql://admin:longpassword@db.internal/app"),
            String::from("longpassword"),
            "@db.internal/app",
        ),
        (String::from("redis://user2:s3cr3tpw@cache:6379/0"), String::from("s3cr3tpw"), "cache:6379"),
        (String::from("mysql://u:pa/ss@host/db"), String::from("pa/ss"), "host/db"),
        (String::from("mysql://u:pa@ss@host/db"), String::from("pa@ss"), "host/db"),
        (String::from(r#"{"deep": "{\"api_key\": \"q9z8y7\"}"}"#), String::from("q9z8y7"), "api_key"),
        (String::from("aws_secret_access_key = q9z8/y7+x"), String::from("q9z8"), "aws_secret"),
        (String::from("machine h login u password n3tr"), String::from("n3tr"), "machine h"),
        (String::from("curl -u bob:pw77 http://h"), String::from("pw77"), "http://h"),
        (token("x gh", 0) + &token("p_", 36), token("p_", 36), "x"),
        (token("sk-ant-api03-", 60), token("", 60), "redacted"),
        (token("sk-proj-", 48), token("", 48), "redacted"),
        (format!("AK{}", "IAABCDEFGHIJKLMNOP"), String::from("ABCDEFGHIJKLMNOP"), "redacted"),
        (token("xoxb-12345-", 24), token("", 24), "redacted"),
        (token("glpat-", 20), token("", 20), "redacted"),
        (token("npm_", 36), token("", 36), "redacted"),
        (token("hf_", 34), token("", 34), "redacted"),
        (format!("AI{}", token("za", 35)), token("", 35), "redacted"),
        (token("sk_live_", 24), token("", 24), "redacted"),
        (
            format!(
                "-----BEGIN OPENSSH PRIVATE{}-----\n{}\n-----END OPENSSH PRIVATE KEY-----\nafter",
                " KEY",
                token("", 64)
            ),
            token("", 64),
            "after",
        ),
        (format!("{}\n-----END RSA PRIVATE{}-----\nafter", token("", 64), " KEY"), token("", 64), "after"),
    ];
    for (text, secret, stays) in cases {
        let cleaned = clean(&text);
        assert!(!cleaned.contains(&secret), "{secret} in {cleaned}");
        assert!(cleaned.contains(stays), "{stays} not in {cleaned}");
        assert!(cleaned.contains("[redacted:"), "{cleaned}");
        assert_eq!(clean(&cleaned), cleaned, "cleaning twice");
    }
}

#[test]
fn several_assignments_in_a_line_are_all_seen() {
    let cleaned = clean(
        "API_KEY=k1k2k3 ; password: 'abc def 9!' ; token=t4t5 ; https://h/?token=q6q7&user=bob password: \"cut 8",
    );
    for secret in ["k1k2k3", "abc def", "t4t5", "q6q7", "cut 8"] {
        assert!(!cleaned.contains(secret), "{secret} in {cleaned}");
    }
    assert!(cleaned.contains("&user=bob"), "{cleaned}");
}

#[test]
fn code_prose_and_ids_stay_readable() {
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "max_tokens: 200000",
        "ssh://git@github.com/x/y and git@github.com:x/y.git",
        "http://localhost:4873/@scope/pkg",
        "https://openrouter.ai/keys/2101b95e",
        "let token = next_token();",
        "fn login(password: String, token: &str) -> Result<(), Error>",
        "password: str = None",
        "login(token=access_token, password=self.password)",
        "API_KEY=$OTHER_KEY and TOKEN=${TOKEN}",
        "token: 5",
        "Fix the token: refresh it before it expires",
        "password: ********",
        "tokens: 5, token_count = 7",
        "see the basic authentication-mechanism of the server",
        "scikit: sk-learn-based-model-implementation",
        "const secret: Option<String> = None;",
        "the secret is out",
        "process.env.API_KEY",
        "api_key: process.env.API_KEY,",
    ] {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn every_assignment_of_a_line_is_seen() {
    for (text, left) in [
        (
            "TOKEN=abc123 ; password: 'two words' ; done",
            "TOKEN=[redacted:token] ; password: '[redacted:password]' ; done",
        ),
        (
            "sid=1; api_key=k3y&secret=s3cr3t&user=bob",
            "sid=1; api_key=[redacted:key]&secret=[redacted:secret]&user=bob",
        ),
        ("token: refresh it, password=hunter2x", "token: refresh it, password=[redacted:password]"),
    ] {
        assert_eq!(clean(text), left);
    }
}

#[test]
fn every_string_and_key_of_an_event_is_cleaned() {
    let (slack, anthropic) = (token("xoxb-12345-", 24), token("sk-ant-api03-", 60));
    let mut value = json!({
        "tool_input": {"command": format!("X={anthropic} run")},
        "tool_response": {"stdout": "a <private>hidden</private> b", slack.clone(): 1, "api_key": "plain"},
        "list": [[{"deep": format!("key {slack}")}]],
        "max_tokens": 5,
    });
    Cleaner::new(&[]).clean(&mut value);
    let text = value.to_string();
    for secret in [&slack, &anthropic, "hidden", "plain"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    assert_eq!(value["max_tokens"], 5);
    let once = value.clone();
    Cleaner::new(&[]).clean(&mut value);
    assert_eq!(value, once);
}

#[test]
fn pictures_become_notes() {
    let mut value = json!([
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}},
        {"file": {"base64": "iVBORw0KGgoAAAANSUhEUg==", "type": "image/png", "originalSize": 70}},
        format!("see data:image/gif;base64,{} here", "R0lG".repeat(30)),
        "iVBORw0K".repeat(500),
    ]);
    Cleaner::new(&[]).clean(&mut value);
    let text = value.to_string();
    assert!(!text.contains("iVBOR") && !text.contains("R0lG"), "{text}");
    assert_eq!(text.matches("bytes left out").count(), 4, "{text}");
    assert!(text.contains("image/png") && text.contains("image/gif"));
}

#[test]
fn an_event_is_bounded_whatever_comes_in() {
    let mut deep = json!("bottom");
    for _ in 0..300 {
        deep = json!({ "a": deep });
    }
    let mut value = json!({
        "stdout": "x ".repeat(10_000_000),
        "many": (0..5_000).map(|i| format!("{i} {}", "y ".repeat(200))).collect::<Vec<_>>(),
        "deep": deep,
    });
    Cleaner::new(&[]).clean(&mut value);
    assert!(value.to_string().len() < 400 * 1024, "{}", value.to_string().len());
}

#[test]
fn a_secret_across_a_cut_leaves_no_half() {
    let secret = token("p_", 36);
    let text = format!("{} gh{secret} {}", "A".repeat(120_000), "B".repeat(120_000));
    assert!(!clean(&text).contains(&secret[..20]));
    for before in 9_470..9_510 {
        let text = format!("{}gh{secret} {}", "a ".repeat(before / 2), "b ".repeat(20_000));
        assert!(!clean(&text).contains(&secret[..12]), "{before}");
    }
}

#[test]
fn the_users_own_patterns_apply() {
    let cleaner = Cleaner::new(&[String::from("ACME-[0-9]+")]);
    assert_eq!(cleaner.clean_text("case ACME-123 done"), "case [redacted:custom] done");
}

#[test]
fn every_rule_compiles_and_has_lower_case_triggers() {
    for rule in super::rules::RULES {
        if let Err(error) = regex::Regex::new(rule.pattern) {
            panic!("{error}");
        }
        assert!(rule.triggers.iter().all(|t| *t == t.to_ascii_lowercase() && t.len() > 2));
    }
}

proptest! {
    #[test]
    fn cleaning_is_final(text in "(password[:=] ?|token=|Authorization: |https?://|[ -~]{0,12}|<private>|</private>|\n|é|'|\"|@|:){0,12}") {
        let once = clean(&text);
        prop_assert_eq!(clean(&once), once);
    }
}
