//! Counts of what is in an archive, read with `otf2-print` of the C library: not with our code.
//!
//! Names are constructs (`MPI_Send`: how often it was entered), those below functions (`odd/MPI_Send`), and these:
//! `sends`, `sent`, `receives`, `received` messages and their bytes; `collectives` that move data or wait, completed,
//! and the bytes that they `shared` and `collected`;
//! `puts`, `put`, `gets`, `got` one-sided transfers and their bytes; `atomics`; `writes`, `wrote`, `reads`, `read` of
//! files and their bytes; values of `counters`; `threads` of the rank.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use super::launch::run;

pub(super) type Counts = BTreeMap<String, u64>;

/// Counts by rank.
pub(super) fn counts(anchor: &Path) -> Vec<Counts> {
    let definitions = print(anchor, &["-G"]);
    let ranks = Ranks::of(&definitions);
    let mut counts = vec![Counts::new(); ranks.of_group.len()];
    for rank in ranks.of_location.values() {
        add(&mut counts[*rank], "threads", 1);
    }
    let contexts = contexts(&definitions);
    for line in print(anchor, &[]).lines() {
        let mut words = line.split_whitespace();
        let (Some(event), Some(location)) = (words.next(), words.next()) else { continue };
        let Some(&rank) = location.parse().ok().and_then(|it: u64| ranks.of_location.get(&it)) else { continue };
        count(&mut counts[rank], event, line);
        if event == "CALLING_CONTEXT_ENTER" {
            let id = last_reference(line).expect("a context");
            let (name, parent) = contexts[&id];
            let around = std::iter::successors(parent, |id| contexts[id].1).map(|id| contexts[&id].0);
            for function in around.collect::<BTreeSet<&str>>() {
                add(&mut counts[rank], &format!("{function}/{name}"), 1);
            }
        }
    }
    counts
}

/// Calls of constructs at each line of a file, on all ranks: those of one record are as many as it says.
pub(super) fn calls(anchor: &Path, file: &str) -> BTreeMap<u64, u64> {
    const POLLS: &str = "(\"PARTUNE::POLLS\" <0>; UINT64; ";
    let definitions = print(anchor, &["-G"]);
    let contexts = definitions.lines().filter(|line| line.starts_with("CALLING_CONTEXT "));
    let line_of = |line: &str| line.split_once(&format!("@{file}:"))?.1.split_once('"')?.0.parse().ok();
    let parents = contexts.filter_map(|line| {
        let (_, parent) = line.split_once("Parent: ")?;
        Some((number(line, "CALLING_CONTEXT "), line_of(parent)?))
    });
    let lines: BTreeMap<u64, u64> = parents.collect();
    let (mut calls, mut last) = (BTreeMap::new(), 0);
    for event in print(anchor, &[]).lines() {
        if event.starts_with("CALLING_CONTEXT_ENTER") {
            last = lines.get(&last_reference(event).expect("a context")).copied().unwrap_or(0);
            *calls.entry(last).or_default() += 1;
        } else if event.contains(POLLS) {
            *calls.entry(last).or_default() += number(event, POLLS) - 1;
        }
    }
    calls
}

/// Lines of a file at which functions go on, by the function.
pub(super) fn lines(anchor: &Path, file: &str) -> BTreeMap<String, BTreeSet<u64>> {
    let (definitions, end) = (print(anchor, &["-G"]), format!("/{file}"));
    let mut lines = BTreeMap::<String, BTreeSet<u64>>::new();
    for context in definitions.lines().filter(|line| line.starts_with("CALLING_CONTEXT ")) {
        let mut texts = context.split('"').skip(1).step_by(2);
        let (Some(name), Some(place)) = (texts.next(), texts.next()) else { continue };
        if let Some((path, line)) = place.rsplit_once(':').filter(|(path, _)| path.ends_with(&end)) {
            let line = line.parse().unwrap_or_else(|_| panic!("{path} has a line"));
            lines.entry(name.to_owned()).or_default().insert(line);
        }
    }
    lines
}

/// How often samples found each rank in each function, which may have called others meanwhile.
pub(super) fn samples(anchor: &Path) -> Vec<Counts> {
    let definitions = print(anchor, &["-G"]);
    let (ranks, contexts) = (Ranks::of(&definitions), contexts(&definitions));
    let mut counts = vec![Counts::new(); ranks.of_group.len()];
    for line in print(anchor, &[]).lines().filter(|line| line.starts_with("CALLING_CONTEXT_SAMPLE")) {
        let location = number(line, "CALLING_CONTEXT_SAMPLE");
        let Some(&rank) = ranks.of_location.get(&location) else { continue };
        let context = reference(line, "Calling Context: ");
        let chain = std::iter::successors(Some(context), |id| contexts[id].1).map(|id| contexts[&id].0);
        for function in chain.collect::<BTreeSet<&str>>() {
            add(&mut counts[rank], function, 1);
        }
    }
    counts
}

