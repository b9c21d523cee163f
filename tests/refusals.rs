//! A provider that refuses what it is shown, not who asks: the event that it is about is found, and nothing else waits.

use crate::common::{Mode, ModelServer, World};

const MODERATED: &str = r#"{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged",
    "metadata":{"reasons":["violence"],"flagged_input":"POISON"}}}"#;
const FILTERED: &str = r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
    "code":"content_filter","status":400}}"#;
const TOO_LARGE: &str = r#"{"error":{"message":"Request too large for m1 on tokens per min (TPM): Limit 10000, Requested 24500.",
    "type":"tokens","code":"rate_limit_exceeded"}}"#;

#[test]
fn only_the_event_that_is_refused_is_parked() {
    for (status, body) in [(403, MODERATED), (400, FILTERED), (429, TOO_LARGE)] {
        let model = ModelServer::start();
        let mut world = World::new();
        world.set("CMEM_PROVIDER", "openai");
        world.set("CMEM_OPENAI_BASE_URL", &model.url());
        world.set("CMEM_MODEL", "m1");
        model.mode(Mode::Refuse("POISON", status, body));
        for text in ["good one", "POISON", "good two", "good three"] {
            world.note(text);
        }
        for _ in 0..12 {
            let _ = world.cmem(&["drain", "--wait"]);
        }
        assert_eq!(world.search("good").len(), 3, "{status}");
        let ledger = world.ledger();
        assert_eq!((ledger.parked, ledger.waiting, ledger.balance()), (1, 0, 0), "{status}: {ledger:?}");
        assert!(
            world.status()["paused_until"].is_null() && model.count() <= 24,
            "{status}: {}",
            model.count()
        );
        let told = world.cmem(&["queue", "list"]).ok();
        assert!(told.contains("parked") && !told.contains("POISON"), "{told}");
    }
}
