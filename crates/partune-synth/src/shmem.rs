//! The phases that OpenSHMEM does in its own way: halo exchange by puts and flags, and an update under a lock.

use partune_otf2::codec::Event;

use crate::answers::Site;
use crate::definitions::HEAP;
use crate::options::InjectionKind;
use crate::regions::Region;
use crate::world::{CALL_NS, Recorder, World};

const FLAG_BYTES: u64 = 8;
const LOCK: u64 = 1;
/// The PE that the lock lives on.
const LOCK_HOME: u32 = 0;
const EXCLUSIVE: u8 = 0;
/// How long the lock is held where nothing is injected.
const HOLD_NS: f64 = 200.0;

/// All PEs put their borders into their neighbours and then set a flag there.
pub(crate) fn exchange_halo<R: Recorder>(world: &mut World<'_, R>) {
    for rank in 0..world.options.ranks {
        give(world, rank);
    }
    world.turn(InjectionKind::LateSignal);
    for rank in 0..world.options.ranks {
        await_flags(world, rank);
    }
}

fn give<R: Recorder>(world: &mut World<'_, R>, rank: u32) {
    let at = world.main(rank);
    let late = world.injected(InjectionKind::LateSignal, rank);
    world.enter(at, Region::ExchangeHalo);
    world.kernel(at, Region::Pack, world.options.kernel_ns as f64 / 20.0, late);
    for (side, remote) in world.grid.neighbours(rank).into_iter().enumerate() {
        if let Some(remote) = remote {
            put(world, at, Region::ShmemPutmem, remote, world.options.halo_bytes);
            world.call(at, Region::ShmemFence);
            world.spend(at, CALL_NS);
            world.leave(at, Region::ShmemFence);
            world.sent[rank as usize][side] = put(world, at, Region::ShmemLongP, remote, FLAG_BYTES);
        }
    }
}

/// A blocking put; returns when it was complete.
fn put<R: Recorder>(world: &mut World<'_, R>, at: usize, region: Region, remote: u32, bytes: u64) -> u64 {
    world.call(at, region);
    let matching_id = world.next_id(at);
    world.emit(at, &Event::RmaPut { win: HEAP, remote, bytes, matching_id });
    world.spend(at, CALL_NS + (bytes as f64 / world.options.bytes_per_ns) as u64);
    world.emit(at, &Event::RmaOpCompleteBlocking { win: HEAP, matching_id });
    let complete = world.locations[at].now;
    world.leave(at, region);
    complete
}

fn await_flags<R: Recorder>(world: &mut World<'_, R>, rank: u32) {
    let at = world.main(rank);
    let latency = world.options.latency_ns;
    for (side, peer) in world.grid.neighbours(rank).into_iter().enumerate() {
        if let Some(peer) = peer {
            let set = world.sent[peer as usize][3 - side];
            let enter = world.call(at, Region::ShmemLongWaitUntil);
            world.emit(at, &Event::RmaWaitChange { win: HEAP });
            let cause = world.main(peer);
            world.wait(Site::ShmemWait, at, cause, enter, set);
            world.advance(at, set + latency);
            world.spend(at, CALL_NS);
            world.leave(at, Region::ShmemLongWaitUntil);
        }
    }
    world.kernel(at, Region::Unpack, world.options.kernel_ns as f64 / 20.0, 0);
    world.leave(at, Region::ExchangeHalo);
}

/// All PEs take the same lock, in the order in which they come.
pub(crate) fn update_under_lock<R: Recorder>(world: &mut World<'_, R>) {
    let mut order: Vec<u32> = (0..world.options.ranks).collect();
    for rank in 0..world.options.ranks {
        let at = world.main(rank);
        world.enter(at, Region::PassRing);
    }
    order.sort_by_key(|rank| (world.locations[world.main(*rank)].now, *rank));
    let mut holder: Option<(usize, u64)> = None;
    for rank in order {
        let at = world.main(rank);
        let late = world.injected(InjectionKind::LockHold, rank);
        world.call(at, Region::ShmemSetLock);
        world.emit(at, &Event::RmaRequestLock { win: HEAP, remote: LOCK_HOME, lock_id: LOCK, lock_type: EXCLUSIVE });
        let requested = world.locations[at].now;
        if let Some((holder, released)) = holder {
            world.wait(Site::ShmemLock, at, holder, requested, released);
            world.advance(at, released);
        }
        world.spend(at, world.options.latency_ns);
        world.emit(at, &Event::RmaAcquireLock { win: HEAP, remote: LOCK_HOME, lock_id: LOCK, lock_type: EXCLUSIVE });
        world.leave(at, Region::ShmemSetLock);
        world.kernel(at, Region::UpdateNorm, HOLD_NS, late);
        world.call(at, Region::ShmemClearLock);
        world.emit(at, &Event::RmaReleaseLock { win: HEAP, remote: LOCK_HOME, lock_id: LOCK });
        holder = Some((at, world.locations[at].now));
        world.spend(at, CALL_NS);
        world.leave(at, Region::ShmemClearLock);
        world.leave(at, Region::PassRing);
    }
    world.turn(InjectionKind::LockHold);
}
