//! What patterns, factors, gaps and kinds of time mean, in plain words: for documents, and for who serves them.

use partune_base::Time;
use partune_diag::{Severity, fixed, seconds};
use partune_engine::{Finding, Kind, Level, Pattern, Run};

use crate::runs::plural;
use crate::style::Tone;

/// A pattern's name for people.
pub fn title(pattern: Pattern) -> String {
    let name = match pattern {
        Pattern::WaitAtNxn => "wait at all-to-all collective".to_owned(),
        Pattern::OperationCost => "cost of the operation itself".to_owned(),
        Pattern::InputOutput => "input and output".to_owned(),
        Pattern::StartUp => "start-up and shut-down".to_owned(),
        Pattern::ForkJoin => "fork and join of a team".to_owned(),
        Pattern::User(own) => own.own_name().replace('_', " "),
        _ => pattern.name().replace('_', " "),
    };
    capital(&name)
}

/// A name as it begins a line.
pub fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The word before something that was noticed, and its tone.
pub fn severity(severity: Severity) -> (Tone, &'static str) {
    match severity {
        Severity::Info => (Tone::Plain, "note"),
        Severity::DataLoss => (Tone::Warning, "warning"),
        Severity::Error => (Tone::Error, "error"),
    }
}

/// Which piece of its run a trace is: `from 1.20 s to 3.40 s of 5.00 s`; none if it is all of it.
pub fn piece(run: &Run) -> Option<String> {
    let piece = run.piece()?;
    let since = |time: Time| seconds(run.seconds(time - piece.run.0));
    Some(format!("from {} to {} of {}", since(piece.begin), since(piece.end), since(piece.run.1)))
}

/// What of the run is not in the piece.
pub(crate) fn left_out(run: &Run) -> Option<String> {
    let piece = run.piece()?;
    let parts = [(piece.begin - piece.run.0, "before"), (piece.run.1 - piece.end, "after")];
    let parts = parts.into_iter().filter(|(span, _)| span.is_positive());
    let told: Vec<String> = parts.map(|(span, side)| format!("{} {side}", seconds(run.seconds(span)))).collect();
    Some(told.join(", "))
}

/// What happens where a pattern is found.
pub fn meaning(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::LateSender => "A receive was there before its message was sent, and waited.",
        Pattern::LateReceiver => "A send had to wait until its receive was posted.",
        Pattern::WaitAtBarrier => "PEs that came early at a barrier waited for the last one.",
        Pattern::WaitAtNxn => {
            "In a collective in which all need data of all, those that came early waited for the last one."
        }
        Pattern::WaitAtSetUp => {
            "Where something that all share is made or freed (a communicator, a window, a file, symmetric memory), those that came early waited for the last one."
        }
        Pattern::LateBroadcast => "Receivers of a broadcast or scatter were there before its root, and waited for it.",
        Pattern::EarlyReduce => "The root of a reduction or gather was there before the others, and waited for them.",
        Pattern::EarlyScan => "In a prefix operation, a PE waited for those before it.",
        Pattern::WaitOnLock => "A PE waited for a lock that another one held.",
        Pattern::WaitOnValue => {
            "A PE waited until another one changed a value in memory, or signalled a condition; where nobody is named, its time limit passed, or who did it was not recorded."
        }
        Pattern::CompetingPutGet => {
            "Accesses to memory of another PE took longer than they need, since several PEs accessed it at once; or, where nobody is named, an \
             operation had to wait until earlier accesses of its own PE were complete."
        }
        Pattern::LateFence => "PEs that came early at a synchronisation of one-sided accesses waited for the last one.",
        Pattern::LatePartner => "A PE waited for one of those that it named, which came later.",
        Pattern::WaitForTask => "A thread had no task to run, and waited for those that others ran.",
        Pattern::WaitForThread => "A thread waited for the end of another one, which still worked.",
        Pattern::RedundantBarrier => {
            "Nothing was recorded that a barrier has to keep in order: no conflicting accesses to shared memory, or, where there are none at \
             all, nothing between it and the next barrier; perhaps it can go."
        }
        Pattern::SmallTransfers => {
            "Many small transfers went to one PE in a row; most of their cost is that of starting them."
        }
        Pattern::SerialBlockingTransfers => "Transfers that do not depend on each other were done one after the other.",
        Pattern::LoadImbalance => {
            "Some PEs had more to compute than others, between two points where all wait for each other."
        }
        Pattern::SerialSection => "One PE worked while all others had nothing to do.",
        Pattern::PoorLocality => "PEs mostly accessed data that other PEs hold.",
        Pattern::HighFrequency => "An operation was called so often that recording and starting it matters.",
        Pattern::SmallAccesses => {
            "Many small accesses to a file followed each other, each of them a call of the system."
        }
        Pattern::SerialIo => "One PE read and wrote the files, and others waited for it.",
        Pattern::SameFileReadByAll => "Every process read the same bytes of one file.",
        Pattern::SyncInLoop => "What was written was sent to the device again and again.",
        Pattern::AboveBaseline => "An operation took longer than this machine needs for it, and nobody was late.",
        Pattern::OperationCost => {
            "Moving data, synchronising and the library's own work took this time; nobody was late whose data it needs."
        }
        Pattern::InputOutput => "Files were read or written.",
        Pattern::WaitOnDevice => "A PE waited for what it had given to a device.",
        Pattern::StartUp => {
            "The library started up or shut down. Shares of the run leave out what lies outside of it: before the first PE has started, and after the last one \
             begins to shut down."
        }
        Pattern::ForkJoin => {
            "Threads had nothing to do between a fork and the begin of their part, or between its end and the join."
        }
        Pattern::WaitForProcessor => {
            "PEs could have run and had no processor: more of them share a node than it has processors, or others used them. What they were late for elsewhere is the same \
             time again."
        }
        Pattern::IdleThreads => "Threads had nothing to do while the main thread of their process communicated.",
        Pattern::User(own) => &own.text,
    }
}

