//! Time and memory of whole processes.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::World;
use crate::common::world::binary;

/// What one run of a process cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub wall: Duration,
    /// Peak resident memory, in KiB.
    pub peak_kib: i64,
}

/// Runs a command to its end.
#[expect(unsafe_code, reason = "the standard library gives no resource usage of one child")]
#[expect(clippy::zombie_processes, reason = "wait4 waits for it")]
pub fn run(command: &mut Command) -> Cost {
    let began = Instant::now();
    let child = command.spawn().unwrap();
    let id = libc::pid_t::try_from(child.id()).unwrap();
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage, both pointers are valid for the call, and the child is waited for
    // here only.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::wait4(id, &raw mut status, 0, &raw mut usage), id);
        usage
    };
    let wall = began.elapsed();
    assert_eq!(status, 0, "{command:?} failed");
    Cost { wall, peak_kib: usage.ru_maxrss }
}

/// `cmem ARGS` in the world's project, with `input` on standard input and the output thrown away.
pub fn cmem(world: &World, args: &[&str], input: &[u8]) -> Command {
    let file = world.path("tmp/input");
    fs::write(&file, input).unwrap();
    cmem_reading(world, args, &file)
}

/// The same with the input in a file.
pub fn cmem_reading(world: &World, args: &[&str], input: &Path) -> Command {
    let mut command = world.command(binary(), &world.project());
    command.args(args).stdin(File::open(input).unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The path of an empty static Rust process, built once.
pub fn empty_process() -> PathBuf {
    let folder = env::temp_dir().join(format!("cmem-bench-{}", std::process::id()));
    let program = folder.join("empty");
    if !program.exists() {
        fs::create_dir_all(&folder).unwrap();
        let source = folder.join("empty.rs");
        fs::write(&source, "fn main() {}\n").unwrap();
        let musl = format!("{}-unknown-linux-musl", env::consts::ARCH);
        let build = |extra: &[&str]| {
            let mut rustc = Command::new("rustc");
            rustc
                .args(["-O", "-C", "strip=symbols", "-C", "panic=abort"])
                .args(extra)
                .arg("-o")
                .arg(&program);
            rustc.arg(&source).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
        };
        assert!(
            build(&["--target", &musl]) || build(&["-C", "target-feature=+crt-static"]),
            "rustc cannot build it"
        );
    }
    program
}

/// The empty process as a command in the same surroundings.
pub fn empty(world: &World) -> Command {
    let mut command = world.command(empty_process(), &world.project());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Costs of many runs of one thing.
#[derive(Debug, Default)]
pub struct Series(Vec<Cost>);

impl Series {
    pub fn add(&mut self, cost: Cost) {
        self.0.push(cost);
    }

    /// Wall time of this share of the runs, in milliseconds.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut walls: Vec<Duration> = self.0.iter().map(|cost| cost.wall).collect();
        walls.sort();
        let index = ((walls.len() - 1) as f64 * share).round() as usize;
        walls[index].as_secs_f64() * 1000.0
    }

    pub fn peak_mib(&self) -> f64 {
        self.0.iter().map(|cost| cost.peak_kib).max().unwrap_or_default() as f64 / 1024.0
    }

    /// Median, p95 and peak memory, beside the median of the empty process.
    pub fn beside(&self, empty: &Self) -> String {
        let (median, base) = (self.quantile(0.5), empty.quantile(0.5));
        format!(
            "median {median:.1} ms, p95 {:.1} ms, peak {:.1} MiB (empty process {base:.1} ms: {:.1} times)",
            self.quantile(0.95),
            self.peak_mib(),
            median / base
        )
    }
}
