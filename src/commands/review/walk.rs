//! One after the other, on a terminal.

use std::io::BufRead;

use super::{Decision, EditArgs, apply, change, heading, reasons, told};
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::mode::Mode;
use crate::render;
use crate::retrieve::{Record, Waiting};

/// Asks what becomes of each; each decision holds at once. The end of the input ends it.
///
/// # Errors
/// [`Failure`] when the memory cannot be read or written.
pub(super) fn each(
    rows: &[Waiting],
    mode: &Mode,
    paths: &Paths,
    answers: &mut dyn BufRead,
    printer: &mut Printer,
) -> Result<(), Failure> {
    for (number, row) in rows.iter().enumerate() {
        let id = row.memory.id;
        printer.data(&format!("\n{} of {}", number + 1, rows.len()));
        printer.data(&render::record(&Record::Observation(Box::new(row.memory.clone())), mode));
        for reason in reasons(row) {
            printer.data(&format!("→ {reason}"));
        }
        loop {
            printer.talk("Take it into use? y yes, n no, e edit, s skip, q quit");
            let Some(answer) = line(answers) else { return Ok(()) };
            // Somebody else may have decided meanwhile; the rest can still be asked for.
            let outcome = match answer.to_lowercase().as_str() {
                "y" | "yes" => apply(&[id], Decision::Accept, paths).map(|done| ("accepted", done)),
                "n" | "no" => apply(&[id], Decision::Reject, paths).map(|done| ("rejected", done)),
                "e" | "edit" => {
                    match edited(row, mode, paths, answers, printer) {
                        Ok(text) => printer.talk(&text),
                        Err(failure) => printer.failure(&failure),
                    }
                    continue;
                }
                "s" | "skip" => break,
                "q" | "quit" => return Ok(()),
                _ => continue,
            };
            match outcome {
                Ok((word, done)) => done.iter().for_each(|one| printer.talk(&told(word, one))),
                Err(failure) => printer.failure(&failure),
            }
            break;
        }
    }
    Ok(())
}

/// Asks for a new title and text; an empty answer keeps what is there.
fn edited(
    row: &Waiting,
    mode: &Mode,
    paths: &Paths,
    answers: &mut dyn BufRead,
    printer: &mut Printer,
) -> Result<String, Failure> {
    printer.talk(&format!("New title, or nothing to keep it ({}):", heading(&row.memory, mode).trim()));
    let title = line(answers).filter(|title| !title.is_empty());
    printer.talk("New text in one line, or nothing to keep it:");
    let text = line(answers).filter(|text| !text.is_empty());
    if title.is_none() && text.is_none() {
        return Ok(String::from("nothing was changed"));
    }
    let changed = change(&EditArgs { id: row.memory.id, title, text, r#type: None }, mode, paths)?;
    Ok(String::from(if changed { "changed" } else { "it says so already" }))
}

/// The next line without blanks around it; `None` at the end of the input.
fn line(answers: &mut dyn BufRead) -> Option<String> {
    let mut line = String::new();
    match answers.read_line(&mut line) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(line.trim().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::super::waiting;
    use super::*;
    use crate::cli::args::ScopeArgs;
    use crate::index;
    use crate::model::{Draft, Identity, Status, Timestamp};
    use crate::store::{NewObservation, Standing, Store, Trace};

    #[test]
    fn each_answer_decides_about_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let store = Store::open(&paths).unwrap();
        let tx = store.begin().unwrap();
        let identity = Identity {
            key: String::from("/x/.git"),
            name: String::from("x"),
            root: String::from("/x"),
            worktree: None,
            branch: None,
            head: None,
            main_head: None,
            remote: None,
        };
        let place = tx.place(&identity, &Trace::default()).unwrap();
        for number in 1..=6 {
            let draft = Draft { title: format!("note {number}"), ..Draft::default() };
            let new = NewObservation {
                place,
                session: "s",
                prompt_number: None,
                draft: &draft,
                agent: None,
                model: "test",
                tokens_spent: 0,
                created_at: Timestamp(number),
                standing: Standing::OBSERVED,
            };
            let stored = index::record_observation(&tx, &new).unwrap();
            tx.set_status(stored.id, Status::Review).unwrap();
        }
        tx.commit().unwrap();
        let all = ScopeArgs { project: None, all_projects: true };
        let rows = waiting(&all, &paths).unwrap();
        assert_eq!(rows.len(), 6);
        let mut printer = Printer::to(false, Box::new(io::sink()), Box::new(io::sink()));
        let mut answers = io::Cursor::new("what?\ny\nNO\ns\ne\nnote four\n\ny\nq\ny\n");
        each(&rows, &Mode::english(), &paths, &mut answers, &mut printer).unwrap();
        let mut statement =
            store.conn().prepare("SELECT title, status FROM observations ORDER BY id").unwrap();
        let found: Vec<(String, String)> = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(
            found,
            [
                ("note 1", "active"),
                ("note 2", "archived"),
                ("note 3", "review"),
                ("note four", "active"),
                ("note 5", "review"),
                ("note 6", "review"),
            ]
        );
    }
}
