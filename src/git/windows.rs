//! Windows spellings of places, as a client on the other side of the Windows Subsystem for Linux writes them: the
//! same place must give the same key on both sides.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A path as Linux spells it: `C:\src\app` is `/mnt/c/src/app`, `\\wsl.localhost\Debian\home\me` is `/home/me`
/// (<https://learn.microsoft.com/windows/wsl/filesystems>). Any other path is itself.
pub(super) fn as_linux(path: &Path) -> Cow<'_, Path> {
    match path.to_str().and_then(translate) {
        Some(path) => Cow::Owned(path),
        None => Cow::Borrowed(path),
    }
}

fn translate(path: &str) -> Option<PathBuf> {
    let slashed = || path.replace('\\', "/");
    if let [drive, b':', b'/' | b'\\', ..] = path.as_bytes()
        && drive.is_ascii_alphabetic()
    {
        let drive = char::from(drive.to_ascii_lowercase());
        return Some(PathBuf::from(format!("/mnt/{drive}{}", &slashed()[2..])));
    }
    if !path.starts_with(r"\\") && !path.starts_with("//") {
        return None;
    }
    let share = slashed();
    let rest = share.strip_prefix("//wsl$/").or_else(|| share.strip_prefix("//wsl.localhost/"))?;
    let (_distribution, inside) = rest.split_once('/').unwrap_or((rest, ""));
    Some(PathBuf::from(format!("/{inside}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_has_one_spelling() {
        for (windows, linux) in [
            (r"C:\Users\me\app", "/mnt/c/Users/me/app"),
            ("c:/Users/me/app", "/mnt/c/Users/me/app"),
            (r"D:\", "/mnt/d/"),
            (r"\\wsl$\Ubuntu\home\me\app", "/home/me/app"),
            (r"\\wsl.localhost\Debian\home\me", "/home/me"),
            ("//wsl.localhost/Debian/home/me", "/home/me"),
            (r"\\wsl$\Ubuntu", "/"),
            ("/mnt/c/Users/me/app", "/mnt/c/Users/me/app"),
            ("/home/me", "/home/me"),
            ("relative/C:/x", "relative/C:/x"),
            (r"\\server\share\x", r"\\server\share\x"),
            ("C:x", "C:x"),
            ("", ""),
        ] {
            assert_eq!(as_linux(Path::new(windows)), Path::new(linux), "{windows}");
        }
    }
}
