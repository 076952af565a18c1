//! What happens inside a call, as OTF2 events: messages, requests, collectives, remote accesses, files.
//!
//! Methods of [`Call`], one per event; each gets the call's time. In profile mode they add to the call path's statistics instead. Ranks are
//! ranks in the communicator or window; ids of communicators, groups and windows are those of [`crate::definitions`]. Times and attributes
//! follow `OTF2_Events.h`.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::call::Call;
use crate::lane::Keep;
use partune_parts::encode::{Message, RECV, SEND};
use partune_parts::layout::attributes;

/// `OTF2_CollectiveOp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Collective {
    Barrier = 0,
    Broadcast = 1,
    Gather = 2,
    Gatherv = 3,
    Scatter = 4,
    Scatterv = 5,
    Allgather = 6,
    Allgatherv = 7,
    Alltoall = 8,
    Alltoallv = 9,
    Alltoallw = 10,
    Allreduce = 11,
    Reduce = 12,
    ReduceScatter = 13,
    Scan = 14,
    Exscan = 15,
    ReduceScatterBlock = 16,
    CreateHandle = 17,
    DestroyHandle = 18,
    Allocate = 19,
    Deallocate = 20,
    CreateHandleAndAllocate = 21,
    DestroyHandleAndDeallocate = 22,
}

/// `OTF2_LockType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Lock {
    Exclusive = 0,
    Shared = 1,
}

/// `OTF2_RmaSyncType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Sync {
    Memory = 0,
    NotifyIn = 1,
    NotifyOut = 2,
}

/// `OTF2_RmaAtomicType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Atomic {
    Accumulate = 0,
    Increment = 1,
    TestAndSet = 2,
    CompareAndSwap = 3,
    Swap = 4,
    FetchAndAdd = 5,
    FetchAndIncrement = 6,
    FetchAndAccumulate = 7,
}

/// `OTF2_IoOperationMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Io {
    Read = 0,
    Write = 1,
    Flush = 2,
}

/// The root of a collective that has none.
pub const NO_ROOT: u32 = u32::MAX;
/// A root that is this process itself, in intercommunicators.
pub const SELF_ROOT: u32 = u32::MAX - 1;
/// What a synchronisation of a window orders (`OTF2_RmaSyncLevel`): processes and memory.
pub const SYNC_PROCESS: u32 = 1;
pub const SYNC_MEMORY: u32 = 2;

/// Appends a record with attributes to the lane of a call, unless it keeps statistics only. A macro, since closures are not always inlined.
macro_rules! tell {
    ($call:ident, $kind:literal, $at:ident => $data:expr) => {
        tell!($call, $kind, (attributes::DISPLACEMENT, None), $at => $data)
    };
    ($call:ident, $kind:literal, ($attribute:expr, $value:expr), $at:ident => $data:expr) => {
        let lane = &mut *$call.lane;
        if !matches!(lane.keep, Keep::Statistics(_)) {
            let record = lane.room(lane.current.time).attribute($attribute, $value).record($kind);
            let $at = record.data();
            let end = record.end($data);
            lane.append(end);
        }
    };
}

