//! Records that no call tells: pauses of the recording, counters, samples.

use crate::lane::{Keep, Lane};
use crate::path::Path;
use crate::paths;
use crate::process::lane;
use crate::stack::Stack;
use crate::state::is_paused;
use crate::unwind::Step;
use partune_parts::clock;

/// OTF2's record of that, and what it says.
pub(crate) const MEASUREMENT: u8 = 11;
pub(crate) const ON: u8 = 1;
pub(crate) const OFF: u8 = 2;

/// Recording was turned off or on.
pub(crate) fn measurement(lane: &mut Lane, on: bool) {
    let time = clock::now();
    if let Keep::Statistics(profile) = &mut lane.keep {
        profile.pause(on, profile.moment(time));
    } else {
        let record = lane.room(time).record(MEASUREMENT);
        lane.append(record.end(record.data().byte(if on { ON } else { OFF })));
    }
}

/// The counters' values now.
#[cold]
pub(crate) fn counters(lane: &mut Lane, time: u64) {
    const U64: u8 = 4;
    // What PAPI calls is no call of the program.
    let (calls, samples_wait) = (lane.attention.calls(), lane.attention.samples_wait());
    lane.attention.set_calls(calls + 1);
    // What a lane keeps is never taken out of it: another thread may look at it while the process ends.
    let read = |lane: &mut Lane, place| match &mut lane.keep {
        Keep::EventsAndCounters(counters) => counters.read(place),
        Keep::Events | Keep::Statistics(_) => None,
    };
    let mut place = 0;
    while let Some(value) = read(lane, place) {
        place += 1;
        let Some((metric, value)) = value else { continue };
        // One value per metric: its number, how many, their types, the values.
        let record = lane.room(time).record(31);
        lane.append(record.end(record.data().c32(metric).byte(1).byte(U64).c64(value)));
    }
    lane.attention.set_calls(calls);
    if samples_wait {
        lane.attention.let_wait();
    }
}

/// The value of a gauge now. Statistics do not have it.
pub fn gauge(metric: u32, value: f64) {
    const DOUBLE: u8 = 10;
    let Some(mut lane) = lane().filter(|lane| !is_paused() && !matches!(lane.keep, Keep::Statistics(_))) else {
        return;
    };
    samples(&mut lane);
    lane.settle();
    let record = lane.room(clock::now()).record(31);
    lane.append(record.end(record.data().c32(metric).byte(1).byte(DOUBLE).c64(value.to_bits())));
}

/// Writes the samples that wait, if some do, before the call that begins now.
#[inline]
pub(crate) fn samples(lane: &mut Lane) {
    if lane.attention.samples_wait() {
        write_samples(lane, |_, _| {});
    }
}

/// The same, and tells something that happened at a time, or later: after the samples before it, and before the others.
pub(crate) fn samples_around(lane: &mut Lane, time: u64, tell: impl FnOnce(&mut Lane)) {
    let mut tell = Some(tell);
    if lane.attention.samples_wait() {
        write_samples(lane, |lane, sampled| {
            if sampled > time
                && let Some(tell) = tell.take()
            {
                tell(lane);
            }
        });
    }
    if let Some(tell) = tell {
        tell(lane);
    }
}

/// `before` is done before each of them, with its time.
#[cold]
fn write_samples(lane: &mut Lane, mut before: impl FnMut(&mut Lane, u64)) {
    let Some(sampler) = lane.sampler else { return };
    // The handler leaves everything alone until this is done.
    lane.attention.set_calls(1);
    lane.settle();
    // SAFETY: the lane's own, which lives as long as the lane; and no handler uses it now.
    unsafe {
        sampler.as_ref().take(|time, steps| {
            before(lane, time);
            let path = path(&lane.stack, steps);
            // Notes that came too late are of no use: what they were about is written.
            if path != Path::NONE && time >= lane.last_time() {
                let at = lane.room(time);
                lane.append(at.sample(path.0));
            }
        });
    }
    lane.attention.set_calls(0);
}

/// Forgets the samples that wait if they found the loop around a row of polls, which the row stands for.
#[cold]
pub(crate) fn drop_samples_of_polls(lane: &mut Lane) {
    let Some(sampler) = lane.sampler else { return };
    lane.attention.set_calls(1);
    // SAFETY: as above.
    let sampler = unsafe { sampler.as_ref() };
    if sampler.first().is_some_and(|time| lane.is_tick_in_row(time)) {
        // SAFETY: as above.
        unsafe { sampler.take(|_, _| {}) };
        lane.attention.set_calls(0);
    } else {
        // They still wait.
        lane.attention.set_calls(0);
        lane.attention.let_wait();
    }
}

/// The path of a sample's frames, outermost first, inside of the regions that are open.
fn path(stack: &Stack, steps: &[Step]) -> Path {
    let (around, from) = stack.innermost(steps);
    let Some((leaf, callers)) = steps.get(from..).and_then(<[Step]>::split_last) else { return around };
    paths::of_sample(around, callers, *leaf)
}
