use serde_json::{Value, json};

use super::*;
use crate::config::Paths;
use crate::model::{Agent, Draft, Event, EventKind, Outcome, SummaryDraft, Timestamp};

fn mode(id: &str) -> Mode {
    let folder = tempfile::tempdir().unwrap();
    Mode::load(id, &Paths::resolve(Some(folder.path())).unwrap()).unwrap()
}

fn event(kind: EventKind) -> Event {
    Event {
        session: String::from("s"),
        platform: Default::default(),
        at: Timestamp(0),
        cwd: String::from("/p"),
        agent: None,
        kind,
    }
}

fn prompt(text: &str) -> Event {
    event(EventKind::Prompt { text: text.to_owned(), private: false })
}

fn stop(text: &str) -> Event {
    event(EventKind::Stop { message: Some(text.to_owned()), transcript: None })
}

fn call(tool: &str, input: Value, response: Value) -> Event {
    event(EventKind::Tool { tool: tool.to_owned(), input, outcome: Outcome::Response(response) })
}

fn edit(path: &str, lines: &[&str]) -> Event {
    let response = json!({"filePath": path, "structuredPatch": [{"oldStart": 1, "lines": lines}]});
    call("Edit", json!({"file_path": path}), response)
}

fn read(path: &str) -> Event {
    call(
        "Read",
        json!({"file_path": path}),
        json!({"type": "text", "file": {"filePath": path, "content": "x"}}),
    )
}

fn bash(command: &str, stdout: &str) -> Event {
    call("Bash", json!({"command": command}), json!({"stdout": stdout, "stderr": "", "interrupted": false}))
}

fn fails(command: &str, text: &str) -> Event {
    let input = json!({"command": command});
    event(EventKind::Tool { tool: String::from("Bash"), input, outcome: Outcome::Error(text.to_owned()) })
}

fn batch(events: Vec<Event>) -> Batch {
    Batch {
        project: String::from("p"),
        root: String::from("/p"),
        events,
        request: None,
        titles: Vec::new(),
        similar: Vec::new(),
        strict: false,
    }
}

fn observe(events: Vec<Event>) -> Option<Reply> {
    match Builtin::new(mode("code")).observe(&batch(events)).verdict {
        Verdict::Stored(reply) => Some(reply),
        Verdict::Nothing => None,
        other => panic!("{other:?}"),
    }
}

fn one(events: Vec<Event>) -> (Draft, SummaryDraft) {
    let reply = observe(events).unwrap();
    assert_eq!(reply.drafts.len(), 1);
    (reply.drafts[0].clone(), reply.summary.unwrap())
}

fn fixture_turn() -> Vec<Event> {
    vec![
        prompt("Add a farewell function to src/app.py and run it."),
        read("/p/src/app.py"),
        edit(
            "/p/src/app.py",
            &[
                "     return f\"Hello, {name}!\"",
                " ",
                "+def farewell(name):",
                "+    return f\"Bye, {name}!\"",
                "+",
                " def main():",
            ],
        ),
        bash("python3 -c \"from src.app import farewell; print(farewell('Ann'))\"", "Bye, Ann!"),
        stop("Added `farewell` to src/app.py and ran it; it prints `Bye, Ann!`."),
    ]
}

#[test]
fn the_recorded_turn() {
    let (draft, summary) = one(fixture_turn());
    insta::assert_snapshot!(
        serde_json::to_string_pretty(&json!({"draft": draft, "summary": summary})).unwrap()
    );
}

