//! The form of every Rust file: it says what it is, stays short, and is finished.

use super::{Problem, Source, Tree};

/// Above this a file must be a table or a test.
const LONG: usize = 1000;

/// Each file begins with `//!`: what it is, for whom, its constraints.
pub(super) fn header(tree: &Tree) -> Vec<Problem> {
    let bad = tree.sources.iter().filter(|file| !file.text.starts_with("//!"));
    bad.map(|file| Problem::at(file, 1, "begin with `//!`: what this is, for whom, its constraints")).collect()
}

/// A long file is a table (its header says so) or a test.
pub(super) fn length(tree: &Tree) -> Vec<Problem> {
    let is_table = |file: &Source| {
        file.text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.to_lowercase().contains("table"))
    };
    let lines = |file: &Source| file.text.lines().count();
    let bad = tree.sources.iter().filter(|file| lines(file) > LONG && !file.is_test() && !is_table(file));
    bad.map(|file| {
        let text = format!("{} lines: split it by subject; only a table (its header says so) or a test", lines(file));
        Problem::at(file, LONG, text)
    })
    .collect()
}

/// What is not done is an issue, not a comment; what cannot happen is an `expect` with its reason.
pub(super) fn unfinished(tree: &Tree) -> Vec<Problem> {
    let marks = ["TODO", "FIXME", "XXX"];
    let macros = ["todo!", "unimplemented!"];
    let word = |text: &str, mark: &str| text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == mark);
    let mut problems = Vec::new();
    for file in tree.sources.iter().filter(|file| file.path.contains("/src/")) {
        for comment in &file.code.comments {
            for mark in marks.iter().filter(|mark| word(&comment.text, mark)) {
                problems.push(Problem::at(file, comment.line, format!("{mark}: finish it, or open an issue")));
            }
        }
        for (index, line) in file.code.plain.lines().enumerate() {
            for name in macros.iter().filter(|name| line.contains(**name)) {
                problems.push(Problem::at(file, index + 1, format!("{name}: finish it")));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::tests::problems;
    use super::*;

    const FILE: &str = "crates/partune-base/src/a.rs";

    #[test]
    fn files_begin_with_what_they_are() {
        assert_eq!(problems(header, FILE, "// a\n").len(), 1);
        assert_eq!(problems(header, FILE, "//! a\n").len(), 0);
    }

    #[test]
    fn only_tables_and_tests_are_long() {
        let long = "x\n".repeat(LONG + 1);
        assert_eq!(problems(length, FILE, &long).len(), 1);
        assert_eq!(problems(length, FILE, &format!("//! The table of constructs.\n{long}")).len(), 0);
        assert_eq!(problems(length, "crates/a/tests/big.rs", &long).len(), 0);
    }

    #[test]
    fn nothing_is_left_unfinished() {
        let text = "//! a\n// XXX\nfn f() { todo!() }\n// XXXX todo\nlet s = \"TODO\";\n";
        assert_eq!(problems(unfinished, FILE, text).len(), 2);
        assert_eq!(problems(unfinished, "crates/a/tests/a.rs", text).len(), 0);
    }
}
