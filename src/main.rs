//! `cmem`: everything is in the library.

use std::process::ExitCode;

/// musl's own allocator asks the system for every few kilobytes and gives them back at once, which costs a hook a
/// fifth of its time.
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

fn main() -> ExitCode {
    cmem::cli::run()
}
