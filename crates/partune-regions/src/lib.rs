//! Marks in a Rust program: regions, phases, loops and their iterations, which end where their guards are dropped.
//!
//! For programs that partune records. Nothing is linked and nothing is needed: the recorder's functions are looked up once, among what
//! is loaded into the process; where it is not, a mark is a load and a branch.
//!
//! ```
//! let _setup = partune_regions::phase("setup");
//! for step in partune_regions::iterations("time steps", 0..10) {
//!     let _solve = partune_regions::region("solve");
//!     // …
//!     # let _ = step;
//! }
//! ```
//!
//! Marks belong to their thread, so guards are not [`Send`]. They end in reverse order of their begins, as guards in variables do;
//! beware of `let _ = region("solve")`, which ends at once. Names longer than 255 bytes are cut, and end at the first zero byte.
#![allow(unsafe_code, reason = "functions that are looked up at run time")]

use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;

/// A region of code; it ends when this is dropped.
#[must_use = "the region ends when its guard is dropped"]
#[derive(Debug)]
pub struct Region(#[expect(dead_code, reason = "dropped")] Guard);

/// A phase of the program; it ends when this is dropped.
#[must_use = "the phase ends when its guard is dropped"]
#[derive(Debug)]
pub struct Phase(#[expect(dead_code, reason = "dropped")] Guard);

/// A loop; it ends when this is dropped, and its iteration if one is open.
#[must_use = "the loop ends when its guard is dropped"]
#[derive(Debug)]
pub struct Loop(Guard);

/// An iteration of a loop; it ends when this is dropped.
#[must_use = "the iteration ends when its guard is dropped"]
#[derive(Debug)]
pub struct Iteration<'a> {
    _guard: Guard,
    /// Iterations of one loop do not overlap.
    around: PhantomData<&'a mut Loop>,
}

/// Begins a region.
#[inline]
pub fn region(name: &str) -> Region {
    Region(Guard::begin(name, Mark::Region))
}

/// Begins a phase.
#[inline]
pub fn phase(name: &str) -> Phase {
    Phase(Guard::begin(name, Mark::Phase))
}

/// Begins a loop.
#[inline]
pub fn start_loop(name: &str) -> Loop {
    Loop(Guard::begin(name, Mark::Loop))
}

impl Loop {
    /// Begins an iteration.
    #[inline]
    pub fn iteration(&mut self) -> Iteration<'_> {
        let mut end = None;
        if let Some(recorder) = Recorder::find() {
            // SAFETY: a function of the recorder, which takes nothing.
            unsafe { (recorder.iteration_begin)() };
            end = Some(End::Plain(recorder.iteration_end));
        }
        Iteration { _guard: Guard { end, thread: PhantomData }, around: PhantomData }
    }
}

