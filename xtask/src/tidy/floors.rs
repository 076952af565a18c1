//! The floors: a crate depends only on crates of a lower floor.
//!
//! The table is ARCHITECTURE.md's "Rooms". What a floor may not see is what keeps it replaceable: nothing of
//! partune-otf2 can leak into an analysis, because no edge leads there.

use super::{Package, Problem, Tree};

/// Every room and its floor. A crate that is not here does not build its way past this check.
const FLOORS: &[(&str, u32)] = &[
    ("partune-base", 0),
    ("partune-diag", 0),
    ("partune-regions", 0),
    ("partune-mpi-abi", 0),
    ("partune-expr", 1),
    ("partune-trace", 1),
    ("partune-machine", 1),
    ("partune-paradigm", 2),
    ("partune-index", 2),
    ("partune-otf2", 3),
    ("partune-formats", 3),
    ("partune-analysis", 3),
    ("partune-replay", 3),
    ("partune-model", 3),
    ("partune-coupling", 3),
    ("partune-symbols", 3),
    ("partune-testkit", 3),
    ("partune-synth", 4),
    ("partune-advice", 4),
    ("partune-picture", 4),
    ("partune-files", 5),
    ("partune-measure", 5),
    ("partune-record", 6),
    ("partune-engine", 6),
    ("partune-report", 7),
    ("partune-server", 8),
    ("partune", 9),
    ("xtask", 0),
];

/// Only tests may use it, and then from any floor.
pub(super) const TESTKIT: &str = "partune-testkit";

/// The first floor that talks to the outside world.
pub(super) const ENGINE: u32 = 5;

/// All that a collector may bring into the user's program.
const COLLECTOR: &[&str] = &["partune-collect", "partune-mpi-abi"];

/// Whether a crate runs inside the user's program. Such crates stand beside the house: they talk to the outside world, and they bring
/// nothing with them but each other.
pub(super) fn is_collector(name: &str) -> bool {
    name == "partune-collect" || name.starts_with("partune-collect-")
}

/// The floor of a crate; none if it is unknown.
pub(super) fn floor(name: &str) -> Option<u32> {
    if is_collector(name) {
        return Some(u32::from(name != "partune-collect"));
    }
    FLOORS.iter().find(|(known, _)| *known == name).map(|&(_, floor)| floor)
}

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.packages.iter().flat_map(edges).collect()
}

fn edges(package: &Package) -> Vec<Problem> {
    let place = &package.name;
    let Some(own) = floor(place) else {
        return vec![Problem::new(place, "has no floor: add it to xtask/src/tidy/floors.rs and ARCHITECTURE.md")];
    };
    let wrong = |to: &str, dev: bool| {
        if to == TESTKIT {
            // The automation is no part of the tool.
            return (!dev && place != "xtask").then(|| format!("{to} is for tests: make it a dev-dependency"));
        }
        if is_collector(place) {
            let foreign = !dev && !COLLECTOR.contains(&to);
            return foreign.then(|| format!("a collector must not bring {to} into the user's program"));
        }
        match floor(to) {
            Some(below) if below < own => None,
            // What is shipped stays acyclic; tests of an analysis may read archives.
            Some(beside) if dev && beside == own => None,
            Some(above) => Some(format!("floor {own} must not depend on {to}, floor {above}")),
            None => Some(format!("depends on {to}, which has no floor")),
        }
    };
    package.edges.iter().filter_map(|edge| wrong(&edge.to, edge.dev)).map(|text| Problem::new(place, text)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Edge;
    use super::*;

    #[track_caller]
    fn check(name: &str, to: &str, dev: bool, problems: usize) {
        let edges_of = vec![Edge { to: to.to_owned(), dev }];
        let package = Package { name: name.to_owned(), manifest: String::new(), edges: edges_of, tests: Vec::new() };
        assert_eq!(edges(&package).len(), problems, "{name} -> {to}");
    }

    #[test]
    fn edges_go_down() {
        check("partune-trace", "partune-base", false, 0);
        check("partune-base", "partune-diag", false, 1);
        check("partune-analysis", "partune-otf2", false, 1);
        check("partune-analysis", "partune-otf2", true, 0);
        check("partune-analysis", "partune-engine", true, 1);
        check("partune-otf2", "partune-unheard-of", false, 1);
        check("partune-unheard-of", "partune-base", false, 1);
    }

    #[test]
    fn collectors_bring_nothing_but_each_other() {
        check("partune-collect-mpi", "partune-base", false, 1);
        check("partune-collect-mpi", "partune-collect", false, 0);
        check("partune-collect-mpi", "partune-paradigm", true, 0);
        check("partune-collect", "partune-otf2", true, 0);
    }

    #[test]
    fn the_testkit_is_for_tests_on_any_floor() {
        check("partune-index", TESTKIT, true, 0);
        check("partune-engine", TESTKIT, false, 1);
    }
}
