//! Which functions a user wants to see, by name.
//!
//! For the launcher: names are looked up in symbol tables before the program starts, and the recorder gets addresses.
//!
//! ```text
//! # Everything, but for small helpers; these two of them are wanted.
//! exclude util::*
//! exclude *::operator*
//! include util::solve*
//! not MPI_Comm_rank
//! ```
//!
//! A line is `include` or `exclude` and a pattern; the last line that matches decides, and what no line matches is included.
//! `*` stands for any text, `?` for any character. A pattern is compared with the readable name, with that name without its
//! arguments, and with the linker's name. What a word after `not` means is for who calls libraries' functions by name. Empty lines and lines that begin with `#` are comments.

use std::ops::Range;

use crate::module::Module;
use crate::names::demangle;

/// Rules, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    rules: Vec<(bool, String)>,
    /// Words after `not`.
    pub not: Vec<String>,
}

/// A line that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is neither `include PATTERN` nor `exclude PATTERN` nor `not WORD`")]
pub struct FilterError {
    /// Counted from 1.
    pub line: usize,
    pub text: String,
}

impl Filter {
    /// Reads the rules of a file.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut filter = Filter::default();
        for (index, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(char::is_whitespace) {
                Some((word @ ("include" | "exclude"), pattern)) => {
                    filter.rules.push((word == "include", pattern.trim().to_owned()));
                }
                Some(("not", word)) => filter.not.push(word.trim().to_owned()),
                _ => return Err(FilterError { line: index + 1, text: line.to_owned() }),
            }
        }
        Ok(filter)
    }

    /// Whether anything is said of functions of modules.
    pub fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether the function with this symbol is to be recorded.
    pub fn includes(&self, symbol: &str) -> bool {
        let readable = demangle(symbol);
        let bare = readable.find('(').filter(|&at| at > 0).map_or(&*readable, |at| &readable[..at]);
        let decides = |pattern: &str| [&*readable, bare, symbol].iter().any(|name| matches(pattern, name));
        self.rules.iter().rev().find(|(_, pattern)| decides(pattern)).is_none_or(|(include, _)| *include)
    }

    /// The addresses of functions of a module that are not to be recorded, in order. Empty if it has no symbol table.
    pub fn excluded(&self, module: &Module<'_>) -> Vec<Range<u64>> {
        let functions = module.functions().iter().filter(|function| !self.includes(function.name));
        functions.map(|function| function.start..function.end).collect()
    }
}

/// Cost: at most the product of the lengths.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut seen) = (0, 0);
    // Where to go on if the last `*` has to stand for one character more.
    let mut star = None;
    while seen < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[seen] => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((back, more)) = star else { return false };
                star = Some((back, more + 1));
                at = back + 1;
                seen = more + 1;
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rule_that_matches_decides() {
        let filter = Filter::parse("# comment\n\nexclude util::*\n include util::solve* \nexclude ti?y\n").unwrap();
        assert!(filter.includes("main") && filter.includes("tinny"));
        assert!(!filter.includes("tiny"));
        assert!(!filter.includes("_ZN4util4helpEi"));
        assert!(filter.includes("_ZN4util5solveEi"));
        assert!(Filter::parse("exclude *\ninclude util::solve").unwrap().includes("_ZN4util5solveEi"));
        assert!(!Filter::parse("exclude *\ninclude _ZN4util5solveEi").unwrap().includes("_ZN4util5solveEd"));
        assert!(Filter::default().includes("anything"));
    }

    #[test]
    fn lines_that_are_no_rules_are_said() {
        let error = Filter::parse("exclude a\nexcept b\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: `except b` is neither `include PATTERN` nor `exclude PATTERN` nor `not WORD`"
        );
        assert_eq!(Filter::parse("include").unwrap_err().line, 1);
        let filter = Filter::parse("not MPI_Comm_rank\n not  sync all \n").unwrap();
        assert!(filter.not == ["MPI_Comm_rank", "sync all"] && !filter.has_rules());
    }

    #[test]
    fn stars_go_back() {
        for (pattern, name, is) in [
            ("a*b*c", "aXbXbc", true),
            ("a*b", "aXc", false),
            ("*", "", true),
            ("", "", true),
            ("?", "", false),
            ("*::operator*", "x::y::operator()(int)", true),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }
}
