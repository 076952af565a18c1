//! OpenSHMEM: accesses to memory of another PE, collectives over the first PEs, and waiting for a value.
//!
//! PEs agree over MPI, on which this library runs.

use std::ffi::{c_int, c_long, c_void};
use std::time::Instant;

use partune_mpi_abi::Abi;

use super::{COLLECTIVES, Found, How, MESSAGES, Measured, Members, Model, Task, counts};
use crate::batches::{HandOver, inside, rounds, timed, together};
use crate::host::now_s;
use crate::mpi::Group;
use crate::world::World;
use partune_mpi::{Library, functions};

pub(super) static OPENSHMEM: Model =
    Model { name: "OpenSHMEM", word: "openshmem", weight: 3, how: How::Processes(measure) };

type Address = *mut u8;

functions! {
    Functions "shmem_"
    init "init" ();
    finalize "finalize" ();
    pes "n_pes" () -> c_int;
    malloc "malloc" (usize) -> Address;
    free "free" (Address);
    put "putmem" (Address, *const u8, usize, c_int);
    get "getmem" (Address, *const u8, usize, c_int);
    put_one "long_p" (Address, c_long, c_int);
    add "long_atomic_fetch_add" (Address, c_long, c_int) -> c_long;
    quiet "quiet" ();
    fence "fence" ();
    wait_until "long_wait_until" (Address, c_int, c_long);
    lock "set_lock" (Address);
    unlock "clear_lock" (Address);
    barrier_all "barrier_all" ();
    barrier "barrier" (c_int, c_int, c_int, Address);
    broadcast "broadcast64" (Address, *const c_void, usize, c_int, c_int, c_int, c_int, Address);
    sum "double_sum_to_all" (Address, *const c_void, c_int, c_int, c_int, c_int, Address, Address);
    gather "fcollect64" (Address, *const c_void, usize, c_int, c_int, c_int, Address);
    all_to_all "alltoall64" (Address, *const c_void, usize, c_int, c_int, c_int, Address);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Barrier,
    Alloc,
    Broadcast,
    Sum,
    Gather,
    AllToAll,
    WaitUntil,
    HandOver,
    Access,
}

/// The library, initialised, and symmetric memory.
struct Shmem {
    functions: Functions,
    /// Memory for data, in which others write and from which they read.
    from: Address,
    to: Address,
    /// A value that is waited for, one that is added to, and two locks.
    words: Address,
    /// What collectives synchronise with: [`TURNS`] arrays, because one may be used again only when all PEs are done with it.
    sync: Address,
    work: Address,
}

/// Longs of an array to synchronise with: no less than any library says that it needs.
const SYNC: usize = 64;
/// Collectives after which all PEs meet before arrays are used again.
const TURNS: i32 = 128;
/// `SHMEM_SYNC_VALUE` of the library that is known.
const SYNC_VALUE: c_long = -1;
/// `SHMEM_CMP_EQ` of the library that is known.
const EQUAL: c_int = 0;

fn measure(world: &World<'_>) -> Result<Found, String> {
    let names = match world.mpi.abi {
        Abi::OpenMpi => &[c"liboshmem.so.40", c"liboshmem.so"][..],
        _ => &[],
    };
    let library = Library::first(names, Library::open)?;
    let functions = Functions::find(&library).map_err(|function| format!("it has no shmem_{function}"))?;
    {
        let _bounded = BoundedData::new();
        (functions.init)();
    }
    let pes = (functions.pes)();
    if pes != world.mpi.size {
        return Err(format!("it sees {pes} PEs, and MPI {}", world.mpi.size));
    }
    let most = MESSAGES.iter().chain(COLLECTIVES).max().map_or(8, |bytes| *bytes as usize) + 8 * pes as usize;
    let room = |bytes: usize| (functions.malloc)(bytes);
    let (from, to, words) = (room(most), room(most), room(64));
    let (sync, work) = (room(TURNS as usize * SYNC * size_of::<c_long>()), room(most));
    if [from, to, words, sync, work].contains(&std::ptr::null_mut()) {
        return Err("it has no memory for messages".to_owned());
    }
    let shmem = Shmem { functions, from, to, words, sync, work };
    for at in 0..TURNS as usize * SYNC {
        write(shmem.sync, at, SYNC_VALUE);
    }
    (0..8).for_each(|at| write(shmem.words, at, 0));
    (shmem.functions.barrier_all)();
    let tasks = tasks(world.mpi.size, world.near());
    let measured = world.tasks(&tasks, tasks.len(), |group, task, slice_s| shmem.run(world, group, task, slice_s));
    (shmem.functions.finalize)();
    let rows = measured.into_iter().map(|(task, measured)| (task.members.count(), measured)).collect();
    Ok(Found { rows, ..Found::default() })
}

