//! Threads: who makes them, what they run, and who waits for their end.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use partune_collect::creation::{self, Created};
use partune_collect::frame::{self, Frame};
use partune_collect::{
    AwaitedThread, Call, Kind, Region, definitions, enter, enter_tentatively, is_recorded, leave, masks, team,
};

use crate::awake::{self, is_awake};
use crate::function::call;
use crate::room::Attributes;
use crate::waits::{aside, watch_end};
use partune_collect::callers;

/// What a thread gets instead of the program's function and its argument.
struct Start {
    function: usize,
    argument: *mut c_void,
    region: &'static Region,
    created: Created,
}

/// A thread.
#[derive(Clone, Copy, Debug)]
struct Known {
    created: Created,
    /// What the system calls it; 0 before it has begun.
    tid: u32,
    /// Who waits for its end says so there: that may begin before it does.
    waiting: Option<AwaitedThread>,
}

/// Threads that live or were not waited for, by what the C library calls them.
static THREADS: Mutex<Option<HashMap<usize, Known>>> = Mutex::new(None);

fn with_threads<T>(act: impl FnOnce(&mut HashMap<usize, Known>) -> T) -> T {
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    act(threads.get_or_insert_with(HashMap::new))
}

/// The name of a thread may be that of an earlier one, and its maker may say so later than the thread itself.
fn name(thread: usize, created: Created, tid: u32) {
    with_threads(|threads| {
        let unknown = Known { created, tid, waiting: None };
        let known = threads.entry(thread).or_insert(unknown);
        if known.created.sequence < created.sequence {
            *known = unknown;
        } else if known.created == created && tid > 0 {
            known.tid = tid;
            known.waiting.iter().for_each(|waiting| waiting.is(tid));
        }
    });
}

/// The region of a function that threads run.
fn function(address: usize) -> &'static Region {
    static FUNCTIONS: Mutex<Option<HashMap<usize, &'static Region>>> = Mutex::new(None);
    let mut functions = FUNCTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || -> &'static Region { Box::leak(Box::new(Region::new("", Kind::Function(address)))) };
    functions.get_or_insert_with(HashMap::new).entry(address).or_insert_with(make)
}

/// All threads that the program made are one team; this one is a member.
fn admit(world: &awake::World, thread: Option<u32>) {
    static MEMBERS: Mutex<Vec<u32>> = Mutex::new(Vec::new());
    let Some(thread) = thread else { return };
    let mut members = MEMBERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Err(at) = members.binary_search(&thread) {
        members.insert(at, thread);
        definitions::team(Some(world.contingent), world.number, &members);
    }
}

/// A thread is about to be made. None if that is not recorded: a runtime makes it for itself.
fn making(
    region: &'static Region,
    frame: Frame,
    function_address: usize,
    argument: usize,
) -> Option<(Call<'static>, *mut Start)> {
    /// The first thread of all is made by nobody.
    static NEXT: AtomicU64 = AtomicU64::new(1);
    if !callers::is_program(function_address)
        || !callers::is_program(frame.return_address())
        || partune_collect::is_in_call()
    {
        return None;
    }
    let world = awake::wake()?;
    admit(world, team::thread());
    let call = enter(region, frame)?;
    let created = Created { contingent: world.contingent, sequence: NEXT.fetch_add(1, Ordering::Relaxed) };
    let region = function(function_address);
    let start = Start { function: function_address, argument: argument as *mut c_void, region, created };
    Some((call, Box::into_raw(Box::new(start))))
}

/// It was made, and is called this; or it could not be.
fn made(making: Option<(Call<'static>, *mut Start)>, created: Created, thread: Option<usize>) {
    aside(|| {
        let (mut call, start) = making?;
        match thread {
            Some(thread) => {
                name(thread, created, 0);
                call.made_thread(created);
            }
            // SAFETY: made by `making`, and nobody else has it.
            None => drop(unsafe { Box::from_raw(start) }),
        }
        leave(Some(call));
        Some(())
    });
}

/// The calling thread begins.
#[inline(never)]
fn begin(start: *mut Start) -> (usize, *mut c_void, &'static Region, Option<Created>) {
    masks::begin();
    // SAFETY: made by `making` for this thread.
    let Start { function, argument, region, created } = *unsafe { Box::from_raw(start) };
    let created = aside(|| {
        let world = awake::world().filter(|_| is_recorded())?;
        admit(world, creation::thread());
        watch_end();
        // SAFETY: they say who asks.
        let (thread, tid) = unsafe { (libc::pthread_self(), libc::gettid()) };
        name(thread as usize, created, tid as u32);
        Some(created)
    });
    (function, argument, region, created)
}

macro_rules! creates {
    ($($region:ident $name:ident gives $result:ty, as $trampoline:ident($thread:ident, $($more:ident,)? ; $function:ident, $argument:ident);)*) => {$(
        static $region: Region = crate::construct(stringify!($name));

        /// What a thread runs: the program's function.
        unsafe extern "C" fn $trampoline(start: *mut Start) -> $result {
            let (function, argument, region, created) = begin(start);
            if let Some(created) = created {
                creation::begin(region, created);
            }
            // SAFETY: the function that the program gave, which takes what it gave.
            let function = unsafe { std::mem::transmute::<usize, unsafe extern "C" fn(*mut c_void) -> $result>(function) };
            // SAFETY: as above.
            unsafe { function(argument) }
        }

        /// Makes a thread.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($thread: usize, $($more: usize,)? $function: usize, $argument: usize) -> c_int {
            let frame = frame::here();
            $(let attributes = Attributes::of($more);
            let $more = attributes.address();)?
            let making = aside(|| making(&$region, frame, $function, $argument));
            let Some((_, start)) = &making else { return call!($name($thread, $($more,)? $function, $argument)) };
            let start = *start;
            // SAFETY: nobody has it yet.
            let created = unsafe { (*start).created };
            let trampoline = $trampoline as *const () as usize;
            let result = call!($name($thread, $($more,)? trampoline, start as usize));
            // SAFETY: the C library has written there what it calls the thread.
            let thread = (result == 0).then(|| unsafe { *($thread as *const usize) });
            made(making, created, thread);
            result
        }
    )*};
}

