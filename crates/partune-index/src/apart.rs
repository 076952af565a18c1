//! Processes that have nothing to do with each other: jobs that one command started one after the other, or a program whose processes did
//! not find each other.

use partune_base::{Id, ProcessId};
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{GroupKind, Trace};

/// Counts the sets of processes that no group joins, and says so if there are several. Linear in members of groups that differ.
pub(crate) fn report(trace: &Trace, quality: &mut Quality) {
    let all = trace.processes().len();
    let is_between = |kind| matches!(kind, GroupKind::World | GroupKind::Communicator | GroupKind::Inter);
    let groups = || trace.groups().iter().filter(|group| is_between(group.kind)).map(|group| &group.members);
    if groups().any(|members| members.known() >= all) {
        return;
    }
    // The lowest process of a set that is known so far; its own number for the first one of a set.
    let mut first: Vec<Option<usize>> = vec![None; all];
    let mut last = None;
    for members in groups() {
        if last.replace(members).is_some_and(|last| members.same(last)) {
            continue;
        }
        let processes = members.iter().filter_map(|pe| Some(trace.pes().get(pe)?.process.index()));
        let mut one: Option<usize> = None;
        for process in processes.filter(|process| *process < all) {
            first[process].get_or_insert(process);
            let (a, b) = (root(&mut first, process), root(&mut first, one.unwrap_or(process)));
            first[a.max(b)] = Some(a.min(b));
            one = Some(a.min(b));
        }
    }
    let members: Vec<usize> = (0..all).filter(|process| first[*process].is_some()).collect();
    let mut jobs: Vec<usize> = members.iter().map(|process| root(&mut first, *process)).collect();
    jobs.sort_unstable();
    jobs.dedup();
    let name = |process: usize| trace.strings().get(trace.processes()[ProcessId::from_index(process)].name);
    if jobs.len() < 2 {
        return;
    }
    quality.add(if jobs.len() == members.len() {
        Diagnostic::info(
            Code::SeparateJobs,
            format!("{} processes are alone, each in a world of its own", members.len()),
            "if they should be one job: start the program with the launcher of the MPI library that it is linked with",
        )
    } else {
        let firsts: Vec<&str> = jobs.iter().take(8).map(|job| name(*job)).collect();
        Diagnostic::info(
            Code::SeparateJobs,
            format!("{} jobs that never met are in one recording; they begin with {}", jobs.len(), firsts.join(", ")),
            "shares and efficiencies are of all of them together: record each by itself to judge it",
        )
    });
}

fn root(first: &mut [Option<usize>], process: usize) -> usize {
    let mut at = process;
    while let Some(lower) = first[at].filter(|lower| *lower != at) {
        first[at] = first[lower].or(first[at]);
        at = lower;
    }
    at
}
