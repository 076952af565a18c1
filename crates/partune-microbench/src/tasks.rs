//! What is measured together: the list of tasks, and how each is done.

use std::time::Instant;

use partune_machine::Scope;

use crate::mpi::{Group, Mpi};
use crate::samples::{Plan, plan};

/// Bytes of messages.
const MESSAGES: &[u64] = &[8, 64, 512, 4096, 32_768, 262_144, 1 << 20, 4 << 20];
/// Bytes that a PE gives or gets in a collective, and in an access to memory of another.
const COLLECTIVES: &[u64] = &[8, 1024, 32_768, 524_288];

/// One thing to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) kind: Kind,
    pub(crate) bytes: u64,
    pub(crate) members: Members,
}

/// Who takes part; PE 0 always does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Members {
    /// The first so many.
    First(i32),
    /// PE 0 and this one.
    With(i32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Barrier,
    Broadcast,
    Reduce,
    AllReduce,
    AllGather,
    AllToAll,
    Scan,
    PingPong(Scope),
    Exchange,
    ExchangeLater,
    Fence,
    OneSided,
}

/// Samples of one operation: seconds.
pub(crate) struct Measured {
    /// The construct that was used.
    pub(crate) operation: &'static str,
    /// The name of its role.
    pub(crate) role: &'static str,
    pub(crate) bytes: u64,
    pub(crate) samples: Vec<f64>,
}

impl Members {
    pub(crate) fn contains(self, rank: i32) -> bool {
        match self {
            Members::First(count) => rank < count,
            Members::With(other) => rank == 0 || rank == other,
        }
    }
}

/// What to measure on so many PEs, most wanted first. `node` and `network` are the first PEs besides 0 that are on its
/// host and on another one.
pub(crate) fn tasks(size: i32, node: Option<i32>, network: Option<i32>) -> Vec<Task> {
    let mut tasks = Vec::new();
    if size < 2 {
        return tasks;
    }
    let mut add = |kind, bytes, members| tasks.push(Task { kind, bytes, members });
    // All of them first, then powers of two below.
    let halves = (1..31).map(|power| 1 << power).filter(|count| *count < size);
    let counts: Vec<i32> = std::iter::once(size).chain(halves).collect();
    for count in &counts {
        add(Kind::Barrier, 0, Members::First(*count));
    }
    let near = node.or(network).map(Members::With);
    for (scope, other) in [(Scope::Node, node), (Scope::Network, network)] {
        for bytes in MESSAGES.iter().filter(|_| other.is_some()) {
            add(Kind::PingPong(scope), *bytes, Members::With(other.unwrap_or(1)));
        }
    }
    let collectives = [Kind::AllReduce, Kind::Broadcast, Kind::Reduce, Kind::AllToAll, Kind::AllGather, Kind::Scan];
    for count in &counts {
        for kind in collectives {
            for bytes in COLLECTIVES {
                add(kind, *bytes, Members::First(*count));
            }
        }
        add(Kind::Fence, 0, Members::First(*count));
        if let Some(near) = near.filter(|_| *count == size) {
            for bytes in COLLECTIVES {
                add(Kind::Exchange, *bytes, near);
                add(Kind::ExchangeLater, *bytes, near);
                add(Kind::OneSided, *bytes, near);
            }
        }
    }
    tasks
}

