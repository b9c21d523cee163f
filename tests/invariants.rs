//! Whatever is done to memories, and in whatever order: no pointer leads to nothing, the indexes hold what the table
//! holds, and where a memory comes from stays as it was; and all of it can be taken along, and is the same elsewhere. A
//! further operation is a variant of [`Op`], a line in [`ops`] and an arm in [`World::apply`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Parser;
use cmem::cli::args::{Cli, Command};
use cmem::cli::printer::Printer;
use cmem::commands;
use cmem::config::Paths;
use cmem::error::Failure;
use cmem::index::{self, Meaning};
use cmem::model::{Draft, Identity, Status, Timestamp};
use cmem::store::{Adoption, NewObservation, NewPrompt, NewSummary, Place, Standing, Store, Trace};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use rusqlite::Connection;

/// Few words, so that texts meet: duplicates, edits into what another one says, words that are left when one is forgotten.
const WORDS: [&str; 8] = ["mysql", "postgres", "缓存", "deploy", "retry", "zebra", "queue", "green"];
/// A repository, a linked worktree of it, and another repository.
const PLACES: [&str; 3] = ["app", "app/side", "web"];

#[derive(Debug, Clone)]
enum Op {
    /// The user says something.
    Remember {
        place: usize,
        words: Vec<&'static str>,
        tag: &'static str,
        high: bool,
    },
    /// An observer says something, which may make others obsolete.
    Observe {
        place: usize,
        words: Vec<&'static str>,
        obsolete: Vec<Index>,
    },
    Edit {
        which: Index,
        words: Vec<&'static str>,
        tag: Option<&'static str>,
    },
    Supersede {
        old: Index,
        new: Index,
    },
    Unsupersede {
        old: Index,
    },
    Pin {
        which: Index,
        pinned: bool,
    },
    SetStatus {
        which: Index,
        status: Status,
    },
    Forget {
        which: Vec<Index>,
    },
    ForgetWord {
        word: &'static str,
    },
    ForgetTurn,
    Adopt,
    Undo,
    Reindex,
    /// All that waits is decided in one way.
    Decide {
        accept: bool,
    },
    Compact {
        which: Vec<Index>,
    },
    TakeApart {
        which: Index,
    },
    Prune,
    Restore {
        which: Index,
    },
    Export,
    /// What was exported last comes back, whatever happened since.
    Import,
    ExportPages,
    ImportPages,
    /// Somebody changes a page, or deletes it.
    TouchPage {
        which: Index,
        word: Option<&'static str>,
    },
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let words = || subsequence(WORDS.to_vec(), 1..=2);
    let word = || select(&WORDS[..]);
    // Most in one place, so that they have to do with each other.
    let place = || select(&[0, 0, 0, 0, 1, 1, 2][..]);
    let op = prop_oneof![
        5 => (place(), words(), word(), any::<bool>())
            .prop_map(|(place, words, tag, high)| Op::Remember { place, words, tag, high }),
        6 => (place(), words(), vec(any::<Index>(), 0..3))
            .prop_map(|(place, words, obsolete)| Op::Observe { place, words, obsolete }),
        4 => (any::<Index>(), words(), prop::option::of(word()))
            .prop_map(|(which, words, tag)| Op::Edit { which, words, tag }),
        5 => (any::<Index>(), any::<Index>()).prop_map(|(old, new)| Op::Supersede { old, new }),
        1 => any::<Index>().prop_map(|old| Op::Unsupersede { old }),
        1 => (any::<Index>(), any::<bool>()).prop_map(|(which, pinned)| Op::Pin { which, pinned }),
        2 => (any::<Index>(), select(vec![Status::Active, Status::Archived]))
            .prop_map(|(which, status)| Op::SetStatus { which, status }),
        3 => vec(any::<Index>(), 1..3).prop_map(|which| Op::Forget { which }),
        1 => word().prop_map(|word| Op::ForgetWord { word }),
        1 => Just(Op::ForgetTurn),
        1 => Just(Op::Adopt),
        1 => Just(Op::Undo),
        1 => Just(Op::Reindex),
        2 => any::<bool>().prop_map(|accept| Op::Decide { accept }),
        3 => vec(any::<Index>(), 2..4).prop_map(|which| Op::Compact { which }),
        2 => any::<Index>().prop_map(|which| Op::TakeApart { which }),
        1 => Just(Op::Prune),
        1 => any::<Index>().prop_map(|which| Op::Restore { which }),
        2 => Just(Op::Export),
        2 => Just(Op::Import),
        2 => Just(Op::ExportPages),
        2 => Just(Op::ImportPages),
        2 => (any::<Index>(), prop::option::of(word())).prop_map(|(which, word)| Op::TouchPage { which, word }),
    ];
    vec(op, 12..32)
}

