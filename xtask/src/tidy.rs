//! `cargo xtask tidy`: the invariants of ARCHITECTURE.md that no compiler and no lint checks.
//!
//! A check is a function from the [`Tree`] to the problems it sees; the list of all is [`CHECKS`]. The same list
//! runs as a test of this crate, so `cargo test` fails where `tidy` does. To add a check, add a line there.

mod floors;
mod fronts;
mod layers;
mod rooms;
mod sources;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use crate::code::Code;

/// One check: what it holds, and how.
struct Check {
    name: &'static str,
    run: fn(&Tree) -> Vec<Problem>,
}

/// Every check, in the order in which problems are printed.
const CHECKS: &[Check] = &[
    Check { name: "floors", run: floors::check },
    Check { name: "front ends", run: fronts::check },
    Check { name: "rooms", run: rooms::check },
    Check { name: "header", run: sources::header },
    Check { name: "length", run: sources::length },
    Check { name: "unfinished", run: sources::unfinished },
    Check { name: "outside world", run: layers::outside_world },
    Check { name: "construct names", run: layers::construct_names },
];

/// What a check found: where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Problem {
    place: String,
    text: String,
}

impl Problem {
    fn new(place: impl fmt::Display, text: impl Into<String>) -> Self {
        Self { place: place.to_string(), text: text.into() }
    }

    fn at(file: &Source, line: usize, text: impl Into<String>) -> Self {
        Self::new(format_args!("{}:{line}", file.path), text)
    }
}

/// A Rust file of the repository.
struct Source {
    /// From the root, with `/`.
    path: String,
    text: String,
    code: Code,
}

impl Source {
    fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { path: path.into(), code: Code::parse(&text), text }
    }

    /// The crate it belongs to, if it lies in `crates/`.
    fn package(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether it is part of the library or program itself, not a test, bench, example or build script.
    fn is_src(&self) -> bool {
        self.path.contains("/src/") && !self.is_test()
    }

    fn is_test(&self) -> bool {
        ["/tests/", "/benches/", "/fuzz_targets/"].iter().any(|dir| self.path.contains(dir))
            || self.path.ends_with("/tests.rs")
    }
}

/// Everything that the checks look at, read once.
struct Tree {
    sources: Vec<Source>,
    packages: Vec<Package>,
    architecture: String,
}

/// A member of the workspace as `cargo metadata` lists it.
struct Package {
    name: String,
    manifest: String,
    edges: Vec<Edge>,
    /// Names of its test binaries.
    tests: Vec<String>,
}

/// What a member depends on.
struct Edge {
    to: String,
    /// It is no member of the workspace.
    foreign: bool,
    /// Only tests or the build script need it; it is not shipped.
    dev: bool,
}

/// All problems of the repository, rendered one per line.
pub(crate) fn run() -> anyhow::Result<Vec<String>> {
    let tree = Tree::read(&root())?;
    let problems = CHECKS.iter().flat_map(|check| (check.run)(&tree).into_iter().map(|found| (check.name, found)));
    Ok(problems.map(|(name, Problem { place, text })| format!("{place}: {text} [{name}]")).collect())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}

impl Tree {
    fn read(root: &Path) -> anyhow::Result<Self> {
        let mut paths = Vec::new();
        for top in ["crates", "xtask", "fuzz", "examples", "bench"] {
            rust_files(&root.join(top), &mut paths)?;
        }
        paths.sort();
        let sources = paths
            .iter()
            .map(|path| {
                let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                let relative = path.strip_prefix(root).expect("found below the root");
                Ok(Source::new(relative.to_string_lossy().replace('\\', "/"), text))
            })
            .collect::<anyhow::Result<_>>()?;
        let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).context("cannot read ARCHITECTURE.md")?;
        Ok(Self { sources, packages: packages(root)?, architecture })
    }
}

/// Appends every `.rs` file below `dir`; build outputs and hidden folders are left out.
fn rust_files(dir: &Path, out: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(dir).with_context(|| format!("cannot list {}", dir.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            rust_files(&path, out)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            out.push(path);
        }
    }
    Ok(())
}

fn packages(root: &Path) -> anyhow::Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let list = |value: &serde_json::Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            let manifest = text(&package["manifest_path"]);
            let edges = list(&package["dependencies"]);
            let tests = list(&package["targets"]);
            Ok(Package {
                name: text(&package["name"]),
                manifest: fs::read_to_string(&manifest).with_context(|| format!("cannot read {manifest}"))?,
                edges: edges
                    .iter()
                    .map(|edge| {
                        let (to, dev) = (text(&edge["name"]), !edge["kind"].is_null());
                        Edge { to, dev, foreign: !edge["path"].is_string() }
                    })
                    .collect(),
                tests: tests
                    .iter()
                    .filter(|target| list(&target["kind"]).iter().any(|kind| kind == "test"))
                    .map(|target| text(&target["name"]))
                    .collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repository_is_tidy() {
        let problems = run().expect("the repository can be read");
        assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
    }

    /// The texts of the problems that `check` sees in one file.
    #[track_caller]
    pub(super) fn problems(check: fn(&Tree) -> Vec<Problem>, path: &str, text: &str) -> Vec<String> {
        let sources = vec![Source::new(path, text)];
        let tree = Tree {
            sources,
            packages: Vec::new(),
            architecture: "| 3 | `partune-otf2` | |\n| 5 | `partune-engine` | |\n".to_owned(),
        };
        check(&tree).into_iter().map(|p| p.place).collect()
    }
}
