//! The cache answers as the rows do.

use std::fs;

use super::entries::Entries;
use super::*;
use crate::config::Paths;
use crate::index;
use crate::model::{Draft, Identity, Timestamp};
use crate::store::{NewObservation, Standing, Trace};

struct Fixture {
    store: Store,
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&Paths::resolve(Some(folder.path())).unwrap()).unwrap();
        Self { store, folder }
    }

    /// Remembers notes numbered so in a project; returns its id.
    fn fill(&self, project: &str, numbers: std::ops::Range<usize>) -> i64 {
        let tx = self.store.begin().unwrap();
        let identity = Identity {
            key: format!("/x/{project}/.git"),
            name: project.to_owned(),
            root: format!("/x/{project}"),
            worktree: None,
            branch: None,
            head: None,
            main_head: None,
            remote: None,
        };
        let place = tx.place(&identity, &Trace::default()).unwrap();
        let words =
            ["cache", "login", "deploy", "retry", "schema", "token", "queue", "build", "index", "limit"];
        for n in numbers {
            let title = format!("{} {} {} {n}", words[n % 10], words[n / 10 % 10], words[n / 100 % 10]);
            let draft = Draft { r#type: String::from("discovery"), title, ..Draft::default() };
            let new = NewObservation {
                place,
                session: "s",
                prompt_number: None,
                draft: &draft,
                agent: None,
                model: "test",
                tokens_spent: 0,
                created_at: Timestamp(1),
                standing: Standing::OBSERVED,
            };
            index::record_observation(&tx, &new).unwrap();
        }
        tx.commit().unwrap();
        place.project
    }

    fn question(text: &str) -> [i8; DIM] {
        Meaning::of_text(text).vector.unwrap()
    }

    fn near(&self, text: &str, projects: Option<&[i64]>) -> Vec<Near> {
        nearest(&self.store, &Self::question(text), projects, 10).unwrap()
    }

    /// Both files of the cache, and every way to spoil one.
    fn spoil(&self) -> Vec<(String, Box<dyn Fn()>)> {
        let mut ways: Vec<(String, Box<dyn Fn()>)> = Vec::new();
        for entry in fs::read_dir(self.folder.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "bin") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let mut put = |what: &str, content: Vec<u8>| {
                let path = path.clone();
                ways.push((format!("{name}: {what}"), Box::new(move || fs::write(&path, &content).unwrap())));
            };
            put("empty", Vec::new());
            put("half", bytes[..bytes.len() / 2].to_vec());
            put("longer", [bytes.clone(), vec![7; 100]].concat());
            for at in [0, 8, bytes.len() / 3, bytes.len() - 30, bytes.len() - 1] {
                let mut other = bytes.clone();
                other[at] ^= 1;
                put(&format!("byte {at}"), other);
            }
        }
        ways
    }
}

#[test]
fn a_cache_changes_no_answer_whatever_happens_to_it() {
    let f = Fixture::new();
    let first = f.fill("first", 0..700);
    let second = f.fill("second", 700..1_100);
    let scopes: [Option<&[i64]>; 3] = [None, Some(&[first]), Some(&[second])];
    let ask = || {
        let texts = ["login token", "deploy the queue", "schema"];
        texts.map(|text| scopes.map(|scope| f.near(text, scope)))
    };
    let rows = ask();
    assert!(refresh(&f.store).unwrap());
    assert!(!refresh(&f.store).unwrap(), "nothing new");
    assert_eq!(ask(), rows);
    let vectors = f.folder.path().join("vectors-cmse-base-1.bin");
    let kept = fs::read(&vectors).unwrap();
    for (what, spoil) in f.spoil() {
        spoil();
        assert_eq!(ask(), rows, "{what}");
        fs::write(&vectors, &kept).unwrap();
    }
    fs::remove_file(&vectors).unwrap();
    assert_eq!(ask(), rows);
    // What came after it is found beside it.
    rebuild(&f.store).unwrap();
    f.fill("second", 1_100..1_110);
    assert!(f.near("cache deploy 1102", None).iter().any(|near| near.observation == 1_103));
    // Rows that were moved or taken away make it useless, until it is made again.
    f.store.conn().execute("UPDATE vector_epoch SET epoch = epoch + 1", []).unwrap();
    f.store.conn().execute("DELETE FROM vectors WHERE observation = 1103", []).unwrap();
    assert!(f.near("cache deploy 1102", None).iter().all(|near| near.observation != 1_103));
    assert!(refresh(&f.store).unwrap());
    assert!(f.near("cache deploy 1102", None).iter().all(|near| near.observation != 1_103));
}

#[test]
fn lists_stay_when_rows_come_and_go() {
    let f = Fixture::new();
    let project = f.fill("one", 0..800);
    rebuild(&f.store).unwrap();
    let file = f.folder.path().join("centroids-cmse-base-1.bin");
    let centroids = || {
        let mark = Cache::open(&f.folder.path().join("vectors-cmse-base-1.bin"), DIM).unwrap().mark;
        Centroids::open(&file, mark).unwrap().of(project).unwrap()
    };
    let before = centroids();
    f.store.conn().execute("DELETE FROM vectors WHERE observation = 3", []).unwrap();
    f.store.conn().execute("UPDATE vector_epoch SET epoch = epoch + 1", []).unwrap();
    f.fill("one", 800..2_000);
    assert!(refresh(&f.store).unwrap());
    assert_eq!(centroids(), before);
    let all = nearest(&f.store, &Fixture::question("login retry"), None, usize::MAX).unwrap();
    assert_eq!(all.len(), 1_999);
    let ids = |near: Vec<Near>| near.iter().map(|near| near.observation).collect::<Vec<i64>>();
    assert!(!ids(all).contains(&3));
    assert_eq!(ids(f.near("token deploy schema 1234", None))[0], 1_235);
}

#[test]
fn lists_find_nearly_all_that_is_nearest() {
    let mut vectors = Entries::new(DIM);
    for n in 0..1_000 {
        let text = format!("module {} handles request {} for tenant {}", n % 71, n % 13, n);
        vectors.push(n, &Meaning::of_text(&text).vector.unwrap());
    }
    let quantum = Space::embedded().quantum();
    let centroids = lists::train(&vectors, quantum);
    assert_eq!(centroids, lists::train(&vectors, quantum), "the same vectors give the same lists");
    let refs: Vec<&[i8]> = vectors.iter().map(|(_, vector)| vector).collect();
    let lists = lists::assign(&centroids, &refs);
    let mut known = Centroids::new();
    known.add(1, &centroids);
    assert_eq!(known.of(1).unwrap(), centroids);
    let (mut found, mut all) = (0, 0);
    for question in vectors.iter().step_by(97).map(|(_, vector)| vector) {
        let mut exact = Nearest::new(10);
        vectors
            .iter()
            .for_each(|(id, v)| exact.offer(Near { product: embed::dot(question, v), observation: id }));
        let probed = known.lists(1, question).unwrap();
        all += 10;
        found +=
            exact.sorted().iter().filter(|near| probed.contains(&lists[near.observation as usize])).count();
    }
    // `scripts/bench/scale` measures it at the sizes at which lists are used.
    assert!(found * 100 >= all * 90, "{found} of {all}");
}
