//! Retrieval over a real database file.

use super::unused as unused_since;
use super::*;
use crate::config::Paths;
use crate::index;
use crate::model::{Draft, Identity, Platform, Priority, Source, SummaryDraft};
use crate::store::{NewObservation, NewPrompt, NewSummary, Standing, Store, Trace};

struct Fixture {
    store: Store,
    _dir: tempfile::TempDir,
}

fn place(key: &str, worktree: Option<&str>) -> Identity {
    Identity {
        key: format!("{key}/.git"),
        name: key.rsplit('/').next().unwrap().to_owned(),
        root: worktree.unwrap_or(key).to_owned(),
        worktree: worktree.map(str::to_owned),
        branch: None,
        head: None,
        main_head: None,
        remote: None,
    }
}

impl Fixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(dir.path())).unwrap()).unwrap();
        Self { store, _dir: dir }
    }

    fn put(&self, identity: &Identity, at: i64, draft: Draft) -> i64 {
        let tx = self.store.begin().unwrap();
        let place = tx.place(identity, &Trace::default()).unwrap();
        let new = NewObservation {
            place,
            session: "s",
            prompt_number: Some(1),
            draft: &draft,
            agent: None,
            model: "test",
            tokens_spent: 0,
            created_at: Timestamp(at),
            standing: Standing::OBSERVED,
        };
        let stored = index::record_observation(&tx, &new).unwrap();
        tx.commit().unwrap();
        stored.id
    }

    fn note(&self, at: i64, title: &str) -> i64 {
        self.put(&place("/x/app", None), at, titled(title))
    }

    fn scope(&self, identity: &Identity) -> Scope {
        scope(&self.store, identity).unwrap()
    }

    fn titles(&self, query: &str, filter: &Filter) -> Vec<String> {
        let found = search(&self.store, query, filter, 20, 0).unwrap();
        assert_eq!(found.total, found.hits.len(), "{query}");
        found.hits.into_iter().map(|hit| hit.title).collect()
    }

    fn find(&self, query: &str) -> Vec<String> {
        self.titles(query, &Filter::all(Scope::All))
    }
}

