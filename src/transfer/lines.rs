//! Reading JSON Lines: a line at a time, whatever stands in the others.

use std::io::{BufRead, Read};

use serde::Deserialize;

use super::merge::Merger;
use super::{Report, TransferError, VERSION};
use crate::model::Carried;
use crate::store::Store;

/// Lines of one transaction: other writers wait no longer than for these, and a crash costs no more.
const CHUNK: usize = 500;
/// Bytes of one transaction, about.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// Longest line; a record of cmem is far below.
const MAX_LINE: u64 = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

struct Line {
    number: u64,
    bytes: Vec<u8>,
    too_long: bool,
}

/// Takes every record of an export in. Nothing is read while the memory is held, except by a dry run, which holds it
/// throughout and takes everything back.
///
/// # Errors
/// [`TransferError`]; what was taken in before stays, and the same call completes it.
pub fn read_lines(
    store: &Store,
    input: &mut dyn BufRead,
    mut merger: Merger<'_>,
    dry_run: bool,
    progress: &mut dyn FnMut(u64),
) -> Result<Report, TransferError> {
    let mut lines = Lines { input, number: 0 };
    let mut open = None;
    let mut begun = false;
    loop {
        let chunk = lines.chunk()?;
        if chunk.is_empty() {
            break;
        }
        let mut records = chunk.iter();
        if !begun {
            let first = records.next();
            header(first.map_or(&[], |line| &line.bytes))?;
            begun = true;
        }
        let tx = match open.take() {
            Some(tx) => tx,
            None => store.begin()?,
        };
        for line in records {
            let at = || format!("line {}", line.number);
            match parse(line) {
                Ok(Some(record)) => merger.take(&tx, record, at)?,
                Ok(None) => {}
                Err(why) => merger.report.problem(at(), why),
            }
        }
        if dry_run {
            open = Some(tx)
        } else {
            tx.commit()?
        }
        progress(chunk.iter().map(|line| line.bytes.len() as u64).sum());
    }
    if !begun {
        header(&[])?;
    }
    let tx = match open.take() {
        Some(tx) => tx,
        None => store.begin()?,
    };
    merger.finish(&tx)?;
    if !dry_run {
        tx.commit()?;
    }
    Ok(merger.report)
}

/// Refuses what is no export, or of a version that is not known.
fn header(line: &[u8]) -> Result<(), TransferError> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let Ok(Header { format, version }) = serde_json::from_slice(line) else {
        return Err(TransferError::Foreign(String::from(
            "the first line is not `{\"format\":\"cmem\",\"version\":1}`",
        )));
    };
    match (format.as_str(), version) {
        ("cmem", VERSION) => Ok(()),
        ("cmem", found) => Err(TransferError::Newer { found }),
        _ => Err(TransferError::Foreign(format!("its format is {format:?}"))),
    }
}

/// The record of a line; `None` for one that holds none. Exports may be put one behind the other.
fn parse(line: &Line) -> Result<Option<Carried>, String> {
    if line.too_long {
        return Err(format!("the line is longer than {MAX_LINE} bytes"));
    }
    if line.bytes.trim_ascii().is_empty() || header(&line.bytes).is_ok() {
        return Ok(None);
    }
    serde_json::from_slice(&line.bytes).map(Some).map_err(|error| match error.classify() {
        serde_json::error::Category::Eof => {
            String::from("the line ends in the middle of a record; was the file cut off?")
        }
        serde_json::error::Category::Syntax => String::from("the line is no JSON"),
        _ => error.to_string().replace(" at line 1 column", " at column"),
    })
}

struct Lines<'a> {
    input: &'a mut dyn BufRead,
    number: u64,
}

impl Lines<'_> {
    fn chunk(&mut self) -> Result<Vec<Line>, TransferError> {
        let mut lines = Vec::new();
        let mut bytes = 0;
        while lines.len() < CHUNK && bytes < CHUNK_BYTES {
            let Some(line) = self.next()? else { break };
            bytes += line.bytes.len();
            lines.push(line);
        }
        Ok(lines)
    }

    fn next(&mut self) -> Result<Option<Line>, TransferError> {
        let mut bytes = Vec::new();
        (&mut *self.input).take(MAX_LINE).read_until(b'\n', &mut bytes)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        let mut too_long = false;
        if bytes.len() as u64 == MAX_LINE && bytes.last() != Some(&b'\n') {
            too_long = true;
            bytes.clear();
            loop {
                let mut rest = Vec::new();
                (&mut *self.input).take(MAX_LINE).read_until(b'\n', &mut rest)?;
                if rest.is_empty() || rest.last() == Some(&b'\n') {
                    break;
                }
            }
        }
        Ok(Some(Line { number: self.number, bytes, too_long }))
    }
}
