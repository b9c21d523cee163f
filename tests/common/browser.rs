//! A real browser, where the machine has one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names under which browsers are installed. `CMEM_BROWSER` names another one.
const NAMES: [&str; 6] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "firefox"];

/// What a browser made of a page.
#[derive(Debug)]
pub struct Seen {
    /// The picture, a PNG.
    pub picture: Vec<u8>,
    /// What it complained about on its console.
    pub complaints: Vec<String>,
}

/// The browser of this machine.
pub fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CMEM_BROWSER").filter(|named| !named.is_empty()) {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    NAMES
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|file| file.is_file())
}

/// Looks at a file through a window of this size, in a profile of its own.
#[track_caller]
pub fn look(browser: &Path, page: &Path, (width, height): (u32, u32), is_dark: bool, home: &Path) -> Seen {
    let profile = home.join(format!("profile-{width}-{is_dark}"));
    let picture = home.join(format!("seen-{width}-{is_dark}.png"));
    fs::create_dir_all(&profile).unwrap();
    let mut command = Command::new(browser);
    let is_firefox = browser.file_name().is_some_and(|name| name.to_string_lossy().contains("firefox"));
    if is_firefox {
        let theme = if is_dark { 0 } else { 1 };
        let preference =
            format!("user_pref(\"layout.css.prefers-color-scheme.content-override\", {theme});\n");
        fs::write(profile.join("user.js"), preference).unwrap();
        command.args(["--headless", "--no-remote", "--profile"]).arg(&profile);
        command.arg(format!("--window-size={width},{height}")).arg("--screenshot").arg(&picture);
    } else {
        // The tests run as root in containers; 0 is dark.
        let scheme = format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark));
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
        command.args(["--hide-scrollbars", "--no-first-run", "--enable-logging=stderr", &scheme]);
        // Nothing here is on the network, and a browser that looks for its maker waits for an answer.
        command.args([
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(format!("--window-size={width},{height}"));
        command.arg(format!("--screenshot={}", picture.display()));
    }
    command.arg(format!("file://{}", page.display())).env("HOME", home).stdin(Stdio::null());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", browser.display());
    let is_complaint = |line: &&str| line.contains("CONSOLE") || line.contains("JavaScript error");
    Seen {
        picture: fs::read(&picture).unwrap_or_else(|error| panic!("no picture: {error}: {said}")),
        complaints: said.lines().filter(is_complaint).map(str::to_owned).collect(),
    }
}
