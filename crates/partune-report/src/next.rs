//! What to do about a finding: what saves most as far as that was predicted, else the first thing an expert would try about its pattern, in one sentence. Resolutions after PPW's table 5-3.

use partune_engine::{Advice, Diagnosis, Pattern, Saving};

use crate::names;

/// Where writing what was recorded took more of the run than anything that was found.
pub(crate) const PROFILE: &str =
    "record with --profile, which writes no events: the recorder's own pauses took more than anything else";

/// What mends a finding and saves most, by its position; none where nothing that was tried does, or the run cannot be followed well.
pub(crate) fn best(diagnosis: &Diagnosis, finding: usize) -> Option<(&Advice, &Saving)> {
    let advised = diagnosis.advised.as_ref().filter(|advised| !advised.followed.is_doubtful())?;
    advised.mends(finding).find(|(_, saving)| saving.saves_s > 0.0)
}

/// `balance solve saves 446 ms, 28.1 % of the run`; with the action's name where the change does not stand for all of it.
pub(crate) fn fix(diagnosis: &Diagnosis, finding: usize) -> Option<String> {
    let (advice, saving) = best(diagnosis, finding)?;
    let share = saving.saves_s / diagnosis.advised.as_ref()?.followed.run_s;
    let (action, verb) = match &advice.candidate {
        candidate if candidate.upper_limit => (format!("{}: ", candidate.action.name), "saves at most"),
        _ => (String::new(), "saves"),
    };
    let saved = names::seconds(saving.saves_s);
    Some(format!("{action}{} {verb} {saved}, {} of the run", advice.change.as_deref()?, names::percent(share)))
}

/// What to do about a finding, by its position.
pub fn advice(diagnosis: &Diagnosis, finding: usize) -> String {
    let mended = best(diagnosis, finding).zip(fix(diagnosis, finding));
    let step = || step(diagnosis.findings[finding].finding.pattern).to_owned();
    mended.map_or_else(step, |((advice, _), fix)| format!("{} {fix}.", advice.candidate.action.text))
}

/// The first thing an expert would try.
pub(crate) fn step(pattern: Pattern) -> &'static str {
    match pattern {
        Pattern::LateSender => {
            "send earlier, or give the receiver other work: post the receive early (non-blocking) and move work between the post and the wait"
        }
        Pattern::LateReceiver => {
            "post the receive before the sender is ready (non-blocking), or use a non-blocking or buffered send"
        }
        Pattern::WaitAtBarrier => "balance the work before the barrier; remove the barrier if it orders nothing",
        Pattern::WaitAtNxn => {
            "balance the work before the collective, or start it early (non-blocking) and complete it late"
        }
        Pattern::WaitAtSetUp => {
            "balance the work before it, or make what is shared once, where all come at one time, and use it again"
        }
        Pattern::LateBroadcast => {
            "let the root enter earlier, or let the others do independent work first (non-blocking broadcast)"
        }
        Pattern::EarlyReduce => "let the root do other work first, or use a non-blocking reduction",
        Pattern::EarlyScan => "balance the work before the scan, or use a non-blocking scan",
        Pattern::WaitOnLock => "hold the lock for less time, split the data it protects, or use atomics",
        Pattern::WaitOnValue => "let the producer signal earlier, in smaller pieces, or give the consumer other work",
        Pattern::CompetingPutGet => {
            "spread accesses to this PE in time (start with different partners), or replicate the data; complete own accesses later, after other work"
        }
        Pattern::LateFence => {
            "balance the work before the synchronisation, or synchronise only the pairs that exchange data"
        }
        Pattern::LatePartner => {
            "balance the work before it, name only those whose data is needed, or let an event of each say when its data is there"
        }
        Pattern::WaitForThread => {
            "let the thread that waits do a part of the work, or give the last threads to end less of it"
        }
        Pattern::WaitForTask => "split the longest tasks, create them first, or give each thread more of them",
        Pattern::RedundantBarrier => {
            "check whether the barrier can go: nothing was recorded that it has to keep in order"
        }
        Pattern::SmallTransfers => "combine the transfers into one",
        Pattern::SmallAccesses => {
            "gather what belongs together in a buffer and access the file in blocks: a stream of the C library does, or a larger buffer of the program's own"
        }
        Pattern::SerialIo => {
            "let every process access its own part (MPI-IO, HDF5 or NetCDF in parallel), or let others go on while one does"
        }
        Pattern::SameFileReadByAll => {
            "let one process read the file and broadcast it, or read it with a collective of MPI-IO"
        }
        Pattern::SyncInLoop => "synchronise once at the end, or only where a crash must lose nothing",
        Pattern::SerialBlockingTransfers => "start them together (non-blocking) and wait once",
        Pattern::LoadImbalance => "give each PE the same amount of work in this part of the program",
        Pattern::SerialSection => "parallelise this part, or let it overlap with other work",
        Pattern::PoorLocality => "change the blocking factor so that PEs mostly use data of their own",
        Pattern::AboveBaseline => {
            "find what shares the network or the processor, or where the library takes a slow path; nobody was late"
        }
        Pattern::OperationCost => {
            "call it less often or with more data at once, choose an algorithm or library that does it faster, or overlap it with computation"
        }
        Pattern::InputOutput => {
            "write less often and more at once, let few PEs or a library of parallel files do it, or overlap it with computation"
        }
        Pattern::WaitOnDevice => {
            "give the PE work of its own while the device computes, or split the work between both"
        }
        Pattern::StartUp => {
            "look at what the launcher and the library do first (name service, file system, processes on a node), or do more in one run; a long run need not care"
        }
        Pattern::ForkJoin => {
            "put more work into one parallel region and fork less often; do not run more threads than there are processors"
        }
        Pattern::IdleThreads => {
            "let threads compute while one of them communicates (non-blocking operations, tasks), or use fewer threads and more processes"
        }
        Pattern::WaitForProcessor => {
            "start no more processes and threads on a node than it has processors, bind them apart, and let nobody else use these"
        }
        Pattern::HighFrequency => {
            "call it less often, or leave it out of the recording (partune analyze --write-filter)"
        }
        Pattern::User(own) => &own.next,
    }
}
