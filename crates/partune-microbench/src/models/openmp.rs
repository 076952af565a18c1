//! OpenMP: the runtimes of GCC and LLVM that are found here, by the entry points that their compilers call.
#![allow(unsafe_code, reason = "functions of a library that is found at run time")]

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::{Found, How, Measured, Model, Threads};
use crate::batches::{Alone, Crew, HandOver, Peers, inside, rounds, timed, together};
use partune_mpi::{Library, functions};

pub(super) static OPENMP: Model = Model { name: "OpenMP", word: "openmp", weight: 2, how: How::Threads(measure) };

/// The runtimes: what they are called, where they are, and how they are called.
const RUNTIMES: [(&str, &[&CStr], Open); 2] = [
    ("GCC's", &[c"libgomp.so.1"], |library| Ok(Box::new(Gnu::find(*library)?))),
    ("LLVM's", &[c"libomp.so.5", c"libomp.so", c"libiomp5.so"], |library| Ok(Box::new(Llvm::find(library)?))),
];

type Open = fn(&Library) -> Result<Box<dyn Runtime>, &'static str>;

/// What the operations of a runtime are called. Of what excludes each other: taking it, giving it back, and getting it from another thread.
struct Names {
    parallel: &'static str,
    barrier: &'static str,
    critical: [&'static str; 3],
    lock: [&'static str; 3],
    task: &'static str,
    wait_for_tasks: &'static str,
    ordered: &'static str,
}

/// What a thread of a team does; it is told its number.
type Body<'a> = dyn Fn(u32) + Sync + 'a;

/// A runtime. What acts in a team is called by a thread of one.
trait Runtime: Sync {
    fn names(&self) -> &Names;

    /// Runs `body` on a team of so many threads.
    fn team(&self, threads: u32, body: &Body<'_>);

    fn barrier(&self);

    fn enter(&self);

    fn leave(&self);

    /// Makes a task that does nothing.
    fn task(&self);

    fn wait_for_tasks(&self);

    /// A loop of so many turns, dealt out one by one, with ordered code in each that does nothing. All threads of a team call it.
    fn ordered(&self, turns: u32);

    /// What both have by the same names.
    fn common(&self) -> &Common;
}

functions! {
    Common ""
    init "omp_init_lock" (*mut u64);
    set "omp_set_lock" (*mut u64);
    unset "omp_unset_lock" (*mut u64);
    thread "omp_get_thread_num" () -> c_int;
    set_dynamic "omp_set_dynamic" (c_int);
}

functions! {
    GnuFunctions "GOMP_"
    parallel "parallel" (extern "C" fn(*mut c_void), *mut c_void, c_uint, c_uint);
    barrier "barrier" ();
    enter "critical_start" ();
    leave "critical_end" ();
    task "task" (extern "C" fn(*mut c_void), *mut c_void, usize, c_long, c_long, bool, c_uint, usize, c_int, usize);
    wait_for_tasks "taskwait" ();
    ordered_loop "loop_ordered_static_start" (c_long, c_long, c_long, c_long, *mut c_long, *mut c_long) -> bool;
    ordered_next "loop_ordered_static_next" (*mut c_long, *mut c_long) -> bool;
    loop_end "loop_end_nowait" ();
    ordered "ordered_start" ();
    ordered_end "ordered_end" ();
}

/// libgomp.
struct Gnu {
    functions: GnuFunctions,
    common: Common,
}

/// What a parallel region of GCC's runtime is given.
struct Region<'a> {
    body: &'a Body<'a>,
    thread: extern "C" fn() -> c_int,
}

extern "C" fn nothing(_: *mut c_void) {}

impl Gnu {
    fn find(library: Library) -> Result<Gnu, &'static str> {
        Ok(Gnu { functions: GnuFunctions::find(&library)?, common: Common::find(&library)? })
    }
}

impl Runtime for Gnu {
    fn names(&self) -> &Names {
        &Names {
            parallel: "GOMP_parallel",
            barrier: "GOMP_barrier",
            critical: ["GOMP_critical_start", "GOMP_critical_end", "GOMP_critical_start, handed over"],
            lock: ["omp_set_lock of GCC", "omp_unset_lock of GCC", "omp_set_lock of GCC, handed over"],
            task: "GOMP_task",
            wait_for_tasks: "GOMP_taskwait",
            ordered: "GOMP_ordered_start",
        }
    }

