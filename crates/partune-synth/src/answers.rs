//! What is known about the archive that was written: its counts, and every wait in it.

use crate::options::{Injection, SynthOptions};

/// Nanoseconds and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub ns: u64,
    pub count: u64,
}

/// The share of one PE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeTally {
    pub rank: u32,
    pub thread: u32,
    pub tally: Tally,
}

/// All waits of one pattern at one call path. Every instance is counted, those from noise too; one of no length is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// As analyses name it: `late_sender`.
    pub pattern: &'static str,
    pub construct: &'static str,
    /// Region names from the root, joined by `/`. In the archive the paths of threads other than the main one begin with the
    /// parallel region.
    pub path: String,
    pub total: Tally,
    /// Who waited, by rank and thread; only those who did.
    pub waiting: Vec<PeTally>,
    /// For whom: the late sender or receiver, the last one to arrive, the root; for locks the holder before.
    pub causing: Vec<PeTally>,
}

/// How often an injection took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Injected {
    pub injection: Injection,
    /// Executions of the call that were made late.
    pub times: u64,
}

/// What was written. Times are of the program, before clocks were shifted; the resolution of the archive is 1 ns.
///
/// Definitions of the waits (as Scalasca's and PPW's): late sender: from the receive's enter to the send's enter, for
/// `MPI_Waitall` of the latest of its senders; late receiver: the other way round, for sends that wait; barrier and N×N: from the
/// own enter to the last enter; late broadcast: to the root's enter; early reduce: from the root's enter to the last other
/// enter; lock: from the request (or the enter, where none is recorded) to the release by the holder before; value: from the
/// enter to the completion of the put that sets it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Event records.
    pub events: u64,
    /// Event records of each location, by its id in the archive, in order of rank and thread.
    pub location_events: Vec<(u64, u64)>,
    /// Event records of each type, by the name that `otf2-print` gives it, in order of OTF2's numbers; only those that occur.
    pub record_events: Vec<(&'static str, u64)>,
    /// Records in the global definition file.
    pub definitions: u64,
    pub iterations: u64,
    /// From the first event to the last.
    pub duration_ns: u64,
    pub waits: Vec<Wait>,
    pub injected: Vec<Injected>,
}

impl Answers {
    /// The waits of a pattern at all call paths together.
    pub fn total(&self, pattern: &str) -> Tally {
        let waits = self.waits.iter().filter(|wait| wait.pattern == pattern);
        waits.fold(Tally::default(), |sum, wait| Tally {
            ns: sum.ns + wait.total.ns,
            count: sum.count + wait.total.count,
        })
    }
}

macro_rules! sites {
    ($($site:ident $pattern:literal $construct:literal in $path:literal)*) => {
        /// A place where the program can wait.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Site { $($site),* }

        /// Pattern, construct and call path of the caller.
        const SITES: &[(&str, &str, &str)] = &[$(($pattern, $construct, $path)),*];
    };
}

sites! {
    MpiInit "wait_at_barrier" "MPI_Init" in "main"
    MpiFinalize "wait_at_barrier" "MPI_Finalize" in "main"
    Waitall "late_sender" "MPI_Waitall" in "main/time_step/exchange_halo"
    Recv "late_sender" "MPI_Recv" in "main/time_step/pass_ring"
    Send "late_receiver" "MPI_Send" in "main/time_step/pass_ring"
    Allreduce "wait_at_nxn" "MPI_Allreduce" in "main/time_step/check_residual"
    Reduce "early_reduce" "MPI_Reduce" in "main/time_step/check_residual"
    Bcast "late_broadcast" "MPI_Bcast" in "main/time_step/check_residual"
    Barrier "wait_at_barrier" "MPI_Barrier" in "main/time_step"
    OmpLoop "wait_at_barrier" "!$omp implicit barrier @solver.c:54"
        in "main/time_step/compute_flux/!$omp parallel @solver.c:44/!$omp for @solver.c:46"
    OmpCritical "wait_on_lock" "!$omp critical @solver.c:58" in "main/time_step/compute_flux/!$omp parallel @solver.c:44"
    OmpEnd "wait_at_barrier" "!$omp implicit barrier @solver.c:66" in "main/time_step/compute_flux/!$omp parallel @solver.c:44"
    ShmemInit "wait_at_barrier" "shmem_init" in "main"
    ShmemFinalize "wait_at_barrier" "shmem_finalize" in "main"
    ShmemWait "wait_on_value" "shmem_long_wait_until" in "main/time_step/exchange_halo"
    ShmemLock "wait_on_lock" "shmem_set_lock" in "main/time_step/pass_ring"
    ShmemSum "wait_at_nxn" "shmem_double_sum_to_all" in "main/time_step/check_residual"
    ShmemBroadcast "late_broadcast" "shmem_broadcast64" in "main/time_step/check_residual"
    ShmemBarrier "wait_at_barrier" "shmem_barrier_all" in "main/time_step"
}

/// Tallies of all sites while the program runs: one of each location as the waiting and as the causing one.
pub(crate) struct Tallies {
    locations: usize,
    waiting: Vec<Tally>,
    causing: Vec<Tally>,
    pub(crate) injected: Vec<u64>,
}

impl Tallies {
    pub(crate) fn new(options: &SynthOptions) -> Self {
        let locations = options.locations();
        let empty = vec![Tally::default(); SITES.len() * locations];
        Self { locations, waiting: empty.clone(), causing: empty, injected: vec![0; options.inject.len()] }
    }

    /// Counts a wait, unless it has no length.
    pub(crate) fn wait(&mut self, site: Site, location: usize, cause: usize, ns: u64) {
        if ns > 0 {
            let first = site as usize * self.locations;
            for tally in [&mut self.waiting[first + location], &mut self.causing[first + cause]] {
                tally.ns += ns;
                tally.count += 1;
            }
        }
    }

    /// Fills the answers.
    pub(crate) fn finish(&self, options: &SynthOptions, answers: &mut Answers) {
        let shares = |tallies: &[Tally]| -> Vec<PeTally> {
            let all = tallies.iter().enumerate().map(|(location, tally)| {
                let location = location as u32;
                PeTally { rank: location / options.threads, thread: location % options.threads, tally: *tally }
            });
            all.filter(|share| share.tally.count > 0).collect()
        };
        for (site, (pattern, construct, path)) in SITES.iter().enumerate() {
            let range = site * self.locations..(site + 1) * self.locations;
            let (waiting, causing) = (shares(&self.waiting[range.clone()]), shares(&self.causing[range]));
            let total = waiting.iter().fold(Tally::default(), |sum, share| Tally {
                ns: sum.ns + share.tally.ns,
                count: sum.count + share.tally.count,
            });
            if total.count > 0 {
                answers.waits.push(Wait {
                    pattern,
                    construct,
                    path: format!("{path}/{construct}"),
                    total,
                    waiting,
                    causing,
                });
            }
        }
        let pairs = options.inject.iter().zip(&self.injected);
        answers.injected = pairs.map(|(injection, times)| Injected { injection: *injection, times: *times }).collect();
    }
}