creates! {
    CREATE pthread_create gives *mut c_void, as run(thread, attributes,; function, argument);
    C_CREATE thrd_create gives c_int, as run_c(thread, ; function, argument);
}

/// A call that waits for a thread, and which thread was called so when it began.
type Joining = (Call<'static>, Option<Created>);

fn joining(region: &'static Region, frame: Frame, thread: usize) -> Option<Joining> {
    if !callers::is_program(frame.return_address()) {
        return None;
    }
    let mut call = enter_tentatively(region, frame)?;
    let waiting = call.awaits_thread();
    let created = with_threads(|threads| {
        let known = threads.get_mut(&thread)?;
        known.waiting = Some(waiting);
        waiting.is(known.tid);
        Some(known.created)
    });
    Some((call, created))
}

/// A thread was waited for: which one. Another one may be called so by now.
fn ended(threads: &mut HashMap<usize, Known>, thread: usize, known: Option<Created>) -> Option<Created> {
    let named = threads.get(&thread).map(|known| known.created);
    let created = known.or(named)?;
    if named == Some(created) {
        threads.remove(&thread);
    }
    Some(created)
}

/// A thread was waited for.
fn joined(joining: Option<Joining>, thread: usize) {
    aside(|| {
        let (mut call, known) = joining?;
        call.returned();
        if let Some(created) = with_threads(|threads| ended(threads, thread, known)) {
            call.waited_for(created);
        }
        call.leave();
        Some(())
    });
}

macro_rules! joins {
    ($($region:ident $name:ident($($more:ident),*);)*) => {$(
        static $region: Region = crate::construct(stringify!($name));

        /// Waits for the end of a thread.
        ///
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(thread: usize, $($more: usize),*) -> c_int {
            if !is_awake() {
                return call!($name(thread $(, $more)*));
            }
            let frame = frame::here();
            let joining = aside(|| joining(&$region, frame, thread));
            let result = call!($name(thread $(, $more)*));
            if result == 0 {
                joined(joining, thread);
            } else if joining.is_some() {
                in_vain(joining, thread, result);
            }
            result
        }
    )*};
}

joins! {
    JOIN pthread_join(value);
    TRYJOIN pthread_tryjoin_np(value);
    TIMEDJOIN pthread_timedjoin_np(value, time);
    CLOCKJOIN pthread_clockjoin_np(value, clock, time);
    C_JOIN thrd_join(value);
}

/// The thread has not ended. Looking whether it had leaves nothing.
fn in_vain(joining: Option<Joining>, thread: usize, result: c_int) {
    aside(|| {
        let (mut call, _) = joining?;
        with_threads(|threads| threads.get_mut(&thread).map(|known| known.waiting = None));
        call.returned();
        if result == libc::EBUSY {
            call.withdraw();
        } else {
            call.leave();
        }
        Some(())
    });
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{Created, Known, ended};

    #[test]
    fn a_name_that_another_thread_has_by_now_stays_its_own() {
        let [first, second] = [1, 2].map(|sequence| Created { contingent: 0, sequence });
        let mut threads = HashMap::from([(7, Known { created: second, tid: 3, waiting: None })]);
        assert_eq!(ended(&mut threads, 7, Some(first)), Some(first));
        assert_eq!(ended(&mut threads, 7, Some(second)), Some(second));
        // It was named by nobody when the wait began.
        threads.insert(7, Known { created: second, tid: 3, waiting: None });
        assert_eq!(ended(&mut threads, 7, None), Some(second));
        assert_eq!(ended(&mut threads, 7, None), None);
    }
}
