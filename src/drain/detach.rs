//! Starting the drainer so that nobody waits for it: the one module with system calls of its own.
//!
//! On a hook timeout Claude Code ends the process tree by parent links, children in a session of their own
//! included; and it reads the hook's pipes to end of file. So the drainer is forked twice, gets /dev/null on
//! 0 to 2, keeps no other descriptor but its lock, and works from the data directory, not from a worktree
//! that somebody may want to remove.

#![expect(unsafe_code, reason = "fork and exec between two threads' worth of state need the raw calls")]

use std::env;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

use crate::config::{Paths, Settings, is_inherited};
use crate::spool::FileLock;

/// What a drainer needs beside that: settings.
const SETTINGS: [&str; 2] = ["CMEM_", "CLAUDE_MEM_"];

/// The drainer could not be started; events wait for the next hook.
#[derive(Debug, thiserror::Error)]
pub enum DetachError {
    /// The path of this program or a setting holds a NUL byte, or cannot be found.
    #[error("the drainer's command line cannot be built: {0}")]
    Command(String),
    /// The system refused a process.
    #[error("the drainer cannot be started: {0}")]
    Fork(io::Error),
}

/// Starts `cmem drain --background` with the lock handed over, and returns at once.
///
/// # Errors
/// [`DetachError`] when there is no process to be had; the lock is free again then.
pub fn start_detached(paths: &Paths, settings: &Settings, lock: &FileLock) -> Result<(), DetachError> {
    let program = env::current_exe().map_err(|error| DetachError::Command(error.to_string()))?;
    let lock_fd = lock.file().as_raw_fd();
    let arguments: [&OsStr; 7] = [
        program.as_os_str(),
        OsStr::new("drain"),
        OsStr::new("--background"),
        OsStr::new("--lock-fd"),
        &OsString::from(lock_fd.to_string()),
        OsStr::new("--data-dir"),
        paths.root().as_os_str(),
    ];
    let arguments = arguments.iter().map(|argument| c_string(argument)).collect::<Result<Vec<_>, _>>()?;
    let environment = environment(&settings.claude_env)?;
    let root = c_string(paths.root().as_os_str())?;
    let null = c_string(OsStr::new("/dev/null"))?;
    let argv = pointers(&arguments);
    let envp = pointers(&environment);
    // SAFETY: everything the children touch was allocated above; between fork and exec they make only
    // async-signal-safe calls, on plain integers and on pointers that live until this function returns.
    unsafe {
        match libc::fork() {
            -1 => Err(DetachError::Fork(io::Error::last_os_error())),
            0 => {
                libc::setsid();
                if libc::fork() != 0 {
                    libc::_exit(0);
                }
                become_drainer(lock_fd, &null, &root, &argv, &envp)
            }
            intermediate => {
                let mut status = 0;
                libc::waitpid(intermediate, &raw mut status, 0);
                Ok(())
            }
        }
    }
}

/// The lock that `start_detached` handed to this process, if `fd` really is it.
pub fn inherited_lock(paths: &Paths, fd: RawFd) -> Option<FileLock> {
    let expected = std::fs::metadata(paths.drain_lock()).ok()?;
    // SAFETY: fcntl on any integer is sound; a descriptor that is open was given to this process by its
    // parent for this purpose, and nothing else here owns it.
    let file = unsafe {
        if fd < 3 || libc::fcntl(fd, libc::F_GETFD) == -1 {
            return None;
        }
        libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        File::from_raw_fd(fd)
    };
    let found = file.metadata().ok()?;
    ((found.dev(), found.ino()) == (expected.dev(), expected.ino())).then(|| FileLock::inherited(file))
}

unsafe fn become_drainer(
    lock_fd: RawFd,
    null: &CString,
    root: &CString,
    argv: &[*const libc::c_char],
    envp: &[*const libc::c_char],
) -> ! {
    // SAFETY: see the caller.
    unsafe {
        let null_fd = libc::open(null.as_ptr(), libc::O_RDWR);
        for fd in 0..3 {
            libc::dup2(null_fd, fd);
        }
        close_all_but(lock_fd);
        libc::fcntl(lock_fd, libc::F_SETFD, 0);
        libc::chdir(root.as_ptr());
        if let Some(program) = argv.first() {
            libc::execve(*program, argv.as_ptr(), envp.as_ptr());
        }
        libc::_exit(127)
    }
}

/// Closes every descriptor from 3 on except one: an inherited end of the client's pipe would make it wait.
unsafe fn close_all_but(kept: RawFd) {
    // SAFETY: closing descriptors of a process that is about to exec touches no memory.
    unsafe {
        #[cfg(target_os = "linux")]
        {
            let close_range = |first: RawFd, last: libc::c_uint| {
                libc::syscall(libc::SYS_close_range, first as libc::c_uint, last, 0) == 0
            };
            let below = kept <= 3 || close_range(3, (kept - 1) as libc::c_uint);
            if below && close_range(kept + 1, libc::c_uint::MAX) {
                return;
            }
        }
        let limit = libc::sysconf(libc::_SC_OPEN_MAX).clamp(256, 65_536);
        for fd in 3..limit as RawFd {
            if fd != kept {
                libc::close(fd);
            }
        }
    }
}

fn environment(more: &[String]) -> Result<Vec<CString>, DetachError> {
    let kept = |name: &OsStr| {
        name.to_str().is_some_and(|name| {
            is_inherited(name, more) || SETTINGS.iter().any(|prefix| name.starts_with(prefix))
        })
    };
    env::vars_os()
        .filter(|(name, _)| kept(name))
        .map(|(mut name, value)| {
            name.push("=");
            name.push(value);
            c_string(&name)
        })
        .collect()
}

fn c_string(text: &OsStr) -> Result<CString, DetachError> {
    CString::new(text.as_bytes()).map_err(|error| DetachError::Command(error.to_string()))
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}
