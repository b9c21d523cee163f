//! Checks of the data directory as files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Check;
use crate::config::Paths;

/// File systems across a network, or through a host: SQLite's locks and shared memory are not reliable there
/// (<https://sqlite.org/wal.html>: all processes must be on the same host).
const NETWORK: [&str; 13] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "afs",
    "ceph",
    "lustre",
    "fuse.sshfs",
    "fuse.glusterfs",
    "fuse.rclone",
    "virtiofs",
];

/// A drainer empties the logs when it leaves; one that has grown beyond this has not been emptied for long.
const LARGE_LOG: u64 = 64 << 20;

/// Nobody else may read memories: the directory is closed, or else each file in it is.
pub(super) fn permissions(paths: &Paths) -> Check {
    const NAME: &str = "permissions";
    let root = paths.root();
    let mode = |path: &Path| fs::metadata(path).map(|file| file.permissions().mode() & 0o777);
    let root_mode = match mode(root) {
        Ok(mode) => mode,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Check::ok(NAME, format!("{} does not exist yet", root.display()));
        }
        Err(error) => return Check::fail(NAME, format!("{}: {error}", root.display()), "make it yours"),
    };
    if !root.is_dir() || root_mode & 0o700 != 0o700 {
        return Check::fail(
            NAME,
            format!("{} is not a directory that you can write", root.display()),
            "name another with CMEM_DATA_DIR, or make it yours",
        );
    }
    let open: Vec<PathBuf> =
        files_below(root).into_iter().filter(|path| mode(path).is_ok_and(|mode| mode & 0o077 != 0)).collect();
    let remedy = format!("`chmod -R go= {}`", root.display());
    match (root_mode & 0o077 != 0, open.first()) {
        (false, None) => Check::ok(NAME, "nobody else can read the data directory"),
        (true, Some(path)) => {
            Check::fail(NAME, format!("others can reach {} ({} files)", path.display(), open.len()), remedy)
        }
        (true, None) => {
            Check::warn(NAME, format!("{} is {root_mode:o} instead of 700", root.display()), remedy)
        }
        (false, Some(path)) => Check::warn(
            NAME,
            format!("{} is more open than 600, inside a closed directory", path.display()),
            remedy,
        ),
    }
}

fn files_below(root: &Path) -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

pub(super) fn file_system(paths: &Paths) -> Check {
    const NAME: &str = "file system";
    let existing = paths.root().ancestors().find_map(|path| fs::canonicalize(path).ok());
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    match existing.and_then(|path| type_of(&path, &mounts)) {
        Some(kind) if NETWORK.contains(&kind.as_str()) => Check::warn(
            NAME,
            format!("{kind}: locks are not reliable on a network file system"),
            "name a local directory with CMEM_DATA_DIR",
        ),
        Some(kind) => Check::ok(NAME, kind),
        None => Check::ok(NAME, "unknown"),
    }
}

/// The type of the mount that holds `path`; of mounts on the same point, the last one hides the others.
fn type_of(path: &Path, mounts: &str) -> Option<String> {
    mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((PathBuf::from(unescaped(fields.next()?)), fields.next()?))
        })
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind.to_owned())
}

/// Blanks in a mount point are written in octal (proc(5), getmntent(3)).
fn unescaped(field: &str) -> String {
    field.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

pub(super) fn write_ahead_logs(paths: &Paths) -> Check {
    const NAME: &str = "logs";
    let size = |database: PathBuf| {
        let mut log = database.into_os_string();
        log.push("-wal");
        fs::metadata(log).map_or(0, |file| file.len())
    };
    let (memory, spool) = (size(paths.memory()), size(paths.spool()));
    let message = format!(
        "write-ahead logs: memory.db {} KiB, spool.db {} KiB",
        memory.div_ceil(1024),
        spool.div_ceil(1024)
    );
    if memory.max(spool) > LARGE_LOG {
        return Check::warn(NAME, message, "`cmem drain` empties them, unless a reader holds them open");
    }
    Check::ok(NAME, message)
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::*;

    const MOUNTS: &str = "/dev/sda1 / ext4 rw 0 0\nhost:/home /home nfs4 rw 0 0\n\
                          tmpfs /home/me/local\\040disk tmpfs rw 0 0\n/dev/sdb /home xfs rw 0 0\n";

    #[test]
    fn the_longest_mount_point_decides() {
        let kind = |path: &str| type_of(Path::new(path), MOUNTS);
        assert_eq!(kind("/var/lib").as_deref(), Some("ext4"));
        assert_eq!(kind("/homes").as_deref(), Some("ext4"));
        assert_eq!(kind("/home/me/local disk/x").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/home/me").as_deref(), Some("xfs"), "the last mount hides the first");
        assert_eq!(kind("relative"), None);
    }

    #[test]
    fn what_others_can_read_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(folder.path())).unwrap();
        let file = paths.memory();
        let state = |folder_mode: u32, file_mode: u32| {
            fs::write(&file, "x").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(file_mode)).unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(folder_mode)).unwrap();
            permissions(&paths).state
        };
        assert_eq!(state(0o700, 0o600), State::Ok);
        assert_eq!(state(0o755, 0o600), State::Warn);
        assert_eq!(state(0o700, 0o644), State::Warn);
        assert_eq!(state(0o755, 0o644), State::Fail);
    }
}
