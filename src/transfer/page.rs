//! A record as a Markdown file: what people read and change, in an order that never changes. What differs from person
//! to person (hits, the time of the last change) or what git keeps (revisions) is not in it.

use super::VERSION;
use super::front::{self, Page, Value};
use crate::git;
use crate::model::{
    Carried, CarriedObservation, CarriedProject, CarriedPrompt, CarriedSummary, Draft, Priority, Source,
    Status, SummaryDraft, Timestamp,
};

/// How a page of ours begins.
const MARK: &str = "---\ncmem: ";

/// Whether a file is one of ours, readable or not.
pub(super) fn is_ours(text: &str) -> bool {
    text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").starts_with(MARK)
}

/// The uid in a page, also in one that cannot be read.
pub(super) fn uid_of(text: &str) -> Option<String> {
    let uid = text.lines().find_map(|line| line.strip_prefix("uid: "))?;
    Some(uid.trim().trim_matches('"').to_owned())
}

/// The page of a record; `None` for what has none.
pub(super) fn write(record: &Carried) -> Option<String> {
    let mut page = Writer::default();
    page.word("cmem", &VERSION.to_string());
    page.text("kind", record.what());
    match record {
        Carried::Project(project) => {
            page.text("name", &project.name);
            page.maybe("remote", project.remote.as_deref());
            // A path is another on every machine: it is told only where nothing else says which project it is.
            if project.remote.is_none() {
                page.text("key", &project.key);
            }
            page.text("worktree", &project.worktree);
        }
        Carried::Observation(observation) => observation_page(&mut page, observation),
        Carried::Summary(summary) => {
            page.word("uid", &summary.uid);
            page.text("project", &summary.project);
            page.maybe("merged_into", summary.merged_into.as_deref());
            page.text("session", &summary.session);
            page.number("prompt", summary.prompt_number);
            page.text("model", &summary.model);
            page.word("created", &summary.created_at.to_string());
            let text = &summary.text;
            page.text("request", &text.request);
            page.text("investigated", &text.investigated);
            page.text("learned", &text.learned);
            page.text("completed", &text.completed);
            page.text("next_steps", &text.next_steps);
            page.text("notes", &text.notes);
        }
        Carried::Prompt(prompt) => {
            page.word("uid", &prompt.uid);
            page.text("project", &prompt.project);
            page.maybe("merged_into", prompt.merged_into.as_deref());
            page.text("session", &prompt.session);
            page.number("prompt", Some(prompt.number));
            page.word("created", &prompt.created_at.to_string());
            page.body("text", &prompt.text);
        }
        Carried::Branch(_) | Carried::Session(_) => return None,
    }
    Some(page.0.write())
}

