//! Explicit tasks: who creates them, who runs them, and who waits for them.
//!
//! A task's data gets a head that says what it is. The runtime copies the data when the task is created, so the head travels with it.

use std::cell::Cell;
use std::ffi::c_void;

use partune_collect::frame::{self, Frame};
use partune_collect::team::{self, Forked, Task};
use partune_collect::{Region, enter, leave, open_call};

use crate::runtime::call;
use crate::sync::{meet, waits};
use crate::team::current;
use crate::{awake, bodies};

pub(crate) static CREATE: Region = crate::construct("omp create task");
pub(crate) const TASK: &str = "omp task";
pub(crate) static TASKWAIT: Region = crate::construct("omp taskwait");
pub(crate) static TASKGROUP: Region = crate::construct("omp taskgroup");
static TASKYIELD: Region = crate::construct("omp taskyield");
/// What a thread is in that has run a task where it waits, and waits on.
pub(crate) static WAIT: Region = crate::construct("omp wait for tasks");

thread_local! {
    /// Whether the runtime was asked to create a task, and may run it at once.
    static IS_CREATING: Cell<bool> = const { Cell::new(false) };
}

type Body = unsafe extern "C" fn(*mut c_void);
type Copy = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// What is before the data of a task.
#[derive(Clone, Copy)]
struct Head {
    body: Body,
    region: &'static Region,
    forked: Forked,
    task: Task,
    /// Bytes from here to the program's data.
    length: usize,
}

/// What the runtime is to copy.
struct Packed {
    head: Head,
    data: *mut c_void,
    bytes: usize,
    copy: Option<Copy>,
}

impl Packed {
    /// Copies the program's data to behind the head.
    ///
    /// # Safety
    /// There is room that is as large and as aligned as was said.
    unsafe fn fill(&self, to: *mut c_void) {
        // SAFETY: as the caller says; the program's function with its own data.
        unsafe {
            let to = to.byte_add(self.head.length);
            match self.copy {
                Some(copy) => copy(to, self.data),
                None => std::ptr::copy_nonoverlapping(self.data.cast::<u8>(), to.cast(), self.bytes),
            }
        }
    }
}

/// The function that the runtime calls to copy a task's data.
unsafe extern "C" fn copy(to: *mut c_void, from: *mut c_void) {
    // SAFETY: what was given to the runtime with this function, and room that is as large and as aligned as was said.
    unsafe {
        let packed = &*from.cast::<Packed>();
        to.cast::<Head>().write(packed.head);
        packed.fill(to);
    }
}

/// The function that the runtime calls to run a task.
unsafe extern "C" fn run(data: *mut c_void) {
    // SAFETY: what `copy` wrote.
    let head = unsafe { data.cast::<Head>().read() };
    // SAFETY: the program's data follows.
    let data = unsafe { data.byte_add(head.length) };
    let is_creating = IS_CREATING.replace(false);
    let interrupted = team::begin_task(head.region, head.forked, head.task);
    // SAFETY: the program's function with its own data.
    unsafe { (head.body)(data) };
    if let Some(interrupted) = interrupted {
        team::end_task(head.region, Some(head.task), interrupted, (!is_creating).then_some(&WAIT));
    }
    IS_CREATING.set(is_creating);
}

/// The region of tasks with this code; none if they are left out, and with them that they are created.
fn wanted(body: usize) -> Option<&'static Region> {
    Some(bodies::of(TASK, body)).filter(|region| !region.is_left_out())
}

/// The next task that this thread creates.
pub(crate) fn next(team: u32) -> Task {
    thread_local! {
        static GENERATION: Cell<u32> = const { Cell::new(0) };
    }
    let generation = GENERATION.get() + 1;
    GENERATION.set(generation);
    Task { team, creator: team::thread().unwrap_or_default(), generation }
}

/// Creates a task, or runs it at once.
///
/// # Safety
/// As the runtime's.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "it is the runtime's")]
pub unsafe extern "C" fn GOMP_task(
    body: usize,
    data: usize,
    copies: usize,
    bytes: usize,
    align: usize,
    is_deferred: usize,
    flags: usize,
    depends: usize,
    priority: usize,
    detach: usize,
) {
    let frame = frame::here();
    let created = awake::world().and_then(|_| current()).and_then(|team| {
        let region = wanted(body)?;
        Some((region, next(team), team::place(region, frame)?))
    });
    let Some((region, task, forked)) = created else {
        call!(frame, GOMP_task(body, data, copies, bytes, align, is_deferred, flags, depends, priority, detach));
        return;
    };
    let align = align.max(align_of::<Head>());
    let length = size_of::<Head>().next_multiple_of(align);
    // SAFETY: the program's functions, which it gives as a task's; none is null.
    let (body, copies) =
        unsafe { (std::mem::transmute::<usize, Body>(body), std::mem::transmute::<usize, Option<Copy>>(copies)) };
    let packed =
        Packed { head: Head { body, region, forked, task, length }, data: data as *mut c_void, bytes, copy: copies };
    let data = std::ptr::from_ref(&packed) as usize;
    let (body, copies) = (run as *const () as usize, copy as *const () as usize);
    let mut call = enter(&CREATE, frame);
    if let Some(call) = &mut call {
        call.created(task);
    }
    IS_CREATING.set(true);
    call!(frame, GOMP_task(body, data, copies, bytes + length, align, is_deferred, flags, depends, priority, detach));
    IS_CREATING.set(false);
    leave(call);
}