#[test]
fn a_bug_fixed_with_a_test_that_failed() {
    let (draft, summary) = one(vec![
        prompt("Login fails with expired tokens, please fix it"),
        read("/p/src/auth.rs"),
        fails(
            "cargo test auth",
            "Exit code 101\n\nthread 'auth::expired' panicked at src/auth.rs:40:9:\nassertion failed\n\ntest result: FAILED. 5 passed; 1 failed; 0 ignored",
        ),
        edit(
            "/p/src/auth.rs",
            &[
                " fn check(token: &Token) -> bool {",
                "-    token.valid()",
                "+    token.valid() && !token.expired()",
                " }",
            ],
        ),
        bash("cargo test auth 2>&1 | tail -5", "test result: ok. 6 passed; 0 failed; 0 ignored"),
        bash(
            "git commit -qam x && git log --oneline -1",
            "[main 1a2b3c4] Reject expired tokens before the lookup",
        ),
        stop(
            "Done! The root cause was that `check` in src/auth.rs never looked at `expired()`, because the lookup ran first.\n\n## Next steps\n- Rotate the old tokens\n\nNote that refresh tokens are not affected.\n\nWant me to push?",
        ),
    ]);
    assert_eq!(draft.r#type, "bugfix");
    assert_eq!(draft.title, "The root cause was that check in src/auth.rs never looked at expired()");
    assert_eq!(draft.subtitle, "Login fails with expired tokens, please fix it");
    assert_eq!(
        draft.facts,
        [
            "commit 1a2b3c4: Reject expired tokens before the lookup",
            "`cargo test auth` failed (5 passed, 1 failed, thread 'auth::expired' panicked at src/auth.rs:40:9:), then passed (6 passed)",
            "src/auth.rs: changed fn check",
        ]
    );
    assert_eq!(draft.concepts, ["problem-solution", "what-changed", "why-it-exists"]);
    assert_eq!(
        (&draft.files_read[..], &draft.files_modified[..]),
        (&["src/auth.rs".to_owned()][..], &["src/auth.rs".to_owned()][..])
    );
    assert!(
        draft.keywords.contains(&String::from("authentication"))
            && draft.keywords.contains(&String::from("auth"))
    );
    assert!(!draft.narrative.contains("Want me"));
    assert_eq!(summary.next_steps, "Rotate the old tokens");
    assert_eq!(summary.notes, "Note that refresh tokens are not affected.");
    assert!(summary.completed.contains("1a2b3c4: Reject expired tokens"));
}

#[test]
fn a_test_that_still_fails_is_told() {
    let (draft, summary) = one(vec![
        prompt("Make the parser accept tabs"),
        edit("/p/src/parse.ts", &["+export function tabs(line: string) {", "+}"]),
        fails("npm test", "Exit code 1\nTests: 2 failed, 10 passed, 12 total\nError: unexpected tab"),
        stop("I added `tabs`, but two tests still fail."),
    ]);
    assert_eq!(draft.title, "Added tabs, but two tests still fail");
    assert!(draft.facts.contains(&String::from(
        "`npm test` failed (exit code 1, 10 passed, 2 failed): Error: unexpected tab"
    )));
    assert_eq!(summary.next_steps, "`npm test` still fails");
}

#[test]
fn the_users_language() {
    for (asked, said, kind, title, fact) in [
        (
            "修复登录接口返回 500 的问题",
            "好的，已完成。原因是 token 过期时 `check` 没有处理空值，已修复。",
            "bugfix",
            "原因是 token 过期时 check 没有处理空值，已修复",
            "src/a.py: 新增 def check",
        ),
        (
            "請新增一個匯出 CSV 的功能",
            "完成了！已在 `src/a.py` 新增 `check`，並支援 UTF-8 編碼。",
            "feature",
            "已在 src/a.py 新增 check，並支援 UTF-8 編碼",
            "src/a.py: 新增 def check",
        ),
        (
            "ログインのバグを直してください",
            "完了しました。`check` が空のトークンを拒否するように修正しました。",
            "bugfix",
            "check が空のトークンを拒否するように修正しました",
            "src/a.py: def check を追加",
        ),
        (
            "로그인 오류를 고쳐줘",
            "완료했습니다. `check` 함수를 추가해 빈 토큰을 거부합니다.",
            "bugfix",
            "check 함수를 추가해 빈 토큰을 거부합니다",
            "src/a.py: def check 추가",
        ),
        (
            "Bitte füge eine Prüfung für leere Tokens hinzu",
            "Erledigt: `check` lehnt leere Tokens jetzt ab.",
            "feature",
            "check lehnt leere Tokens jetzt ab",
            "src/a.py: def check hinzugefügt",
        ),
        (
            "Corrige la vérification des jetons dans le module",
            "Voilà ! `check` refuse maintenant les jetons vides.",
            "bugfix",
            "check refuse maintenant les jetons vides",
            "src/a.py : ajout de def check",
        ),
        (
            "Añade una función para los tokens vacíos",
            "Listo. `check` rechaza ahora los tokens vacíos.",
            "feature",
            "check rechaza ahora los tokens vacíos",
            "src/a.py: añadido def check",
        ),
        (
            "Добавь проверку пустых токенов",
            "Готово. `check` отклоняет пустые токены.",
            "feature",
            "check отклоняет пустые токены",
            "src/a.py: added def check",
        ),
    ] {
        let (draft, _) = one(vec![
            prompt(asked),
            edit("/p/src/a.py", &["+def check(token):", "+    return bool(token)"]),
            stop(said),
        ]);
        assert_eq!(
            (draft.r#type.as_str(), draft.title.as_str(), draft.facts[0].as_str()),
            (kind, title, fact),
            "{asked}"
        );
    }
}

#[test]
fn a_language_mode_decides_the_connecting_words() {
    let answer = Builtin::new(mode("code--zh-tw")).observe(&batch(fixture_turn()));
    let Verdict::Stored(reply) = answer.verdict else { panic!() };
    assert_eq!(
        reply.drafts[0].facts,
        [
            "執行 `python3 -c \"from src.app import farewell; print(farewell('Ann'))\"`",
            "src/app.py: 新增 def farewell"
        ]
    );
}

#[test]
fn answers_and_decisions_are_kept() {
    let (draft, summary) = one(vec![
        prompt("Where is the retry limit set?"),
        read("/p/src/net.go"),
        stop(
            "The retry limit is `maxRetries` in src/net.go:12; it is 3 because the gateway drops the fourth attempt.",
        ),
    ]);
    assert_eq!(
        (draft.r#type.as_str(), draft.title.as_str()),
        ("discovery", "The retry limit is maxRetries in src/net.go:12; it is 3")
    );
    assert_eq!(draft.concepts, ["how-it-works", "why-it-exists"]);
    assert!(summary.learned.contains("maxRetries") && summary.investigated == "looked at src/net.go");
    let (draft, _) = one(vec![
        prompt("From now on we always use pnpm instead of npm in this repository."),
        stop("Understood, I'll use pnpm."),
    ]);
    assert_eq!(
        (draft.r#type.as_str(), draft.title.as_str()),
        ("decision", "From now on we always use pnpm instead of npm in this repository")
    );
    let (draft, _) = one(vec![
        prompt("Is the admin search safe?"),
        read("/p/admin.php"),
        stop("No: `search()` in admin.php has an SQL injection vulnerability, the query is concatenated."),
    ]);
    assert_eq!(draft.r#type, "security_note");
}

#[test]
fn what_teaches_nothing_is_left_out() {
    for events in [
        vec![prompt("hi"), stop("Hello! How can I help you today?")],
        vec![prompt("show me src/app.py"), read("/p/src/app.py"), stop("Here is the file:")],
        vec![prompt("ok"), stop("Done")],
        vec![prompt("list the files"), bash("ls -la", "a\nb"), stop("Done.")],
        vec![prompt("thanks"), stop("You're welcome! Let me know if you need anything else.")],
        vec![stop("")],
        vec![event(EventKind::SessionEnd { reason: String::from("other") })],
        vec![],
    ] {
        assert!(observe(events.clone()).is_none(), "{events:?}");
    }
}

#[test]
fn one_observation_per_turn() {
    let mut events = fixture_turn();
    events.extend([prompt("hi"), stop("Hello!")]);
    events.extend([
        prompt("Rename greet to hello"),
        edit("/p/src/app.py", &["-def greet(name):", "+def hello(name):"]),
        stop("Renamed `greet` to `hello` in src/app.py."),
    ]);
    let reply = observe(events).unwrap();
    let titles: Vec<&str> = reply.drafts.iter().map(|draft| draft.title.as_str()).collect();
    assert_eq!(
        titles,
        [
            "Added farewell to src/app.py and ran it; it prints Bye, Ann",
            "Renamed greet to hello in src/app.py"
        ]
    );
    assert_eq!(reply.drafts[1].r#type, "refactor");
    assert_eq!(reply.drafts[1].facts, ["src/app.py: renamed def greet to hello"]);
    assert!(reply.summary.unwrap().request.contains("Rename greet to hello"));
}

#[test]
fn a_private_turn_leaves_nothing() {
    let mut events = fixture_turn();
    events[0] = event(EventKind::Prompt { text: String::new(), private: true });
    assert!(observe(events).is_none());
}

#[test]
fn a_subagents_work_belongs_to_the_turn() {
    let agent = Some(Agent { id: String::from("a"), kind: String::from("general-purpose") });
    let mut work = edit("/p/src/b.rs", &["+fn helper() {}"]);
    work.agent.clone_from(&agent);
    let mut done =
        event(EventKind::SubagentStop { message: Some(String::from("Added `helper` to src/b.rs.")) });
    done.agent = agent;
    let (draft, _) = one(vec![prompt("Add a helper"), work, done, stop("Done!")]);
    assert_eq!(
        (draft.title.as_str(), &draft.files_modified[..]),
        ("Added helper to src/b.rs", &["src/b.rs".to_owned()][..])
    );
}

#[test]
fn a_turn_without_an_end_is_kept_without_a_summary() {
    let mut events = fixture_turn();
    events.pop();
    let reply = observe(events).unwrap();
    assert_eq!(reply.drafts[0].title, "Add a farewell function to src/app.py and run it");
    assert!(reply.summary.is_none());
}

#[test]
fn the_request_may_have_come_before_the_batch() {
    let mut batch = batch(fixture_turn().split_off(1));
    batch.request = Some(String::from("Add a farewell function to src/app.py and run it."));
    batch.titles = vec![String::from("Older thing")];
    let Verdict::Stored(reply) = Builtin::new(mode("code")).observe(&batch).verdict else { panic!() };
    assert_eq!(reply.drafts[0].subtitle, "Add a farewell function to src/app.py and run it.");
    assert_eq!(reply.summary.unwrap().notes, "Earlier in this session: Older thing");
}

#[test]
fn every_tool_response_shape_is_survived() {
    for response in [
        json!(null),
        json!("text"),
        json!([1, null]),
        json!({"a": {"b": []}}),
        json!(3.5),
        json!([{"type": "text", "text": "x"}]),
    ] {
        for tool in ["Bash", "Edit", "Write", "Read", "NotebookEdit", "MultiEdit", "apply_patch", "mcp__x__y"]
        {
            for input in
                [json!({}), json!(null), json!("x"), json!({"command": 5, "file_path": ["a"], "edits": [1]})]
            {
                observe(vec![
                    prompt("do it now please"),
                    call(tool, input, response.clone()),
                    stop("Did `it`."),
                ]);
            }
        }
    }
}

#[test]
fn the_same_batch_gives_the_same_answer() {
    let answer = || serde_json::to_string(&one(fixture_turn())).unwrap();
    assert_eq!(answer(), answer());
    assert!(Builtin::new(mode("code")).wants_whole_turns());
}

/// A turn need not be long to be worth a memory: one command and one sentence of what it showed.
#[test]
fn a_short_turn_with_a_conclusion_is_kept() {
    let turns = [
        (
            "为什么部署会失败？",
            bash("make deploy", "cache is cold"),
            "部署失败是因为缓存是冷的。",
            "部署失败",
        ),
        ("deploy", bash("make deploy", "done"), "Deployed version 4 to staging.", "version 4"),
        (
            "Which port does it use?",
            bash("grep -n port app.toml", "3:port = 8080"),
            "It listens on port 8080.",
            "8080",
        ),
        ("デプロイして", bash("make deploy", "ok"), "デプロイしました。キャッシュは無効です。", "キャッシュ"),
        ("¿Por qué falla?", bash("make test", "1 failed"), "Falla porque falta la tabla users.", "users"),
        (
            "Is it slow?",
            bash("hyperfine ./app", "1.2 s"),
            "Start-up takes 1.2 s, most of it in the JSON parser.",
            "1.2 s",
        ),
    ];
    for (asked, ran, said, expected) in turns {
        let Some(reply) = observe(vec![prompt(asked), ran, stop(said)]) else {
            panic!("nothing kept of {said}")
        };
        let text = serde_json::to_string(&reply.drafts).unwrap();
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

#[test]
fn a_turn_that_says_nothing_is_not_kept() {
    let turns = [
        ("thanks", None, "You're welcome!"),
        ("hi", None, "Hello! How can I help you today?"),
        ("continue", Some(bash("ls -la src", "main.rs")), "Done."),
        ("ok", Some(bash("make", "")), "Done!"),
        ("ok", Some(read("/p/a.rs")), "Let me look at the next file."),
    ];
    for (asked, ran, said) in turns {
        let events = [Some(prompt(asked)), ran, Some(stop(said))];
        assert!(observe(events.into_iter().flatten().collect()).is_none(), "{asked}: {said}");
    }
}