fn observation_page(page: &mut Writer, observation: &CarriedObservation) {
    let text = &observation.text;
    page.word("uid", &observation.uid);
    page.text("type", &text.r#type);
    page.text("title", &text.title);
    page.text("subtitle", &text.subtitle);
    page.text("project", &observation.project);
    page.maybe("merged_into", observation.merged_into.as_deref());
    if observation.status != Status::Active {
        page.text("status", observation.status.name());
    }
    if observation.priority != Priority::Normal {
        page.text("priority", observation.priority.name());
    }
    if observation.pinned {
        page.word("pinned", "true");
    }
    page.word("expires", &observation.expires_at.map(|at| at.to_string()).unwrap_or_default());
    page.word("superseded_by", observation.superseded_by.as_deref().unwrap_or_default());
    page.list("contests", &observation.contests);
    page.list("sources", &observation.sources);
    page.list("concepts", &text.concepts);
    page.list("keywords", &text.keywords);
    page.list("facts", &text.facts);
    page.list("files_read", &text.files_read);
    page.list("files_modified", &text.files_modified);
    page.text("source", observation.source.name());
    page.text("session", &observation.session);
    page.number("prompt", observation.prompt_number);
    page.maybe("agent", observation.agent.as_deref());
    page.text("model", &observation.model);
    page.number("tokens", Some(observation.tokens_spent).filter(|tokens| *tokens != 0));
    page.word("created", &observation.created_at.to_string());
    page.body("narrative", &text.narrative);
}

/// Reads a page of ours.
///
/// # Errors
/// A sentence that says what is wrong.
pub(super) fn read(text: &str) -> Result<Carried, String> {
    let mut page = Reader(Page::read(text.strip_prefix('\u{feff}').unwrap_or(text))?);
    let version = page.needed("cmem")?;
    if version != VERSION.to_string() {
        return Err(format!("it was written by a newer cmem (format {version}, this one knows {VERSION})"));
    }
    let kind = page.needed("kind")?;
    let record = match kind.as_str() {
        "project" => Carried::Project(project(&mut page)?),
        "observation" => Carried::Observation(Box::new(observation(&mut page)?)),
        "summary" => Carried::Summary(CarriedSummary {
            uid: page.needed("uid")?,
            project: page.needed("project")?,
            branch: None,
            merged_into: page.text("merged_into")?,
            session: page.text("session")?.unwrap_or_default(),
            prompt_number: page.number("prompt")?,
            text: SummaryDraft {
                request: page.text("request")?.unwrap_or_default(),
                investigated: page.text("investigated")?.unwrap_or_default(),
                learned: page.text("learned")?.unwrap_or_default(),
                completed: page.text("completed")?.unwrap_or_default(),
                next_steps: page.text("next_steps")?.unwrap_or_default(),
                notes: page.text("notes")?.unwrap_or_default(),
            },
            model: page.text("model")?.unwrap_or_default(),
            created_at: page.time("created")?.ok_or("`created` is missing")?,
        }),
        "prompt" => Carried::Prompt(CarriedPrompt {
            uid: page.needed("uid")?,
            project: page.needed("project")?,
            branch: None,
            merged_into: page.text("merged_into")?,
            session: page.text("session")?.unwrap_or_default(),
            number: page.number("prompt")?.unwrap_or_default(),
            created_at: page.time("created")?.ok_or("`created` is missing")?,
            text: page.body("text")?,
        }),
        other => return Err(format!("`kind: {other}` is not known")),
    };
    page.nothing_else()?;
    Ok(record)
}

fn project(page: &mut Reader) -> Result<CarriedProject, String> {
    let (name, remote) = (page.needed("name")?, page.text("remote")?);
    let key = match (page.text("key")?, &remote) {
        (Some(key), _) => key,
        (None, Some(remote)) => format!("remote:{}", git::remote_id(remote)),
        (None, None) => return Err(String::from("it has neither `remote` nor `key`")),
    };
    let worktree = page.text("worktree")?.unwrap_or_default();
    let root = if worktree.is_empty() { key.strip_suffix("/.git").unwrap_or(&key) } else { &worktree };
    Ok(CarriedProject {
        name,
        root: root.to_owned(),
        key,
        worktree,
        remote,
        aliases: Vec::new(),
        created_at: Timestamp::default(),
    })
}

fn observation(page: &mut Reader) -> Result<CarriedObservation, String> {
    Ok(CarriedObservation {
        uid: page.needed("uid")?,
        project: page.needed("project")?,
        branch: None,
        merged_into: page.text("merged_into")?,
        priority: page.word("priority")?.unwrap_or(Priority::Normal),
        pinned: match page.text("pinned")?.as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => return Err(format!("`pinned: {other}` is neither true nor false")),
        },
        status: page.word("status")?.unwrap_or(Status::Active),
        superseded_by: page.text("superseded_by")?,
        contests: page.list("contests")?,
        sources: page.list("sources")?,
        expires_at: page.time("expires")?,
        hit_count: 0,
        last_hit_at: None,
        source: page.word("source")?.unwrap_or(Source::Import),
        session: page.text("session")?.unwrap_or_default(),
        prompt_number: page.number("prompt")?,
        agent: page.text("agent")?,
        model: page.text("model")?.unwrap_or_default(),
        tokens_spent: page.number("tokens")?.unwrap_or_default(),
        created_at: page.time("created")?.ok_or("`created` is missing")?,
        updated_at: None,
        revisions: Vec::new(),
        text: Draft {
            r#type: page.needed("type")?,
            title: page.text("title")?.unwrap_or_default(),
            subtitle: page.text("subtitle")?.unwrap_or_default(),
            facts: page.list("facts")?,
            concepts: page.list("concepts")?,
            keywords: page.list("keywords")?,
            files_read: page.list("files_read")?,
            files_modified: page.list("files_modified")?,
            supersedes: Vec::new(),
            narrative: page.body("narrative")?,
        },
    })
}

