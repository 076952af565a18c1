//! Backward: what precedes a jump is stretched towards it, so that no gap opens in the operation that jumped.

use partune_base::{Span, Time};

use super::correction::{Correction, Piece, Ramp};
use super::forward::{Forward, Jump, RETURN};
use super::order::{Event, Order};

/// The correction of one clock, which was set forward before. Linear in its events: windows before jumps do not overlap.
pub(super) fn run(order: &Order, forward: &Forward, carried: Option<Jump>, clock: usize) -> Correction {
    let jumps = &forward.jumps[clock];
    let events = &order.domains[clock];
    let mut pieces: Vec<Piece> = Vec::with_capacity(3 * jumps.len() + 1);
    pieces.extend(carried.map(|jump| Piece { from: jump.at, jump: Some(jump), ramp: None }));
    let mut previous = carried;
    for &jump in jumps {
        let begin = previous.map_or(Time::MIN, |previous| previous.at).max(order.begins[clock]);
        let begin = begin.max(jump.at - Span(jump.gain.0.saturating_mul(RETURN)));
        if begin < jump.at {
            for ramp in ramps(forward, events, previous, jump, begin) {
                pieces.push(Piece { from: ramp.from.0, jump: previous, ramp: Some(ramp) });
            }
        }
        pieces.push(Piece { from: jump.at, jump: Some(jump), ramp: None });
        previous = Some(jump);
    }
    Correction::new(pieces)
}

/// Offsets that grow from zero at `begin` to the jump's gain, but nowhere move a cause behind its effects.
fn ramps(forward: &Forward, events: &[Event], previous: Option<Jump>, jump: Jump, begin: Time) -> Vec<Ramp> {
    let first = events.partition_point(|event| event.time <= begin);
    let end = events.partition_point(|event| event.time < jump.at);
    let whole = Ramp { from: (begin, Span::ZERO), to: (jump.at, jump.gain) };
    let mut ramps = Vec::new();
    let mut right = (jump.at, jump.gain);
    for event in events[first..end].iter().rev().filter(|event| event.is_cause()) {
        let time = event.time + previous.map_or(Span::ZERO, |previous| previous.offset_at(event.time));
        let allowed = forward.first_effect[event.node as usize].since(time);
        let wanted = whole.at(event.time);
        let offset = wanted.min(allowed).min(right.1);
        if offset < wanted && event.time < right.0 {
            let left = (event.time, offset);
            ramps.push(Ramp { from: left, to: right });
            right = left;
        } else if event.time == right.0 {
            right.1 = right.1.min(offset);
            if let Some(last) = ramps.last_mut() {
                last.from = right;
            }
        }
    }
    ramps.push(Ramp { from: (begin, Span::ZERO), to: right });
    ramps.reverse();
    ramps
}
