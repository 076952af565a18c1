//! What a test program says about itself: lines of its first comment that begin with `expect`.
//!
//! ```text
//! expect 4 ranks
//! expect openmpi                      only under this MPI
//! expect status 7                     of the whole run: a number, `any` or `bad` (not 0)
//! expect flags -pthread               for the compiler
//! expect library part.c               a shared library that the program is linked with
//! expect plugin part.c                one that it opens, and it is itself no MPI program
//! expect unlinked                     it is no MPI program, and opens MPI itself
//! expect each: MPI_Send 3, sent 24    counts of every rank, see [`super::printed`]
//! expect rank 0: MPI_Recv 3           counts of one rank
//! expect wait late_sender at HERE: MPI_Recv, ranks 1 2, 0.30 s, causes 0, path outer, in main
//! ```
//!
//! A wait is at the line that holds its mark in capitals; its seconds are those of each waiting rank; its causes worked `in` a function.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Expected {
    pub(super) ranks: usize,
    pub(super) only: Option<String>,
    pub(super) status: Status,
    pub(super) flags: Vec<String>,
    pub(super) library: Option<String>,
    pub(super) plugin: Option<String>,
    pub(super) unlinked: bool,
    /// By rank.
    pub(super) counts: Vec<BTreeMap<String, u64>>,
    pub(super) waits: Vec<Wait>,
}

#[derive(Debug, Default, PartialEq)]
pub(super) enum Status {
    #[default]
    Good,
    Is(i32),
    Bad,
    Any,
}

#[derive(Debug, PartialEq)]
pub(super) struct Wait {
    pub(super) pattern: String,
    pub(super) mark: String,
    pub(super) line: u64,
    pub(super) construct: String,
    pub(super) ranks: Vec<u64>,
    pub(super) seconds: f64,
    pub(super) causes: Vec<u64>,
    pub(super) path: Option<String>,
    /// The function in which causes worked.
    pub(super) origin: Option<String>,
}

impl Expected {
    pub(super) fn of(source: &str) -> Self {
        let mut expected = Self::default();
        let marks = ["/*", " *", "//", "!", "c ", "# "]; // of C, C++, Fortran in both forms, and Python
        let is_comment = |line: &&str| marks.iter().any(|it| format!("{line} ").starts_with(it));
        for line in source.lines().take_while(is_comment) {
            if let Some(words) = line.trim_start_matches([' ', '*', '/', '!', 'c', '#']).strip_prefix("expect ") {
                expected.add(words.trim(), source);
            }
        }
        assert!(expected.ranks > 0, "the number of ranks comes first:\n{source}");
        expected
    }

    fn add(&mut self, words: &str, source: &str) {
        let (first, rest) = words.split_once(' ').unwrap_or((words, ""));
        match first {
            "openmpi" | "mpich" => self.only = Some(first.to_owned()),
            "status" => {
                self.status = match rest {
                    "any" => Status::Any,
                    "bad" => Status::Bad,
                    number => Status::Is(number.parse().expect("a status is a number, any, or bad")),
                }
            }
            "flags" => self.flags = rest.split(' ').map(str::to_owned).collect(),
            "library" => self.library = Some(rest.to_owned()),
            "plugin" => self.plugin = Some(rest.to_owned()),
            "unlinked" => self.unlinked = true,
            "each:" => (0..self.ranks).for_each(|rank| self.count(rank, rest)),
            "rank" => {
                let (rank, counts) = rest.split_once(": ").expect("expect rank N: counts");
                self.count(rank.parse().expect("a rank is a number"), counts);
            }
            "wait" => self.waits.push(wait(rest, source)),
            number => {
                self.ranks = number.parse().unwrap_or_else(|_| panic!("not a word of expectations: {number}"));
                self.counts = vec![BTreeMap::new(); self.ranks];
            }
        }
    }

    fn count(&mut self, rank: usize, counts: &str) {
        for count in counts.split(", ") {
            let (name, number) = count.split_once(' ').expect("a count is a name and a number");
            let number = number.parse().expect("a count is a number");
            let before = self.counts[rank].insert(name.to_owned(), number);
            assert_eq!(before, None, "{name} is said twice");
        }
    }
}

fn wait(words: &str, source: &str) -> Wait {
    let (head, tail) = words.split_once(": ").expect("expect wait PATTERN at MARK: what");
    let (pattern, mark) = head.split_once(" at ").expect("expect wait PATTERN at MARK");
    let line = line_of(source, mark).expect("the mark is in the source");
    let mut wait = Wait {
        pattern: pattern.to_owned(),
        mark: mark.to_owned(),
        line,
        construct: String::new(),
        ranks: Vec::new(),
        seconds: 0.0,
        causes: Vec::new(),
        path: None,
        origin: None,
    };
    let numbers = |rest: &str| rest.split(' ').map(|rank| rank.parse().expect("ranks are numbers")).collect();
    // A construct may have a name of several words.
    let (construct, tail) = tail.split_once(", ").expect("expect wait PATTERN at MARK: CONSTRUCT, what");
    construct.clone_into(&mut wait.construct);
    for part in tail.split(", ") {
        match part.split_once(' ') {
            Some(("ranks", rest)) => wait.ranks = numbers(rest),
            Some(("causes", rest)) => wait.causes = numbers(rest),
            Some(("path", rest)) => wait.path = Some(rest.to_owned()),
            Some(("in", rest)) => wait.origin = Some(rest.to_owned()),
            Some((seconds, "s")) => wait.seconds = seconds.parse().expect("seconds are a number"),
            None | Some(_) => panic!("not a word of waits: {part}"),
        }
    }
    wait
}

/// The line, from 1, whose comment at the end is the mark.
pub(super) fn line_of(source: &str, mark: &str) -> Option<u64> {
    let ends = [format!("/* {mark} */"), format!("! {mark}")];
    let found = source.lines().position(|line| ends.iter().any(|end| line.ends_with(end.as_str())))?;
    u64::try_from(found + 1).ok()
}

#[test]
fn every_program_says_what_is_expected() {
    for folder in ["programs", "waits"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record").join(folder);
        for file in std::fs::read_dir(folder).expect("the programs are here").flatten() {
            let source = std::fs::read_to_string(file.path()).expect("a program is text");
            let is_program = !file.file_name().to_string_lossy().contains("_part") && file.file_name() != "work.h";
            if is_program {
                let expected = Expected::of(&source);
                let says = expected.counts.iter().any(|counts| !counts.is_empty()) || !expected.waits.is_empty();
                assert!(says, "{}", file.path().display());
            }
        }
    }
}

#[test]
fn expectations_are_read() {
    let source = "/* A title.\n *\n * expect 2 ranks\n * expect status 7\n * expect each: sends 1, MPI_Send 1\n\
                  \x20* expect rank 1: sent 8\n * expect wait late_sender at HERE: MPI_Recv, ranks 1, 0.30 s, causes 0\n \
                  */\n#include <mpi.h>\nMPI_Recv(); /* HERE */\n";
    let expected = Expected::of(source);
    assert_eq!((expected.ranks, expected.status), (2, Status::Is(7)));
    assert_eq!(expected.counts[0].len(), 2);
    assert_eq!(expected.counts[1]["sent"], 8);
    assert_eq!((expected.waits[0].line, expected.waits[0].seconds), (10, 0.30));
    assert_eq!((&*expected.waits[0].ranks, &*expected.waits[0].causes), (&[1][..], &[0][..]));
}
