//! What a layer must not say: the outside world below the engine, names of constructs in what only knows roles.
//!
//! Tests may do both: they read archives from disk and write traces with real names.

use super::floors::Floors;
use super::{Problem, Source, Tree};

/// What begins a path into the outside world, and macros that print.
const MODULES: &[&str] = &["env", "fs", "net", "process"];
const MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

/// Crates that know roles and never a construct.
const ROLES_ONLY: &[&str] = &["partune-analysis", "partune-index"];
const PREFIXES: &[&str] =
    &["MPI_", "mpi_", "PMPI_", "shmem_", "shmemx_", "omp_", "omp ", "!$omp", "GOMP_", "upc_", "pthread_"];

/// Files below the engine take bytes and give values: no file system, environment, network or stdout.
pub(super) fn outside_world(tree: &Tree) -> Vec<Problem> {
    let floors = Floors::read(&tree.architecture);
    let below = |file: &&Source| file.is_src() && file.package().is_some_and(|name| floors.is_below_engine(name));
    let mut problems = Vec::new();
    for file in tree.sources.iter().filter(below) {
        let mut tell = |line, what: &str| {
            if line < file.code.tests_begin() {
                let text = format!("{what} below the engine: take bytes or a trait, let the engine do the I/O");
                problems.push(Problem::at(file, line, text));
            }
        };
        for (index, line) in file.code.plain.lines().enumerate() {
            for name in MACROS.iter().filter(|name| has_macro(line, name)) {
                tell(index + 1, name);
            }
        }
        for (line, module) in std_modules(&file.code.plain) {
            tell(line, &format!("std::{module}"));
        }
    }
    problems
}

/// An analysis or an index that matches a name works for one paradigm only. A literal that begins with a construct's
/// name is a match in the making; prose that mentions one is not.
pub(super) fn construct_names(tree: &Tree) -> Vec<Problem> {
    let roles_only = |file: &&Source| file.is_src() && file.package().is_some_and(|name| ROLES_ONLY.contains(&name));
    let mut problems = Vec::new();
    for file in tree.sources.iter().filter(roles_only) {
        for literal in file.code.literals.iter().filter(|literal| literal.line < file.code.tests_begin()) {
            if let Some(prefix) = PREFIXES.iter().find(|prefix| literal.text.starts_with(**prefix)) {
                let text = format!("a literal with `{prefix}`: ask for the role, names live in partune-paradigm");
                problems.push(Problem::at(file, literal.line, text));
            }
        }
    }
    problems
}

/// Uses of the forbidden modules of `std`, also from a list in braces.
fn std_modules(code: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("std::").filter(|&(at, _)| !code[..at].ends_with(word_char)) {
        let line = code[..at].matches('\n').count() + 1;
        let path = &code[at + "std::".len()..];
        let names: Vec<&str> = match path.strip_prefix('{') {
            Some(list) => top_level(list),
            None => vec![path],
        };
        for name in names {
            let name = name.trim_start();
            let word = &name[..name.find(|c| !word_char(c)).unwrap_or(name.len())];
            found.extend(MODULES.iter().filter(|module| **module == word).map(|module| (line, *module)));
        }
    }
    found
}

/// The items of a `use` list, up to its closing brace; inner lists stay whole.
fn top_level(list: &str) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut items = Vec::new();
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                items.push(&list[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                items.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items
}

fn word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a macro of this name stands in `line` (`eprintln!` is not `println!`).
fn has_macro(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| !line[..at].ends_with(word_char))
}

#[cfg(test)]
mod tests {
    use super::super::tests::problems;
    use super::*;

    #[test]
    fn below_the_engine_nothing_touches_the_world() {
        let file = "crates/partune-otf2/src/anchor.rs";
        let bad = "use std::fs;\nuse std::{io, env::{self, args}};\nfn f() { println!(\"x\"); }\n";
        let line = |n| format!("{file}:{n}");
        assert_eq!(problems(outside_world, file, bad), [line(3), line(1), line(2)]);
        let good = "//! std::fs\nuse std::{fmt, collections::{BTreeMap, env}};\nlet x = \"std::env println!\";\n\
                    #[cfg(test)]\nmod tests {\n    use std::fs;\n}\n";
        assert!(problems(outside_world, file, good).is_empty());
        for allowed in ["crates/partune-engine/src/open.rs", "crates/partune-otf2/tests/main.rs", "xtask/src/main.rs"] {
            assert!(problems(outside_world, allowed, bad).is_empty(), "{allowed}");
        }
    }

    #[test]
    fn analyses_and_indexes_know_no_names() {
        let bad = "//! MPI_Recv\nlet a = name == \"MPI_Recv\";\n";
        assert_eq!(problems(construct_names, "crates/partune-index/src/a.rs", bad).len(), 1);
        assert!(problems(construct_names, "crates/partune-paradigm/src/mpi.rs", bad).is_empty());
        let good =
            "let docs = \"As MPI_Recv does.\";\n#[cfg(test)]\nmod tests {\n    const T: &str = \"MPI_Recv\";\n}\n";
        assert!(problems(construct_names, "crates/partune-analysis/src/a.rs", good).is_empty());
    }
}