/// While it is there, this process gets only so much memory of its own. On a busy machine Open MPI's `shmem_init` at times takes what another PE tells for
/// endless, and allocates until the machine has no memory left; so it dies at once, and its launch is repeated.
struct BoundedData(libc::rlimit);

impl BoundedData {
    /// Above what any library needs at its begin; symmetric memory of the usual size is shared, and not counted.
    const MOST: libc::rlim_t = 2 << 30;

    #[allow(unsafe_code, reason = "limits of the process")]
    fn new() -> Option<BoundedData> {
        if ["SHMEM_SYMMETRIC_SIZE", "SHMEM_SYMMETRIC_HEAP_SIZE", "SMA_SYMMETRIC_SIZE"]
            .iter()
            .any(|it| std::env::var_os(it).is_some())
        {
            return None;
        }
        let mut before = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: reads and sets numbers.
        unsafe {
            if libc::getrlimit(libc::RLIMIT_DATA, &raw mut before) != 0 {
                return None;
            }
            let bounded = libc::rlimit { rlim_cur: before.rlim_cur.min(BoundedData::MOST), ..before };
            (libc::setrlimit(libc::RLIMIT_DATA, &raw const bounded) == 0).then_some(BoundedData(before))
        }
    }
}

impl Drop for BoundedData {
    #[allow(unsafe_code, reason = "limits of the process")]
    fn drop(&mut self) {
        // SAFETY: what was read before.
        unsafe { libc::setrlimit(libc::RLIMIT_DATA, &raw const self.0) };
    }
}

/// A long of symmetric memory of this PE.
#[allow(unsafe_code, clippy::cast_ptr_alignment, reason = "memory of the library, aligned for all types")]
fn write(array: Address, at: usize, value: c_long) {
    // SAFETY: the library gave memory for more longs than that, aligned for them.
    unsafe { array.cast::<c_long>().add(at).write_volatile(value) };
}

fn tasks(size: i32, near: Option<i32>) -> Vec<Task<Kind>> {
    let mut tasks = Vec::new();
    if size < 2 {
        return tasks;
    }
    let mut add = |kind, bytes, members| tasks.push(Task { kind, bytes, members });
    let counts = counts(size);
    for count in &counts {
        add(Kind::Barrier, 0, Members::First(*count));
    }
    if let Some(near) = near.map(Members::With) {
        add(Kind::WaitUntil, 0, near);
        add(Kind::HandOver, 0, near);
        for bytes in MESSAGES {
            add(Kind::Access, *bytes, near);
        }
    }
    for count in counts {
        for kind in [Kind::Sum, Kind::Broadcast, Kind::Gather, Kind::AllToAll] {
            for bytes in COLLECTIVES {
                add(kind, *bytes, Members::First(count));
            }
        }
    }
    add(Kind::Alloc, 0, Members::First(size));
    tasks
}

