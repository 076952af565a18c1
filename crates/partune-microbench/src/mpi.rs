//! A small binding of MPI to a library that is found at run time.
//!
//! Handles are `usize` and what they are is asked of `partune-mpi-abi`. Functions are called by their `PMPI_` names, so
//! that a tool that is loaded too does not measure the measuring. Errors of MPI end the program, as is its default.
#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use std::ffi::{c_int, c_void};

use partune_mpi_abi::{Abi, Handle, StatusLayout};

use partune_mpi::{LoadError, Loaded, functions, launched_size, load};

use crate::batches::Peers;

type Buffer = *const c_void;
type Out = *mut c_void;
type Comm = usize;
type Type = usize;

/// A status of any interface.
type Status = [c_int; StatusLayout::MOST];

// Every one returns an error code; handles fit in a `usize` argument of every interface.
functions! {
    Functions "P"
    init "MPI_Init" (*mut c_int, *mut c_void) -> c_int;
    finalized "MPI_Finalized" (*mut c_int) -> c_int;
    finalize "MPI_Finalize" () -> c_int;
    comm_rank "MPI_Comm_rank" (Comm, *mut c_int) -> c_int;
    comm_size "MPI_Comm_size" (Comm, *mut c_int) -> c_int;
    comm_split "MPI_Comm_split" (Comm, c_int, c_int, *mut Comm) -> c_int;
    comm_free "MPI_Comm_free" (*mut Comm) -> c_int;
    processor_name "MPI_Get_processor_name" (*mut u8, *mut c_int) -> c_int;
    barrier "MPI_Barrier" (Comm) -> c_int;
    bcast "MPI_Bcast" (Out, c_int, Type, c_int, Comm) -> c_int;
    reduce "MPI_Reduce" (Buffer, Out, c_int, Type, usize, c_int, Comm) -> c_int;
    allreduce "MPI_Allreduce" (Buffer, Out, c_int, Type, usize, Comm) -> c_int;
    allgather "MPI_Allgather" (Buffer, c_int, Type, Out, c_int, Type, Comm) -> c_int;
    alltoall "MPI_Alltoall" (Buffer, c_int, Type, Out, c_int, Type, Comm) -> c_int;
    scan "MPI_Scan" (Buffer, Out, c_int, Type, usize, Comm) -> c_int;
    send "MPI_Send" (Buffer, c_int, Type, c_int, c_int, Comm) -> c_int;
    recv "MPI_Recv" (Out, c_int, Type, c_int, c_int, Comm, *mut c_int) -> c_int;
    sendrecv "MPI_Sendrecv" (Buffer, c_int, Type, c_int, c_int, Out, c_int, Type, c_int, c_int, Comm, *mut c_int) -> c_int;
    isend "MPI_Isend" (Buffer, c_int, Type, c_int, c_int, Comm, *mut usize) -> c_int;
    irecv "MPI_Irecv" (Out, c_int, Type, c_int, c_int, Comm, *mut usize) -> c_int;
    wait "MPI_Wait" (*mut usize, *mut c_int) -> c_int;
    iprobe "MPI_Iprobe" (c_int, c_int, Comm, *mut c_int, *mut c_int) -> c_int;
    win_allocate "MPI_Win_allocate" (isize, c_int, usize, Comm, *mut *mut u8, *mut usize) -> c_int;
    win_free "MPI_Win_free" (*mut usize) -> c_int;
    win_fence "MPI_Win_fence" (c_int, usize) -> c_int;
    win_lock "MPI_Win_lock" (c_int, c_int, c_int, usize) -> c_int;
    win_unlock "MPI_Win_unlock" (c_int, usize) -> c_int;
    win_flush "MPI_Win_flush" (c_int, usize) -> c_int;
    put "MPI_Put" (Buffer, c_int, Type, c_int, isize, c_int, Type, usize) -> c_int;
    get "MPI_Get" (Out, c_int, Type, c_int, isize, c_int, Type, usize) -> c_int;
    fetch_and_op "MPI_Fetch_and_op" (Buffer, Out, Type, c_int, isize, usize, usize) -> c_int;
}

/// MPI, initialised.
pub(crate) struct Mpi {
    functions: Functions,
    pub(crate) abi: Abi,
    world: Comm,
    byte: Type,
    double: Type,
    int64: Type,
    sum: usize,
    max: usize,
    info_null: usize,
    /// What the library says of itself.
    pub(crate) version: String,
    pub(crate) rank: i32,
    pub(crate) size: i32,
}

/// Some of the PEs, this one among them.
pub(crate) struct Group {
    comm: Comm,
    pub(crate) rank: i32,
    pub(crate) size: i32,
}

/// A group that measures together.
pub(crate) struct Together<'a> {
    mpi: &'a Mpi,
    group: &'a Group,
}

impl Peers for Together<'_> {
    fn meet(&self) {
        self.mpi.barrier(self.group);
    }

    fn most(&self, mine: &[f64]) -> Vec<f64> {
        self.mpi.all_max(self.group, mine)
    }
}

/// Memory that the PEs of a group let each other access.
pub(crate) struct Window(usize);