    fn team(&self, threads: u32, body: &Body<'_>) {
        extern "C" fn run(region: *mut c_void) {
            // SAFETY: it is the region that `team` gives, which lives until the parallel region is over.
            let region = unsafe { &*region.cast::<Region<'_>>() };
            (region.body)((region.thread)() as u32);
        }
        let region = Region { body, thread: self.common.thread };
        (self.functions.parallel)(run, (&raw const region).cast_mut().cast(), threads, 0);
    }

    fn barrier(&self) {
        (self.functions.barrier)();
    }

    fn enter(&self) {
        (self.functions.enter)();
    }

    fn leave(&self) {
        (self.functions.leave)();
    }

    fn task(&self) {
        (self.functions.task)(nothing, std::ptr::null_mut(), 0, 0, 1, true, 0, 0, 0, 0);
    }

    fn wait_for_tasks(&self) {
        (self.functions.wait_for_tasks)();
    }

    fn ordered(&self, turns: u32) {
        let functions = &self.functions;
        let (mut from, mut to) = (0, 0);
        let [from, to] = [&raw mut from, &raw mut to];
        let mut goes_on = (functions.ordered_loop)(0, turns.into(), 1, 1, from, to);
        while goes_on {
            // One turn at a time.
            (functions.ordered)();
            (functions.ordered_end)();
            goes_on = (functions.ordered_next)(from, to);
        }
        (functions.loop_end)();
    }

    fn common(&self) -> &Common {
        &self.common
    }
}

/// `ident_t`: where in the source a call is, for the runtime.
#[repr(C)]
struct Ident {
    first: i32,
    flags: i32,
    second: i32,
    third: i32,
    source: *const c_char,
}

/// Nowhere, from a compiler that calls the runtime by these names.
static NOWHERE: Nowhere =
    Nowhere(Ident { first: 0, flags: 2, second: 0, third: 0, source: c";unknown;unknown;0;0;;".as_ptr() });

struct Nowhere(Ident);

// SAFETY: it is only read, and points at text that is never changed.
unsafe impl Sync for Nowhere {}

/// `kmp_critical_name`.
static CRITICAL: [AtomicI32; 8] = [const { AtomicI32::new(0) }; 8];

type At = *const Ident;
/// What the threads of a team call, with as many addresses as the fork was given after it.
type Microtask = extern "C" fn(*mut i32, *mut i32, *const c_void);

functions! {
    LlvmFunctions "__kmpc_"
    thread "global_thread_num" (At) -> i32;
    threads "push_num_threads" (At, i32, i32);
    fork "fork_call" (At, i32, Microtask, *const c_void);
    barrier "barrier" (At, i32);
    enter "critical" (At, i32, *const c_void);
    leave "end_critical" (At, i32, *const c_void);
    new_task "omp_task_alloc" (At, i32, i32, usize, usize, extern "C" fn(i32, *mut c_void) -> i32) -> *mut c_void;
    task "omp_task" (At, i32, *mut c_void) -> i32;
    wait_for_tasks "omp_taskwait" (At, i32) -> i32;
    ordered_loop "dispatch_init_4" (At, i32, i32, i32, i32, i32, i32);
    ordered_next "dispatch_next_4" (At, i32, *mut i32, *mut i32, *mut i32, *mut i32) -> i32;
    turn_end "dispatch_fini_4" (At, i32);
    ordered "ordered" (At, i32);
    ordered_end "end_ordered" (At, i32);
}

/// libomp, and Intel's of the same origin.
struct Llvm {
    functions: LlvmFunctions,
    /// `__kmpc_fork_call`, which takes as many addresses as it is told.
    fork: unsafe extern "C" fn(At, i32, Microtask, ...),
    common: Common,
}

extern "C" fn no_task(_: i32, _: *mut c_void) -> i32 {
    0
}

impl Llvm {
    /// Bytes of `kmp_task_t` without anything of the task's own.
    const TASK: usize = 40;

    fn find(library: &Library) -> Result<Llvm, &'static str> {
        let functions = LlvmFunctions::find(library)?;
        // SAFETY: the runtime declares it with further arguments of any number.
        let fork = unsafe {
            std::mem::transmute::<
                extern "C" fn(At, i32, Microtask, *const c_void),
                unsafe extern "C" fn(At, i32, Microtask, ...),
            >(functions.fork)
        };
        Ok(Llvm { functions, fork, common: Common::find(library)? })
    }