/// Leaves out what is empty.
#[derive(Default)]
struct Writer(Page);

impl Writer {
    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.0.fields.push((key.to_owned(), Value::Text(value.to_owned())));
        }
    }

    fn maybe(&mut self, key: &str, value: Option<&str>) {
        self.text(key, value.unwrap_or_default());
    }

    fn number(&mut self, key: &str, value: Option<i64>) {
        self.word(key, &value.map(|value| value.to_string()).unwrap_or_default());
    }

    fn word(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.0.fields.push((key.to_owned(), Value::Word(value.to_owned())));
        }
    }

    fn list(&mut self, key: &str, values: &[String]) {
        if !values.is_empty() {
            self.0.fields.push((key.to_owned(), Value::List(values.to_vec())));
        }
    }

    /// A text that does not come back from a body is a field of its own.
    fn body(&mut self, key: &str, value: &str) {
        if front::is_body(value) {
            value.clone_into(&mut self.0.body);
        } else {
            self.text(key, value);
        }
    }
}

struct Reader(Page);

impl Reader {
    fn take(&mut self, key: &str) -> Option<Value> {
        let place = self.0.fields.iter().position(|(known, _)| known == key)?;
        Some(self.0.fields.remove(place).1)
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Text(text) | Value::Word(text)) => Ok(Some(text).filter(|text| !text.is_empty())),
            Some(Value::List(items)) if items.is_empty() => Ok(None),
            Some(Value::List(_)) => Err(format!("`{key}` is a list; it must be a text")),
        }
    }

    fn needed(&mut self, key: &str) -> Result<String, String> {
        self.text(key)?.ok_or_else(|| format!("`{key}` is missing"))
    }

    fn list(&mut self, key: &str) -> Result<Vec<String>, String> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::List(items)) => Ok(items),
            Some(Value::Text(_) | Value::Word(_)) => {
                Err(format!("`{key}` must be a list, one `  - item` a line"))
            }
        }
    }

    fn number(&mut self, key: &str) -> Result<Option<i64>, String> {
        let text = self.text(key)?;
        text.map(|text| text.parse().map_err(|_| format!("`{key}: {text}` is no number"))).transpose()
    }

    fn time(&mut self, key: &str) -> Result<Option<Timestamp>, String> {
        let text = self.text(key)?;
        text.map(|text| Timestamp::parse(&text).ok_or_else(|| format!("`{key}: {text}` is no time")))
            .transpose()
    }

    fn word<T: serde::de::DeserializeOwned>(&mut self, key: &str) -> Result<Option<T>, String> {
        let text = self.text(key)?;
        text.map(|text| {
            serde_json::from_value(serde_json::Value::from(text)).map_err(|error| format!("`{key}`: {error}"))
        })
        .transpose()
    }

    fn body(&mut self, key: &str) -> Result<String, String> {
        let body = std::mem::take(&mut self.0.body);
        match self.text(key)? {
            Some(_) if !body.is_empty() => Err(format!("it has both `{key}` and a text below")),
            Some(text) => Ok(text),
            None => Ok(body),
        }
    }

    fn nothing_else(&self) -> Result<(), String> {
        if let Some((key, _)) = self.0.fields.first() {
            return Err(format!("`{key}` is not known"));
        }
        match self.0.body.is_empty() {
            true => Ok(()),
            false => Err(String::from("there is a text below that belongs nowhere")),
        }
    }
}
