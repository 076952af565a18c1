//! Files of MPI: who opened which, and the bytes that were read and written.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use partune_collect::definitions::Interface;
use partune_collect::facts::{Collective, Io, NO_ROOT};
use partune_collect::{ANYBODY, Call, definitions};
use partune_mpi_abi::{Kind, StatusLayout};

use crate::comms;
use crate::function::Mode;
use crate::invocation::{Invocation, OwnStatus};
use crate::p2p;
use crate::place::Place;
use crate::requests::Work;
use crate::types;

/// What is kept of an open file.
#[derive(Clone, Copy)]
struct File {
    number: u32,
    /// The communicator that opened it.
    comm: Option<u32>,
    /// Offsets count elements of a view, and not bytes.
    has_view: bool,
    /// The access that was begun and not ended by a split collective, and its request.
    begun: Option<(Access, u64)>,
}

/// An access that has begun.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Access {
    pub(crate) file: u32,
    /// Its number.
    pub(crate) matching: u64,
    /// The communicator that makes it, if it is not made by one process.
    comm: Option<u32>,
}

impl Access {
    pub(crate) fn is_of_all(&self) -> bool {
        self.comm.is_some()
    }

    /// Those who made it met, and its request is complete.
    pub(crate) fn tell_met(self, call: &mut Call<'_>, request: u64) {
        if let Some(comm) = self.comm {
            call.collective_complete(TOGETHER, comm, NO_ROOT, [0, 0], request);
        }
    }
}

/// What an access by all is for the archive: everybody meets everybody. Its bytes are those of the file's, told apart.
const TOGETHER: Collective = Collective::Alltoall;

static TABLE: Mutex<Option<HashMap<usize, File>>> = Mutex::new(None);

fn with_table<T>(act: impl FnOnce(&mut HashMap<usize, File>) -> T) -> T {
    let mut table = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
    act(table.get_or_insert_with(HashMap::new))
}

/// `MPI_File_open`.
pub(crate) fn open(invocation: &mut Invocation<'_>) {
    let comm = comms::find(invocation.mpi, invocation.handle(Place::Comm, Kind::Comm)).map(|comm| comm.number);
    if let (Some(_), Some(call)) = (comm, &mut invocation.call) {
        call.collective_begin();
    }
    let opened = invocation.run();
    if opened {
        let number = definitions::file(&invocation.text(Place::Text), Interface::Mpi, 0);
        let handle = invocation.stored(Place::FileOut, Kind::File);
        with_table(|table| table.insert(handle, File { number, comm, has_view: false, begun: None }));
    }
    tell_collective(invocation, Collective::CreateHandle, comm);
}

/// `MPI_File_set_view`.
pub(crate) fn set_view(invocation: &mut Invocation<'_>) {
    if invocation.run() {
        let handle = invocation.handle(Place::File, Kind::File);
        with_table(|table| {
            if let Some(file) = table.get_mut(&handle) {
                file.has_view = true;
            }
        });
    }
}

/// `MPI_File_close`.
pub(crate) fn close(invocation: &mut Invocation<'_>) {
    let handle = invocation.stored(Place::FileOut, Kind::File);
    // Before the library may give the handle to another thread.
    let file = with_table(|table| table.remove(&handle));
    let comm = file.and_then(|file| file.comm);
    if let (Some(_), Some(call)) = (comm, &mut invocation.call) {
        call.collective_begin();
    }
    if let (false, Some(file)) = (invocation.run(), file) {
        with_table(|table| table.insert(handle, file));
    }
    tell_collective(invocation, Collective::DestroyHandle, comm);
}

fn tell_collective(invocation: &mut Invocation<'_>, op: Collective, comm: Option<u32>) {
    if let (Some(comm), Some(call)) = (comm, &mut invocation.call) {
        call.collective_end(op, comm, NO_ROOT, 0, 0);
    }
}

pub(crate) fn read(invocation: &mut Invocation<'_>) {
    transfer(invocation, Io::Read, false);
}

pub(crate) fn write(invocation: &mut Invocation<'_>) {
    transfer(invocation, Io::Write, false);
}

pub(crate) fn read_all(invocation: &mut Invocation<'_>) {
    transfer(invocation, Io::Read, true);
}

