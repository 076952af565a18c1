//! Explicit tasks, as a runtime tells of them.

use partune_collect::Region;
use partune_collect::frame::{self, Frame};
use partune_collect::team::{self, Forked, Interrupted, Task};
use partune_collect::thread_word;

use super::abi::{Count, Data, EXPLICIT, Place, UNDEFERRED, Word};
use super::sync::{self, Doing};
use crate::tasks::{self, CREATE, WAIT, next};
use crate::team::current;

static TASK: Region = crate::construct(tasks::TASK);

/// A task that was created and is not complete. One thread at a time has it.
struct Known {
    task: Task,
    /// None if tasks are left out: then what they do is none of what the thread is in.
    forked: Option<Forked>,
    /// Where it was created, if it runs there.
    frame: Frame,
    /// What runs it: what it was in, and the task that it ran before and goes on with.
    interrupted: Option<Interrupted>,
    doing: Doing,
    before: *mut Known,
}

thread_word! {
    /// The explicit task that this thread runs; null if it runs none.
    RunsWord, "partune_openmp_runs"
}

fn runs() -> *mut Known {
    RunsWord::get() as *mut Known
}

pub(super) unsafe extern "C" fn create(
    _: *mut Data,
    _: *const u8,
    data: *mut Data,
    flags: Word,
    _: Count,
    place: Place,
) {
    let frame = frame::called_from(place);
    let created = if flags & EXPLICIT != 0 { created(frame, flags & UNDEFERRED != 0) } else { None };
    // SAFETY: the runtime's word for the task.
    unsafe { *data = created.map_or(0, |known| Box::into_raw(Box::new(known)) as u64) };
}

fn created(frame: Frame, runs_here: bool) -> Option<Known> {
    let task = next(current()?);
    let is_left_out = TASK.is_left_out();
    let forked = if is_left_out { None } else { Some(team::place(&TASK, frame)?) };
    if !is_left_out {
        sync::at_once(&CREATE, frame, |call| call.created(task));
    }
    let frame = if runs_here { frame } else { Frame::NONE };
    Some(Known { task, forked, frame, interrupted: None, doing: Doing::NOTHING, before: std::ptr::null_mut() })
}

/// A thread goes from a task to another one, or a task's state changes.
pub(super) unsafe extern "C" fn schedule(prior: *mut Data, status: Word, next: *mut Data) {
    /// A task has ended, was cancelled, has ended but for an event, and that has come.
    const COMPLETE: Word = 1;
    const CANCELLED: Word = 3;
    const DETACHED: Word = 4;
    const FULFILLED: Word = 6;
    // SAFETY: the runtime's words for tasks, or null; 0 or what `create` wrote.
    let known = |data: *mut Data| unsafe { data.as_ref() }.map_or(std::ptr::null_mut(), |data| *data as *mut Known);
    let (from, to) = (known(prior), known(next));
    let runs = runs();
    let is_complete = matches!(status, COMPLETE | CANCELLED);
    // SAFETY: what runs is not complete.
    let before = unsafe { runs.as_ref() }.map(|known| known.before);
    if let Some(before) = before.filter(|_| from == runs)
        && (is_complete || status == DETACHED || !next.is_null() && to == before)
    {
        // SAFETY: as above.
        stop(unsafe { &mut *runs }, is_complete);
    }
    if (is_complete || status == FULFILLED) && !from.is_null() {
        // SAFETY: made by `create`; nobody is told of it again.
        unsafe {
            *prior = 0;
            drop(Box::from_raw(from));
        }
    }
    if !to.is_null() && to != self::runs() {
        // SAFETY: made by `create`, and not complete.
        start(unsafe { &mut *to });
    }
}

fn start(known: &mut Known) {
    known.before = runs();
    RunsWord::set(std::ptr::from_mut(known) as usize);
    known.doing = sync::switch(Doing::NOTHING);
    known.interrupted = known.forked.and_then(|forked| team::begin_task_in(&TASK, forked, known.task, known.frame));
}

fn stop(known: &mut Known, is_complete: bool) {
    RunsWord::set(known.before as usize);
    sync::switch(known.doing);
    if let Some(interrupted) = known.interrupted.take() {
        team::end_task(&TASK, is_complete.then_some(known.task), interrupted, Some(&WAIT));
    }
}
