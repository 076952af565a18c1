//! Coarrays of Fortran: the calls that gfortran makes into its coarray library, over all images and over teams of the first.
//!
//! Images agree over MPI, on which this library runs.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use partune_mpi_abi::Abi;

use super::{COLLECTIVES, Found, How, MESSAGES, Measured, Members, Model, Task, counts};
use crate::batches::{HandOver, inside, rounds, timed, together};
use crate::host::now_s;
use crate::mpi::Group;
use crate::world::World;
use partune_mpi::{Library, functions};

pub(super) static CAF: Model = Model { name: "CAF", word: "coarrays", weight: 3, how: How::Processes(measure) };

type Token = *mut c_void;
type Status = *mut c_int;
type Text = *mut u8;
/// `gfc_descriptor_t`.
type Array = *const Descriptor;
/// `caf_vector_t`: none is ever given.
type Vector = *const c_void;

functions! {
    Functions "_gfortran_caf_"
    init "init" (*mut c_int, *mut c_void);
    finalize "finalize" ();
    images "num_images" (c_int, c_int) -> c_int;
    register "register" (usize, c_int, *mut Token, Array, Status, Text, usize);
    deregister "deregister" (*mut Token, c_int, Status, Text, usize);
    put "send" (Token, usize, c_int, Array, Vector, Array, c_int, c_int, bool, Status);
    get "get" (Token, usize, c_int, Array, Vector, Array, c_int, c_int, bool, Status);
    sync_all "sync_all" (Status, Text, usize);
    sync_images "sync_images" (c_int, *const c_int, Status, Text, usize);
    sync_memory "sync_memory" (Status, Text, usize);
    sum "co_sum" (Array, c_int, Status, Text, usize);
    broadcast "co_broadcast" (Array, c_int, Status, Text, usize);
    add "atomic_op" (c_int, Token, usize, c_int, *const i32, *mut i32, Status, c_int, c_int);
    lock "lock" (Token, usize, c_int, Status, Status, Text, usize);
    unlock "unlock" (Token, usize, c_int, Status, Text, usize);
    post "event_post" (Token, usize, c_int, Status, Text, usize);
    wait "event_wait" (Token, usize, c_int, Status, Text, usize);
    form_team "form_team" (c_int, *mut Token, c_int);
    change_team "change_team" (*mut Token, c_int);
    end_team "end_team" (*mut Token);
}

/// Nothing is to be told of errors: they end the program.
const QUIET: (Status, Text, usize) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
/// `CAF_REGTYPE_COARRAY_ALLOC`.
const DATA: c_int = 1;
/// `CAF_REGTYPE_LOCK_ALLOC`.
const LOCK: c_int = 3;
/// `CAF_REGTYPE_EVENT_ALLOC`.
const EVENT: c_int = 6;
/// `GFC_CAF_ATOMIC_ADD`.
const ADD: c_int = 1;
/// `BT_INTEGER`, a type of elements.
const INTEGER: c_int = 1;
/// `BT_REAL`, another one.
const REAL: i8 = 3;

/// An array of one dimension, as gfortran 8 and later describe it.
#[repr(C)]
struct Descriptor {
    base: *mut f64,
    offset: isize,
    element: usize,
    version: i32,
    rank: i8,
    kind: i8,
    attribute: i16,
    span: isize,
    stride: isize,
    lower: isize,
    upper: isize,
}