/// A hash of the number that the next synchronisation of all processes of a world has: the same on all of them, and sums of others
/// differ (the finalizer of SplitMix64).
fn sign_next(world: u64) -> u64 {
    static SYNCHRONISATIONS: AtomicU64 = AtomicU64::new(1);
    let number = SYNCHRONISATIONS.fetch_add(1, Ordering::Relaxed);
    let mut word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(world);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[allow(clippy::inline_always, reason = "messages are the hot path")]
impl Call<'_> {
    /// Appends a record that is a single number, which has no length.
    #[allow(clippy::inline_always, reason = "a few stores")]
    #[inline(always)]
    fn tell_one(&mut self, kind: u8, value: u64) {
        let lane = &mut *self.lane;
        if !matches!(lane.keep, Keep::Statistics(_)) {
            let at = lane.room(lane.current.time);
            lane.append(at.byte(kind).c64(value));
        }
    }

    /// A part in a collective is a transfer if it moves something.
    fn took_part(&mut self, sent: u64, received: u64) {
        if sent | received != 0 {
            self.moved(sent, received);
        }
    }

    #[inline]
    fn moved(&mut self, sent: u64, received: u64) {
        if let Keep::Statistics(profile) = &mut self.lane.keep {
            profile.moved(sent, received);
        }
    }

    #[inline(always)]
    pub fn sent(&mut self, message: Message) {
        self.sends(message);
        self.tell_message(SEND, message);
    }

    #[inline(always)]
    fn sends(&mut self, message: Message) {
        self.starts(message.bytes, 0);
    }

    /// A message or an access is told next, before the real function is called, which may fail: see [`Call::retract`].
    #[inline(always)]
    fn starts(&mut self, sent: u64, received: u64) {
        if let Keep::Statistics(profile) = &mut self.lane.keep {
            profile.start(sent, received);
        } else {
            self.lane.tell_next();
        }
    }

    #[inline(always)]
    fn tell_message(&mut self, kind: u8, message: Message) {
        let lane = &mut *self.lane;
        if !matches!(lane.keep, Keep::Statistics(_)) {
            let end = lane.room(lane.current.time).message(kind, message);
            lane.append(end);
        }
    }

    #[inline(always)]
    pub fn isend(&mut self, message: Message, request: u64) {
        self.sends(message);
        tell!(self, 15, at => at.about(message).c64(request));
    }

    #[inline(always)]
    pub fn isend_complete(&mut self, request: u64) {
        self.tell_one(16, request);
    }

    #[inline(always)]
    pub fn irecv_request(&mut self, request: u64) {
        self.tell_one(17, request);
    }

    #[inline(always)]
    pub fn recv(&mut self, message: Message) {
        self.moved(0, message.bytes);
        self.tell_message(RECV, message);
    }

    #[inline(always)]
    pub fn irecv(&mut self, message: Message, request: u64) {
        self.moved(0, message.bytes);
        tell!(self, 19, at => at.about(message).c64(request));
    }

    pub fn request_test(&mut self, request: u64) {
        self.tell_one(20, request);
    }

    pub fn request_cancelled(&mut self, request: u64) {
        self.tell_one(21, request);
    }

    pub fn collective_begin(&mut self) {
        tell!(self, 22, at => at);
    }

    pub fn collective_end(&mut self, op: Collective, comm: u32, root: u32, sent: u64, received: u64) {
        self.took_part(sent, received);
        tell!(self, 23, at => at.byte(op as u8).c32(comm).c32(root).c64(sent).c64(received));
    }

    /// So many processes took part in the collective operation. `world`: which these are, if they are all of the program's and nobody left
    /// before the last one came.
    pub fn met(&mut self, members: u32, world: Option<u64>) {
        if let Keep::Statistics(profile) = &mut self.lane.keep {
            profile.met(members, world.map(sign_next));
        }
    }

    pub fn collective_request(&mut self, request: u64) {
        tell!(self, 85, at => at.c64(request));
    }

    pub fn collective_complete(&mut self, op: Collective, comm: u32, root: u32, bytes: [u64; 2], request: u64) {
        let [sent, received] = bytes;
        self.took_part(sent, received);
        tell!(self, 86, at => at.byte(op as u8).c32(comm).c32(root).c64(sent).c64(received).c64(request));
    }

    pub fn comm_create(&mut self, comm: u32) {
        tell!(self, 87, at => at.c32(comm));
    }

    pub fn comm_destroy(&mut self, comm: u32) {
        tell!(self, 88, at => at.c32(comm));
    }

    /// `unit`: the bytes of a unit of displacements in this process's part of the window.
    pub fn window_create(&mut self, window: u32, unit: Option<u64>) {
        tell!(self, 35, (attributes::DISPLACEMENT_UNIT, unit), at => at.c32(window));
    }

    pub fn window_destroy(&mut self, window: u32) {
        tell!(self, 36, at => at.c32(window));
    }

    pub fn rma_collective_begin(&mut self) {
        tell!(self, 37, at => at);
    }

    pub fn rma_collective_end(&mut self, op: Collective, level: u32, window: u32, root: u32, bytes: [u64; 2]) {
        let [sent, received] = bytes;
        self.took_part(sent, received);
        tell!(self, 38, at => at.byte(op as u8).c32(level).c32(window).c32(root).c64(sent).c64(received));
    }

    pub fn rma_group_sync(&mut self, level: u32, window: u32, group: u32) {
        tell!(self, 39, at => at.c32(level).c32(window).c32(group));
    }

    pub fn rma_request_lock(&mut self, window: u32, remote: u32, lock: u64, kind: Lock) {
        tell!(self, 40, at => at.c32(window).c32(remote).c64(lock).byte(kind as u8));
    }

    pub fn rma_acquire_lock(&mut self, window: u32, remote: u32, lock: u64, kind: Lock) {
        tell!(self, 41, at => at.c32(window).c32(remote).c64(lock).byte(kind as u8));
    }

    pub fn rma_release_lock(&mut self, window: u32, remote: u32, lock: u64) {
        tell!(self, 43, at => at.c32(window).c32(remote).c64(lock));
    }

    pub fn rma_sync(&mut self, window: u32, remote: u32, kind: Sync) {
        tell!(self, 44, at => at.c32(window).c32(remote).byte(kind as u8));
    }

    /// The call waits until another process has written to this one's part of the window, there.
    pub fn rma_wait_change(&mut self, window: u32, displacement: Option<u64>) {
        tell!(self, 45, (attributes::DISPLACEMENT, displacement), at => at.c32(window));
    }

    /// The call waits until another thread has given a sign for an object of the window.
    pub fn rma_wait_for(&mut self, window: u32, object: u32) {
        tell!(self, 45, (attributes::OBJECT, Some(object.into())), at => at.c32(window));
    }

    /// The call gives that sign to whoever waits for it.
    pub fn rma_give_sign(&mut self, window: u32, object: u32) {
        const ANY: u32 = u32::MAX;
        tell!(self, 44, (attributes::OBJECT, Some(object.into())), at => at.c32(window).c32(ANY).byte(Sync::NotifyOut as u8));
    }

    /// `displacement`: where the access begins at the target, in its units.
    pub fn rma_put(&mut self, window: u32, remote: u32, displacement: Option<u64>, bytes: u64, matching: u64) {
        self.starts(bytes, 0);
        tell!(self, 46, (attributes::DISPLACEMENT, displacement), at => at.c32(window).c32(remote).c64(bytes).c64(matching));
    }

    pub fn rma_get(&mut self, window: u32, remote: u32, displacement: Option<u64>, bytes: u64, matching: u64) {
        self.starts(0, bytes);
        tell!(self, 47, (attributes::DISPLACEMENT, displacement), at => at.c32(window).c32(remote).c64(bytes).c64(matching));
    }

    pub fn rma_atomic(
        &mut self,
        window: u32,
        remote: u32,
        kind: Atomic,
        displacement: Option<u64>,
        bytes: [u64; 2],
        matching: u64,
    ) {
        let [sent, received] = bytes;
        self.starts(sent, received);
        tell!(self, 48, (attributes::DISPLACEMENT, displacement), at => at.c32(window).c32(remote).byte(kind as u8).c64(sent).c64(received).c64(matching));
    }

    pub fn rma_complete_blocking(&mut self, window: u32, matching: u64) {
        tell!(self, 49, at => at.c32(window).c64(matching));
    }

    pub fn rma_complete_non_blocking(&mut self, window: u32, matching: u64) {
        tell!(self, 50, at => at.c32(window).c64(matching));
    }

    pub fn rma_test(&mut self, window: u32, matching: u64) {
        tell!(self, 51, at => at.c32(window).c64(matching));
    }

    pub fn rma_complete_remote(&mut self, window: u32, matching: u64) {
        tell!(self, 52, at => at.c32(window).c64(matching));
    }

    /// `offset`: where the access begins in the file, if that is known.
    pub fn io_begin(&mut self, handle: u32, mode: Io, bytes: u64, matching: u64, offset: Option<u64>) {
        let (read, written) = if mode == Io::Read { (bytes, 0) } else { (0, bytes) };
        self.moved(written, read);
        // Flags: the operation is collective or non-blocking; the wrapped function's name says so.
        tell!(self, 75, (attributes::DISPLACEMENT, offset), at => at.c32(handle).byte(mode as u8).c32(0).c64(bytes).c64(matching));
    }

    /// An access that the real function has made: it began with the call, and ends now.
    pub fn accessed(&mut self, handle: u32, mode: Io, offset: Option<u64>, [asked, done]: [u64; 2]) {
        let (read, written) = if mode == Io::Read { (done, 0) } else { (0, done) };
        self.moved(written, read);
        let matching = self.next_id();
        tell!(self, 75, (attributes::DISPLACEMENT, offset), at => at.c32(handle).byte(mode as u8).c32(0).c64(asked).c64(matching));
        self.returned();
        self.io_complete(handle, done, matching);
    }

    /// A file was opened; access, creation and status as OTF2 has them.
    pub fn io_create_handle(&mut self, handle: u32, access: u8, [creation, status]: [u32; 2]) {
        tell!(self, 69, at => at.c32(handle).byte(access).c32(creation).c32(status));
    }

    pub fn io_destroy_handle(&mut self, handle: u32) {
        tell!(self, 70, at => at.c32(handle));
    }

    /// The next access begins elsewhere: what was asked for, from where (`OTF2_IoSeekOption`), and where that is.
    pub fn io_seek(&mut self, handle: u32, request: i64, whence: u8, result: u64) {
        tell!(self, 72, at => at.c32(handle).c64(request.cast_unsigned()).byte(whence).c64(result));
    }

    pub fn io_acquire_lock(&mut self, handle: u32, kind: Lock) {
        tell!(self, 80, at => at.c32(handle).byte(kind as u8));
    }

    pub fn io_release_lock(&mut self, handle: u32, kind: Lock) {
        tell!(self, 81, at => at.c32(handle).byte(kind as u8));
    }

    pub fn io_complete(&mut self, handle: u32, bytes: u64, matching: u64) {
        tell!(self, 78, at => at.c32(handle).c64(bytes).c64(matching));
    }
}