/// Records nothing from now on, until this is dropped; on all threads.
#[must_use = "recording goes on when this is dropped"]
#[derive(Debug)]
pub struct Unrecorded(#[expect(dead_code, reason = "dropped")] Guard);

/// Turns recording off.
#[inline]
pub fn unrecorded() -> Unrecorded {
    let mut end = None;
    if let Some(recorder) = Recorder::find() {
        // SAFETY: a function of the recorder, which takes nothing.
        unsafe { (recorder.record_off)() };
        end = Some(End::Plain(recorder.record_on));
    }
    Unrecorded(Guard { end, thread: PhantomData })
}

/// Marks a `for` loop: the loop, and the body as its iterations.
#[inline]
pub fn iterations<I: IntoIterator>(name: &str, items: I) -> Iterations<I::IntoIter> {
    Iterations { items: items.into_iter(), around: start_loop(name) }
}

/// What [`iterations`] gives: an iteration lasts until the next item is asked for. The loop ends when this is dropped.
#[derive(Debug)]
pub struct Iterations<I> {
    items: I,
    around: Loop,
}

impl<I: Iterator> Iterator for Iterations<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let recorder = if self.around.0.end.is_some() { Recorder::find() } else { None };
        if let Some(recorder) = recorder {
            // SAFETY: functions of the recorder, which take nothing. An end without an iteration is nothing.
            unsafe { (recorder.iteration_end)() };
        }
        let item = self.items.next()?;
        if let Some(recorder) = recorder {
            // SAFETY: a function of the recorder that takes nothing.
            unsafe { (recorder.iteration_begin)() };
        }
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

type Named = unsafe extern "C" fn(*const c_char);
type Plain = unsafe extern "C" fn();

/// How a mark ends.
#[derive(Clone, Copy, Debug)]
enum End {
    /// By the innermost: a guard knows no name, and ends in order.
    Named(Named),
    Plain(Plain),
}

/// Ends what it began. Not [`Send`]: marks belong to their thread.
#[derive(Debug)]
struct Guard {
    end: Option<End>,
    thread: PhantomData<*const ()>,
}

/// What begins by a name.
#[derive(Clone, Copy)]
enum Mark {
    Region,
    Phase,
    Loop,
}

impl Guard {
    // No closures: call paths leave out what is named after this crate, and the standard library would be in between.
    #[inline]
    fn begin(name: &str, mark: Mark) -> Guard {
        let mut end = None;
        if let Some(recorder) = Recorder::find() {
            let (begin, its_end) = match mark {
                Mark::Region => (recorder.region_begin, End::Named(recorder.region_end)),
                Mark::Phase => (recorder.phase_begin, End::Named(recorder.phase_end)),
                Mark::Loop => (recorder.loop_begin, End::Plain(recorder.loop_end)),
            };
            begin_named(begin, name);
            end = Some(its_end);
        }
        Guard { end, thread: PhantomData }
    }
}

impl Drop for Guard {
    #[inline]
    fn drop(&mut self) {
        match self.end {
            None => {}
            // SAFETY: a function of the recorder; null is the innermost.
            Some(End::Named(end)) => unsafe { end(std::ptr::null()) },
            // SAFETY: a function of the recorder, which takes nothing.
            Some(End::Plain(end)) => unsafe { end() },
        }
    }
}

#[cold]
fn begin_named(begin: Named, name: &str) {
    let mut text = [0_u8; 256];
    let mut length = name.len().min(text.len() - 1);
    while !name.is_char_boundary(length) {
        length -= 1;
    }
    text[..length].copy_from_slice(&name.as_bytes()[..length]);
    // SAFETY: the text ends with a zero byte and outlives the call.
    unsafe { begin(text.as_ptr().cast()) };
}

/// The functions of the recorder that is loaded into this process.
struct Recorder {
    region_begin: Named,
    region_end: Named,
    phase_begin: Named,
    phase_end: Named,
    loop_begin: Named,
    loop_end: Plain,
    iteration_begin: Plain,
    iteration_end: Plain,
    record_off: Plain,
    record_on: Plain,
}

#[cfg(unix)]
unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Where nothing can be preloaded nothing is found.
#[cfg(not(unix))]
unsafe fn dlsym(_: *mut c_void, _: *const c_char) -> *mut c_void {
    std::ptr::null_mut()
}

impl Recorder {
    #[inline]
    fn find() -> Option<&'static Recorder> {
        static RECORDER: OnceLock<Option<Recorder>> = OnceLock::new();
        RECORDER.get_or_init(Recorder::look_up).as_ref()
    }

    #[cold]
    fn look_up() -> Option<Recorder> {
        /// The handle that searches everything that is loaded (`RTLD_DEFAULT`).
        const EVERYWHERE: *mut c_void =
            if cfg!(target_vendor = "apple") { -2_isize as *mut c_void } else { std::ptr::null_mut() };
        let find = |name: &std::ffi::CStr| {
            // SAFETY: a handle that is always valid, and a C string.
            let address = unsafe { dlsym(EVERYWHERE, name.as_ptr()) };
            (!address.is_null()).then_some(address)
        };
        // SAFETY: the recorder exports functions of these names with this signature.
        let named = |name| find(name).map(|address| unsafe { std::mem::transmute::<*mut c_void, Named>(address) });
        // SAFETY: the recorder exports functions of these names that take and return nothing.
        let plain = |name| find(name).map(|address| unsafe { std::mem::transmute::<*mut c_void, Plain>(address) });
        Some(Recorder {
            region_begin: named(c"partune_region_begin")?,
            region_end: named(c"partune_region_end")?,
            phase_begin: named(c"partune_phase_begin")?,
            phase_end: named(c"partune_phase_end")?,
            loop_begin: named(c"partune_loop_begin")?,
            loop_end: plain(c"partune_loop_end")?,
            iteration_begin: plain(c"partune_iteration_begin")?,
            iteration_end: plain(c"partune_iteration_end")?,
            record_off: plain(c"partune_record_off")?,
            record_on: plain(c"partune_record_on")?,
        })
    }
}
