//! The pages of `partune view` in a real browser: starts the tests of `ui/test`, which drive a headless Chromium against this binary.
//!
//! They need Node.js, what `scripts/ui.sh` installed and built, and Chromium; where one is missing they are skipped and that is said,
//! and with `CI` set it is a failure. Pictures of every view are left in `target/ui-screenshots`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use partune_testkit::outside;

use crate::archives::workspace;

/// A test for each file of `ui/test`, by its name.
macro_rules! of_pages {
    ($($name:ident)*) => {
        const FILES: &[&str] = &[$(stringify!($name)),*];
        $(
        #[test]
        fn $name() {
            work(stringify!($name));
        }
        )*
    };
}

of_pages!(access array beside colours compare counters flame format history matrix measured report search source thresholds timeline views);

#[test]
fn each_file_has_its_test() {
    let mut names: Vec<String> = std::fs::read_dir(workspace().join("ui/test"))
        .expect("the tests of the pages")
        .filter_map(|file| Some(file.expect("a file").file_name().to_str()?.strip_suffix(".test.ts")?.to_owned()))
        .collect();
    names.sort();
    assert_eq!(names, FILES);
}

/// Runs the tests of a file. They wait for what the pages draw, so that two browsers at a time would wait for each other.
fn work(file: &str) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ui = workspace().join("ui");
    if let Some(missing) = missing(&ui) {
        return outside::missing(missing);
    }
    let built =
        Command::new("npm").args(["run", "--silent", "build-test"]).current_dir(&ui).status().expect("npm runs");
    assert!(built.success(), "the tests of ui/test are built");
    let output = Command::new("node")
        .args(["--test", &format!("node_modules/.test/{file}.test.mjs")])
        .current_dir(&ui)
        .env("PARTUNE_BIN", env!("CARGO_BIN_EXE_partune"))
        .env("PARTUNE_ROOT", workspace())
        .env("PARTUNE_SHOTS", target().join("ui-screenshots"))
        .output()
        .expect("node runs");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Where cargo builds: two above the folder of the binary.
fn target() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_partune")).ancestors().nth(2).expect("the binary is in target/PROFILE").to_owned()
}

/// What the tests need and is not here.
fn missing(ui: &Path) -> Option<&'static str> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|it| it.status.success());
    let chromium = std::env::var_os("PARTUNE_CHROMIUM").is_some()
        || ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
            .iter()
            .any(|it| Path::new(it).exists());
    if !runs("node") || !runs("npm") {
        Some("Node.js and npm")
    } else if !ui.join("node_modules/playwright-core").exists() || !ui.join("dist/partune.js").exists() {
        Some("ui/dist: run make ui")
    } else if !chromium {
        Some("Chromium")
    } else {
        None
    }
}