impl Mpi {
    /// Loads the library of the launcher, or the one named, and initialises it.
    pub(crate) fn begin(named: Option<&str>) -> Result<Mpi, LoadError> {
        let Loaded { library, abi, name, version } = load(named)?;
        let functions =
            Functions::find(&library).map_err(|function| LoadError::Function { library: name.clone(), function })?;
        let handle = |handle: Handle| {
            let value = handle.value(abi, |symbol| library.symbol(symbol));
            value.ok_or_else(|| LoadError::Function { library: name.clone(), function: handle.name() })
        };
        let mut mpi = Mpi {
            functions,
            abi,
            world: handle(Handle::CommWorld)?,
            byte: handle(Handle::Byte)?,
            double: handle(Handle::Double)?,
            int64: handle(Handle::Int64)?,
            sum: handle(Handle::Sum)?,
            max: handle(Handle::Max)?,
            info_null: handle(Handle::InfoNull)?,
            version,
            rank: 0,
            size: 1,
        };
        (mpi.functions.init)(std::ptr::null_mut(), std::ptr::null_mut());
        let world = mpi.group_of(mpi.world);
        (mpi.rank, mpi.size) = (world.rank, world.size);
        match launched_size() {
            Some(started) if started != mpi.size => Err(LoadError::Foreign { library: name, found: mpi.size, started }),
            _ => Ok(mpi),
        }
    }

    /// Shuts MPI down, unless a library above it has done so.
    pub(crate) fn end(&self) {
        let mut over = 0;
        (self.functions.finalized)(&raw mut over);
        if over == 0 {
            (self.functions.finalize)();
        }
    }

    pub(crate) fn world(&self) -> Group {
        self.group_of(self.world)
    }

    fn group_of(&self, comm: Comm) -> Group {
        let mut group = Group { comm, rank: 0, size: 1 };
        (self.functions.comm_rank)(comm, &raw mut group.rank);
        (self.functions.comm_size)(comm, &raw mut group.size);
        group
    }

    /// The group of the PEs of the world that say `member`; none on others. Collective over the world.
    pub(crate) fn split(&self, member: bool) -> Option<Group> {
        let color = if member { 0 } else { self.abi.numbers().undefined };
        let mut comm = 0;
        (self.functions.comm_split)(self.world, color, self.rank, &raw mut comm);
        member.then(|| self.group_of(comm))
    }

    pub(crate) fn peers<'a>(&'a self, group: &'a Group) -> Together<'a> {
        Together { mpi: self, group }
    }

    pub(crate) fn free(&self, mut group: Group) {
        (self.functions.comm_free)(&raw mut group.comm);
    }

    /// The host of this PE.
    pub(crate) fn host(&self) -> String {
        let mut name = vec![0_u8; self.abi.numbers().max_processor_name.max(1) as usize];
        let mut length = 0;
        (self.functions.processor_name)(name.as_mut_ptr(), &raw mut length);
        name.truncate(length.max(0) as usize);
        String::from_utf8_lossy(&name).into_owned()
    }

    pub(crate) fn barrier(&self, group: &Group) {
        (self.functions.barrier)(group.comm);
    }

    pub(crate) fn broadcast(&self, group: &Group, data: &mut [u8], root: i32) {
        (self.functions.bcast)(data.as_mut_ptr().cast(), data.len() as c_int, self.byte, root, group.comm);
    }

    /// Sum of doubles at the root. Both slices have one length.
    pub(crate) fn reduce(&self, group: &Group, from: &[f64], to: &mut [f64], root: i32) {
        let count = from.len().min(to.len()) as c_int;
        let (from, to) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        (self.functions.reduce)(from, to, count, self.double, self.sum, root, group.comm);
    }

    /// Sum of doubles everywhere.
    pub(crate) fn all_sum(&self, group: &Group, from: &[f64], to: &mut [f64]) {
        let count = from.len().min(to.len()) as c_int;
        let (from, to) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        (self.functions.allreduce)(from, to, count, self.double, self.sum, group.comm);
    }

    /// The largest of each element over the group, everywhere.
    pub(crate) fn all_max(&self, group: &Group, values: &[f64]) -> Vec<f64> {
        let mut most = vec![0.0; values.len()];
        let (from, to) = (values.as_ptr().cast(), most.as_mut_ptr().cast());
        (self.functions.allreduce)(from, to, values.len() as c_int, self.double, self.max, group.comm);
        most
    }

    pub(crate) fn scan(&self, group: &Group, from: &[f64], to: &mut [f64]) {
        let count = from.len().min(to.len()) as c_int;
        let (from, to) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        (self.functions.scan)(from, to, count, self.double, self.sum, group.comm);
    }

    /// `to` is as long as the parts of all together.
    pub(crate) fn all_gather(&self, group: &Group, part: &[u8], to: &mut [u8]) {
        let count = part.len().min(to.len() / group.size.max(1) as usize) as c_int;
        let (from, to) = (part.as_ptr().cast(), to.as_mut_ptr().cast());
        (self.functions.allgather)(from, count, self.byte, to, count, self.byte, group.comm);
    }