pub(crate) fn write_all(invocation: &mut Invocation<'_>) {
    transfer(invocation, Io::Write, true);
}

/// An access, of one process or of all that opened the file.
fn transfer(invocation: &mut Invocation<'_>, io: Io, by_all: bool) {
    let access = begin(invocation, io, by_all);
    if invocation.mode() == Mode::NonBlocking {
        start(invocation, access);
        return;
    }
    let comm = access.and_then(|access| access.comm);
    if let (Some(comm), Some(call)) = (comm, &mut invocation.call) {
        call.collective_begin();
        call.awaits(comm, ANYBODY);
    }
    // Where it failed, it was met in all the same.
    finish(invocation, access);
    tell_collective(invocation, TOGETHER, comm);
}

fn start(invocation: &mut Invocation<'_>, access: Option<Access>) {
    let work = access.map(Work::File);
    let id = work.and_then(|work| p2p::tell_start(invocation, work));
    if invocation.run() {
        p2p::keep(invocation, work, id);
    } else if access.is_some_and(|access| access.is_of_all()) {
        p2p::cancel(invocation, id);
    }
}

pub(crate) fn read_begin(invocation: &mut Invocation<'_>) {
    transfer_begin(invocation, Io::Read, false);
}

pub(crate) fn write_begin(invocation: &mut Invocation<'_>) {
    transfer_begin(invocation, Io::Write, false);
}

pub(crate) fn read_all_begin(invocation: &mut Invocation<'_>) {
    transfer_begin(invocation, Io::Read, true);
}

pub(crate) fn write_all_begin(invocation: &mut Invocation<'_>) {
    transfer_begin(invocation, Io::Write, true);
}

/// The first half of a split collective.
fn transfer_begin(invocation: &mut Invocation<'_>, io: Io, by_all: bool) {
    let access = begin(invocation, io, by_all);
    let id = access.and_then(|access| p2p::tell_start(invocation, Work::File(access)));
    if invocation.run() {
        let handle = invocation.handle(Place::File, Kind::File);
        with_table(|table| {
            if let Some(file) = table.get_mut(&handle) {
                file.begun = access.zip(id);
            }
        });
    } else if access.is_some_and(|access| access.is_of_all()) {
        p2p::cancel(invocation, id);
    }
}

/// The second half of a split collective.
pub(crate) fn transfer_end(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::File, Kind::File);
    let begun = with_table(|table| table.get_mut(&handle)?.begun.take());
    let access = begun.map(|(access, _)| access);
    if let (Some(comm), Some(call)) = (access.and_then(|access| access.comm), &mut invocation.call) {
        call.awaits(comm, ANYBODY);
    }
    finish(invocation, access);
    if let (Some((access, id)), Some(call)) = (begun, &mut invocation.call) {
        access.tell_met(call, id);
    }
}

/// Tells that an access begins.
fn begin(invocation: &mut Invocation<'_>, io: Io, by_all: bool) -> Option<Access> {
    let handle = invocation.handle(Place::File, Kind::File);
    let File { number, comm, has_view, .. } = with_table(|table| table.get(&handle).copied())?;
    let count = invocation.number(Place::SendCount).max(0) as u64;
    let bytes = count.saturating_mul(types::size(invocation.handle(Place::SendType, Kind::Datatype)));
    // Those without a view are bytes from the begin of the file.
    let is_told = invocation.has(Place::Offset) && !has_view;
    let offset = if is_told { u64::try_from(invocation.number(Place::Offset)).ok() } else { None };
    let call = invocation.call.as_mut()?;
    let matching = call.next_id();
    call.io_begin(number, io, bytes, matching, offset);
    Some(Access { file: number, matching, comm: comm.filter(|_| by_all) })
}

/// Calls the real function and tells what its status says.
fn finish(invocation: &mut Invocation<'_>, access: Option<Access>) {
    let Some(access) = access else {
        invocation.run();
        return;
    };
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = invocation.want_status(&mut own);
    let bytes = if invocation.run() { invocation.status(status).bytes.unwrap_or(0) } else { 0 };
    if let Some(call) = &mut invocation.call {
        call.io_complete(access.file, bytes, access.matching);
    }
}