/// Names of the facts of findings, what they are called, and what of: see [`fact`].
const FACTS: [(&str, &str, Of); 29] = [
    ("level", "found by", Of::Level),
    ("max_over_average", "the most over the average", Of::Factor),
    ("load_imbalance", "load imbalance behind it, here and elsewhere", Of::Seconds),
    ("serial_section", "serial section behind it, here and elsewhere", Of::Seconds),
    ("instances", "executions of this barrier in all", Of::Count),
    ("candidate", "a candidate only", Of::Because("what threads do with memory that they share is not recorded")),
    ("transfers", "transfers", Of::Count),
    ("runs", "runs of transfers in a row", Of::Count),
    ("unknown_addresses", "transfers to bytes that are not known, taken as others than those before", Of::Count),
    ("mean_bytes", "bytes of one on average", Of::Count),
    ("overhead_seconds", "what one takes whatever its size", Of::Seconds),
    ("seconds_per_byte", "what a byte takes", Of::Seconds),
    ("half_bytes", "bytes from which size takes more than that", Of::Count),
    ("accesses", "accesses", Of::Count),
    ("combined_seconds", "what as many bytes would take in blocks of 1 MiB", Of::Seconds),
    ("io_share", "share of all time on files", Of::Share),
    ("processes", "processes that read it", Of::Count),
    ("visits", "calls", Of::Count),
    ("mean_seconds", "a call on average", Of::Seconds),
    ("clock_seconds", "what reading the clock for a call takes", Of::Seconds),
    ("factor", "times what it needs", Of::Factor),
    ("baseline_seconds", "what a call needs on this machine", Of::Seconds),
    ("local", "share of accesses to own data now", Of::Share),
    ("best_local", "the same with the best blocking factor", Of::Share),
    ("best_block", "best blocking factor, in elements", Of::Count),
    ("element_bytes", "bytes of an element", Of::Count),
    ("pes", "PEs of the node where they waited longest", Of::Count),
    ("processors", "processors that they may use", Of::Count),
    ("slowdown", "times the time that they had one", Of::Factor),
];