fn titled(title: &str) -> Draft {
    Draft { r#type: String::from("discovery"), title: title.to_owned(), ..Draft::default() }
}

/// An observation of this title, as it is read.
pub(super) fn observed(title: &str) -> Observation {
    Observation {
        id: 1,
        uid: String::new(),
        project: String::from("app"),
        merged_into: None,
        r#type: String::from("discovery"),
        title: title.to_owned(),
        subtitle: String::new(),
        narrative: String::new(),
        facts: Vec::new(),
        concepts: Vec::new(),
        keywords: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        priority: Priority::Normal,
        pinned: false,
        status: Status::Active,
        superseded_by: None,
        contests: Vec::new(),
        expires_at: None,
        hit_count: 0,
        last_hit_at: None,
        source: Source::Observer,
        session: String::from("s"),
        platform: None,
        prompt_number: None,
        agent: None,
        model: String::from("test"),
        tokens_spent: 0,
        created_at: Timestamp(1),
        updated_at: Timestamp(1),
    }
}

#[test]
fn all_terms_beat_some_and_nothing_related_is_nothing() {
    let f = Fixture::new();
    f.note(1, "login uses a cookie");
    f.note(2, "login session expiry");
    f.note(3, "unrelated");
    assert_eq!(f.find("login cookie")[0], "login uses a cookie");
    assert_eq!(f.find("login cookie").len(), 2);
    assert!(f.find("zebra").is_empty());
    assert!(f.find("zebra crossing at noon").is_empty());
}

#[test]
fn an_empty_query_is_newest_first_and_signs_are_nothing() {
    let f = Fixture::new();
    f.note(1, "old");
    f.note(2, "new");
    for query in ["", " ", "*"] {
        assert_eq!(f.find(query), ["new", "old"], "{query:?}");
    }
    for query in ["'", "\"\"", "(", "^", "%"] {
        assert!(f.find(query).is_empty(), "{query}");
    }
}

#[test]
fn the_query_as_typed_comes_first() {
    let f = Fixture::new();
    f.note(1, "retry count retry count retry count max");
    f.note(2, "raise max_retry_count to five");
    assert_eq!(f.find("max_retry_count")[0], "raise max_retry_count to five");
}

#[test]
fn a_rare_word_in_an_old_row_does_not_go_under_among_common_ones() {
    let f = Fixture::new();
    f.note(1, "cache eviction by zibafo");
    for at in 2..80 {
        f.note(at, &format!("cache eviction number {at}"));
    }
    let first = |query| {
        let found = search(&f.store, query, &Filter::all(Scope::All), 10, 0).unwrap();
        found.hits[0].title.clone()
    };
    assert_eq!(first("cache zibafo"), "cache eviction by zibafo");
    assert_eq!(first("cache zibafo missingword"), "cache eviction by zibafo");
    // The count stops at "many".
    let found = search(&f.store, "cache", &Filter::all(Scope::All), 10, 0).unwrap();
    assert!(found.total >= 50 && found.hits.len() == 10);
}

#[test]
fn filters_hold_with_and_without_a_query_text() {
    let f = Fixture::new();
    let app = place("/x/app", None);
    let draft = Draft {
        concepts: vec![String::from("gotcha")],
        files_modified: vec![String::from("src/a_b.rs")],
        ..titled("apple pipeline")
    };
    f.put(&app, 100, draft);
    f.put(&app, 200, Draft { r#type: String::from("bugfix"), ..titled("apple orchard") });
    f.put(&place("/y/app", None), 150, titled("apple tart"));
    let all = Filter::all(Scope::All);
    for query in ["apple", ""] {
        let got = |filter: Filter| f.titles(query, &filter);
        assert_eq!(got(Filter { types: vec![String::from("BugFix")], ..all.clone() }), ["apple orchard"]);
        assert_eq!(got(Filter { concepts: vec![String::from("gotcha")], ..all.clone() }), ["apple pipeline"]);
        assert_eq!(got(Filter { files: vec![String::from("a_b")], ..all.clone() }), ["apple pipeline"]);
        assert!(got(Filter { files: vec![String::from("aXb")], ..all.clone() }).is_empty());
        assert_eq!(got(Filter { since: Some(Timestamp(200)), ..all.clone() }), ["apple orchard"]);
        assert_eq!(got(Filter { until: Some(Timestamp(101)), ..all.clone() }), ["apple pipeline"]);
        assert_eq!(got(Filter::all(f.scope(&place("/y/app", None)))), ["apple tart"]);
        assert!(got(Filter { types: vec![String::from("invented")], ..all.clone() }).is_empty());
        assert!(got(Filter { session: Some(String::from("other")), ..all.clone() }).is_empty());
        assert!(got(Filter::all(f.scope(&place("/never/seen", None)))).is_empty());
    }
}

#[test]
fn a_worktree_sees_its_parent_and_no_sibling() {
    let f = Fixture::new();
    let (one, two) = (place("/x/app", Some("/x/one")), place("/x/app", Some("/x/two")));
    f.put(&place("/x/app", None), 1, titled("root fact"));
    f.put(&one, 2, titled("one fact"));
    f.put(&two, 3, titled("two fact"));
    let seen = |identity: &Identity| f.titles("fact", &Filter::all(f.scope(identity)));
    assert_eq!(seen(&place("/x/app", None)), ["root fact"]);
    let mut from_one = seen(&one);
    from_one.sort();
    assert_eq!(from_one, ["one fact", "root fact"]);
}

#[test]
fn a_parent_sees_what_was_merged_into_it_everywhere() {
    let f = Fixture::new();
    let main = place("/x/app", None);
    let id = f.put(&place("/x/app", Some("/x/wt")), 2, titled("jwt choice"));
    assert!(f.titles("jwt", &Filter::all(f.scope(&main))).is_empty());
    f.store
        .conn()
        .execute("UPDATE observations SET merged_into = (SELECT id FROM projects WHERE worktree = '')", [])
        .unwrap();
    let scope = f.scope(&main);
    assert_eq!(f.titles("jwt", &Filter::all(scope.clone())), ["jwt choice"]);
    assert_eq!(f.titles("", &Filter::all(scope.clone())), ["jwt choice"]);
    assert_eq!(context(&f.store, &scope, "app", &Branch::default(), 9, &[]).unwrap().observations.len(), 1);
    let (records, _) = get(&f.store, &[RecordId::Observation(id)]).unwrap();
    let Record::Observation(record) = &records[0] else { panic!() };
    assert_eq!((record.project.as_str(), record.merged_into.as_deref()), ("app/wt", Some("app")));
}

#[test]
fn prompts_and_summaries_are_found_too() {
    let f = Fixture::new();
    f.note(1, "anchor");
    let tx = f.store.begin().unwrap();
    let app = tx.place(&place("/x/app", None), &Trace::default()).unwrap();
    let text = "why is the gateway slow?";
    index::record_prompt(
        &tx,
        &NewPrompt { place: app, session: "s", number: 1, text, created_at: Timestamp(5) },
    )
    .unwrap();
    let summary = SummaryDraft { learned: String::from("the gateway retries"), ..SummaryDraft::default() };
    let new = NewSummary {
        place: app,
        session: "s",
        prompt_number: None,
        text: &summary,
        model: "m",
        created_at: Timestamp(6),
    };
    index::record_summary(&tx, &new).unwrap();
    tx.commit().unwrap();
    let ids: Vec<String> = search(&f.store, "gateway", &Filter::all(Scope::All), 9, 0)
        .unwrap()
        .hits
        .iter()
        .map(|hit| hit.id.to_string())
        .collect();
    assert_eq!(ids, ["S1", "P1"]);
    let only = Filter { kinds: vec![RecordKind::Prompt], ..Filter::all(Scope::All) };
    assert_eq!(f.titles("gateway", &only), [text]);
}

#[test]
fn pages_do_not_overlap() {
    let f = Fixture::new();
    for at in 0..7 {
        f.note(at, &format!("page number {at}"));
    }
    for query in ["page", ""] {
        let mut ids = Vec::new();
        for offset in [0, 3, 6] {
            let found = search(&f.store, query, &Filter::all(Scope::All), 3, offset).unwrap();
            assert_eq!(found.total, 7);
            ids.extend(found.hits.iter().map(|hit| hit.id));
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 7);
    }
}

#[test]
fn a_timeline_is_a_window_in_time_order() {
    let f = Fixture::new();
    let ids: Vec<i64> = (0..9).map(|at| f.note(at * 10, &format!("step {at}"))).collect();
    let all = Filter::all(Scope::All);
    let around = |anchor: Anchor| -> (RecordId, Vec<String>) {
        let timeline = timeline(&f.store, &anchor, 2, 1, &all).unwrap().unwrap();
        (timeline.anchor, timeline.items.into_iter().map(|hit| hit.title).collect())
    };
    let expected =
        (RecordId::Observation(ids[4]), ["step 2", "step 3", "step 4", "step 5"].map(str::to_owned).to_vec());
    assert_eq!(around(Anchor::Record(RecordId::Observation(ids[4]))), expected);
    assert_eq!(around(Anchor::Time(Timestamp(42))), expected);
    assert_eq!(around(Anchor::Query(String::from("step 4"))), expected);
    assert!(timeline(&f.store, &Anchor::Record(RecordId::Summary(99)), 1, 1, &all).unwrap().is_none());
}

#[test]
fn the_context_is_ranked_and_leaves_out_what_was_shown() {
    let f = Fixture::new();
    let ids: Vec<i64> = (0..6).map(|at| f.note(at, &format!("memory {at}"))).collect();
    let sql = |sql: &str, id: i64| f.store.conn().execute(sql, [id]).unwrap();
    sql("UPDATE observations SET pinned = 1 WHERE id = ?1", ids[0]);
    sql("UPDATE observations SET status = 'superseded' WHERE id = ?1", ids[5]);
    sql("UPDATE observations SET expires_at = 1 WHERE id = ?1", ids[4]);
    let plan = context(&f.store, &Scope::All, "app", &Branch::default(), 2, &[ids[3]]).unwrap();
    let got: Vec<i64> = plan.observations.iter().map(|row| row.id).collect();
    assert_eq!(got, [ids[0], ids[2]]);
    assert_eq!(plan.more, 1, "one more; what has expired is none");
}

#[test]
fn what_matters_little_sinks_when_it_was_of_no_use_for_long() {
    const DAY: i64 = 86_400_000;
    let f = Fixture::new();
    let old = f.note(DAY, "retry limit of uploads");
    let used = f.note(DAY + 1, "retry limit of downloads");
    f.note(200 * DAY, "something new");
    let sql = |sql: &str| f.store.conn().execute_batch(sql).unwrap();
    sql("UPDATE observations SET priority = 'low'");
    let order = || {
        let plan = context(&f.store, &Scope::All, "app", &Branch::default(), 9, &[]).unwrap();
        plan.observations.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(order(), [3, used, old], "newest first");
    sql("UPDATE observations SET last_hit_at = updated_at + 86400000 * 199 WHERE id = 1");
    assert_eq!(order(), [3, old, used], "its last use is not long ago");
    let found = search(&f.store, "retry limit", &Filter::all(Scope::All), 9, 0).unwrap();
    let unused = |id: i64| found.parts[&RecordId::Observation(id)].factors.unused;
    assert!(unused(used) < unused(old) && unused(old) <= 0.0);
    let since = |day: i64, most: Priority| {
        let rows = unused_since(&f.store, &Scope::All, most, Timestamp(day * DAY)).unwrap();
        rows.iter().map(|hit| hit.id.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(since(100, Priority::Low), "2");
    sql("UPDATE observations SET priority = 'normal' WHERE id = 2");
    assert_eq!((since(100, Priority::Low), since(100, Priority::Normal)), (String::new(), String::from("2")));
    sql("UPDATE observations SET pinned = 1 WHERE id = 2");
    assert_eq!(since(100, Priority::Normal), "");
}

#[test]
fn near_copies_and_replaced_rows_appear_once() {
    let f = Fixture::new();
    let old = f.note(1, "Project uses Forgejo for source control");
    assert_eq!(f.note(2, "project uses forgejo  for source control."), old);
    let new = f.put(
        &place("/x/app", None),
        3,
        Draft { supersedes: vec![old], ..titled("Project moved to another forge, forgejo is gone") },
    );
    let plan = context(&f.store, &Scope::All, "app", &Branch::default(), 9, &[]).unwrap();
    assert_eq!(plan.observations.iter().map(|row| row.id).collect::<Vec<_>>(), [new]);
    assert_eq!(f.find("forgejo").len(), 2, "what was replaced stays findable");
}

#[test]
fn similar_finds_what_the_prompt_is_about() {
    let f = Fixture::new();
    let id = f.note(1, "retry limit is five");
    f.note(2, "colour of the button");
    let rows = similar(&f.store, &Scope::All, "please raise the retry limit", 8).unwrap();
    assert_eq!(rows, [(id, String::from("discovery"), String::from("retry limit is five"))]);
}

/// Newer notes that are about other things, and one old one.
fn buried(f: &Fixture, old: Draft) -> i64 {
    let id = f.put(&place("/x/app", None), 1, old);
    for at in 0..400 {
        f.note(1_000 + at, &format!("the colour of button {at} is {}", at * 7));
    }
    id
}

fn place_of(f: &Fixture, branch: &Branch, id: i64) -> Option<usize> {
    let scope = f.scope(&place("/x/app", None));
    let plan = context(&f.store, &scope, "app", branch, 50, &[]).unwrap();
    plan.observations.iter().position(|row| row.id == id)
}

#[test]
fn what_the_branch_is_named_for_is_told_however_old_it_is() {
    let f = Fixture::new();
    let id = buried(&f, titled("Uploads are retried five times with exponential backoff"));
    assert_eq!(place_of(&f, &Branch::default(), id), None);
    let on = |name: &str| Branch { name: Some(name.to_owned()), files: Vec::new(), ground: None };
    assert!(place_of(&f, &on("feat/upload-retry-backoff"), id).is_some_and(|place| place < 25));
    assert_eq!(place_of(&f, &on("main"), id), None);
}

#[test]
fn what_was_asked_for_last_is_told_unless_it_has_no_subject() {
    let f = Fixture::new();
    let id = buried(&f, titled("Uploads are retried five times with exponential backoff"));
    let ask = |at: i64, text: &str| {
        let tx = f.store.begin().unwrap();
        let place = tx.place(&place("/x/app", None), &Trace::default()).unwrap();
        let new = NewPrompt { place, session: "s", number: at, text, created_at: Timestamp(at) };
        index::record_prompt(&tx, &new).unwrap();
        tx.commit().unwrap();
    };
    ask(1, "how often are uploads retried?");
    ask(2, "run the tests again");
    assert!(place_of(&f, &Branch::default(), id).is_some_and(|place| place < 25));
    ask(3, "which colour has the third button?");
    assert_eq!(place_of(&f, &Branch::default(), id), None);
}

#[test]
fn what_is_about_the_files_of_the_branch_moves_up() {
    let f = Fixture::new();
    let of_file = |at: i64, title: &str, file: &str| {
        let draft = Draft { files_modified: vec![file.to_owned()], ..titled(title) };
        f.put(&place("/x/app", None), at, draft)
    };
    let older = of_file(1, "one thing", "src/upload.rs");
    let newer = of_file(2, "another thing", "src/menu.rs");
    let order = |files: &[&str]| {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        let branch = Branch { name: Some(String::from("side")), files, ground: None };
        let plan = context(&f.store, &Scope::All, "app", &branch, 9, &[]).unwrap();
        plan.observations.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(order(&[]), [newer, older]);
    assert_eq!(order(&["src/upload.rs", "src/other.rs"]), [older, newer]);
    assert_eq!(order(&["upload.rs"]), [newer, older]);
}

#[test]
fn what_the_last_sessions_on_the_branch_changed_counts_as_its_files() {
    let f = Fixture::new();
    let identity = |branch: &str| Identity { branch: Some(branch.to_owned()), ..place("/x/app", None) };
    let write = |session: &str, branch: &str, at: i64, title: &str, file: &str| {
        let tx = f.store.begin().unwrap();
        let identity = identity(branch);
        let place = tx.place(&identity, &Trace::default()).unwrap();
        tx.session(session, Platform::Claude, place.project, &identity, Timestamp(at), Timestamp(at))
            .unwrap();
        let draft = Draft { files_modified: vec![file.to_owned()], ..titled(title) };
        let new = NewObservation {
            place,
            session,
            prompt_number: None,
            draft: &draft,
            agent: None,
            model: "test",
            tokens_spent: 0,
            created_at: Timestamp(at),
            standing: Standing::OBSERVED,
        };
        let id = index::record_observation(&tx, &new).unwrap().id;
        tx.commit().unwrap();
        id
    };
    let early = write("first", "main", 1, "uploads time out", "src/upload.rs");
    let other = write("second", "main", 2, "menus are slow", "src/menu.rs");
    let last = write("third", "side", 3, "uploads are retried", "src/upload.rs");
    let order = |branch: &str| {
        let branch = Branch { name: Some(branch.to_owned()), files: Vec::new(), ground: None };
        let plan = context(&f.store, &f.scope(&identity("x")), "app", &branch, 9, &[]).unwrap();
        plan.observations.iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(order("side"), [last, early, other]);
    assert_eq!(order("unknown"), [last, other, early]);
}

/// Lines of a file in `tests/eval`.
fn eval(name: &str) -> Vec<serde_json::Value> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eval").join(name);
    let text = std::fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Unasked, precision comes first: the threshold of `recall` on the hand-made notes. The other sets are in
/// `scripts/bench/retrieval`.
#[test]
fn a_prompt_reminds_of_what_it_is_about_and_seldom_of_anything_else() {
    let f = Fixture::new();
    let lines = eval("handmade.jsonl");
    let text = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
    let mut ids = std::collections::HashMap::new();
    for (at, note) in (1..).zip(lines.iter().filter(|line| line["kind"] == "note")) {
        let draft = Draft { narrative: text(note, "text"), ..titled(&text(note, "title")) };
        ids.insert(text(note, "id"), f.put(&place("/x/app", None), at, draft));
    }
    let reminded = |prompt: &str| -> Vec<i64> {
        recall(&f.store, &Scope::All, prompt, &Known::default(), 3)
            .unwrap()
            .iter()
            .map(|row| row.id)
            .collect()
    };
    let (mut asked, mut told, mut right) = (0, 0, 0);
    for question in lines.iter().filter(|line| line["kind"] == "query") {
        let answers: Vec<i64> = question["rel"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|id| ids.get(id.as_str()?).copied())
            .collect();
        if answers.is_empty() {
            continue;
        }
        let found = reminded(&text(question, "text"));
        asked += 1;
        told += usize::from(!found.is_empty());
        right += usize::from(found.iter().any(|id| answers.contains(id)));
    }
    assert!(right * 100 >= asked * 50, "{right} of {asked} are told");
    assert!(right * 100 >= told * 90, "{right} of {told} are right");
    for (name, percent) in [("unanswerable.jsonl", 3), ("everyday.jsonl", 5)] {
        let prompts = eval(name);
        let noise: Vec<String> =
            prompts.iter().map(|line| text(line, "text")).filter(|text| !reminded(text).is_empty()).collect();
        assert!(noise.len() * 100 <= prompts.len() * percent, "{name}: {noise:?}");
    }
}

#[test]
fn a_prompt_reminds_of_nothing_that_is_gone_known_or_elsewhere() {
    let f = Fixture::new();
    let id = f.note(1, "deploys fail on mondays because the cache host is cold");
    let here = f.scope(&place("/x/app", None));
    let asked = |scope: &Scope, known: Known<'_>| {
        recall(&f.store, scope, "why do the deploys fail on mondays?", &known, 3).unwrap().len()
    };
    let reminded = |scope: &Scope, told: &[i64]| asked(scope, Known { session: "another", told });
    assert_eq!(reminded(&here, &[]), 1);
    let session = f
        .store
        .conn()
        .query_row("SELECT session FROM observations", [], |row| row.get::<_, String>(0))
        .unwrap();
    assert_eq!(asked(&here, Known { session: &session, told: &[] }), 0, "it is in the history of that one");
    assert_eq!(reminded(&here, &[id]), 0);
    assert_eq!(reminded(&f.scope(&place("/x/other", None)), &[]), 0);
    let sql = |sql: &str| f.store.conn().execute(sql, [id]).unwrap();
    sql("UPDATE observations SET expires_at = 1 WHERE id = ?1");
    assert_eq!(reminded(&here, &[]), 0);
    sql("UPDATE observations SET expires_at = NULL, status = 'superseded' WHERE id = ?1");
    assert_eq!(reminded(&here, &[]), 0);
}
