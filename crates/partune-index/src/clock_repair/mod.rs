//! Clock repair: messages, collectives and epochs that run backwards in time, counted, and corrected by a controlled logical clock.
//!
//! After Rabenseifner ("The controlled logical clock", 1997) and Becker, Rabenseifner, Wolf ("Implications of non-constant clock
//! drifts for the timestamps of concurrent events", 2008): an effect is moved to the time of its cause, what follows on the
//! same clock keeps its distance but for a slow return to the recorded time (forward amortisation), and what precedes is
//! stretched towards it (backward amortisation) as far as no other effect would come before its cause.
//!
//! PEs of one process share a clock and are moved together. Times are mapped by a function that does not decrease, so order
//! within a PE stays. The result does not depend on the number of threads.

mod backward;
mod correction;
mod forward;
mod measured;
mod order;

use partune_base::{PeId, Span, Table, Time};
use partune_trace::{Slice, Stream, Trace};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::collectives::Collectives;
use crate::messages::Messages;
use crate::{EpochEnd, Index};
use forward::Jump;

/// What repair found and did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Messages between processes.
    pub messages: u64,
    /// Messages received before they were sent: the operation that received was left before the one that sent was entered, or
    /// a synchronous send was left before the receive was posted.
    pub violated_messages: u64,
    /// Collectives that cannot be left before others entered: barriers and all-to-all of processes, and those with a root; also
    /// exposure epochs of windows, whose wait ends when all access epochs have.
    pub collectives: u64,
    /// Collectives that a PE left before another entered on whom it had to wait.
    pub violated_collectives: u64,
    /// The largest violation.
    pub worst: Span,
    /// From the first event to the last, to compare with `worst`.
    pub duration: Span,
    /// Time stamps that were moved.
    pub moved_events: u64,
    /// The offsets that the recorder measured were wrong and are no longer in the times; violations were counted with them.
    pub offsets_taken_back: bool,
    /// Effects that could not be moved behind their cause, because causes form a circle.
    pub unresolved: u64,
}

/// Whether times of different processes can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockQuality {
    /// If not, no wait may be claimed from operations of different processes: their clocks contradict each other.
    pub aligned: bool,
    /// What runs backwards in time, not yet repaired.
    pub found: Repair,
}

impl Default for ClockQuality {
    fn default() -> Self {
        Self { aligned: true, found: Repair::default() }
    }
}

impl Repair {
    /// A violation that is a larger share of the run is no drift: the clocks were never aligned.
    pub const MAX_WORST: f64 = 0.05;
    /// The same where more than [`Self::MAX_VIOLATED`] of messages, or of collectives, are violated.
    pub const MAX_WORST_OF_MANY: f64 = 0.01;
    pub const MAX_VIOLATED: f64 = 0.05;

    /// Adds that of another slice; how long both take together is not known of them.
    pub fn add(&mut self, slice: Repair) {
        self.messages += slice.messages;
        self.violated_messages += slice.violated_messages;
        self.collectives += slice.collectives;
        self.violated_collectives += slice.violated_collectives;
        self.worst = self.worst.max(slice.worst);
        self.moved_events += slice.moved_events;
        self.offsets_taken_back |= slice.offsets_taken_back;
        self.unresolved += slice.unresolved;
    }

    /// Whether anything runs backwards.
    pub fn is_needed(&self) -> bool {
        self.violated_messages + self.violated_collectives > 0
    }

    /// Whether times are no longer as they were, so that what was derived from them is stale.
    pub fn changed_times(&self) -> bool {
        self.offsets_taken_back || self.moved_events > 0
    }

    /// Whether the clocks are good enough to compare times of different processes, once repaired.
    pub fn trustworthy(&self) -> bool {
        let many = |violated: u64, all: u64| violated as f64 > Self::MAX_VIOLATED * all as f64;
        let many = many(self.violated_messages, self.messages) || many(self.violated_collectives, self.collectives);
        let limit = if many { Self::MAX_WORST_OF_MANY } else { Self::MAX_WORST };
        self.worst.0 as f64 <= limit * self.duration.0 as f64
    }
}

