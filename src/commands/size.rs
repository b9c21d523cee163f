//! `cmem stats --size`: what lies in the data directory, and what of it is of no use.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::reader;
use crate::cli::printer::Printer;
use crate::config::Paths;
use crate::error::Failure;
use crate::render;
use crate::store::DatabaseSize;

#[derive(Serialize)]
struct Answer {
    /// Every file, by its name in the data directory.
    files: Vec<FileSize>,
    /// Bytes of all of them.
    bytes: u64,
    databases: Vec<Database>,
    /// Bytes that `cmem drain` may give back: free pages and write-ahead logs.
    reclaimable: u64,
}

#[derive(Serialize)]
struct FileSize {
    name: String,
    bytes: u64,
}

#[derive(Serialize)]
struct Database {
    name: &'static str,
    #[serde(flatten)]
    size: DatabaseSize,
}

/// Prints the sizes.
///
/// # Errors
/// [`Failure`] when a database or the data directory cannot be read.
pub(super) fn run(what: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let mut databases = Vec::new();
    if let Some(store) = reader::open(what, paths)? {
        let size = store.size().map_err(|error| reader::store_failure(what, &error))?;
        databases.push(Database { name: "memory.db", size });
    }
    if let Some(spool) = reader::open_spool(what, paths)? {
        let size = spool.size().map_err(|error| reader::spool_failure(what, &error))?;
        databases.push(Database { name: "spool.db", size });
    }
    let mut files = Vec::new();
    list(paths.root(), "", &mut files)
        .map_err(|error| Failure::new(what, error, "check the permissions of the data directory"))?;
    files.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    let free = |size: &DatabaseSize| u64::try_from(size.free_pages * size.page_size).unwrap_or(0);
    let logs = files.iter().filter(|file| file.name.ends_with("-wal")).map(|file| file.bytes).sum::<u64>();
    let answer = Answer {
        bytes: files.iter().map(|file| file.bytes).sum(),
        reclaimable: logs + databases.iter().map(|database| free(&database.size)).sum::<u64>(),
        files,
        databases,
    };
    if printer.wants_json() {
        printer.json(&answer);
    } else {
        text(&answer).iter().for_each(|line| printer.data(line));
    }
    Ok(())
}

/// Every file below a folder. One that goes away meanwhile is none.
fn list(folder: &Path, prefix: &str, files: &mut Vec<FileSize>) -> std::io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Ok(meta) = entry.metadata() else { continue };
        if meta.is_dir() {
            list(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push(FileSize { name, bytes: meta.len() });
        }
    }
    Ok(())
}

fn text(answer: &Answer) -> Vec<String> {
    let mut lines: Vec<String> = answer
        .files
        .iter()
        .map(|file| format!("{:>10}  {}", bytes(file.bytes), render::line(&file.name)))
        .collect();
    lines.push(format!("{:>10}  in all", bytes(answer.bytes)));
    for Database { name, size } in &answer.databases {
        let rows: Vec<String> = size
            .tables
            .iter()
            .filter(|table| table.rows > 0)
            .map(|table| format!("{} {}", table.name, table.rows))
            .collect();
        let rows = if rows.is_empty() { String::from("none") } else { rows.join(", ") };
        lines.push(format!(
            "{name}: {} pages of {} bytes, {} of them free; rows: {rows}",
            size.pages, size.page_size, size.free_pages
        ));
    }
    lines.push(format!("{} may be given back by `cmem drain`", bytes(answer.reclaimable)));
    lines
}

/// In the largest unit that gives at least 1.
#[expect(clippy::cast_precision_loss, reason = "a rounded number")]
fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let (mut size, mut unit) = (count as f64 / 1024.0, 0);
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_said_in_the_unit_that_fits() {
        let said = [0, 1023, 1024, 1536, 5 << 20, 3 << 30].map(bytes);
        assert_eq!(said, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "5.0 MiB", "3.0 GiB"]);
    }
}
