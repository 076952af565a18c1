//! MPI: messages, collectives, and accesses to windows. Messages also give the links of the machine.

use std::time::Instant;

use partune_machine::{Link, Point, Scope, fit};

use super::{COLLECTIVES, Found, How, MESSAGES, Measured, Members, Model, Task, counts};
use crate::batches::{inside, rounds, together};
use crate::mpi::{Group, Mpi};
use crate::samples;
use crate::world::World;

pub(super) static MPI: Model = Model { name: "MPI", word: "mpi", weight: 6, how: How::Processes(measure) };

#[allow(clippy::unnecessary_wraps, reason = "all models are measured in the same way, and others fail")]
fn measure(world: &World<'_>) -> Result<Found, String> {
    let tasks = tasks(world.mpi.size, world.neighbours[0], world.neighbours[1]);
    let measured =
        world.tasks(&tasks, tasks.len(), |group, task, slice_s| run(world.mpi, group, task, slice_s, world.timer_s));
    // Messages within a host are the baseline where there are any.
    let node = measured.iter().any(|(task, _)| task.kind == Kind::PingPong(Scope::Node));
    let links = links(&measured);
    let near = measured.into_iter().filter(|(task, _)| !node || task.kind != Kind::PingPong(Scope::Network));
    let rows = near.map(|(task, measured)| (task.members.count(), measured)).collect();
    Ok(Found { rows, links, ..Found::default() })
}

/// A line through the half round trips of each scope.
fn links(measured: &[(Task<Kind>, Measured)]) -> Vec<Link> {
    let link = |scope: Scope| {
        let of = |role: &str| -> Vec<Point> {
            let rows = measured.iter().filter(|(task, it)| task.kind == Kind::PingPong(scope) && it.role == role);
            rows.map(|(_, it)| samples::point(it.bytes, &it.samples)).collect()
        };
        let points = of("recv");
        let line = fit(&points)?;
        let overhead_s = of("send").first().map_or(0.0, |point| point.median_s);
        // A machine that is faster for long messages than can be measured has the largest rate there is.
        let bandwidth = (1.0 / line.seconds_per_byte).min(f64::MAX);
        Some(Link { scope, latency_s: line.latency_s, bandwidth, overhead_s, fit_error: line.worst, points })
    };
    [Scope::Node, Scope::Network].into_iter().filter_map(link).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
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

/// What to measure on so many PEs, most wanted first. `node` and `network` are the first PEs besides 0 that are on its
/// host and on another one.
fn tasks(size: i32, node: Option<i32>, network: Option<i32>) -> Vec<Task<Kind>> {
    let mut tasks = Vec::new();
    if size < 2 {
        return tasks;
    }
    let mut add = |kind, bytes, members| tasks.push(Task { kind, bytes, members });
    let counts = counts(size);
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
fn run(mpi: &Mpi, group: &Group, task: Task<Kind>, slice_s: f64, timer_s: f64) -> Vec<Measured> {
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
    let peers = &mpi.peers(group);
    match task.kind {
        Kind::Barrier => one("MPI_Barrier", "group_sync", together(peers, slice_s, |_| mpi.barrier(group))),
        Kind::Broadcast => {
            let op = |turn: i32| mpi.broadcast(group, &mut to[..length], turn % size);
            one("MPI_Bcast", "one_to_all", together(peers, slice_s, op))
        }
        Kind::Reduce => {
            let op = |turn: i32| mpi.reduce(group, doubles, sums, turn % size);
            one("MPI_Reduce", "all_to_one", together(peers, slice_s, op))
        }
        Kind::AllReduce => {
            let op = |_| mpi.all_sum(group, doubles, sums);
            one("MPI_Allreduce", "all_to_all", together(peers, slice_s, op))
        }
        Kind::AllGather => {
            let op = |_| mpi.all_gather(group, &from[..whole / size as usize], &mut to);
            one("MPI_Allgather", "all_to_all", together(peers, slice_s, op))
        }
        Kind::AllToAll => {
            let op = |_| mpi.all_to_all(group, &from, &mut to);
            one("MPI_Alltoall", "all_to_all", together(peers, slice_s, op))
        }
        Kind::Scan => one("MPI_Scan", "scan", together(peers, slice_s, |_| mpi.scan(group, doubles, sums))),
        Kind::PingPong(_) => ping_pong(mpi, group, &from[..length], &mut to[..length], slice_s, timer_s),
        Kind::Exchange => {
            let op = |_| mpi.exchange(group, &from[..length], &mut to[..length], with);
            one("MPI_Sendrecv", "send_recv", together(peers, slice_s, op))
        }
        Kind::ExchangeLater => {
            let op = |_| {
                let mut begin = Instant::now();
                mpi.exchange_later(group, &from[..length], &mut to[..length], with, || begin = Instant::now());
                begin.elapsed().as_secs_f64() - timer_s
            };
            one("MPI_Wait", "comm_sync", inside(peers, slice_s, op))
        }
        Kind::Fence => {
            let window = mpi.window(group, 8);
            let samples = together(peers, slice_s, |_| mpi.fence(&window));
            mpi.free_window(window);
            one("MPI_Win_fence", "rma_group_sync", samples)
        }
        Kind::OneSided => one_sided(mpi, group, &from[..length], &mut to[..length], slice_s, timer_s),
    }
}

/// Half of a round trip, and in other rounds the time in the send. The receive is there when the message comes.
fn ping_pong(mpi: &Mpi, group: &Group, out: &[u8], into: &mut [u8], slice_s: f64, timer_s: f64) -> Vec<Measured> {
    let bytes = out.len() as u64;
    let first = group.rank == 0;
    let peers = &mpi.peers(group);
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
    let trips = together(peers, slice_s / 2.0, |_| round(&mut ignored));
    let sends = inside(peers, slice_s / 2.0, |_| {
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
        let round = || {
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
        samples = rounds(slice_s, round);
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
    super::steps(out.len() as u64, COLLECTIVES[0], names, samples)
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