/// What the runtime writes into a task of a loop before its code runs, and reads of the data that it makes tasks from: first and last iteration, reductions.
type Words = [usize; 3];

/// What is before the data of a task of a loop, which itself begins with such words.
#[repr(C)]
struct LoopHead {
    words: Words,
    head: Head,
}

/// What the runtime is to copy for each task of a loop. The words come first here too.
#[repr(C)]
struct PackedLoop {
    words: Words,
    packed: Packed,
    team: u32,
}

/// The function that the runtime calls to make a task of a loop: all of them, before the first one runs.
unsafe extern "C" fn copy_of_loop(to: *mut c_void, from: *mut c_void) {
    // SAFETY: as in `copy`.
    unsafe {
        let PackedLoop { words, packed, team } = &*from.cast::<PackedLoop>();
        let task = next(*team);
        if let Some(call) = &mut open_call() {
            call.created(task);
        }
        to.cast::<LoopHead>().write(LoopHead { words: *words, head: Head { task, ..packed.head } });
        packed.fill(to);
    }
}

/// The function that the runtime calls to run a task of a loop.
unsafe extern "C" fn run_of_loop(data: *mut c_void) {
    // SAFETY: what `copy_of_loop` wrote, but for the iterations, which are the runtime's.
    let LoopHead { words, head } = unsafe { data.cast::<LoopHead>().read() };
    // SAFETY: the program's data follows, which begins with them.
    let data = unsafe {
        let data = data.byte_add(head.length);
        data.cast::<[usize; 2]>().write([words[0], words[1]]);
        data
    };
    let interrupted = team::begin_task(head.region, head.forked, head.task);
    // SAFETY: the program's function with its own data.
    unsafe { (head.body)(data) };
    if let Some(interrupted) = interrupted {
        team::end_task(head.region, Some(head.task), interrupted, Some(&WAIT));
    }
}

/// The arguments of a loop of tasks, as both functions for it have them.
struct Loop {
    body: usize,
    data: usize,
    copies: usize,
    bytes: usize,
    align: usize,
    flags: usize,
}

/// Changes the arguments so that the tasks are seen, and calls with them what makes and runs them.
fn taskloop(frame: Frame, of: &Loop, run: impl FnOnce(&Loop)) {
    /// The loop does not wait for its tasks.
    const NO_GROUP: usize = 1 << 11;
    let made = awake::world().and_then(|_| current()).and_then(|team| {
        let region = wanted(of.body)?;
        Some((region, team, team::place(region, frame)?))
    });
    let Some((region, team, forked)) = made.filter(|_| of.bytes >= size_of::<[usize; 2]>()) else { return run(of) };
    let align = of.align.max(align_of::<LoopHead>());
    let length = size_of::<LoopHead>().next_multiple_of(align);
    let data = of.data as *mut c_void;
    let mut words = Words::default();
    let count = words.len().min(of.bytes / size_of::<usize>());
    // SAFETY: the program's functions and data, as in `GOMP_task`; as many words of that as it has.
    let (body, copy) = unsafe {
        std::ptr::copy_nonoverlapping(data.cast::<usize>(), words.as_mut_ptr(), count);
        (std::mem::transmute::<usize, Body>(of.body), std::mem::transmute::<usize, Option<Copy>>(of.copies))
    };
    let head = Head { body, region, forked, task: Task { team, ..Task::default() }, length };
    let packed = PackedLoop { words, packed: Packed { head, data, bytes: of.bytes, copy }, team };
    let call = enter(if of.flags & NO_GROUP == 0 { &TASKGROUP } else { &CREATE }, frame);
    run(&Loop {
        body: run_of_loop as *const () as usize,
        data: std::ptr::from_ref(&packed) as usize,
        copies: copy_of_loop as *const () as usize,
        bytes: of.bytes + length,
        align,
        flags: of.flags,
    });
    leave(call);
}

macro_rules! taskloops {
    ($($name:ident)*) => {$(
        /// Deals the iterations of a loop out to tasks.
        ///
        /// # Safety
        /// As the runtime's.
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments, reason = "it is the runtime's")]
        pub unsafe extern "C" fn $name(
            body: usize,
            data: usize,
            copies: usize,
            bytes: usize,
            align: usize,
            flags: usize,
            tasks: usize,
            priority: usize,
            begin: usize,
            end: usize,
            step: usize,
        ) {
            let frame = frame::here();
            taskloop(frame, &Loop { body, data, copies, bytes, align, flags }, |it| {
                let &Loop { body, data, copies, bytes, align, flags } = it;
                call!(frame, $name(body, data, copies, bytes, align, flags, tasks, priority, begin, end, step));
            });
        }
    )*};
}

taskloops! { GOMP_taskloop GOMP_taskloop_ull }

waits! {
    TASKWAIT GOMP_taskwait();
    TASKWAIT GOMP_taskwait_depend(depends);
    TASKGROUP GOMP_taskgroup_end();
    TASKYIELD GOMP_taskyield();
}