    /// Both are as long as the parts for all together.
    pub(crate) fn all_to_all(&self, group: &Group, from: &[u8], to: &mut [u8]) {
        let count = (from.len().min(to.len()) / group.size.max(1) as usize) as c_int;
        let (from, to) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        (self.functions.alltoall)(from, count, self.byte, to, count, self.byte, group.comm);
    }

    pub(crate) fn send(&self, group: &Group, data: &[u8], to: i32) {
        (self.functions.send)(data.as_ptr().cast(), data.len() as c_int, self.byte, to, TAG, group.comm);
    }

    pub(crate) fn receive(&self, group: &Group, data: &mut [u8], from: i32) {
        let mut status = Status::default();
        let (buffer, count) = (data.as_mut_ptr().cast(), data.len() as c_int);
        (self.functions.recv)(buffer, count, self.byte, from, TAG, group.comm, status.as_mut_ptr());
    }

    pub(crate) fn exchange(&self, group: &Group, out: &[u8], into: &mut [u8], with: i32) {
        let mut status = Status::default();
        let (from, sent) = (out.as_ptr().cast(), out.len() as c_int);
        let (to, room) = (into.as_mut_ptr().cast(), into.len() as c_int);
        let byte = self.byte;
        let comm = group.comm;
        (self.functions.sendrecv)(from, sent, byte, with, TAG, to, room, byte, with, TAG, comm, status.as_mut_ptr());
    }

    /// Starts to send and to receive, calls `started`, and waits for both.
    pub(crate) fn exchange_later(&self, group: &Group, out: &[u8], into: &mut [u8], with: i32, started: impl FnOnce()) {
        let mut requests = [0, 0];
        let (to, room) = (into.as_mut_ptr().cast(), into.len() as c_int);
        (self.functions.irecv)(to, room, self.byte, with, TAG, group.comm, &raw mut requests[0]);
        let (from, sent) = (out.as_ptr().cast(), out.len() as c_int);
        (self.functions.isend)(from, sent, self.byte, with, TAG, group.comm, &raw mut requests[1]);
        let _complete = AtEnd(|| {
            let mut status = Status::default();
            for request in &mut requests {
                (self.functions.wait)(&raw mut *request, status.as_mut_ptr());
            }
        });
        started();
    }

    /// Whether a message from this PE is there.
    pub(crate) fn has_message(&self, group: &Group, from: i32) -> bool {
        let mut found = 0;
        let mut status = Status::default();
        (self.functions.iprobe)(from, TAG, group.comm, &raw mut found, status.as_mut_ptr());
        found != 0
    }

    /// A window of so many bytes on each PE. Collective over the group, as is freeing it.
    pub(crate) fn window(&self, group: &Group, bytes: usize) -> Window {
        let (mut base, mut window) = (std::ptr::null_mut(), 0);
        let room = bytes as isize;
        (self.functions.win_allocate)(room, 1, self.info_null, group.comm, &raw mut base, &raw mut window);
        Window(window)
    }

    pub(crate) fn free_window(&self, mut window: Window) {
        (self.functions.win_free)(&raw mut window.0);
    }

    pub(crate) fn fence(&self, window: &Window) {
        (self.functions.win_fence)(0, window.0);
    }

    pub(crate) fn lock(&self, window: &Window, target: i32) {
        (self.functions.win_lock)(self.abi.numbers().lock_exclusive, target, 0, window.0);
    }

    pub(crate) fn unlock(&self, window: &Window, target: i32) {
        (self.functions.win_unlock)(target, window.0);
    }

    fn flush(&self, window: &Window, target: i32) {
        (self.functions.win_flush)(target, window.0);
    }

    /// Starts to put, calls `started`, and flushes.
    pub(crate) fn put(&self, window: &Window, data: &[u8], target: i32, started: impl FnOnce()) {
        let _complete = AtEnd(|| self.flush(window, target));
        let (from, count) = (data.as_ptr().cast(), data.len() as c_int);
        (self.functions.put)(from, count, self.byte, target, 0, count, self.byte, window.0);
        started();
    }

    /// The same to get.
    pub(crate) fn get(&self, window: &Window, data: &mut [u8], target: i32, started: impl FnOnce()) {
        let _complete = AtEnd(|| self.flush(window, target));
        let (to, count) = (data.as_mut_ptr().cast(), data.len() as c_int);
        (self.functions.get)(to, count, self.byte, target, 0, count, self.byte, window.0);
        started();
    }

    /// The same to add to the first eight bytes of the target's memory; the old value is in `old`.
    pub(crate) fn fetch_and_add(
        &self,
        window: &Window,
        term: &i64,
        old: &mut i64,
        target: i32,
        started: impl FnOnce(),
    ) {
        let _complete = AtEnd(|| self.flush(window, target));
        let (from, to) = ((&raw const *term).cast(), (&raw mut *old).cast());
        (self.functions.fetch_and_op)(from, to, self.int64, target, 0, self.sum, window.0);
        started();
    }
}

/// Does something when it goes, also by a panic: what completes an operation must come before memory that MPI uses until then is given back.
struct AtEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        self.0();
    }
}

/// All messages have it.
const TAG: c_int = 7;
