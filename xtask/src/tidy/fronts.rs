//! Front ends see the engine only: no trace and no index, nor what is made from them, except in tests.
//!
//! A front end is whatever stands above the engine. What it may not depend on are the rooms that have a trace in their types; what the engine
//! shows of these is re-exported by it.

use super::floors::{Floor, Floors};
use super::{Package, Problem, Tree};

const ENGINE: &str = "partune-engine";

/// The rooms whose types are events and what is derived from them.
const HIDDEN: &[&str] = &[
    "partune-trace",
    "partune-index",
    "partune-analysis",
    "partune-picture",
    "partune-import",
    "partune-paraver",
    "partune-projections",
    "partune-paradigm",
];

/// The engine's door for tests.
const INSIDE: &str = "inside::";

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let floors = Floors::read(&tree.architecture);
    let dependencies = tree.packages.iter().filter(|package| is_front(&floors, &package.name)).flat_map(dependencies);
    let uses =
        tree.sources.iter().filter(|file| file.is_src() && file.package().is_some_and(|name| is_front(&floors, name)));
    let uses = uses.flat_map(|file| {
        let lines = file.code.plain.lines().enumerate().map(|(index, line)| (index + 1, line));
        let wrong = lines.filter(|(line, text)| *line < file.code.tests_begin() && text.contains(INSIDE));
        wrong.map(|(line, _)| {
            Problem::at(file, line, "looks inside of a run: add what is missing to the engine's `Run`")
        })
    });
    dependencies.chain(uses).collect()
}

/// Whether a crate stands above the engine.
fn is_front(floors: &Floors, name: &str) -> bool {
    match (floors.of(name), floors.of(ENGINE)) {
        (Some(Floor::Of(own)), Some(Floor::Of(engine))) => own > engine,
        _ => false,
    }
}

fn dependencies(package: &Package) -> Vec<Problem> {
    let hidden = package.edges.iter().filter(|edge| !edge.dev && HIDDEN.contains(&edge.to.as_str()));
    let text = |to: &str| format!("a front end must not depend on {to}: {ENGINE} shows what there is to see");
    hidden.map(|edge| Problem::new(&package.name, text(&edge.to))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::problems;
    use super::super::{Edge, Source};
    use super::*;

    const ROOMS: &str = "| 1 | `partune-trace` | x |\n| 6 | `partune-engine` | x |\n| 6 | `partune-record` | x |\n| 7 | `partune-report` | x |\n";

    fn found(name: &str, to: &str, dev: bool) -> usize {
        let edges = vec![Edge { to: to.to_owned(), dev, foreign: false }];
        let package = Package { name: name.to_owned(), manifest: String::new(), edges, tests: Vec::new() };
        let tree = Tree { sources: Vec::new(), packages: vec![package], architecture: ROOMS.to_owned() };
        check(&tree).len()
    }

    #[test]
    fn a_front_end_depends_on_no_trace() {
        assert_eq!(found("partune-report", "partune-trace", false), 1);
        assert_eq!(found("partune-report", "partune-trace", true), 0, "tests may");
        assert_eq!(found("partune-report", "partune-engine", false), 0);
        assert_eq!(found("partune-engine", "partune-trace", false), 0);
        assert_eq!(found("partune-record", "partune-trace", false), 0, "beside the engine, not above");
    }

    #[test]
    fn a_front_end_does_not_look_inside() {
        let uses = "use partune_engine::inside::of;\nfn f() {}\n";
        let of = |path: &str, text: &str| {
            let sources = vec![Source::new(path, text)];
            check(&Tree { sources, packages: Vec::new(), architecture: ROOMS.to_owned() }).len()
        };
        assert_eq!(of("crates/partune-report/src/a.rs", uses), 1);
        assert_eq!(of("crates/partune-report/tests/a.rs", uses), 0);
        assert_eq!(of("crates/partune-engine/src/a.rs", uses), 0);
        let tested = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n    {uses}}}\n");
        assert_eq!(of("crates/partune-report/src/a.rs", &tested), 0);
        assert!(problems(check, "crates/partune-otf2/src/a.rs", uses).is_empty());
    }
}
