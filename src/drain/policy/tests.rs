use super::*;
use crate::config::Sources;
use crate::observer::Reply;

const NOW: Timestamp = Timestamp(1_000_000);

fn history(size: usize, attempts: i64) -> History {
    History { size, attempts, failed: attempts, others_pass: false }
}

fn rule(verdict: &Verdict, history: History, failures: u32) -> Consequence {
    consequence(verdict, failure_class(verdict).unwrap(), history, failures, NOW)
}

fn wait(verdict: &Verdict, failures: u32) -> i64 {
    rule(verdict, history(3, 0), failures).stop.unwrap().unwrap().since_ms(NOW)
}

fn text() -> String {
    String::from("why")
}

fn transient() -> Verdict {
    Verdict::Transient { message: text() }
}

fn auth() -> Verdict {
    Verdict::Auth { message: text() }
}

fn quota(reset: Option<Timestamp>) -> Verdict {
    Verdict::Quota { reset, message: text() }
}

fn limited(seconds: Option<u64>) -> Verdict {
    Verdict::RateLimited { retry_after: seconds.map(Duration::from_secs) }
}

fn malformed() -> Verdict {
    Verdict::Malformed { reason: String::from("prose") }
}

#[test]
fn only_the_two_good_classes_confirm() {
    assert!(failure_class(&Verdict::Nothing).is_none());
    assert!(failure_class(&Verdict::Stored(Reply::default())).is_none());
}

#[test]
fn a_wait_that_is_asked_for_is_obeyed_to_the_millisecond() {
    assert_eq!(wait(&limited(Some(2)), 1), 2_000);
    assert_eq!(wait(&limited(Some(3_600)), 9), 3_600_000);
    assert_eq!(wait(&quota(Some(NOW.plus_ms(77_000))), 1), 77_000);
    assert!(!rule(&limited(Some(2)), history(3, 0), 1).rows.parked);
}

#[test]
fn no_pause_is_without_a_wait_and_each_in_a_row_is_longer() {
    let past = Some(NOW.plus_ms(-5_000));
    for verdict in [limited(Some(0)), quota(past), quota(Some(NOW))] {
        for (failures, least) in [(1, 1_000), (2, 2_000), (3, 4_000), (5, 16_000), (40, 300_000)] {
            let wait = wait(&verdict, failures);
            assert!((least..=least + least / 4).contains(&wait), "{verdict:?} {failures}: {wait}");
        }
    }
    // Also where the provider always asks for the same short wait.
    assert!(wait(&limited(Some(1)), 6) >= 32_000);
}

#[test]
fn transient_failures_back_off_and_stop_at_five_minutes() {
    for (failures, least) in [(1, 2_000), (3, 8_000), (30, 300_000)] {
        assert!((least..=least + least / 4).contains(&wait(&transient(), failures)), "{failures}");
    }
}

#[test]
fn refused_credentials_wait_for_the_user() {
    let rule = rule(&auth(), history(3, 0), 1);
    assert_eq!(rule.stop, Some(None));
    assert_eq!((rule.rows.parked, rule.rows.attempts), (false, 0));
}

#[test]
fn malformed_answers_halve_the_batch_and_park_a_single_event_in_the_third_pass() {
    let first = rule(&malformed(), history(25, 0), 1);
    assert_eq!((first.rows.batch_limit, first.rows.parked, first.stop), (Some(13), false, None));
    for (size, attempts, parked) in [(1, 1, false), (2, 5, false), (1, 2, true)] {
        assert_eq!(rule(&malformed(), history(size, attempts), 1).rows.parked, parked, "{size} {attempts}");
    }
}

#[test]
fn an_unrecoverable_batch_is_parked_and_the_others_wait() {
    let rule = rule(&Verdict::Unrecoverable { message: text() }, history(3, 0), 1);
    assert!(rule.rows.parked);
    assert_eq!(rule.stop, Some(None));
}

#[test]
fn an_outage_parks_nothing_however_long_it_lasts() {
    for verdict in [transient(), auth(), quota(None), limited(None)] {
        let mut batch = history(25, 0);
        let mut sizes = vec![batch.size];
        for failures in 1..=1_000 {
            let Consequence { rows, stop } = rule(&verdict, batch, failures);
            assert!(stop.is_some() && !rows.parked && rows.attempts == 0, "{verdict:?} after {failures}");
            batch.failed = rows.failed;
            if let Some(limit) = rows.batch_limit {
                batch.size = limit as usize;
                sizes.push(batch.size);
            }
        }
        // After 3, 6, 12, 24, 48 … failures.
        assert_eq!(sizes[..6], [25, 13, 7, 4, 2, 1], "{verdict:?}");
    }
}

#[test]
fn what_fails_while_others_pass_is_halved_alone_and_parked_by_itself() {
    for (verdict, most) in [(auth(), 3), (quota(None), 3), (transient(), 6)] {
        let mut batch = History { others_pass: true, ..history(4, 0) };
        let mut passes = Vec::new();
        loop {
            let Consequence { rows, stop } = rule(&verdict, batch, 1);
            assert_eq!(stop, None, "{verdict:?}: others go on");
            passes.push(batch.size);
            if rows.parked {
                assert_eq!(rows.reason, "why");
                break;
            }
            assert!(rows.due_at > NOW, "{verdict:?}: it waits");
            batch = History {
                size: rows.batch_limit.unwrap() as usize,
                attempts: rows.attempts,
                failed: rows.failed,
                others_pass: true,
            };
        }
        assert_eq!(passes.len(), most, "{verdict:?}: {passes:?}");
        assert_eq!(passes.last(), Some(&1), "only what fails alone is parked");
    }
}

#[test]
fn a_limit_on_requests_is_never_held_against_a_batch() {
    for failed in 0..100 {
        let batch = History { size: 1, attempts: 0, failed, others_pass: true };
        let Consequence { rows, stop } = rule(&limited(None), batch, 1);
        assert!(stop.is_some() && !rows.parked && rows.attempts == 0);
    }
}

#[test]
fn a_suspect_that_fails_with_nobody_in_between_waits_alone() {
    for verdict in [transient(), auth(), quota(None)] {
        for failed in [2, 9, 1_000] {
            let batch = History { size: 1, attempts: 5, failed, others_pass: false };
            let Consequence { rows, stop } = rule(&verdict, batch, 2);
            assert_eq!((stop, rows.parked, rows.attempts), (None, false, 5), "{verdict:?}");
            assert!(rows.due_at.since_ms(NOW) >= 8_000, "{verdict:?} {failed}");
        }
    }
}

#[test]
fn what_decides_whether_an_observer_can_be_reached_is_in_the_fingerprint() {
    let (base, _) = Settings::resolve_lenient(&Sources::default());
    let others = [
        Settings { claude_env: vec![String::from("ANTHROPIC_API_KEY")], ..base.clone() },
        Settings { prices: Vec::new(), ..base.clone() },
        Settings { daily_usd: 1.0, ..base.clone() },
        Settings { anthropic_api_key: String::from("key"), ..base.clone() },
    ];
    let mut prints: Vec<String> = others.iter().chain([&base]).map(fingerprint).collect();
    prints.sort_unstable();
    prints.dedup();
    assert_eq!(prints.len(), others.len() + 1);
}
