//! The rooms: every crate takes the workspace's lints and versions, and links one test binary.
//!
//! One binary a crate because each is linked on its own: twenty of them cost minutes on two cores.

use super::{Package, Problem, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.packages.iter().flat_map(problems).collect()
}

fn problems(package: &Package) -> Vec<Problem> {
    let mut found = Vec::new();
    let mut tell = |text: String| found.push(Problem::new(&package.name, text));
    if package.tests.iter().any(|name| name != "main") {
        tell(format!("test binaries {}: keep one, tests/main.rs, with modules", package.tests.join(", ")));
    }
    if !package.manifest.contains("[lints]\nworkspace = true") {
        tell("does not take the workspace's lints: add `[lints]` with `workspace = true`".to_owned());
    }
    for line in own_versions(&package.manifest) {
        tell(format!("`{line}`: versions are chosen in the workspace's Cargo.toml"));
    }
    found
}

/// Lines of the dependency tables that do not take the workspace's choice.
fn own_versions(manifest: &str) -> Vec<&str> {
    let mut in_dependencies = false;
    let mut found = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            in_dependencies = line.ends_with("dependencies]");
        } else if in_dependencies && line.contains('=') && !line.starts_with('#') {
            let inherits = line.replace(' ', "").contains("workspace=true");
            if !inherits {
                found.push(line);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_room_passes_and_each_fault_is_told() {
        let manifest = "[lints]\nworkspace = true\n\n[dependencies]\na.workspace = true\nb = { workspace = true }\n";
        let package = |tests: &[&str], manifest: &str| Package {
            name: "partune-x".to_owned(),
            manifest: manifest.to_owned(),
            edges: Vec::new(),
            tests: tests.iter().map(|&name| name.to_owned()).collect(),
        };
        assert_eq!(problems(&package(&["main"], manifest)), []);
        assert_eq!(problems(&package(&["main", "other"], manifest)).len(), 1);
        assert_eq!(problems(&package(&[], "[dependencies]\nserde = \"1\"\n")).len(), 2);
    }
}