/// What must never change about an observation.
type Provenance = BTreeMap<i64, (String, i64, Option<i64>, i64, String, String)>;

struct World {
    paths: Paths,
    store: Store,
    places: Vec<Place>,
    known: Provenance,
    clock: i64,
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let paths = Paths::resolve(Some(&data)).unwrap();
        let store = Store::open(&paths).unwrap();
        fs::write(paths.settings(), r#"{"CMEM_PROVIDER": "builtin"}"#).unwrap();
        let transaction = store.begin().unwrap();
        let place = |key: &str, worktree: Option<&str>| {
            let identity = Identity {
                key: format!("/{key}/.git"),
                name: key.to_owned(),
                root: worktree.map_or_else(|| format!("/{key}"), str::to_owned),
                worktree: worktree.map(str::to_owned),
                branch: Some(String::from("side")),
                head: None,
                main_head: None,
                remote: None,
            };
            transaction.place(&identity, &Trace::default()).unwrap()
        };
        let places = vec![place("app", None), place("app", Some("/side")), place("web", None)];
        transaction.commit().unwrap();
        Self { paths, store, places, known: BTreeMap::new(), clock: 1, folder }
    }

    /// A memory that holds nothing yet.
    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let paths = Paths::resolve(Some(&data)).unwrap();
        let store = Store::open(&paths).unwrap();
        Self { paths, store, places: Vec::new(), known: BTreeMap::new(), clock: 1, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Everything, as it is taken along.
    fn exported(&self) -> String {
        let file = self.file("all.jsonl");
        self.run(&["export", "--all-projects", file.to_str().unwrap()]).unwrap();
        fs::read_to_string(file).unwrap()
    }

    fn import(&self, from: &Path) {
        self.run(&["import", from.to_str().unwrap()]).unwrap();
    }

    /// Elsewhere it is the same, byte by byte, and as true.
    fn check_journey(&self) {
        let here = self.exported();
        let mut elsewhere = Self::empty();
        elsewhere.import(&self.file("all.jsonl"));
        assert_eq!(elsewhere.exported(), here);
        elsewhere.check();
    }

    fn pages(&self) -> Vec<PathBuf> {
        let mut pages = Vec::new();
        let mut folders = vec![self.file("pages")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
                let path = entry.path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if path.extension().is_some_and(|is| is == "md") => pages.push(path),
                    false => {}
                }
            }
        }
        pages.retain(|page| page.parent().unwrap().file_name().unwrap() != "projects");
        pages.sort();
        pages
    }

    fn conn(&self) -> Connection {
        Connection::open(self.paths.memory()).unwrap()
    }

    fn ids(&self) -> Vec<i64> {
        let conn = self.conn();
        let mut statement = conn.prepare("SELECT id FROM observations ORDER BY id").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    /// Runs a command as it would be typed. A refusal is an answer like any other.
    fn run(&self, words: &[&str]) -> Result<(), Failure> {
        let mut printer = Printer::to(false, Box::new(io::sink()), Box::new(io::sink()));
        let (paths, printer) = (&self.paths, &mut printer);
        match Cli::try_parse_from([&["cmem"], words].concat()).unwrap().command {
            Command::Remember(args) => commands::remember::run(&args, paths, printer),
            Command::Edit(args) => commands::edit::run(&args, paths, printer),
            Command::Supersede(args) => commands::supersede::run(&args, paths, printer),
            Command::Pin(args) => commands::pin::run(&args, true, paths, printer),
            Command::Unpin(args) => commands::pin::run(&args, false, paths, printer),
            Command::Forget(args) => commands::forget::run(&args, paths, printer),
            Command::Reindex => commands::reindex::run(paths, printer),
            Command::Review(args) => commands::review::run(&args, paths, printer),
            Command::Compact(args) => commands::compact::run(&args, paths, printer),
            Command::Prune(args) => commands::prune::run(&args, paths, printer),
            Command::Restore(args) => commands::restore::run(&args, paths, printer),
            Command::Export(args) => commands::export::run(&args, paths, printer),
            Command::Import(args) => commands::import::run(&args, paths, printer),
            other => panic!("{other:?} is not known here"),
        }
    }

    fn apply(&mut self, op: &Op) {
        self.clock += 1;
        let ids = self.ids();
        let one = |index: &Index| index.get(&ids).to_string();
        let before: BTreeSet<i64> = ids.iter().copied().collect();
        let mut may_go = BTreeSet::new();
        match op {
            Op::Remember { place, words, tag, high } => {
                let priority = if *high { "high" } else { "normal" };
                let args = ["remember", "--project", PLACES[*place], "--tags", tag, "--priority", priority];
                self.run(&[&args[..], &["--", &words.join(" ")]].concat()).unwrap();
            }
            Op::Observe { place, words, obsolete } => self.observe(*place, words, obsolete, &ids),
            Op::Adopt => {
                let transaction = self.store.begin().unwrap();
                let why = Adoption { matched_by: String::from("branch"), reason: String::from("as asked") };
                let branch = self.places[1].branch.unwrap();
                transaction.adopt(branch, self.places[0].project, &why, Timestamp(self.clock)).unwrap();
                transaction.commit().unwrap();
            }
            Op::Undo => {
                let transaction = self.store.begin().unwrap();
                transaction.release(self.places[1].branch.unwrap()).unwrap();
                transaction.commit().unwrap();
            }
            Op::Reindex => self.run(&["reindex"]).unwrap(),
            Op::ForgetWord { word } => {
                let found = self.matching(word);
                self.run(&["forget", "--all-projects", "--kind", "observation", "--yes", "--query", word])
                    .unwrap();
                assert_eq!(self.matching(word), BTreeSet::new(), "{word}");
                may_go = found;
            }
            Op::ForgetTurn => {
                self.run(&["forget", "--all-projects", "--kind", "prompt,summary", "--yes", "--query", "*"])
                    .unwrap();
                let left = self.number(
                    "SELECT (SELECT count(*) FROM prompts) + (SELECT count(*) FROM summaries)
                    + (SELECT count(*) FROM prompts_fts) + (SELECT count(*) FROM summaries_fts)",
                );
                assert_eq!(left, 0);
            }
            Op::Decide { accept } => {
                let decide = if *accept { "accept" } else { "reject" };
                for place in PLACES {
                    let _ = self.run(&["review", decide, "--all", "--project", place]);
                }
            }
            Op::Prune => {
                let args = ["prune", "--all-projects", "--days", "1", "--priority", "normal", "--yes"];
                self.run(&args).unwrap();
            }
            Op::Export => {
                let exported = self.exported();
                fs::write(self.file("old.jsonl"), exported).unwrap();
            }
            Op::Import => {
                let old = self.file("old.jsonl");
                if old.exists() {
                    self.import(&old);
                    let once = self.exported();
                    self.import(&old);
                    assert_eq!(self.exported(), once, "again");
                }
            }
            Op::ExportPages => {
                let pages = self.file("pages");
                let args = ["export", "--all-projects", "--format", "markdown", pages.to_str().unwrap()];
                self.run(&args).unwrap();
            }
            Op::ImportPages => {
                let pages = self.file("pages");
                if pages.exists() {
                    // A page that says what another one says is named and refused.
                    let _ = self.run(&["import", pages.to_str().unwrap()]);
                    let once = self.exported();
                    let _ = self.run(&["import", pages.to_str().unwrap()]);
                    assert_eq!(self.exported(), once, "again");
                }
            }
            Op::TouchPage { which, word } => {
                let pages = self.pages();
                if !pages.is_empty() {
                    let page = which.get(&pages);
                    match word {
                        Some(word) => {
                            let text = fs::read_to_string(page).unwrap();
                            fs::write(page, format!("{}\n\n{word}\n", text.trim_end())).unwrap();
                        }
                        None => fs::remove_file(page).unwrap(),
                    }
                }
            }
            // The others need an observation.
            _ if ids.is_empty() => {}
            Op::Edit { which, words, tag } => {
                let (id, text) = (one(which), words.join(" "));
                let mut args = vec!["edit", &id, "--title", &text, "--text", &text];
                args.extend(tag.iter().flat_map(|tag| ["--tags", tag]));
                let _ = self.run(&args);
            }
            Op::Supersede { old, new } => {
                let _ = self.run(&["supersede", &one(old), &one(new)]);
            }
            Op::Unsupersede { old } => {
                let _ = self.run(&["supersede", "--undo", &one(old)]);
            }
            Op::Pin { which, pinned } => {
                self.run(&[if *pinned { "pin" } else { "unpin" }, &one(which)]).unwrap();
            }
            Op::SetStatus { which, status } => {
                let transaction = self.store.begin().unwrap();
                transaction.set_status(*which.get(&ids), *status).unwrap();
                transaction.commit().unwrap();
            }
            Op::Compact { which } => {
                let chosen: BTreeSet<String> = which.iter().map(one).collect();
                let group = Vec::from_iter(chosen).join("+");
                let _ = self.run(&["compact", "--all-projects", "--apply", &group]);
            }
            Op::TakeApart { which } => {
                let _ = self.run(&["compact", "--undo", &one(which)]);
            }
            Op::Restore { which } => {
                let _ = self.run(&["restore", &one(which)]);
            }
            Op::Forget { which } => {
                let chosen: Vec<String> = which.iter().map(one).collect();
                may_go = which.iter().map(|index| *index.get(&ids)).collect();
                self.run(&["forget", "--yes", &chosen.join(",")]).unwrap();
                assert!(self.ids().iter().all(|id| !may_go.contains(id)));
            }
        }
        let after: BTreeSet<i64> = self.ids().into_iter().collect();
        let gone: BTreeSet<i64> = before.difference(&after).copied().collect();
        assert!(gone.is_subset(&may_go), "{gone:?} went away by {op:?}");
        self.check();
    }

    fn observe(&self, place: usize, words: &[&str], obsolete: &[Index], ids: &[i64]) {
        let text = words.join(" ");
        let known = self.places[place];
        let transaction = self.store.begin().unwrap();
        // A branch that was adopted takes what comes later along.
        let place = transaction.place_by_name(PLACES[place]).unwrap().unwrap();
        assert_eq!((place.project, place.branch), (known.project, known.branch));
        let created_at = Timestamp(self.clock);
        let draft = Draft {
            r#type: String::from("discovery"),
            title: text.clone(),
            facts: words.iter().map(|word| format!("{word} is a fact")).collect(),
            supersedes: if ids.is_empty() {
                Vec::new()
            } else {
                obsolete.iter().map(|index| *index.get(ids)).collect()
            },
            ..Draft::default()
        };
        let new = NewObservation {
            place,
            session: "s",
            prompt_number: Some(1),
            draft: &draft,
            agent: None,
            model: "test",
            tokens_spent: 1,
            created_at,
            standing: Standing::OBSERVED,
        };
        index::record_observation(&transaction, &new).unwrap();
        let number = self.clock;
        index::record_prompt(
            &transaction,
            &NewPrompt { place, session: "s", number, text: &text, created_at },
        )
        .unwrap();
        let summary = cmem::model::SummaryDraft { learned: text.clone(), ..Default::default() };
        let new = NewSummary {
            place,
            session: "s",
            prompt_number: None,
            text: &summary,
            model: "test",
            created_at,
        };
        index::record_summary(&transaction, &new).unwrap();
        transaction.commit().unwrap();
    }

    fn number(&self, sql: &str) -> i64 {
        self.conn().query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Observations that the text index finds.
    fn matching(&self, word: &str) -> BTreeSet<i64> {
        // Of two signs of a script without blanks there is a token for each, and one for both.
        let tokens = index::tokens(word);
        let token = tokens.split_whitespace().max_by_key(|token| token.len()).unwrap();
        let conn = self.conn();
        let mut statement =
            conn.prepare("SELECT rowid FROM observations_fts WHERE observations_fts MATCH ?1").unwrap();
        statement.query_map([format!("\"{token}\"")], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    fn check(&mut self) {
        self.check_pointers();
        self.check_provenance();
        self.check_indexes();
    }

    fn check_pointers(&self) {
        for (what, sql) in [
            ("a pointer to nothing", "SELECT count(*) FROM pragma_foreign_key_check"),
            (
                "superseded, or not, by nothing",
                "SELECT count(*) FROM observations WHERE (status = 'superseded') <> (superseded_by IS NOT NULL)",
            ),
            (
                "superseded across projects",
                "SELECT count(*) FROM observations a JOIN observations b ON b.id = a.superseded_by
                 WHERE a.project <> b.project",
            ),
            (
                "a circle",
                "WITH RECURSIVE later (start, id, steps) AS (
                   SELECT id, superseded_by, 1 FROM observations WHERE superseded_by IS NOT NULL
                   UNION ALL SELECT start, o.superseded_by, steps + 1 FROM later JOIN observations o ON o.id = later.id
                   WHERE o.superseded_by IS NOT NULL AND steps < 100)
                 SELECT count(*) FROM later WHERE start = id",
            ),
            (
                "contests and does not wait, or in another project",
                "SELECT count(*) FROM contested c JOIN observations a ON a.id = c.observation
                   JOIN observations b ON b.id = c.old WHERE a.status <> 'review' OR a.project <> b.project",
            ),
            (
                // A page names no branch, only where its memory is seen.
                "merged elsewhere than its branch",
                "SELECT count(*) FROM (SELECT branch, merged_into FROM observations WHERE branch IS NOT NULL UNION ALL
                   SELECT branch, merged_into FROM prompts UNION ALL SELECT branch, merged_into FROM summaries) r
                 LEFT JOIN branches b ON b.id = r.branch WHERE r.merged_into IS NOT b.adopted_into",
            ),
        ] {
            assert_eq!(self.number(sql), 0, "{what}");
        }
    }

    fn check_provenance(&mut self) {
        let conn = self.conn();
        let mut statement = conn
            .prepare("SELECT id, uid, project, branch, created_at, session, source FROM observations")
            .unwrap();
        let rows = statement.query_map([], |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?)))
        });
        let now: Provenance = rows.unwrap().map(Result::unwrap).collect();
        for (id, provenance) in &now {
            assert_eq!(self.known.get(id).unwrap_or(provenance), provenance, "{id}");
        }
        // A number that was given away is never given again.
        self.known.extend(now);
    }

    fn check_indexes(&self) {
        let conn = self.conn();
        let ids = self.ids();
        let rows = |sql: &str| -> Vec<i64> {
            conn.prepare(sql).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        assert_eq!(rows("SELECT rowid FROM observations_fts ORDER BY rowid"), ids);
        assert_eq!(rows("SELECT observation FROM vectors ORDER BY observation"), ids);
        conn.execute("INSERT INTO observations_fts (observations_fts) VALUES ('integrity-check')", [])
            .unwrap();
        let transaction = self.store.begin().unwrap();
        let drafts: BTreeMap<i64, Draft> =
            ids.iter().map(|id| (*id, transaction.texts_of(*id).unwrap())).collect();
        drop(transaction);
        for word in WORDS {
            let holds = |draft: &Draft| serde_json::to_string(draft).unwrap().contains(word);
            let holding: BTreeSet<i64> =
                drafts.iter().filter(|(_, draft)| holds(draft)).map(|(id, _)| *id).collect();
            assert_eq!(self.matching(word), holding, "{word}");
        }
        let kept = index::kept(&self.store, &ids).unwrap();
        let mut pieces: BTreeMap<i64, i64> = BTreeMap::new();
        for (id, draft) in &drafts {
            let meaning = Meaning::of(draft);
            assert_eq!(kept[id], meaning, "{id}");
            for piece in meaning.tokens.iter().map(|token| i64::from(*token)).chain([-1]) {
                *pieces.entry(piece).or_default() += 1;
            }
        }
        let mut statement =
            conn.prepare("SELECT piece, observations FROM pieces WHERE observations <> 0").unwrap();
        let counted = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(counted.map(Result::unwrap).collect::<BTreeMap<i64, i64>>(), pieces);
        // Whether a cache answers or the rows.
        let question = Meaning::of_text(WORDS[0]).vector.unwrap();
        let mut near: Vec<i64> = index::nearest(&self.store, &question, None, usize::MAX)
            .unwrap()
            .iter()
            .map(|near| near.observation)
            .collect();
        near.sort_unstable();
        assert_eq!(near, ids);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_sequence_of_changes_keeps_memory_true(ops in ops()) {
        let mut world = World::new();
        for op in &ops {
            world.apply(op);
        }
        world.check_journey();
    }
}
