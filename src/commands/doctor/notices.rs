//! Checks of what is told to others: how each destination is set up, and its outbox.

use super::Check;
use crate::config::{Paths, Settings};
use crate::notices::{Destination, Outlet, SetupError, recent};
use crate::store::{NoticeCount, Store};

const TIME: &str = "%Y-%m-%d %H:%M";

pub(super) fn check(settings: &Settings, paths: &Paths) -> Vec<Check> {
    // A memory that cannot be read is told by its own check.
    let outbox = Store::open_read_only(paths).and_then(|store| store.notices(recent()));
    let outbox = outbox.unwrap_or_default();
    let checks: Vec<Check> = Destination::ALL
        .into_iter()
        .filter_map(|destination| {
            let count = outbox.iter().find(|count| count.destination == destination.name());
            let outlet = Outlet::from_settings(destination, settings);
            let types = outlet.map(|outlet| outlet.map(|outlet| outlet.types().join(", ")));
            judge(destination.name(), types, count)
        })
        .collect();
    if checks.is_empty() { vec![Check::ok("notices", "none are set up")] } else { checks }
}

/// `None` when the destination is not set up and has nothing to tell.
fn judge(
    name: &'static str,
    types: Result<Option<String>, SetupError>,
    count: Option<&NoticeCount>,
) -> Option<Check> {
    let empty = NoticeCount::default();
    let count = count.unwrap_or(&empty);
    let types = match types {
        Ok(types) => types,
        Err(error) => return Some(Check::warn(name, error.to_string(), error.remedy())),
    };
    let mut told = Vec::new();
    if let (1.., Some(oldest)) = (count.pending, count.oldest_at) {
        told.push(format!("{} waiting, the oldest since {}", count.pending, oldest.local(TIME)));
    }
    // What was given up before the last delivery is history.
    let overcome = count.given_up_at <= count.sent_at;
    if count.given_up > 0 {
        let since = if overcome { ", later ones were delivered" } else { "" };
        let count = count.given_up;
        told.push(format!("{count} given up in the last seven days, the memories kept{since}"));
    }
    match (&types, &count.failure) {
        (Some(types), _) if told.is_empty() => {
            let last = count.sent_at.map_or_else(|| String::from("never"), |at| at.local(TIME));
            Some(Check::ok(name, format!("told of {types}; last: {last}")))
        }
        (None, _) if told.is_empty() => None,
        (_, Some((reason, remedy))) => {
            let message = format!("{}; last reason: {reason}", told.join("; "));
            if count.pending == 0 && overcome {
                return Some(Check::ok(name, message));
            }
            Some(Check::warn(name, message, remedy.clone()))
        }
        (Some(_), None) => Some(Check::ok(name, told.join("; "))),
        (None, None) => Some(Check::warn(
            name,
            format!("{}; it is not set up any more, or switched off", told.join("; ")),
            "set it up again within a day, or leave it",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;
    use crate::model::Timestamp;

    fn count(pending: i64, given_up: i64, sent_at: Option<i64>, reason: Option<&str>) -> NoticeCount {
        NoticeCount {
            destination: String::from("telegram"),
            pending,
            oldest_at: (pending > 0).then_some(Timestamp(5)),
            given_up,
            given_up_at: (given_up > 0).then_some(Timestamp(10)),
            sent_at: sent_at.map(Timestamp),
            failure: reason.map(|reason| (reason.to_owned(), String::from("check it"))),
        }
    }

    fn judged(types: Option<&str>, count: &NoticeCount) -> Option<(State, String, String)> {
        judge("telegram", Ok(types.map(str::to_owned)), Some(count))
            .map(|check| (check.state, check.message, check.remedy))
    }

    #[test]
    fn what_waits_or_was_given_up_is_told_with_its_reason() {
        let set_up = Some("sensitive");
        let (state, message, _) = judged(set_up, &count(0, 0, None, None)).unwrap();
        assert!(state == State::Ok && message == "told of sensitive; last: never", "{message}");
        assert_eq!(judged(set_up, &count(2, 0, None, None)).unwrap().0, State::Ok, "not tried yet");
        for count in [count(2, 0, None, Some("HTTP 500")), count(0, 1, Some(9), Some("HTTP 500"))] {
            let (state, message, remedy) = judged(set_up, &count).unwrap();
            assert!(state == State::Warn && message.contains("HTTP 500"), "{message}");
            assert_eq!(remedy, "check it");
        }
        let (state, message, _) = judged(set_up, &count(0, 1, Some(11), Some("HTTP 400"))).unwrap();
        assert!(state == State::Ok && message.contains("later ones were delivered"), "{message}");
    }

    #[test]
    fn what_is_not_set_up_is_told_only_if_something_waits_for_it() {
        assert_eq!(judged(None, &count(0, 0, Some(1), None)), None);
        let (state, message, _) = judged(None, &count(1, 0, None, None)).unwrap();
        assert!(state == State::Warn && message.contains("not set up any more"), "{message}");
    }
}
