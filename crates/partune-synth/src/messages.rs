//! The phases with messages: non-blocking halo exchange and blocking ring.

use partune_otf2::codec::Event;

use crate::answers::Site;
use crate::definitions::COMM_WORLD;
use crate::options::InjectionKind;
use crate::regions::Region;
use crate::world::{CALL_NS, Recorder, World};

const TAG_HALO: u32 = 100;
const TAG_RING: u32 = 200;

/// All ranks give their borders to their neighbours. The messages are eager whatever their size.
pub(crate) fn exchange_halo<R: Recorder>(world: &mut World<'_, R>) {
    let first: Vec<u64> = (0..world.options.ranks).map(|rank| post_halo(world, rank)).collect();
    for (rank, first) in (0..world.options.ranks).zip(first) {
        finish_halo(world, rank, first);
    }
}

/// Posts receives and sends; returns the first request.
fn post_halo<R: Recorder>(world: &mut World<'_, R>, rank: u32) -> u64 {
    let at = world.main(rank);
    let neighbours = world.grid.neighbours(rank);
    world.enter(at, Region::ExchangeHalo);
    world.kernel(at, Region::Pack, world.options.kernel_ns as f64 / 20.0, 0);
    let first = world.locations[at].next_id;
    for _ in neighbours.iter().flatten() {
        world.call(at, Region::MpiIrecv);
        world.spend(at, CALL_NS);
        let request_id = world.next_id(at);
        world.emit(at, &Event::MpiIrecvRequest { request_id });
        world.leave(at, Region::MpiIrecv);
    }
    for (side, receiver) in neighbours.into_iter().enumerate().filter_map(|(side, rank)| Some((side, rank?))) {
        let enter = world.call(at, Region::MpiIsend);
        world.sent[rank as usize][side] = enter;
        let request_id = world.next_id(at);
        let msg_length = world.options.halo_bytes;
        let (communicator, msg_tag) = (COMM_WORLD, TAG_HALO);
        world.emit(at, &Event::MpiIsend { receiver, communicator, msg_tag, msg_length, request_id });
        world.spend(at, CALL_NS);
        world.leave(at, Region::MpiIsend);
    }
    first
}

fn finish_halo<R: Recorder>(world: &mut World<'_, R>, rank: u32, first: u64) {
    let at = world.main(rank);
    let neighbours = world.grid.neighbours(rank);
    let transfer = world.transfer_ns(world.options.halo_bytes);
    let enter = world.call(at, Region::MpiWaitall);
    let senders = neighbours.iter().enumerate().filter_map(|(side, peer)| {
        let peer = (*peer)?;
        Some((world.sent[peer as usize][3 - side], peer))
    });
    // The first of equally late ones.
    let latest = senders.max_by_key(|(sent, peer)| (*sent, std::cmp::Reverse(*peer)));
    if let Some((sent, peer)) = latest {
        let cause = world.main(peer);
        world.wait(Site::Waitall, at, cause, enter, sent);
        world.advance(at, sent + transfer);
    }
    world.spend(at, CALL_NS);
    let mut request_id = first;
    for sender in neighbours.into_iter().flatten() {
        let msg_length = world.options.halo_bytes;
        let (communicator, msg_tag) = (COMM_WORLD, TAG_HALO);
        world.emit(at, &Event::MpiIrecv { sender, communicator, msg_tag, msg_length, request_id });
        request_id += 1;
    }
    for _ in neighbours.iter().flatten() {
        world.emit(at, &Event::MpiIsendComplete { request_id });
        request_id += 1;
    }
    world.leave(at, Region::MpiWaitall);
    world.spend(at, 30);
    world.kernel(at, Region::Unpack, world.options.kernel_ns as f64 / 20.0, 0);
    world.leave(at, Region::ExchangeHalo);
}

/// All ranks pass a block to the right neighbour: even ranks send first, odd ranks receive first, and the last message of an odd
/// ring closes it.
pub(crate) fn pass_ring<R: Recorder>(world: &mut World<'_, R>) {
    let ranks = world.options.ranks;
    for rank in 0..ranks {
        let at = world.main(rank);
        world.spend(at, 20);
        world.enter(at, Region::PassRing);
    }
    let close = ranks - 1;
    let even = (0..ranks).step_by(2).filter(|rank| *rank != close);
    let odd = (1..ranks).step_by(2).filter(|rank| *rank != close);
    if ranks > 1 {
        even.chain(odd).chain([close]).for_each(|rank| message(world, rank, (rank + 1) % ranks));
    }
    world.turn(InjectionKind::LateSender);
    world.turn(InjectionKind::LateReceiver);
    for rank in 0..ranks {
        let at = world.main(rank);
        world.spend(at, 20);
        world.leave(at, Region::PassRing);
    }
}

/// A blocking message.
fn message<R: Recorder>(world: &mut World<'_, R>, sender: u32, receiver: u32) {
    let (from, to) = (world.main(sender), world.main(receiver));
    let msg_length = world.options.ring_bytes;
    let (communicator, msg_tag) = (COMM_WORLD, TAG_RING);
    let waits_for_receiver = msg_length > world.options.eager_bytes;
    let transfer = world.transfer_ns(msg_length);
    let short = world.options.kernel_ns as f64 / 40.0;

    let late = world.injected(InjectionKind::LateSender, sender);
    world.kernel(from, Region::PackBlock, short, late);
    let late = world.injected(InjectionKind::LateReceiver, receiver);
    world.kernel(to, Region::NeedBlock, short, late);
    let sent = world.call(from, Region::MpiSend);
    let asked = world.call(to, Region::MpiRecv);
    let arrival = if waits_for_receiver { sent.max(asked) } else { sent } + transfer;

    world.emit(from, &Event::MpiSend { receiver, communicator, msg_tag, msg_length });
    if waits_for_receiver {
        world.wait(Site::Send, from, to, sent, asked);
        world.advance(from, arrival);
    }
    world.spend(from, CALL_NS);
    world.leave(from, Region::MpiSend);

    world.wait(Site::Recv, to, from, asked, sent);
    world.advance(to, arrival);
    world.spend(to, CALL_NS);
    world.emit(to, &Event::MpiRecv { sender, communicator, msg_tag, msg_length });
    world.leave(to, Region::MpiRecv);
}
