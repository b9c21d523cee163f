//! `cmem`: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cmem::cli::run()
}
