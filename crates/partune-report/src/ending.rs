//! How a run ended that did not end in order: its entry in JSON, and its lines for people.

use std::borrow::Cow;
use std::collections::BTreeMap;

use partune_base::{PeId, StringId};
use partune_engine::{Diagnosis, EarlyEnd, Ended, Ending, Run, Stand};
use schemars::JsonSchema;
use serde::Serialize;

use crate::names;

/// How a run ended that did not end in order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Entry<'a> {
    /// Processes that did not end in order; those that ended by themselves before those that were killed, by time.
    processes: Vec<ProcessEnd<'a>>,
    /// Whether the first of `processes` was the first to end; if not, all were killed from outside.
    first_known: bool,
    /// Where the PEs of these processes were.
    pes: Vec<Position<'a>>,
    /// PEs of which each waits for the next one.
    chain: Vec<u32>,
    /// Whether the last of `chain` waits for the first.
    cycle: bool,
    /// Whether that had lasted a second longer than any call there before.
    deadlock: bool,
}

#[derive(Serialize, JsonSchema)]
struct ProcessEnd<'a> {
    name: &'a str,
    rank: Option<u32>,
    #[schemars(extend("enum" = ["signal", "abort", "exit", "killed"]))]
    how: &'static str,
    /// The number of the signal, if it died of one.
    signal: Option<u32>,
    /// Seconds since the begin of the run; of one that was killed, when the command had ended, which is at the latest. Null if not known.
    at_s: Option<f64>,
    /// Functions that it was in when it died of a signal, innermost first, with lines as far as known.
    functions: Vec<&'a str>,
}

#[derive(Serialize, JsonSchema)]
struct Position<'a> {
    pe: u32,
    /// The call path of its last operation, outermost first.
    operation: Vec<Cow<'a, str>>,
    /// Whether it was still in that operation.
    inside: bool,
    /// Seconds since the begin of the run when the operation began, or ended if it is over.
    since_s: f64,
    /// The call path of the code that it was in after that operation, as far as it was recorded.
    code: Vec<Cow<'a, str>>,
    /// Seconds since the begin of the run when a sample found it last, after that; null if none did.
    seen_s: Option<f64>,
    /// The functions that it was in then, innermost first, with lines as far as known.
    functions: Vec<&'a str>,
    /// PEs that it waits for, as far as known; the first 64.
    waits_for: Vec<u32>,
    /// Any one of them could end that: else all have to.
    from_anybody: bool,
}

impl<'a> Entry<'a> {
    pub(crate) fn of(run: &'a Run, ending: &EarlyEnd) -> Self {
        let number = |pe: &PeId| pe.0;
        let process = |ended: &Ended| ProcessEnd {
            name: run.process(ended.process).map_or("", |process| process.name),
            rank: run.process(ended.process).and_then(|process| process.rank),
            how: match ended.how {
                Ending::Signal(_) => "signal",
                Ending::Aborted => "abort",
                Ending::Left | Ending::InOrder => "exit",
                Ending::Killed => "killed",
            },
            signal: if let Ending::Signal(number) = ended.how { Some(number) } else { None },
            at_s: ended.time.map(|time| run.since_origin(time)),
            functions: functions(run, ended.place),
        };
        let position = |stand: &Stand| Position {
            pe: stand.pe.0,
            operation: names::callpath(run, stand.path),
            inside: stand.is_inside,
            since_s: run.since_origin(stand.since),
            code: names::callpath(run, stand.code),
            seen_s: stand.seen.map(|(time, _)| run.since_origin(time)),
            functions: functions(run, stand.seen.map_or(StringId::NONE, |(_, place)| place)),
            waits_for: stand.awaits.iter().map(number).collect(),
            from_anybody: stand.anybody.is_some(),
        };
        Entry {
            processes: ending.processes.iter().map(process).collect(),
            first_known: ending.is_first_known,
            pes: ending.stands.iter().map(position).collect(),
            chain: ending.chain.iter().map(number).collect(),
            cycle: ending.is_cycle,
            deadlock: ending.is_deadlock(),
        }
    }
}