impl Descriptor {
    /// So many reals of eight bytes, from an address on.
    fn of(base: *mut f64, count: usize) -> Descriptor {
        Descriptor {
            base,
            offset: -1,
            element: 8,
            version: 0,
            rank: 1,
            kind: REAL,
            attribute: 0,
            span: 8,
            stride: 1,
            lower: 1,
            upper: count as isize,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SyncAll,
    SyncImages,
    Allocate,
    Sum,
    SumTo,
    Broadcast,
    Event,
    HandOver,
    Access,
}

/// The library, initialised, and coarrays.
struct Coarrays {
    functions: Functions,
    data: Token,
    lock: Token,
    event: Token,
    counter: Token,
}

fn measure(world: &World<'_>) -> Result<Found, String> {
    let names = match world.mpi.abi {
        Abi::OpenMpi => &[c"libcaf_openmpi.so.3", c"libcaf_openmpi.so"][..],
        Abi::Mpich => &[c"libcaf_mpich.so.3", c"libcaf_mpich.so"],
        Abi::Standard => &[],
    };
    let library = Library::first(names, Library::open)?;
    let functions = Functions::find(&library).map_err(|function| format!("it has no _gfortran_caf_{function}"))?;
    (functions.init)(std::ptr::null_mut(), std::ptr::null_mut());
    let images = (functions.images)(0, -1);
    if images != world.mpi.size {
        return Err(format!("it sees {images} images, and MPI {} PEs", world.mpi.size));
    }
    let new = |kind, size| register(&functions, kind, size);
    let most = MESSAGES.iter().max().map_or(8, |bytes| *bytes as usize);
    let (data, lock, event, counter) = (new(DATA, most), new(LOCK, 1), new(EVENT, 1), new(DATA, 8));
    let coarrays = Coarrays { functions, data, lock, event, counter };
    let functions = &coarrays.functions;
    let mut measured = Vec::new();
    let tasks = tasks(world.mpi.size, world.near());
    let mut left = tasks.len();
    // Those of one number of images follow each other.
    for tasks in tasks.chunk_by(|a, b| a.members == b.members) {
        let run = || {
            world.tasks(tasks, left, |group, task, slice_s| {
                coarrays.run(world, group, task, slice_s, world.other(task.members) + 1)
            })
        };
        match tasks[0].members {
            Members::First(count) if count < world.mpi.size => {
                let mut team = std::ptr::null_mut();
                (functions.form_team)(if world.mpi.rank < count { 1 } else { 2 }, &raw mut team, 0);
                (functions.change_team)(&raw mut team, 0);
                measured.extend(run());
                (functions.end_team)(&raw mut team);
            }
            _ => measured.extend(run()),
        }
        left -= tasks.len();
    }
    (functions.finalize)();
    let rows = measured.into_iter().map(|(task, measured)| (task.members.count(), measured)).collect();
    Ok(Found { rows, ..Found::default() })
}

/// A new coarray of so many bytes, locks or events.
fn register(functions: &Functions, kind: c_int, size: usize) -> Token {
    let mut token = std::ptr::null_mut();
    let descriptor = Descriptor::of(std::ptr::null_mut(), size.div_ceil(8));
    (functions.register)(size, kind, &raw mut token, &raw const descriptor, QUIET.0, QUIET.1, QUIET.2);
    token
}

fn tasks(size: i32, near: Option<i32>) -> Vec<Task<Kind>> {
    let mut tasks = Vec::new();
    if size < 2 {
        return tasks;
    }
    let mut add = |kind, bytes, members| tasks.push(Task { kind, bytes, members });
    let counts = counts(size);
    add(Kind::SyncAll, 0, Members::First(size));
    if let Some(near) = near.map(Members::With) {
        add(Kind::SyncImages, 0, near);
        add(Kind::Event, 0, near);
        add(Kind::HandOver, 0, near);
        for bytes in MESSAGES {
            add(Kind::Access, *bytes, near);
        }
    }
    for count in counts {
        if count < size {
            add(Kind::SyncAll, 0, Members::First(count));
        }
        for kind in [Kind::Sum, Kind::Broadcast, Kind::SumTo] {
            for bytes in COLLECTIVES {
                add(kind, *bytes, Members::First(count));
            }
        }
    }
    add(Kind::Allocate, 0, Members::First(size));
    tasks
}

impl Coarrays {
    /// `other` is the number of the other image, where there is one.
    fn run(&self, world: &World<'_>, group: &Group, task: Task<Kind>, slice_s: f64, other: i32) -> Vec<Measured> {
        let functions = &self.functions;
        let (status, text, length) = QUIET;
        let (size, peers) = (group.size, &world.mpi.peers(group));
        let mut values = vec![1.0; task.bytes.div_ceil(8).max(1) as usize];
        let array = Descriptor::of(values.as_mut_ptr(), values.len());
        let array = &raw const array;
        let one = |operation, role, samples| vec![Measured { operation, role, bytes: task.bytes, samples }];
        match task.kind {
            Kind::SyncAll => {
                let op = |_| (functions.sync_all)(status, text, length);
                one("sync all", "group_sync", together(peers, slice_s, op))
            }
            Kind::SyncImages => {
                let op = |_| (functions.sync_images)(1, &raw const other, status, text, length);
                one("sync images", "group_sync", together(peers, slice_s, op))
            }
            Kind::Allocate => {
                let op = |_| {
                    let mut token = register(functions, DATA, 64);
                    (functions.deregister)(&raw mut token, 0, status, text, length);
                };
                let samples = together(peers, slice_s, op).into_iter().map(|both| both / 2.0).collect();
                one("allocate and deallocate", "global_alloc", samples)
            }
            Kind::Sum => {
                let op = |_| (functions.sum)(array, 0, status, text, length);
                one("co_sum", "all_to_all", together(peers, slice_s, op))
            }
            Kind::SumTo => {
                let op = |turn| (functions.sum)(array, turn % size + 1, status, text, length);
                one("co_sum result_image", "all_to_one", together(peers, slice_s, op))
            }
            Kind::Broadcast => {
                let op = |turn| (functions.broadcast)(array, turn % size + 1, status, text, length);
                one("co_broadcast", "one_to_all", together(peers, slice_s, op))
            }
            Kind::HandOver => {
                // That of the first image.
                let lock = self.lock as usize;
                let take = || (functions.lock)(lock as Token, 0, 1, null_mut(), null_mut(), null_mut(), 0);
                let give = || (functions.unlock)(lock as Token, 0, 1, null_mut(), null_mut(), 0);
                let over = HandOver { take: &take, give: &give, wait: &take, done: &give };
                super::handed_over(
                    ["lock, handed over", "unlock, handed over"],
                    over.samples(peers, group.rank == 0, &now_s, slice_s),
                )
            }
            Kind::Event => self.event(world, group, slice_s, other),
            Kind::Access => {
                let bytes = task.bytes;
                let samples = world.while_inside(group, || self.access(array, slice_s, other));
                let names = [
                    ("put", "put", true),
                    ("sync memory", "comm_sync", true),
                    ("get", "get", true),
                    ("atomic_add", "atomic", false),
                    ("lock", "lock_acquire", false),
                    ("unlock", "lock_release", false),
                ];
                super::steps(bytes, MESSAGES[0], names, samples)
            }
        }
    }

    /// Two images post to each other in turns: the time in the post, and half of a round.
    fn event(&self, world: &World<'_>, group: &Group, slice_s: f64, other: i32) -> Vec<Measured> {
        let functions = &self.functions;
        let (status, text, length) = QUIET;
        let peers = &world.mpi.peers(group);
        let post = || (functions.post)(self.event, 0, other, status, text, length);
        let wait = || (functions.wait)(self.event, 0, 1, status, text, length);
        let round = |of_post: bool| {
            inside(peers, slice_s / 2.0, |_| {
                let mut posting = 0.0;
                let all = timed(|| {
                    if group.rank == 0 {
                        posting = timed(post);
                        wait();
                    } else {
                        wait();
                        posting = timed(post);
                    }
                });
                if of_post { posting } else { all / 2.0 }
            })
        };
        vec![
            Measured::of("event post", "signal", round(true)),
            Measured::of("event wait", "wait_on_value", round(false)),
        ]
    }

    /// Accesses to memory of the other image, which stays inside MPI meanwhile.
    fn access(&self, array: Array, slice_s: f64, other: i32) -> [Vec<f64>; 6] {
        let functions = &self.functions;
        let (status, text, length) = QUIET;
        let (token, none) = (self.data, std::ptr::null());
        rounds(slice_s, || {
            let mut old = 0;
            let old = &raw mut old;
            [
                timed(|| (functions.put)(token, 0, other, array, none, array, 8, 8, false, status)),
                timed(|| (functions.sync_memory)(status, text, length)),
                timed(|| (functions.get)(token, 0, other, array, none, array, 8, 8, false, status)),
                timed(|| (functions.add)(ADD, self.counter, 0, other, &raw const ONE, old, status, INTEGER, 4)),
                timed(|| (functions.lock)(self.lock, 0, other, std::ptr::null_mut(), status, text, length)),
                timed(|| (functions.unlock)(self.lock, 0, other, status, text, length)),
            ]
        })
    }
}

/// What is added.
static ONE: i32 = 1;
