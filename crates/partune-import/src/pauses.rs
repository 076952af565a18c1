//! When nothing was recorded. Recording is switched off and on for a process as a whole, and the record of it is with whichever thread did that.

use partune_base::{Id, PeId, Table, Time};
use partune_trace::{Pause, PauseKind, Pe, PeKind};

use crate::joined::Joined;

/// Pauses that threads share, all together: a file of a few megabytes could ask for any number of them. Beyond it each has its own.
const MOST: usize = 1 << 24;

/// Pauses by PE: those of its process for a thread that has events, its own for others. A pause that nothing ends lasts until the last event.
pub(crate) fn pauses<B>(joined: &[Joined<B>], pes: &Table<PeId, Pe>) -> Vec<Vec<Pause>> {
    let own = |pe: PeId| merged(&[&joined[pe.index()]]);
    let mut pauses: Vec<Vec<Pause>> = (0..joined.len()).map(|pe| own(PeId::from_index(pe))).collect();
    let is_thread = |pe: &PeId| pes[*pe].kind == PeKind::Cpu && joined[pe.index()].times.is_some();
    let mut threads: Vec<PeId> = (0..joined.len().min(pes.len())).map(PeId::from_index).filter(is_thread).collect();
    threads.sort_by_key(|pe| pes[*pe].process);
    let mut room = MOST;
    for process in threads.chunk_by(|a, b| pes[*a].process == pes[*b].process) {
        if process.len() == 1 || process.iter().all(|pe| joined[pe.index()].switches.is_empty()) {
            continue;
        }
        let all = merged(&process.iter().map(|pe| &joined[pe.index()]).collect::<Vec<_>>());
        let Some(left) = all.len().checked_mul(process.len()).and_then(|needed| room.checked_sub(needed)) else {
            continue;
        };
        room = left;
        process.iter().for_each(|pe| pauses[pe.index()].clone_from(&all));
    }
    pauses
}

/// Off from the first who switches off to the first who then switches on.
fn merged<B>(threads: &[&Joined<B>]) -> Vec<Pause> {
    let mut switches: Vec<(Time, bool)> = threads.iter().flat_map(|it| it.switches.iter().copied()).collect();
    // Of one thread they are in the order in which they were recorded, which equal times leave alone.
    switches.sort_by_key(|(time, _)| *time);
    let mut pauses = Vec::new();
    let mut since = None;
    for (time, on) in switches {
        if !on {
            since.get_or_insert(time);
        } else if let Some(begin) = since.take() {
            pauses.push(Pause { begin, end: time, kind: PauseKind::Off });
        }
    }
    let last = threads.iter().filter_map(|it| it.times).map(|(_, last)| last).max();
    pauses.extend(since.zip(last).map(|(begin, end)| Pause { begin, end: end.max(begin), kind: PauseKind::Off }));
    pauses
}

#[cfg(test)]
mod tests {
    use partune_base::{ProcessId, StringId};

    use super::*;

    /// Process, and when it was switched on and off.
    type Thread<'a> = (u32, &'a [(i64, bool)]);

    fn of(threads: &[Thread<'_>]) -> Vec<Vec<(i64, i64)>> {
        let pe = |(process, _): &Thread<'_>| Pe {
            name: StringId::NONE,
            kind: PeKind::Cpu,
            process: ProcessId(*process),
            thread: 0,
            device: None,
            archive_id: 0,
        };
        let joined = |(_, switches): &Thread<'_>| {
            let mut joined = Joined::<()>::default();
            joined.switches = switches.iter().map(|(time, on)| (Time(*time), *on)).collect();
            joined.times = Some((Time(0), Time(100)));
            joined
        };
        let joined: Vec<_> = threads.iter().map(joined).collect();
        let all = pauses(&joined, &threads.iter().map(pe).collect());
        all.iter().map(|of| of.iter().map(|pause| (pause.begin.0, pause.end.0)).collect()).collect()
    }

    #[test]
    fn a_process_is_off_until_any_of_its_threads_switches_on() {
        let window = of(&[(0, &[(10, false), (90, true)]), (0, &[(30, true), (60, false)]), (0, &[])]);
        assert_eq!(window, vec![vec![(10, 30), (60, 90)]; 3]);
        // Another process has pauses of its own, and what nothing ends lasts until the end.
        let two = of(&[(0, &[(10, false)]), (1, &[(20, false), (25, false), (40, true), (41, true)])]);
        assert_eq!(two, [vec![(10, 100)], vec![(20, 40)]]);
        assert_eq!(of(&[(0, &[]), (0, &[(5, true)])]), vec![vec![]; 2]);
    }
}
