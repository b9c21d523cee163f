//! `cmem config`: every setting, its value and where that comes from.

mod file;

use serde::Serialize;

use self::file::SettingsFile;
use crate::cli::printer::Printer;
use crate::config::{Origin, Paths, Setting, SettingsError, Sources, catalogue, describe};
use crate::error::Failure;
use crate::http::without_secrets;

#[derive(Serialize)]
struct Entry {
    key: &'static str,
    /// `set` or `not set` for a secret; an address without what it may hold.
    value: String,
    origin: Origin,
    help: &'static str,
}

/// Prints one value.
///
/// # Errors
/// [`Failure`] for an unknown key or an unreadable file.
pub fn get(key: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "config get";
    let setting = known(WHAT, key)?;
    let entry = entry(&sources(WHAT, paths)?, setting);
    if printer.wants_json() {
        printer.json(&entry);
    } else {
        printer.data(&entry.value);
        printer.talk(&format!("from: {}", entry.origin));
    }
    Ok(())
}

/// Prints every setting.
///
/// # Errors
/// [`Failure`] for an unreadable file.
pub fn list(paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let sources = sources("config list", paths)?;
    let entries: Vec<Entry> = catalogue().iter().map(|setting| entry(&sources, setting)).collect();
    if printer.wants_json() {
        printer.json(&entries);
        return Ok(());
    }
    let width = entries.iter().map(|entry| entry.key.len()).max().unwrap_or_default();
    for entry in &entries {
        let value = entry.value.replace('\n', "\\n");
        printer.data(&format!("{:<width$}  {:<11}  {value}", entry.key, entry.origin.to_string()));
    }
    Ok(())
}

/// Writes a value to `settings.json`.
///
/// # Errors
/// [`Failure`] for an unknown key, a value that it does not take, or a file that cannot be read or written.
pub fn set(key: &str, value: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "config set";
    let setting = put(WHAT, key, value, paths)?;
    tell(setting, WHAT, paths, printer)
}

/// Writes a value to `settings.json` for `what`, which says so itself.
pub(super) fn put(what: &str, key: &str, value: &str, paths: &Paths) -> Result<&'static Setting, Failure> {
    let setting = known(what, key)?;
    setting.check(value).map_err(|error| Failure::usage(what, error, "nothing was changed"))?;
    paths.create().map_err(|error| {
        Failure::new(what, error, "name a writable directory with --data-dir or CMEM_DATA_DIR")
    })?;
    let mut file = open(what, paths)?;
    file.set(setting.key, value);
    save(what, &file)?;
    Ok(setting)
}

/// Takes a setting out of `settings.json`, under both its spellings.
///
/// # Errors
/// [`Failure`] for an unknown key, or a file that cannot be read or written.
pub fn unset(key: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    const WHAT: &str = "config unset";
    let setting = known(WHAT, key)?;
    let mut file = open(WHAT, paths)?;
    if file.unset(setting.key) {
        save(WHAT, &file)?;
    }
    tell(setting, WHAT, paths, printer)
}

/// Says what holds now: the environment may hide what the file says.
fn tell(setting: &'static Setting, what: &str, paths: &Paths, printer: &mut Printer) -> Result<(), Failure> {
    let entry = entry(&sources(what, paths)?, setting);
    if printer.wants_json() {
        printer.json(&entry);
    }
    let hides = if entry.origin == Origin::Environment { ", which wins over the file" } else { "" };
    printer.talk(&format!(
        "{} = {} (from: {}{hides})",
        entry.key,
        entry.value.replace('\n', "\\n"),
        entry.origin
    ));
    Ok(())
}

fn known(what: &str, key: &str) -> Result<&'static Setting, Failure> {
    describe(key).map_err(|error| Failure::usage(what, error, "see `cmem config list`"))
}

fn sources(what: &str, paths: &Paths) -> Result<Sources, Failure> {
    Sources::load(&paths.settings()).map_err(|error| unreadable(what, &error))
}

fn unreadable(what: &str, error: &SettingsError) -> Failure {
    Failure::new(what, error, "correct the file or move it away; it was not touched")
}

fn open(what: &str, paths: &Paths) -> Result<SettingsFile, Failure> {
    // The same reader as everywhere: what it refuses is not written over.
    sources(what, paths)?;
    SettingsFile::read(&paths.settings())
        .map_err(|error| Failure::new(what, error, "correct the file or move it away; it was not touched"))
}

fn save(what: &str, file: &SettingsFile) -> Result<(), Failure> {
    file.write().map_err(|error| {
        Failure::new(what, error, "check the permissions of the data directory; the old file is still there")
    })
}

fn entry(sources: &Sources, setting: &'static Setting) -> Entry {
    let (value, origin) = sources.get(setting);
    let value = match (setting.secret, value.is_empty()) {
        (true, true) => String::from("not set"),
        (true, false) => String::from("set"),
        (false, _) if setting.key.ends_with("_BASE_URL") => without_secrets(&value),
        (false, _) => value.into_owned(),
    };
    Entry { key: setting.key, value, origin, help: setting.help }
}