/// Corrects the times of a trace, if anything runs backwards and the clocks are trustworthy at all; else returns it as it is.
/// Offsets that most of the run contradicts are taken back first.
///
/// Positions in the index stay valid, but not the times in it: build it again. Linear, but for sorting the begins and ends of
/// communication of each process by time; memory while it runs: 16 bytes for each, 24 a message or collective.
pub fn repair(trace: Trace, index: &Index) -> (Trace, Repair) {
    let found = index.clocks.found;
    match measured::take_back(trace, &found) {
        (trace, Some((index, left))) => {
            let (trace, done) = control(trace, &index, left);
            let Repair { moved_events, unresolved, .. } = done;
            (trace, Repair { moved_events, unresolved, offsets_taken_back: true, ..found })
        }
        (trace, None) => control(trace, index, found),
    }
}

/// How the clocks of a run go on where a slice of it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// For each clock the last time it was set forward, if it is not back at its recorded time. Empty if none was.
    jumps: Vec<Option<Jump>>,
    /// When the last PE came to the meeting there, if times were changed.
    came: Option<Time>,
}

/// Corrects the times of a slice of a run, whose clocks go on as those of the slice before; also returns how they go on in the next one. What precedes an effect is stretched within the slice.
/// Whether clocks can be trusted is a matter of the whole run, which the sum of what is found tells. None if the offsets that the recorder measured may have to be taken back,
/// which is one too.
pub fn repair_slice(trace: Trace, index: &Index, carried: &Carried) -> Option<(Trace, Repair, Carried)> {
    let found = index.clocks.found;
    if measured::may_be_wrong(&trace, &found) {
        return None;
    }
    let trace = match carried.came {
        Some(came) => trace.with_meeting_at(came),
        None => trace,
    };
    if !found.is_needed() && carried.jumps.is_empty() {
        return Some((trace, found, Carried::default()));
    }
    let (trace, found, jumps) = moved(trace, index, found, &carried.jumps);
    let last = trace.streams().iter().filter_map(|stream| {
        let operation = stream.operations.last()?;
        stream.visits.get(*operation).map(|visit| visit.enter)
    });
    let came = last.max();
    Some((trace, found, Carried { jumps, came }))
}

/// Moves effects behind their causes.
fn control(trace: Trace, index: &Index, found: Repair) -> (Trace, Repair) {
    if !found.is_needed() || !found.trustworthy() {
        return (trace, found);
    }
    let (trace, found, _) = moved(trace, index, found, &[]);
    (trace, found)
}

