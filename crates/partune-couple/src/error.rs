//! Why there is no plan, or no outcome: each with what can be done about it.

use std::path::PathBuf;

/// What is wrong with a plan, with a launch, or with what was left.
#[derive(Debug, thiserror::Error)]
pub enum CoupleError {
    #[error("{}: cannot be read: {error}\n  remedy: name a plan; docs/couple.md shows one", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{}: line {line}: {message}\n  remedy: correct the line; docs/couple.md says what a plan has", path.display())]
    Syntax { path: PathBuf, line: usize, message: String },
    #[error("{}: {key}: {message}\n  remedy: correct it; docs/couple.md says what a plan has", path.display())]
    Value { path: PathBuf, key: &'static str, message: String },
    #[error("{}: cannot be read: {error}\n  remedy: name another file with results = \"FILE\" in the plan", path.display())]
    Results { path: PathBuf, error: std::io::Error },
    #[error(
        "the command cannot be started: {0}\n  remedy: try it by hand with a size and PEs in place of {{size}} and {{pes}}"
    )]
    NotStarted(std::io::Error),
    #[error("{launch}: the command ended with {status}\n  remedy: run it by hand and look at what it says: {command}")]
    Failed { launch: String, status: String, command: String },
    #[error(
        "{launch}: nothing came for {seconds:.0} s, so the command was ended\n  remedy: a kernel that waits for messages of another one never ends alone: make one \
         kernel of both; or raise timeout_s in the plan"
    )]
    Stuck { launch: String, seconds: f64 },
    #[error(
        "{launch}: the command ended, and measured nothing\n  remedy: the program has to call partune_couple_measure() of include/partune_couple.h, and its \
         launcher to pass PARTUNE_COUPLE on"
    )]
    Silent { launch: String },
    #[error("{launch}: {fault}\n  remedy: correct the calls of partune_couple_... in the program")]
    Fault { launch: String, fault: String },
    #[error(
        "{launch}: {wanted} PEs were asked for, and the program ran on {} with {}\n  remedy: use {{pes}} in the command, or in \
         the environment of the plan",
        count(*ranks, "rank"), count(*threads, "thread")
    )]
    OtherPes { launch: String, wanted: u32, ranks: u32, threads: u32 },
    #[error(
        "{launch}: the loop is {found}, and {elsewhere} it is {expected}\n  remedy: couplings of one loop cannot be used for another one: correct `loop` in the \
         plan, or use one program for all sizes and PEs; remove the results of the other one"
    )]
    OtherLoop { launch: String, found: String, elsewhere: String, expected: String },
    #[error(
        "{kernel} of `loop` in the plan is no kernel of the program, which has {known}\n  remedy: correct `loop`, or name the kernel in the program"
    )]
    UnknownKernel { kernel: String, known: String },
    #[error(
        "the loop has {kernels} kernels, so there are no chains of {length}\n  remedy: correct `lengths` in the plan"
    )]
    TooLong { kernels: usize, length: usize },
    #[error("nothing can be said: {0}\n  remedy: remove what is wrong, or the results of it, and measure again")]
    Nothing(String),
}

/// `1 PE`, `2 PEs`.
pub(crate) fn count(of: u32, what: &str) -> String {
    format!("{of} {what}{}", if of == 1 { "" } else { "s" })
}