fn functions(run: &Run, place: StringId) -> Vec<&str> {
    run.text(place).split(CALLED_FROM).filter(|name| !name.is_empty()).collect()
}

/// Between functions of [`Ended::place`].
const CALLED_FROM: &str = " < ";

/// Places where PEs stood that are shown.
const PLACES: usize = 8;

/// PEs or processes that are named one by one, in a list or a chain.
const NAMED: usize = 16;

/// Labels and sentences; none if the run ended in order.
pub fn lines(diagnosis: &Diagnosis) -> Vec<(&'static str, String)> {
    let Some(ending) = diagnosis.ending() else { return Vec::new() };
    let run = &diagnosis.run;
    let mut lines = Vec::new();
    let (own, killed): (Vec<&Ended>, Vec<_>) = ending.processes.iter().partition(|it| it.how != Ending::Killed);
    for (at, ended) in own.iter().enumerate().take(NAMED) {
        let aborting = aborting(run, ending, ended).map(|stand| names::place(run, stand.path));
        let place = aborting.unwrap_or_else(|| called(run, ended.place));
        let place = if place.is_empty() { place } else { format!(", in {place}") };
        let time = ended.time.map_or(String::new(), |time| format!(" at {}", names::seconds(run.since_origin(time))));
        let is_first = at == 0 && ending.is_first_known;
        let label = if is_first { "first" } else { "then" };
        lines.push((label, format!("{} {}{time}{place}", names::process(run, ended.process), how(ended.how))));
    }
    if own.len() > NAMED {
        lines.push(("", format!("… {} more", own.len() - NAMED)));
    }
    if !killed.is_empty() {
        let who = if own.is_empty() && killed.len() == run.counts().processes {
            "all processes were".to_owned()
        } else {
            let named = names::some_of(&killed, NAMED, |it| names::process(run, it.process));
            format!("{named} {}", if killed.len() == 1 { "was" } else { "were" })
        };
        let what = if own.is_empty() {
            "by a time limit, a signal from outside or a fault that left no word"
        } else {
            "from outside, as launchers do then"
        };
        let over = killed.iter().filter_map(|ended| ended.time).max();
        let over = over.map(|time| format!("; the command ended at {}", names::seconds(run.since_origin(time))));
        lines.push(("killed", format!("{who} killed {what}{}", over.unwrap_or_default())));
    }
    stands(run, ending, &mut lines);
    if !ending.chain.is_empty() {
        let mut named: Vec<String> = ending.chain.iter().take(NAMED).map(|pe| names::pe(run, *pe)).collect();
        if ending.chain.len() > NAMED {
            named.push(format!("… {} more", ending.chain.len() - NAMED));
        }
        if ending.is_cycle {
            named.push(names::pe(run, ending.chain[0]));
        }
        let arrows = named.join(" → ");
        let last = ending.chain.last().map_or_else(String::new, |pe| names::pe(run, *pe));
        let from_anybody = ending.stands.iter().filter(|it| it.anybody.is_some() && ending.chain.contains(&it.pe));
        let from_anybody: Vec<String> = from_anybody.map(|it| names::pe(run, it.pe)).collect();
        let all_wait = match &from_anybody[..] {
            [] => String::new(),
            some => format!(
                "; {} would take a message from anybody, and all who could send one wait as well",
                names::some_of(some, NAMED, String::clone)
            ),
        };
        lines.push(if ending.is_deadlock() && ending.chain.len() == 1 {
            ("deadlock", format!("PE {last} waits for what only itself can give"))
        } else if ending.is_deadlock() {
            ("deadlock", format!("PEs wait in a cycle: {arrows}{all_wait}"))
        } else if ending.is_cycle {
            let why = match ending.waited.map(|waited| names::seconds(run.seconds(waited))) {
                Some(waited) => format!("for {waited} at most, not much more than calls there took before"),
                None => "and nobody knows for how long, since it is not known when the run ended".to_owned(),
            };
            ("cycle", format!("PEs wait in a cycle: {arrows}, {why}: no deadlock is claimed"))
        } else if !from_anybody.is_empty() {
            ("chain", format!("PEs wait in a chain: {arrows}; PE {last} waits for a message from anybody"))
        } else {
            ("chain", format!("PEs wait in a chain: {arrows}; PE {last} waits for nobody that is known"))
        });
    }
    lines
}