/// The same on clocks of which each was set forward before, or none; and how they go on.
fn moved(
    trace: Trace,
    index: &Index,
    mut found: Repair,
    carried: &[Option<Jump>],
) -> (Trace, Repair, Vec<Option<Jump>>) {
    let order = order::Order::of(&trace, &index.messages, &index.collectives, &index.rma.epoch_ends);
    let mut carried = carried.to_vec();
    carried.resize(order.domains.len(), None);
    let forward = forward::run(&order, &carried);
    let corrections: Vec<correction::Correction> = (0..order.domains.len())
        .into_par_iter()
        .map(|domain| backward::run(&order, &forward, carried[domain], domain))
        .collect();
    found.unresolved = forward.unresolved;
    for (carried, jumps) in carried.iter_mut().zip(&forward.jumps) {
        *carried = jumps.last().copied().or(*carried);
    }
    let end = trace.streams().iter().filter_map(Stream::end).min().unwrap_or(Time::MIN);
    if carried.iter().flatten().all(|jump| !jump.offset_at(end).is_positive()) {
        carried.clear();
    }
    let domain_of = order.domain_of;
    let mut moved = 0;
    // Times of a slice that no event has: when it begins and ends, also in visits that go across, and in samples that tell how counters stood.
    let parts = |pe: PeId| {
        let of_pe = |rows: &Table<PeId, u32>| rows.get(pe).map_or(0, |rows| u64::from(*rows));
        let begun = |slice: &Slice| of_pe(&slice.begun) + of_pe(&slice.stood) + 1;
        let open = |slice: &Slice| slice.open.get(pe).map_or(1, |open| open.len() as u64 + 1);
        trace.slice().map_or([0; 2], |slice| [begun(slice), open(slice)])
    };
    let parts: Table<PeId, [u64; 2]> = trace.pes().ids().map(parts).collect();
    let trace = trace.retime(|streams| {
        let streams = streams.as_mut_slice().par_iter_mut().zip(parts.as_slice());
        let moved_by_pe = streams.zip(&domain_of).map(|((stream, parts), domain)| {
            let correction = &corrections[*domain as usize];
            if correction.is_identity() {
                return 0;
            }
            let is_moved = |time: Time| u64::from(correction.at(time, &mut 0) != time);
            let of_no_event =
                stream.present.map_or(0, |(begin, end)| parts[0] * is_moved(begin) + parts[1] * is_moved(end));
            let (mut cursor, mut moved) = (0, 0_u64);
            stream.map_times(|time| {
                let corrected = correction.at(time, &mut cursor);
                moved += u64::from(corrected != time);
                corrected
            });
            moved.saturating_sub(of_no_event)
        });
        moved = moved_by_pe.sum();
    });
    found.moved_events = moved;
    (trace, found, carried)
}

/// The quality of the clocks of a trace as it is.
pub(crate) fn quality(
    trace: &Trace,
    messages: &Messages,
    collectives: &Collectives,
    ends: &[EpochEnd],
) -> ClockQuality {
    let found = count(trace, messages, collectives, ends);
    ClockQuality { aligned: found.trustworthy(), found }
}

/// Counts violations of the order of cause and effect. Linear in messages, members of collectives and epochs.
fn count(trace: &Trace, messages: &Messages, collectives: &Collectives, ends: &[EpochEnd]) -> Repair {
    let (all, violated, worst) = messages
        .as_slice()
        .par_iter()
        .filter_map(|message| {
            let (cause, effect) = order::message(trace, message)?;
            let (cause_back, effect_back) = order::handshake(trace, message).unwrap_or((cause, cause));
            Some(tally((cause - effect).max(cause_back - effect_back)))
        })
        .reduce(|| (0, 0, Span::ZERO), sum);
    let (all_collectives, violated_collectives, worst_collective) = collectives
        .instances
        .par_iter()
        .filter_map(|instance| order::collective(trace, collectives, instance))
        .map(|parts| {
            let cause = parts.causes().map(|member| member.enter).max().unwrap_or(Time::MIN);
            let effect = parts.effects().map(|member| member.exit).min().unwrap_or(Time::MAX);
            tally(cause - effect)
        })
        .reduce(|| (0, 0, Span::ZERO), sum);
    let exposures = ends.chunk_by(|a, b| a.wait == b.wait).filter_map(|ends| order::exposure(trace, ends));
    let exposures = exposures.map(|(causes, (_, effect))| {
        let cause = causes.iter().map(|cause| cause.1).max().unwrap_or(Time::MIN);
        tally(cause - effect)
    });
    let of_collectives = (all_collectives, violated_collectives, worst_collective);
    let (all_collectives, violated_collectives, worst_collective) = exposures.fold(of_collectives, sum);
    Repair {
        messages: all,
        violated_messages: violated,
        collectives: all_collectives,
        violated_collectives,
        worst: worst.max(worst_collective),
        duration: trace.duration(),
        ..Repair::default()
    }
}

type Tally = (u64, u64, Span);

/// One thing looked at, in which the cause is so much later than the effect.
fn tally(late: Span) -> Tally {
    let violation = late.clamp_positive();
    (1, u64::from(violation.is_positive()), violation)
}

fn sum(a: Tally, b: Tally) -> Tally {
    (a.0 + b.0, a.1 + b.1, a.2.max(b.2))
}
