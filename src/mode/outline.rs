//! A new mode out of the few things that only its author knows.

use serde_json::{Map, Value, json};

use super::{Term, bundled};

/// Signs for types, in the order of the types; all in the basic plane.
const GLYPHS: [&str; 12] = ["●", "◆", "○", "✓", "↻", "⚖", "⚠", "■", "▲", "★", "⚷", "⊘"];

/// Concepts of any work, for an author who names none.
const CONCEPTS: [(&str, &str); 5] = [
    ("reason", "gives the purpose or the cause"),
    ("how-to", "shows how something is done"),
    ("pitfall", "a trap that the next person would fall into"),
    ("evidence", "says what a statement rests on"),
    ("open-question", "something that is not settled"),
];

/// What the author says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Id; becomes the name of the file.
    pub id: String,
    /// Display name; empty = made from the id.
    pub name: String,
    /// What the mode is for, as it stands after "this work:".
    pub domain: String,
    /// What is recorded: id and description.
    pub types: Vec<Term>,
    /// What the records may be about; empty = concepts of any work.
    pub concepts: Vec<Term>,
    /// A bundled language by locale or name, or any other; empty = that of the conversation.
    pub language: String,
}

impl Outline {
    /// The mode as its file holds it, prompts included.
    pub fn to_file(&self) -> Value {
        let name = if self.name.trim().is_empty() { titled(&self.id) } else { self.name.trim().to_owned() };
        let domain = self.domain.trim().trim_end_matches(['.', '。']).to_owned();
        let types = self.types.iter().enumerate().map(|(index, term)| {
            json!({
                "id": term.id,
                "label": spoken(&term.id),
                "glyph": GLYPHS[index % GLYPHS.len()],
                "description": term.description,
            })
        });
        let concepts = self.concepts();
        let concept_rows = concepts
            .iter()
            .map(|term| json!({ "id": term.id, "label": spoken(&term.id), "description": term.description }));
        let mut file = Map::new();
        file.insert(String::from("name"), Value::from(name));
        file.insert(String::from("description"), Value::from(domain.clone()));
        file.extend(language(&self.language));
        file.insert(String::from("types"), types.collect());
        file.insert(String::from("concepts"), concept_rows.collect());
        file.insert(String::from("prompts"), prompts(&domain, &self.types, &concepts));
        Value::Object(file)
    }

    fn concepts(&self) -> Vec<Term> {
        if !self.concepts.is_empty() {
            return self.concepts.clone();
        }
        CONCEPTS.iter().map(|(id, description)| Term::new(id, description)).collect()
    }
}

/// `language` and `locale` of a mode, from what its author calls the language.
fn language(wanted: &str) -> Map<String, Value> {
    let wanted = wanted.trim();
    let known = bundled::languages().find(|(locale, names)| {
        std::iter::once(*locale).chain(names.iter().map(String::as_str)).any(|name| same(name, wanted))
    });
    match known.and_then(|(locale, _)| bundled::language_pack(locale)) {
        // The labels stay in the binary: a later one has better ones.
        Some(pack) => pack.into_iter().filter(|(key, _)| key != "labels").collect(),
        None if wanted.is_empty() => Map::new(),
        None => [(String::from("language"), Value::from(wanted))].into_iter().collect(),
    }
}

fn same(a: &str, b: &str) -> bool {
    a.to_lowercase() == b.to_lowercase().replace('_', "-")
}

fn prompts(domain: &str, types: &[Term], concepts: &[Term]) -> Value {
    let kinds = listed(types);
    let aspects = listed(concepts);
    json!({
        "role": format!(
            "You keep the long-term memory of this work: {domain}. You are shown the record of another session, in \
             which an agent works on it for its user. You do not take part in that session: nobody there reads what \
             you write, you have no tools, and you have nothing to carry out. You write down what somebody who \
             returns to this work in three months will be glad to know."
        ),
        "record": format!(
            "Record what the session established, if it is one of these: {kinds}. Results count, and their reasons \
             even more. Exact names, dates, amounts, wordings and sources are worth most; so is what was tried in \
             vain, with the reason. Pay attention to: {aspects}. Describe the subject, not the agent. Say nothing that \
             the record does not show; mark a guess as a guess."
        ),
        "skip": format!(
            "Leave out what teaches nothing about this work ({domain}): greetings, plans that were not carried out, \
             searches without a result, opening, listing and saving of files, repeated attempts, progress reports, \
             whatever is none of the kinds above, and whatever the list of recorded titles covers already."
        ),
        "fields": "One observation covers one subject; a batch of events seldom holds more than three. The title is one \
            concrete line of at most 90 characters. The subtitle, at most 24 words, says why it matters. Each fact can \
            be understood alone: no pronouns, with names, dates and sources. The narrative says in two to six sentences \
            what was the case, what was done or found and why, and what holds now. Keywords are three to five words or \
            synonyms, some in other languages, which somebody might search for and which the rest of the text does not \
            contain.",
        "summary": "The summary is a checkpoint of the session so far. Each field is one to three sentences; leave a \
            field empty rather than inventing something.",
    })
}

fn listed(terms: &[Term]) -> String {
    let one = |term: &Term| match term.description.trim() {
        "" => spoken(&term.id),
        description => format!("{} ({})", spoken(&term.id), description.trim_end_matches('.')),
    };
    terms.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// An id as words.
fn spoken(id: &str) -> String {
    id.replace(['-', '_'], " ")
}

fn titled(id: &str) -> String {
    let words = spoken(id);
    let mut rest = words.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::*;

    fn outline() -> Outline {
        Outline {
            id: String::from("bread-lab"),
            domain: String::from("baking bread and keeping notes of each batch."),
            types: vec![
                Term::new("recipe", "a recipe that worked"),
                Term::new("fault_found", "what went wrong."),
            ],
            ..Outline::default()
        }
    }

    #[test]
    fn an_outline_becomes_a_whole_mode() {
        let mode = Mode::from_value("bread-lab", outline().to_file()).unwrap();
        assert_eq!(mode.name, "Bread lab");
        assert_eq!((mode.types.len(), mode.concepts.len()), (2, 5));
        assert_eq!((mode.type_glyph("recipe"), mode.type_name("fault_found")), (Some("●"), "fault found"));
        assert!(mode.prompts.role.contains("this work: baking bread and keeping notes of each batch. You"));
        assert!(
            mode.prompts
                .record
                .contains("recipe (a recipe that worked); fault found (what went wrong). Results")
        );
        assert!(mode.language.is_empty() && mode.locale.is_empty());
    }

    #[test]
    fn a_language_is_known_by_locale_and_by_either_name() {
        for wanted in ["zh-tw", "zh_TW", "Traditional Chinese", "繁體中文"] {
            let file = Outline { language: wanted.to_owned(), ..outline() }.to_file();
            assert_eq!(file["locale"], "zh-tw", "{wanted}");
        }
        let file = Outline { language: String::from("Swahili"), ..outline() }.to_file();
        assert_eq!((&file["language"], &file["locale"]), (&Value::from("Swahili"), &Value::Null));
    }

    #[test]
    fn concepts_of_the_author_replace_ours() {
        let file = Outline { concepts: vec![Term::new("heat", "")], ..outline() }.to_file();
        assert_eq!(file["concepts"].as_array().map(Vec::len), Some(1));
        assert!(file["prompts"]["record"].as_str().unwrap().contains("Pay attention to: heat. Describe"));
    }
}
