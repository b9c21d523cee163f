use std::fs;
use std::io;
use std::path::Path;
use std::process;

/// Replaces a small file of cmem's own: a reader sees the old one or the new one.
///
/// # Errors
/// What the system says; the old file is there then.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("json.{}", process::id()));
    fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path))
}