/// Does a task with the PEs of a group, in about `slice_s`. What is given back counts on rank 0 only. `timer_s` is what
/// reading the clock takes.
pub(crate) fn run(mpi: &Mpi, group: &Group, task: Task, slice_s: f64, timer_s: f64) -> Vec<Measured> {
    let size = group.size.max(1);
    let length = task.bytes as usize;
    // A multiple of the group and of a double, and never nothing.
    let whole = length.div_ceil(8 * size as usize).max(1) * 8 * size as usize;
    let (from, mut to) = (vec![1_u8; whole], vec![0_u8; whole]);
    let (doubles, mut sums) = (vec![1.0; whole / 8], vec![0.0; whole / 8]);
    let count = length.div_ceil(8).max(1);
    let (doubles, sums) = (&doubles[..count], &mut sums[..count]);
    let one = |operation, role, samples| vec![Measured { operation, role, bytes: task.bytes, samples }];
    let with = 1 - group.rank;
    match task.kind {
        Kind::Barrier => one("MPI_Barrier", "group_sync", together(mpi, group, slice_s, |_| mpi.barrier(group))),
        Kind::Broadcast => {
            let op = |turn: i32| mpi.broadcast(group, &mut to[..length], turn % size);
            one("MPI_Bcast", "one_to_all", together(mpi, group, slice_s, op))
        }
        Kind::Reduce => {
            let op = |turn: i32| mpi.reduce(group, doubles, sums, turn % size);
            one("MPI_Reduce", "all_to_one", together(mpi, group, slice_s, op))
        }
        Kind::AllReduce => {
            let op = |_| mpi.all_sum(group, doubles, sums);
            one("MPI_Allreduce", "all_to_all", together(mpi, group, slice_s, op))
        }
        Kind::AllGather => {
            let op = |_| mpi.all_gather(group, &from[..whole / size as usize], &mut to);
            one("MPI_Allgather", "all_to_all", together(mpi, group, slice_s, op))
        }
        Kind::AllToAll => {
            let op = |_| mpi.all_to_all(group, &from, &mut to);
            one("MPI_Alltoall", "all_to_all", together(mpi, group, slice_s, op))
        }
        Kind::Scan => one("MPI_Scan", "scan", together(mpi, group, slice_s, |_| mpi.scan(group, doubles, sums))),
        Kind::PingPong(_) => ping_pong(mpi, group, &from[..length], &mut to[..length], slice_s, timer_s),
        Kind::Exchange => {
            let op = |_| mpi.exchange(group, &from[..length], &mut to[..length], with);
            one("MPI_Sendrecv", "send_recv", together(mpi, group, slice_s, op))
        }
        Kind::ExchangeLater => {
            let op = |_| {
                let mut begin = Instant::now();
                mpi.exchange_later(group, &from[..length], &mut to[..length], with, || begin = Instant::now());
                begin.elapsed().as_secs_f64() - timer_s
            };
            one("MPI_Wait", "comm_sync", inside(mpi, group, slice_s, op))
        }
        Kind::Fence => {
            let window = mpi.window(group, 8);
            let samples = together(mpi, group, slice_s, |_| mpi.fence(&window));
            mpi.free_window(window);
            one("MPI_Win_fence", "rma_group_sync", samples)
        }
        Kind::OneSided => one_sided(mpi, group, &from[..length], &mut to[..length], slice_s, timer_s),
    }
}

/// Samples of an operation that all do together: of each, the time of the slowest. The operation is told its number, so
/// that roots take turns and none runs ahead.
fn together(mpi: &Mpi, group: &Group, slice_s: f64, mut operation: impl FnMut(i32)) -> Vec<f64> {
    batches(mpi, group, slice_s, |batch| {
        let begin = Instant::now();
        (0..batch).for_each(&mut operation);
        begin.elapsed().as_secs_f64()
    })
}

/// The same for an operation that says itself how long it took.
fn inside(mpi: &Mpi, group: &Group, slice_s: f64, mut operation: impl FnMut(i32) -> f64) -> Vec<f64> {
    batches(mpi, group, slice_s, |batch| (0..batch).map(&mut operation).sum())
}

/// Samples of batches that begin together; all agree how many there are, because all know the slowest of a first one.
fn batches(mpi: &Mpi, group: &Group, slice_s: f64, mut run: impl FnMut(i32) -> f64) -> Vec<f64> {
    run(2);
    mpi.barrier(group);
    let begin = Instant::now();
    run(1);
    let one_s = mpi.all_max(group, &[begin.elapsed().as_secs_f64()])[0];
    let Plan { batch, samples } = plan(one_s, slice_s);
    let mine: Vec<f64> = (0..samples)
        .map(|_| {
            mpi.barrier(group);
            run(batch as i32) / f64::from(batch)
        })
        .collect();
    mpi.all_max(group, &mine)
}

