//! A call that has to wait, from before the C library's function to after it; and one that gives what others wait for.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use partune_collect::errno;
use partune_collect::frame::Frame;
use partune_collect::{AtThreadEnd, Call, Region, enter, enter_tentatively, may_be_in_handler, now, team};

use crate::awake::{self, World};
use crate::function::call;
use crate::objects::{self, Release};
use partune_collect::callers;

/// `PTHREAD_CANCEL_DISABLE`.
const CANCEL_DISABLE: usize = 1;

thread_local! {
    /// Whether the thread is in here: a handler of a signal may give a sign.
    static BUSY: Cell<bool> = const { Cell::new(false) };
    /// Whether it was when it began to make a child.
    static WAS_BUSY: Cell<bool> = const { Cell::new(false) };
    /// What it waits for, and which thread it is; 0 if for nothing.
    static AWAITS: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
}

/// Does something that the program does not see. None if the thread is at such a thing already. It is not cancelled meanwhile: it has locks here, and has
/// not come to what the program would do then.
pub(crate) fn aside<T>(act: impl FnOnce() -> Option<T>) -> Option<T> {
    if BUSY.replace(true) {
        return None;
    }
    errno::kept(|| {
        let mut state: c_int = 0;
        call!(pthread_setcancelstate(CANCEL_DISABLE, &raw mut state as usize));
        let result = act();
        BUSY.set(false);
        call!(pthread_setcancelstate(state as usize, 0));
        result
    })
}

/// While a thread makes a child by `fork`, and in the child, what it does is not recorded: handlers of the program's may lock and unlock in the child
/// before the recorder knows it as one, and what other threads had locked in here stays locked there.
pub(crate) fn watch_forks() {
    extern "C" fn before() {
        WAS_BUSY.set(BUSY.replace(true));
    }
    extern "C" fn after() {
        BUSY.set(WAS_BUSY.get());
    }
    // SAFETY: functions without arguments that touch words of their thread only. Those that were set last run first before, and last afterwards.
    unsafe { libc::pthread_atfork(Some(before), Some(after), None) };
}

/// A wait that is being recorded.
pub(crate) struct Waiting {
    pub(crate) call: Call<'static>,
    pub(crate) world: &'static World,
    pub(crate) thread: u32,
    pub(crate) object: usize,
    pub(crate) since: u64,
}

impl Waiting {
    /// The calling thread is about to wait; `holder` gives what the system calls the thread that holds the object, 0 if it cannot be seen. None if that
    /// is not recorded: it is a runtime's business.
    pub(crate) fn begin(
        region: &'static Region,
        frame: Frame,
        object: usize,
        holder: Option<fn(usize) -> u32>,
    ) -> Option<Waiting> {
        if !callers::is_program(frame.return_address()) {
            return None;
        }
        let world = awake::world()?;
        let thread = team::thread()?;
        let mut call = enter_tentatively(region, frame)?;
        let since = call.time();
        objects::wait(object, thread, since, holder.map(|_| call.awaits_thread()));
        if let Some(holder) = holder {
            objects::held(object, holder);
        }
        AWAITS.set((object, thread));
        Some(Waiting { call, world, thread, object, since })
    }

    /// It has returned. Returns whether it took long enough to be recorded.
    pub(crate) fn returned(&mut self) -> bool {
        AWAITS.set((0, 0));
        self.call.returned();
        self.call.time() - self.since >= self.world.shortest()
    }

    /// It waits no more: the object's number.
    pub(crate) fn stop(&self) -> u32 {
        objects::stop(self.object, self.thread)
    }

    /// It got what it waited for, and holds it: its number, and for the how manieth time that is recorded.
    pub(crate) fn got(&self) -> (u32, u32) {
        objects::got(self.object, self.thread, self.call.time())
    }
}

/// A wait for a sign has returned, with one or without.
pub(crate) fn signed(waiting: Option<Waiting>, is_given: bool) {
    aside(|| {
        let mut waiting = waiting?;
        let is_long = waiting.returned();
        let number = objects::stop(waiting.object, waiting.thread);
        if !is_long {
            waiting.call.withdraw();
            return Some(());
        }
        if is_given {
            waiting.call.rma_wait_for(waiting.world.window, number);
        }
        waiting.call.leave();
        Some(())
    });
}

/// A thread that is cancelled while it waits does so no more.
static AT_END: AtThreadEnd = AtThreadEnd::new(give_up);

extern "C" fn give_up(_: *mut c_void) {
    let (object, thread) = AWAITS.replace((0, 0));
    if object != 0 {
        objects::stop(object, thread);
    }
}

/// The calling thread may be cancelled.
pub(crate) fn watch_end() {
    const SOMETHING: usize = 1;
    AT_END.set(SOMETHING);
}

/// Something that others wait for is about to be given back. None if that is not recorded.
pub(crate) fn released(object: usize) -> Option<Release> {
    let world = awake::world()?;
    objects::release(object, team::thread()?, now(), world.shortest())
}

/// A sign is about to be given. None if nobody waits long enough for it, or if a handler of a signal may give it: the thread that it has interrupted may
/// have locked what a record needs.
pub(crate) fn signing(region: &'static Region, frame: Frame, object: usize) -> Option<Call<'static>> {
    let world = awake::world()?;
    if may_be_in_handler() {
        return None;
    }
    let number = objects::sign(object, team::thread()?, now(), world.shortest())?;
    let mut call = enter(region, frame)?;
    call.rma_give_sign(world.window, number);
    Some(call)
}