/// Calling contexts by number: their region's name and their parent.
fn contexts(definitions: &str) -> BTreeMap<u64, (&str, Option<u64>)> {
    let contexts = definitions.lines().filter(|line| line.starts_with("CALLING_CONTEXT "));
    contexts
        .map(|line| {
            // Last in the line, and names may have brackets too.
            let parent = if line.ends_with("UNDEFINED") { None } else { last_reference(line) };
            (number(line, "CALLING_CONTEXT "), (line.split('"').nth(1).expect("a region has a name"), parent))
        })
        .collect()
}

/// Frames of the call paths of calls of a construct, the construct included; in order, each once.
pub(super) fn depths(anchor: &Path, construct: &str) -> Vec<usize> {
    let definitions = print(anchor, &["-G"]);
    let contexts = contexts(&definitions);
    let depth = |id: u64| std::iter::successors(Some(id), |id| contexts[id].1).count();
    let found: BTreeSet<usize> =
        contexts.iter().filter(|(_, it)| it.0 == construct).map(|(&id, _)| depth(id)).collect();
    found.into_iter().collect()
}

/// What the tool prints; it must find no fault.
fn print(anchor: &Path, options: &[&str]) -> String {
    let output = run(Command::new("otf2-print").args(options).arg(anchor));
    let faults = String::from_utf8_lossy(&output.stderr);
    assert!(faults.is_empty(), "otf2-print {}:\n{faults}", anchor.display());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Which rank of the world a location belongs to.
struct Ranks {
    of_group: BTreeMap<u64, usize>,
    of_location: BTreeMap<u64, usize>,
}

impl Ranks {
    fn of(definitions: &str) -> Self {
        let groups: BTreeMap<u64, u64> = definitions
            .lines()
            .filter(|line| line.starts_with("LOCATION "))
            .map(|line| (number(line, "LOCATION "), reference(line, "Group: ")))
            .collect();
        // That of MPI is always there, and empty if nobody used it.
        let is_world = |line: &&str| line.contains("Type: COMM_LOCATIONS") && !line.contains(" 0 Member");
        let world = definitions.lines().find(is_world);
        let world = world.expect("the archive says which locations are ranks");
        let (_, members) = world.split_once(" Member").expect("a group has members");
        let locations = members.split('<').skip(1).map(|it| leading(it).expect("a member has a number"));
        let of_group: BTreeMap<u64, usize> =
            locations.enumerate().map(|(rank, location)| (groups[&location], rank)).collect();
        let of_location = groups.iter().filter_map(|(&location, group)| Some((location, *of_group.get(group)?)));
        Self { of_location: of_location.collect(), of_group }
    }
}

fn count(counts: &mut Counts, event: &str, line: &str) {
    match event {
        "ENTER" | "CALLING_CONTEXT_ENTER" => {
            let name = line.split('"').nth(1).expect("a region has a name");
            // Those of coarrays are called as their bytes are here.
            if !["put", "get"].contains(&name) {
                add(counts, name, 1);
            }
        }
        "MPI_SEND" | "MPI_ISEND" => both(counts, ["sends", "sent"], number(line, "Length: ")),
        "MPI_RECV" | "MPI_IRECV" => both(counts, ["receives", "received"], number(line, "Length: ")),
        "MPI_COLLECTIVE_END" | "NON_BLOCKING_COLLECTIVE_COMPLETE" => {
            let manages = ["CREATE_HANDLE", "DESTROY_HANDLE", "ALLOCATE", "DEALLOCATE"];
            if !manages.iter().any(|it| line.contains(it)) {
                add(counts, "collectives", 1);
                add(counts, "shared", number(line, "Sent: "));
                add(counts, "collected", number(line, "Received: "));
            }
        }
        "RMA_PUT" => both(counts, ["puts", "put"], number(line, "Bytes: ")),
        "RMA_GET" => both(counts, ["gets", "got"], number(line, "Bytes: ")),
        "METRIC" => add(counts, "counters", 1),
        "RMA_ATOMIC" => add(counts, "atomics", 1),
        "IO_OPERATION_BEGIN" if line.contains("WRITE") => both(counts, ["writes", "wrote"], number(line, "Request: ")),
        "IO_OPERATION_BEGIN" if line.contains("READ") => both(counts, ["reads", "read"], number(line, "Request: ")),
        _ => {}
    }
}

fn both(counts: &mut Counts, [times, bytes]: [&str; 2], size: u64) {
    add(counts, times, 1);
    add(counts, bytes, size);
}

fn add(counts: &mut Counts, name: &str, number: u64) {
    *counts.entry(name.to_owned()).or_default() += number;
}

/// The number after a label.
fn number(line: &str, label: &str) -> u64 {
    let found = line.split_once(label).and_then(|(_, rest)| leading(rest.trim_start()));
    found.unwrap_or_else(|| panic!("no number after {label:?} in {line}"))
}

/// The number in angle brackets after a label and a name, which may have such brackets too.
fn reference(line: &str, label: &str) -> u64 {
    let found = line.split_once(label).and_then(|(_, rest)| rest.split('<').skip(1).find_map(leading));
    found.unwrap_or_else(|| panic!("no reference after {label:?} in {line}"))
}

fn last_reference(line: &str) -> Option<u64> {
    leading(line.rsplit_once('<')?.1)
}

fn leading(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}