/// Half of a round trip, and in other rounds the time in the send. The receive is there when the message comes.
fn ping_pong(mpi: &Mpi, group: &Group, out: &[u8], into: &mut [u8], slice_s: f64, timer_s: f64) -> Vec<Measured> {
    let bytes = out.len() as u64;
    let first = group.rank == 0;
    let mut round = |send_s: &mut f64| {
        if first {
            let begin = Instant::now();
            mpi.send(group, out, 1);
            *send_s += begin.elapsed().as_secs_f64() - timer_s;
            mpi.receive(group, into, 1);
        } else {
            mpi.receive(group, into, 0);
            mpi.send(group, out, 0);
        }
    };
    let mut ignored = 0.0;
    let trips = together(mpi, group, slice_s / 2.0, |_| round(&mut ignored));
    let sends = inside(mpi, group, slice_s / 2.0, |_| {
        let mut send_s = 0.0;
        round(&mut send_s);
        send_s.max(0.0)
    });
    // Both have two readings of the clock too many in a round.
    let half = trips.iter().map(|trip| (trip / 2.0 - timer_s).max(0.0)).collect();
    vec![
        Measured { operation: "MPI_Recv", role: "recv", bytes, samples: half },
        Measured { operation: "MPI_Send", role: "send", bytes, samples: sends },
    ]
}

/// Accesses to memory of the other, which stays inside MPI meanwhile.
fn one_sided(mpi: &Mpi, group: &Group, out: &[u8], into: &mut [u8], slice_s: f64, timer_s: f64) -> Vec<Measured> {
    const STEPS: usize = 6;
    let window = mpi.window(group, out.len().max(8));
    let mut samples: [Vec<f64>; STEPS] = std::array::from_fn(|_| Vec::new());
    let mut token = [0_u8];
    if group.rank == 0 {
        let mut round = || {
            let mut times = [0.0; STEPS];
            let mut old = 0;
            // An operation, when it had started, and when it was complete.
            let mut timed = |step: usize, operation: &mut dyn FnMut(&mut dyn FnMut())| {
                let begin = Instant::now();
                let mut started = begin;
                operation(&mut || started = Instant::now());
                let took = [started - begin, started.elapsed()].map(|took| (took.as_secs_f64() - timer_s).max(0.0));
                times[step] = took[0];
                took[1]
            };
            timed(0, &mut |started| {
                mpi.lock(&window, 1);
                started();
            });
            let flush = timed(1, &mut |started| mpi.put(&window, out, 1, started));
            timed(3, &mut |started| mpi.get(&window, into, 1, started));
            timed(4, &mut |started| mpi.fetch_and_add(&window, &1, &mut old, 1, started));
            timed(5, &mut |started| {
                mpi.unlock(&window, 1);
                started();
            });
            times[2] = flush;
            times
        };
        round();
        let begin = Instant::now();
        round();
        let Plan { batch, samples: count } = plan(begin.elapsed().as_secs_f64(), slice_s);
        for _ in 0..count {
            let mut sums = [0.0; STEPS];
            for _ in 0..batch {
                sums.iter_mut().zip(round()).for_each(|(sum, time)| *sum += time);
            }
            samples.iter_mut().zip(sums).for_each(|(samples, sum)| samples.push(sum / f64::from(batch)));
        }
        mpi.send(group, &token, 1);
    } else {
        mpi.receive(group, &mut token, 0);
    }
    mpi.free_window(window);
    let names = [
        ("MPI_Win_lock", "lock_acquire", false),
        ("MPI_Put", "put", true),
        ("MPI_Win_flush", "comm_sync", true),
        ("MPI_Get", "get", true),
        ("MPI_Fetch_and_op", "atomic", false),
        ("MPI_Win_unlock", "lock_release", false),
    ];
    // What has no size is told once.
    let told = |sized: bool| sized || out.len() as u64 == COLLECTIVES[0];
    let rows = names.into_iter().zip(samples).filter(|((_, _, sized), _)| told(*sized));
    rows.map(|((operation, role, _), samples)| Measured { operation, role, bytes: out.len() as u64, samples }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pe_has_nothing_to_measure_together() {
        assert_eq!(tasks(1, None, None), []);
    }

    #[test]
    fn all_pes_come_first_and_every_pair_that_there_is() {
        let four = tasks(4, Some(1), None);
        assert_eq!(four[0].members, Members::First(4));
        assert!(four.iter().any(|task| task.members == Members::First(2) && task.kind == Kind::Scan));
        assert!(!four.iter().any(|task| matches!(task.kind, Kind::PingPong(Scope::Network))));
        assert!(four.iter().all(|task| task.members.contains(0)));
        let apart = tasks(2, None, Some(1));
        let pairs = apart.iter().filter(|task| task.kind == Kind::PingPong(Scope::Network));
        assert_eq!(pairs.count(), MESSAGES.len());
        assert!(apart.iter().any(|task| task.kind == Kind::OneSided));
    }
}