impl Shmem {
    fn run(&self, world: &World<'_>, group: &Group, task: Task<Kind>, slice_s: f64) -> Vec<Measured> {
        let functions = &self.functions;
        let (to, from) = (self.to, self.from.cast_const().cast::<c_void>());
        let (size, peers) = (group.size, &world.mpi.peers(group));
        let all = size == world.mpi.size;
        // Whole longs, of a PE and of its part for each.
        let longs = task.bytes.div_ceil(8) as usize;
        let part = longs.div_ceil(size as usize);
        let sync = |turn: i32| {
            let turn = turn % TURNS;
            if turn == TURNS - 1 {
                world.mpi.barrier(group);
            }
            // Never beyond the arrays: the turn is below their number.
            self.sync.wrapping_add(turn as usize * SYNC * size_of::<c_long>())
        };
        let one = |operation, role, samples| vec![Measured { operation, role, bytes: task.bytes, samples }];
        match task.kind {
            Kind::Barrier if all => {
                one("shmem_barrier_all", "group_sync", together(peers, slice_s, |_| (functions.barrier_all)()))
            }
            Kind::Barrier => {
                let op = |turn| (functions.barrier)(0, 0, size, sync(turn));
                one("shmem_barrier", "group_sync", together(peers, slice_s, op))
            }
            Kind::Alloc => {
                let op = |_| (functions.free)((functions.malloc)(64));
                let samples: Vec<f64> = together(peers, slice_s, op).into_iter().map(|both| both / 2.0).collect();
                one("shmem_malloc and shmem_free", "global_alloc", samples)
            }
            Kind::Broadcast => {
                let op = |turn| (functions.broadcast)(to, from, longs, turn % size, 0, 0, size, sync(turn));
                one("shmem_broadcast64", "one_to_all", together(peers, slice_s, op))
            }
            Kind::Sum => {
                let op = |turn| (functions.sum)(to, from, longs as c_int, 0, 0, size, self.work, sync(turn));
                one("shmem_double_sum_to_all", "all_to_all", together(peers, slice_s, op))
            }
            Kind::Gather => {
                let op = |turn| (functions.gather)(to, from, part, 0, 0, size, sync(turn));
                one("shmem_fcollect64", "all_to_all", together(peers, slice_s, op))
            }
            Kind::AllToAll => {
                let op = |turn| (functions.all_to_all)(to, from, part, 0, 0, size, sync(turn));
                one("shmem_alltoall64", "all_to_all", together(peers, slice_s, op))
            }
            Kind::WaitUntil => {
                let (first, other) = (group.rank == 0, world.other(task.members));
                let mut value = 0;
                let samples = inside(peers, slice_s, |_| {
                    value += 1;
                    let begin = Instant::now();
                    if first {
                        (functions.put_one)(self.words, value, other);
                    }
                    (functions.wait_until)(self.words, EQUAL, value);
                    if !first {
                        (functions.put_one)(self.words, value, other);
                    }
                    (begin.elapsed().as_secs_f64() - world.timer_s).max(0.0) / 2.0
                });
                // Values begin anew in the next task.
                world.mpi.barrier(group);
                write(self.words, 0, 0);
                one("shmem_long_wait_until", "wait_on_value", samples)
            }
            Kind::HandOver => {
                let lock = self.words.wrapping_add(48) as usize;
                let take = || (functions.lock)(lock as Address);
                let give = || (functions.unlock)(lock as Address);
                let over = HandOver { take: &take, give: &give, wait: &take, done: &give };
                super::handed_over(
                    ["shmem_set_lock, handed over", "shmem_clear_lock, handed over"],
                    over.samples(peers, group.rank == 0, &now_s, slice_s),
                )
            }
            Kind::Access => self.access(world, group, task, slice_s),
        }
    }

    /// Accesses to memory of the other, which stays inside MPI meanwhile.
    fn access(&self, world: &World<'_>, group: &Group, task: Task<Kind>, slice_s: f64) -> Vec<Measured> {
        let functions = &self.functions;
        let (bytes, other) = (task.bytes as usize, world.other(task.members));
        // Behind the value that is waited for.
        let (counter, lock) = (self.words.wrapping_add(16), self.words.wrapping_add(32));
        let samples = world.while_inside(group, || {
            rounds(slice_s, || {
                [
                    timed(|| (functions.put)(self.to, self.from, bytes, other)),
                    timed(|| (functions.quiet)()),
                    timed(|| (functions.get)(self.to, self.from, bytes, other)),
                    timed(|| {
                        (functions.add)(counter, 1, other);
                    }),
                    timed(|| (functions.lock)(lock)),
                    timed(|| (functions.unlock)(lock)),
                    timed(|| (functions.fence)()),
                ]
            })
        });
        let names = [
            ("shmem_putmem", "put", true),
            ("shmem_quiet", "comm_sync", true),
            ("shmem_getmem", "get", true),
            ("shmem_long_atomic_fetch_add", "atomic", false),
            ("shmem_set_lock", "lock_acquire", false),
            ("shmem_clear_lock", "lock_release", false),
            ("shmem_fence", "comm_sync", false),
        ];
        super::steps(task.bytes, MESSAGES[0], names, samples)
    }
}