/// What a fact is a number of.
#[derive(Clone, Copy)]
enum Of {
    Seconds,
    Count,
    Share,
    Factor,
    Level,
    /// It holds, and this is why.
    Because(&'static str),
}

/// How many PEs share how many processors, of a finding that says so.
pub fn sharing(finding: &Finding) -> Option<String> {
    let fact = |name: &str| finding.facts.iter().find(|fact| fact.0 == name).map(|fact| fact.1);
    let (pes, processors, slowdown) = (fact("pes")?, fact("processors")?, fact("slowdown")?);
    let (who, what) = (plural(pes as usize, "PE", "PEs"), plural(processors as usize, "processor", "processors"));
    let how =
        if pes > processors { format!("{who} share {what}") } else { format!("others ran on the {what} of {who}") };
    Some(format!("{how}, {} times slower than its CPU time", fixed(slowdown, 2)))
}

/// A fact of a finding in words: what it is, and its value. A debug build refuses one that has none; else it is printed by its name.
pub fn fact(name: &str, value: f64) -> (String, String) {
    let number = || fixed(value, 4).trim_end_matches('0').trim_end_matches('.').to_owned();
    let known = FACTS.iter().find(|it| it.0 == name);
    debug_assert!(known.is_some(), "the fact {name} has words");
    let Some((_, label, of)) = known else { return (name.replace('_', " "), number()) };
    let value = match of {
        Of::Seconds => seconds(value),
        Of::Count => number(),
        Of::Share => crate::names::percent(value),
        Of::Factor => format!("{}×", partune_diag::three_digits(value)),
        Of::Level => match value as i64 {
            1 => "blocks between synchronisations".to_owned(),
            2 => "call paths".to_owned(),
            _ => "whole PEs".to_owned(),
        },
        Of::Because(why) => (*why).to_owned(),
    };
    ((*label).to_owned(), value)
}

/// Said of figures that need times of several PEs, where clocks were never aligned.
pub const DOUBTFUL: &str = "Doubtful: the clocks of PEs were never aligned.";

/// What a factor of efficiency says, and what lowers it.
pub fn factor(name: &str) -> (&'static str, &'static str) {
    match name {
        "parallel" => {
            ("Parallel efficiency", "share of the PEs' time that is useful: the product of the factors below")
        }
        "load_balance" => ("Load balance", "lower where some PEs have more to compute than others"),
        "communication" => ("Communication", "lower where even the busiest PE spends time in operations"),
        "serialization" => ("Serialization", "lower where PEs wait for each other in chains, even on an ideal network"),
        "orchestration" => ("Orchestration", "lower where even the busiest device has nothing to do: of devices only"),
        "transfer" => ("Transfer", "lower where moving data and calling the library takes time"),
        _ => ("", ""),
    }
}

/// Whose factors of efficiency are.
pub fn level(level: Level) -> &'static str {
    match level {
        Level::AllPes => "all PEs",
        Level::BetweenProcesses => "between processes",
        Level::InProcesses => "inside of processes",
        Level::Devices => "devices",
    }
}

/// What lies between two bounds: a word, and what it is.
pub fn gap(name: &str) -> (&'static str, &'static str) {
    match name {
        "A" => ("more than arithmetic", "what else is essential: memory, operations that are slower than the fastest"),
        "C" => (
            "compiled code",
            "what the compiler made of it: short vectors, elements loaded again, counting, all code outside of loops",
        ),
        "S" => ("order of instructions", "results that others wait for"),
        "$" => (
            "caches and the rest of the core",
            "lines from farther than the first cache, wrong guesses at branches, what no bound knows",
        ),
        "P" => ("serial parts", "what one PE does while the others have nothing to do"),
        "C'" => {
            ("communication", "copying, transfer and the library's own time in operations between synchronisations")
        }
        "O" => (
            "input and output, system",
            "operations on files; where CPU time was recorded, also time off the processor",
        ),
        "L" => ("imbalance", "PEs have different amounts of work over the run"),
        "M'" => ("phase imbalance", "who has most work differs from region to region"),
        "D" => ("varying imbalance", "who has most work differs from iteration to iteration"),
        "W" => ("other waiting", "waits for messages, locks and values that imbalance does not explain"),
        "S'" => ("synchronisation", "what synchronising itself takes, once all have arrived"),
        _ => ("not explained", "time on the critical PEs that is neither work nor a recorded wait"),
    }
}

/// A kind of time in a legend.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Computation => "computation",
        Kind::Messages => "messages",
        Kind::Collective => "collectives",
        Kind::Synchronisation => "barriers, task waits",
        Kind::OneSided => "one-sided",
        Kind::Locks => "locks, signals",
        Kind::Device => "waiting for a device",
        Kind::Io => "files",
        Kind::Management => "start-up, management",
        Kind::Measurement => "recorder",
        Kind::Idle => "nothing recorded",
        Kind::Wait => "waiting for another PE",
    }
}