    fn me(&self) -> i32 {
        (self.functions.thread)(&raw const NOWHERE.0)
    }
}

impl Runtime for Llvm {
    fn names(&self) -> &Names {
        &Names {
            parallel: "__kmpc_fork_call",
            barrier: "__kmpc_barrier",
            critical: ["__kmpc_critical", "__kmpc_end_critical", "__kmpc_critical, handed over"],
            lock: ["omp_set_lock of LLVM", "omp_unset_lock of LLVM", "omp_set_lock of LLVM, handed over"],
            task: "__kmpc_omp_task",
            wait_for_tasks: "__kmpc_omp_taskwait",
            ordered: "__kmpc_ordered",
        }
    }

    fn team(&self, threads: u32, body: &Body<'_>) {
        extern "C" fn run(_: *mut i32, thread: *mut i32, body: *const c_void) {
            // SAFETY: the runtime gives the address of the thread's number in its team, and that of the body.
            unsafe { (*body.cast::<&Body<'_>>())(*thread as u32) };
        }
        (self.functions.threads)(&raw const NOWHERE.0, self.me(), threads as i32);
        // SAFETY: one address follows, which is what `run` takes, and it lives until the parallel region is over.
        unsafe { (self.fork)(&raw const NOWHERE.0, 1, run, (&raw const body).cast::<c_void>()) };
    }

    fn barrier(&self) {
        (self.functions.barrier)(&raw const NOWHERE.0, self.me());
    }

    fn enter(&self) {
        (self.functions.enter)(&raw const NOWHERE.0, self.me(), CRITICAL.as_ptr().cast());
    }

    fn leave(&self) {
        (self.functions.leave)(&raw const NOWHERE.0, self.me(), CRITICAL.as_ptr().cast());
    }

    fn task(&self) {
        let (me, tied) = (self.me(), 1);
        let task = (self.functions.new_task)(&raw const NOWHERE.0, me, tied, Llvm::TASK, 0, no_task);
        (self.functions.task)(&raw const NOWHERE.0, me, task);
    }

    fn wait_for_tasks(&self) {
        (self.functions.wait_for_tasks)(&raw const NOWHERE.0, self.me());
    }

    fn ordered(&self, turns: u32) {
        /// `kmp_ord_static_chunked`.
        const ORDERED_STATIC: i32 = 65;
        let (functions, at, me) = (&self.functions, &raw const NOWHERE.0, self.me());
        (functions.ordered_loop)(at, me, ORDERED_STATIC, 0, turns as i32 - 1, 1, 1);
        let mut words = [0; 4];
        let [last, from, to, step] = words.each_mut().map(|word| &raw mut *word);
        while (functions.ordered_next)(at, me, last, from, to, step) != 0 {
            // One turn at a time.
            (functions.ordered)(at, me);
            (functions.ordered_end)(at, me);
            (functions.turn_end)(at, me);
        }
    }

    fn common(&self) -> &Common {
        &self.common
    }
}

fn measure(threads: &Threads) -> Result<Found, String> {
    let mut found = Found::default();
    let mut runtimes = Vec::new();
    for (whose, names, open) in RUNTIMES {
        // Both have functions of the same names: nobody else may see them.
        let runtime = Library::first(names, Library::open_alone)
            .and_then(|library| open(&library).map_err(|function| format!("it has no {function}")));
        match runtime {
            Ok(runtime) => runtimes.push((whose, runtime)),
            Err(reason) => found.notes.push(format!("{whose} OpenMP runtime was not measured: {reason}")),
        }
    }
    let slice_s = threads.budget_s / runtimes.len().max(1) as f64;
    for (whose, runtime) in &runtimes {
        // As many threads as are asked for, not as many as seem good now.
        (runtime.common().set_dynamic)(0);
        let given = team_of(runtime.as_ref(), threads.most);
        if given < threads.most {
            let most = threads.most;
            found.notes.push(format!("{whose} OpenMP runtime was not measured: it gives {given} threads, not {most}"));
            continue;
        }
        found.rows.extend(of_runtime(runtime.as_ref(), &Threads { budget_s: slice_s, ..*threads }));
        // Threads of a runtime go on looking for work for a while after a parallel region.
        std::thread::sleep(Duration::from_millis(250));
    }
    if runtimes.is_empty() { Err(found.notes.join("; ")) } else { Ok(found) }
}

/// The threads of a team when so many are wanted.
fn team_of(runtime: &dyn Runtime, threads: u32) -> u32 {
    let count = AtomicU32::new(0);
    runtime.team(threads, &|_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    count.into_inner()
}

/// Turns of a loop with ordered code: what the loop costs is little beside.
const TURNS: u32 = 64;

fn of_runtime(runtime: &dyn Runtime, threads: &Threads) -> Vec<(u32, Measured)> {
    let mut counts = threads.counts();
    counts.push(1);
    let slice_s = threads.budget_s / (2 * counts.len() + 6) as f64;
    let names = runtime.names();
    let mut rows = Vec::new();
    for count in counts {
        let samples = together(&Alone, slice_s, |_| runtime.team(count, &|_| ()));
        rows.push((count, Measured::of(names.parallel, "parallel", samples)));
        let samples = in_team(runtime, count, |crew, _| together(crew, slice_s, |_| runtime.barrier()));
        rows.push((count, Measured::of(names.barrier, "group_sync", samples)));
    }
    let critical: [&(dyn Fn() + Sync); 2] = [&|| runtime.enter(), &|| runtime.leave()];
    let mut lock = [0_u64; 16];
    let lock = (&raw mut lock) as usize;
    let locks = runtime.common();
    (locks.init)(lock as *mut u64);
    let set: [&(dyn Fn() + Sync); 2] = [&|| (locks.set)(lock as *mut u64), &|| (locks.unset)(lock as *mut u64)];
    rows.extend(exclusion(runtime, critical, &names.critical, slice_s));
    rows.extend(exclusion(runtime, set, &names.lock, slice_s));
    // Each of two threads waits in every second turn, for the one of the other.
    let samples = in_team(runtime, 2, |crew, _| {
        together(crew, slice_s, |_| runtime.ordered(TURNS))
            .into_iter()
            .map(|all| 2.0 * all / f64::from(TURNS))
            .collect()
    });
    rows.push((2, Measured::of(names.ordered, "wait_on_value", samples)));
    // One thread makes tasks, and another may take them from it.
    let (created, waited) = in_team(runtime, 2, |crew, thread| {
        let step = |what: u32| {
            inside(crew, slice_s, |_| {
                if thread != 0 {
                    return 0.0;
                }
                let making = timed(|| runtime.task());
                let waiting = timed(|| runtime.wait_for_tasks());
                [making, waiting][what as usize]
            })
        };
        (step(0), step(1))
    });
    rows.push((2, Measured::of(names.task, "task_create", created)));
    rows.push((2, Measured::of(names.wait_for_tasks, "task_wait", waited)));
    rows
}

/// What two threads exclude each other with: free, and when another thread gives it back.
fn exclusion(
    runtime: &dyn Runtime,
    [take, give]: [&(dyn Fn() + Sync); 2],
    names: &[&'static str; 3],
    slice_s: f64,
) -> Vec<(u32, Measured)> {
    let [free, freed] = rounds(slice_s, || [timed(take), timed(give)]);
    let origin = Instant::now();
    let over = HandOver { take, give, wait: take, done: give };
    let [_, got] = in_team(runtime, 2, |crew, thread| {
        over.samples(crew, thread == 0, &|| origin.elapsed().as_secs_f64(), slice_s)
    });
    let rows = [
        Measured::of(names[0], "lock_acquire", free),
        Measured::of(names[1], "lock_release", freed),
        Measured::of(names[2], "lock_acquire", got),
    ];
    rows.into_iter().map(|measured| (2, measured)).collect()
}

/// What the first thread of a team gives.
fn in_team<T: Send + Default>(runtime: &dyn Runtime, threads: u32, body: impl Fn(&Crew, u32) -> T + Sync) -> T {
    let crew = Crew::of(threads);
    let first = Mutex::new(T::default());
    runtime.team(threads, &|thread| {
        let found = body(&crew, thread);
        if let (0, Ok(mut first)) = (thread, first.lock()) {
            *first = found;
        }
        crew.meet();
    });
    first.into_inner().unwrap_or_default()
}
