//! Files of MPI: who opened which, and the bytes that were read and written.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use partune_collect::definitions::Interface;
use partune_collect::facts::{Collective, Io, NO_ROOT};
use partune_collect::{Call, definitions};
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
    /// The access that was begun and not ended by a split collective.
    begun: u64,
}

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
        with_table(|table| table.insert(handle, File { number, comm, has_view: false, begun: 0 }));
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
    transfer(invocation, Io::Read);
}

pub(crate) fn write(invocation: &mut Invocation<'_>) {
    transfer(invocation, Io::Write);
}

fn transfer(invocation: &mut Invocation<'_>, io: Io) {
    let told = begin(invocation, io);
    if invocation.mode() == Mode::NonBlocking {
        if invocation.run() {
            let work = told.map(|(handle, matching)| Work::File { handle, matching });
            p2p::keep(invocation, work, Some(0));
        }
        return;
    }
    finish(invocation, told);
}

pub(crate) fn read_begin(invocation: &mut Invocation<'_>) {
    transfer_begin(invocation, Io::Read);
}

pub(crate) fn write_begin(invocation: &mut Invocation<'_>) {
    transfer_begin(invocation, Io::Write);
}

/// The first half of a split collective.
fn transfer_begin(invocation: &mut Invocation<'_>, io: Io) {
    let told = begin(invocation, io);
    if invocation.run()
        && let Some((_, matching)) = told
    {
        let handle = invocation.handle(Place::File, Kind::File);
        with_table(|table| {
            if let Some(file) = table.get_mut(&handle) {
                file.begun = matching;
            }
        });
    }
}

/// The second half of a split collective.
pub(crate) fn transfer_end(invocation: &mut Invocation<'_>) {
    let handle = invocation.handle(Place::File, Kind::File);
    let file = with_table(|table| {
        let file = table.get_mut(&handle)?;
        let before = *file;
        file.begun = 0;
        Some(before)
    });
    let told = file.filter(|file| file.begun != 0).map(|file| (file.number, file.begun));
    finish(invocation, told);
}

/// Tells that an access begins: its file and its number.
fn begin(invocation: &mut Invocation<'_>, io: Io) -> Option<(u32, u64)> {
    let handle = invocation.handle(Place::File, Kind::File);
    let File { number, has_view, .. } = with_table(|table| table.get(&handle).copied())?;
    let count = invocation.number(Place::SendCount).max(0) as u64;
    let bytes = count.saturating_mul(types::size(invocation.handle(Place::SendType, Kind::Datatype)));
    // Those without a view are bytes from the begin of the file.
    let is_told = invocation.has(Place::Offset) && !has_view;
    let offset = if is_told { u64::try_from(invocation.number(Place::Offset)).ok() } else { None };
    let call = invocation.call.as_mut()?;
    let matching = call.next_id();
    call.io_begin(number, io, bytes, matching, offset);
    Some((number, matching))
}

/// Calls the real function and tells what its status says.
fn finish(invocation: &mut Invocation<'_>, told: Option<(u32, u64)>) {
    let Some((number, matching)) = told else {
        invocation.run();
        return;
    };
    let mut own: OwnStatus = [0; StatusLayout::MOST];
    let status = invocation.want_status(&mut own);
    let succeeded = invocation.run();
    let bytes = if succeeded { invocation.status(status).bytes.unwrap_or(0) } else { 0 };
    tell_complete(invocation.telling(), number, bytes, matching);
}

/// An access has ended.
pub(crate) fn tell_complete(call: Option<Call<'_>>, number: u32, bytes: u64, matching: u64) {
    if let Some(mut call) = call {
        call.io_complete(number, bytes, matching);
    }
}