/// Where a process was that aborted: in the operation that does so.
fn aborting<'a>(run: &Run, ending: &'a EarlyEnd, ended: &Ended) -> Option<&'a Stand> {
    let of_process = |stand: &&Stand| run.pe(stand.pe).is_some_and(|pe| pe.process == ended.process);
    let aborted = || ending.stands.iter().filter(|stand| stand.path.is_some()).find(of_process);
    (ended.how == Ending::Aborted).then(aborted).flatten()
}

/// Where PEs stood, those at one place together.
fn stands(run: &Run, ending: &EarlyEnd, lines: &mut Vec<(&'static str, String)>) {
    let mut places: BTreeMap<(bool, u32, u32, &str), Vec<&Stand>> = BTreeMap::new();
    // Of these it is told.
    let aborted: Vec<PeId> =
        ending.processes.iter().take(NAMED).filter_map(|it| aborting(run, ending, it)).map(|it| it.pe).collect();
    let is_known = |stand: &&Stand| stand.path.is_some() || stand.code.is_some();
    for stand in ending.stands.iter().filter(is_known).filter(|it| !aborted.contains(&it.pe)) {
        let seen = run.text(stand.seen.map_or(StringId::NONE, |(_, place)| place));
        places.entry((!stand.is_inside, stand.path.0, stand.code.0, seen)).or_default().push(stand);
    }
    let all = places.len();
    for stands in places.into_values().take(PLACES) {
        let first = stands[0];
        let pes = format!("PE {}", names::some_of(&stands, NAMED, |it| names::pe(run, it.pe)));
        let since = stands.iter().map(|it| it.since).min().unwrap_or(first.since);
        let since = names::seconds(run.since_origin(since));
        let operation = names::place(run, first.path);
        let code = match first.seen {
            Some((time, place)) => {
                let place = called(run, place);
                format!("{place}, where it was seen last at {}", names::seconds(run.since_origin(time)))
            }
            None if first.code.is_some() => names::place(run, first.code),
            None => names::OUTSIDE.to_owned(),
        };
        lines.push((
            "stood",
            match (first.is_inside, first.path.is_some()) {
                (true, _) => format!("{pes}: in {operation}, since {since}"),
                (false, true) => format!("{pes}: in {code}, after {operation} until {since}"),
                (false, false) => format!("{pes}: in {code}"),
            },
        ));
    }
    if all > PLACES {
        lines.push(("", format!("… at {} more places; --json has them", all - PLACES)));
    }
}

/// The functions of a place, from the innermost outwards.
fn called(run: &Run, place: StringId) -> String {
    run.text(place).replace(CALLED_FROM, ", called from ")
}

fn how(how: Ending) -> String {
    match how {
        Ending::Signal(number) => format!("died of {}", signal(number)),
        Ending::Aborted => "aborted the program".to_owned(),
        Ending::Left | Ending::InOrder => "left without shutting down".to_owned(),
        Ending::Killed => "was killed".to_owned(),
    }
}

/// The name of a signal, where it has the same number everywhere.
fn signal(number: u32) -> String {
    match number {
        4 => "SIGILL (an instruction that the processor does not have)".to_owned(),
        6 => "SIGABRT (abort, a failed assertion, an exception that nobody caught)".to_owned(),
        7 => "SIGBUS (a page of memory or of a file that cannot be read)".to_owned(),
        8 => "SIGFPE (division by zero, or another fault of arithmetic)".to_owned(),
        11 => "SIGSEGV (memory that it may not use)".to_owned(),
        other => format!("signal {other}"),
    }
}
