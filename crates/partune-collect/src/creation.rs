//! Threads that the program makes itself: who makes one, its begin and its end, and who waits for that.
//!
//! For collectors of such threads. A thread's function is the root of its call paths: what made the thread is over while it runs, so it is not
//! around anything in it.

use partune_parts::clock;

use crate::call::{Call, close, flat, mark};
use crate::frame::{self, Frame};
use crate::lane::Lane;
use crate::path::Path;
use crate::process::{lane, lane_of_new};
use crate::records;
use crate::region::Region;
use crate::team::{Forked, THREAD_BEGIN, THREAD_END, enter, tell};

/// A thread as events name it: among which, and the how manieth of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Created {
    pub contingent: u32,
    pub sequence: u64,
}

const THREAD_CREATE: u8 = 62;
const THREAD_WAIT: u8 = 64;

/// The number of the calling thread, which the program made and which has just begun: that of one that it made and that has ended, if there is one. So there
/// are as many as were alive at once, however many the program makes.
pub fn thread() -> Option<u32> {
    lane_of_new().map(|lane| lane.thread())
}

/// The calling thread begins, and with it a region for its function. It ends when the thread does, however that is.
///
/// The function that calls this must be the one that calls the program's.
#[inline(never)]
pub fn begin(region: &'static Region, created: Created) {
    let frame = frame::here();
    let Some(mut own) = lane() else { return };
    let lane = &mut *own;
    lane.created = Some(created);
    let time = clock::now();
    told(lane, time, THREAD_BEGIN, created);
    let is_flat = frame == Frame::NONE;
    let path = if is_flat { flat(region) } else { lane.sites.inside(Path::NONE, region) };
    enter(lane, time, region, Forked { path, is_flat }, frame);
}

/// The thread of a lane ends. Returns whether it is known who made it; then nothing of it is open any more, and its end is told if the program did.
pub(crate) fn end(lane: &mut Lane) -> bool {
    let created = lane.created.take();
    if created.is_none() && lane.team.is_none() {
        return false;
    }
    records::samples(lane);
    let time = clock::now();
    // One that was cancelled is still in a call.
    if lane.attention.calls() > 0 && !lane.current.is_left && lane.current.path != Path::NONE {
        lane.current.time = time;
        mark(lane, false);
    }
    lane.attention.set_calls(0);
    close(lane, time, 0);
    if let Some(created) = created {
        told(lane, time, THREAD_END, created);
    }
    true
}

impl Call<'_> {
    /// The call made a thread.
    pub fn made_thread(&mut self, created: Created) {
        let time = self.time();
        told(&mut self.lane, time, THREAD_CREATE, created);
    }

    /// It waited for the end of a thread.
    pub fn waited_for(&mut self, created: Created) {
        let time = self.time();
        told(&mut self.lane, time, THREAD_WAIT, created);
    }
}

fn told(lane: &mut Lane, time: u64, kind: u8, Created { contingent, sequence }: Created) {
    tell(lane, time, kind, |at| at.c32(contingent).c64(sequence));
}
