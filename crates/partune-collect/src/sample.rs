//! Samples: where a thread is at each tick of its CPU clock, between the calls that are recorded.
//!
//! The signal of a tick finds the thread anywhere, so its handler takes no lock, allocates nothing and leaves the lane alone: it notes the frames in
//! memory of its own. The next recorded call, which has all that at hand, makes sample records of them in the thread's lane, before itself. A
//! tick in a recorded call or in the recorder is counted and noted no further: what happens there is known better. A thread that does not run makes no
//! tick, so nothing that waits is woken; what was about to wait begins again, see [`restart`].
//!
//! While a call is recorded the handler only counts; so neither of the two ever meets the other's half-written words.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use partune_parts::layout::Header;
use partune_parts::log::Line;

use crate::attention::Attention;
use crate::counters::cpu_time_of;
use crate::errno;
use crate::log::log;
use crate::masks;
use crate::modules::Whose;
use crate::python::{self, Loop};
use crate::restart;
use crate::state::is_quiet;
use crate::thread_word;
use crate::ticks::Ticks;
use crate::unwind::{Step, Walker};

/// A frame that was noted: its address, and where its caller's stack begins.
type Noted = [usize; 2];

/// Frames of a sample at most.
const FRAMES: usize = 256;
/// Bytes of a thread's notes: only what is used takes memory.
const ROOM: usize = 64 << 20;
const LESS_ROOM: usize = 1 << 20;
/// Above that, memory is given back when the notes were taken.
const LITTLE: usize = 1 << 20;

/// A thread's sampler.
pub(crate) struct Sampler {
    attention: NonNull<Attention>,
    header: NonNull<Header>,
    /// Words that were noted: per sample its time, how many of its outermost frames are those of the one before and how many follow, and these.
    notes: NonNull<usize>,
    /// Words that there is room for, and those that are used.
    room: usize,
    used: AtomicUsize,
    /// None while it has no thread.
    ticks: Option<Ticks>,
    counts: Arc<Counts>,
    own: UnsafeCell<Own>,
}

/// What is counted of a thread's samples, for whichever thread ends the process.
pub(crate) struct Counts {
    ticks: AtomicU64,
    /// Ticks for which there was no room.
    missed: AtomicU64,
    /// Ticks of the clock of events that the handler took.
    spent: AtomicU64,
    /// Of the thread's CPU, and when it began to be sampled.
    clock: libc::clockid_t,
    begin: u64,
}

/// What the handler alone uses.
struct Own {
    walker: Walker,
    /// Of the sample before, innermost first, and of this one.
    before: Box<[Noted; FRAMES]>,
    known: usize,
    frames: Box<[Noted; FRAMES]>,
    /// The native ones, and room for those of Python.
    steps: Box<[Step; FRAMES]>,
    room: Box<Loop>,
}

thread_word! {
    /// The address of the thread's sampler; 0 while it has none.
    SamplerWord, "partune_collect_sampler"
}

/// What samplers count: ticks, nanoseconds of CPU time, ticks that were missed, and what they took.
type Sums = [u64; 4];

/// Of threads that have ended.
static ENDED: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Begins to sample the calling thread, `rate` times a second of its CPU time. None if the system cannot.
pub(crate) fn begin(rate: u32, attention: NonNull<Attention>, header: NonNull<Header>) -> Option<NonNull<Sampler>> {
    let (ticks, counts) = of_thread(rate, attention)?;
    let Some((notes, room)) = notes() else {
        ticks.end();
        return None;
    };
    let own = Own {
        walker: Walker::new(),
        before: Box::new([[0; 2]; FRAMES]),
        known: 0,
        frames: Box::new([[0; 2]; FRAMES]),
        steps: Box::new([Step::default(); FRAMES]),
        room: Loop::room(),
    };
    let sampler = NonNull::from(Box::leak(Box::new(Sampler {
        attention,
        header,
        notes,
        room,
        used: AtomicUsize::new(0),
        ticks: Some(ticks),
        counts,
        own: UnsafeCell::new(own),
    })));
    SamplerWord::set(sampler.as_ptr() as usize);
    Some(sampler)
}

/// Begins the ticks of the calling thread, and to count them.
fn of_thread(rate: u32, attention: NonNull<Attention>) -> Option<(Ticks, Arc<Counts>)> {
    let mut clock = 0;
    // SAFETY: the thread itself, and a place for its clock.
    if unsafe { libc::pthread_getcpuclockid(libc::pthread_self(), &raw mut clock) } != 0 {
        return None;
    }
    let ticks = Ticks::begin(rate, attention.as_ptr() as usize >> 6, tick)?;
    masks::let_ticks_come();
    let [ticked, missed, spent] = [const { AtomicU64::new(0) }; 3];
    let counts = Counts { ticks: ticked, missed, spent, clock, begin: cpu_time_of(clock) };
    Some((ticks, Arc::new(counts)))
}

/// The thread of a sampler ends. It may [go on](go_on) with another one.
///
/// # Safety
/// It is the calling thread's.
pub(crate) unsafe fn rest(sampler: NonNull<Sampler>) {
    SamplerWord::set(0);
    // SAFETY: from here on no handler finds it, and nobody else has it.
    let sampler = unsafe { &mut *sampler.as_ptr() };
    if let Some(ticks) = sampler.ticks.take() {
        for (ended, sum) in ENDED.iter().zip(sampler.counts.sums()) {
            ended.fetch_add(sum, Relaxed);
        }
        ticks.end();
    }
    sampler.used.store(0, Relaxed);
    sampler.own.get_mut().known = 0;
}

/// The calling thread goes on with a sampler whose thread has ended. None if the system cannot; then it is gone.
///
/// # Safety
/// Nobody else has it.
pub(crate) unsafe fn go_on(sampler: NonNull<Sampler>, rate: u32) -> Option<NonNull<Sampler>> {
    // SAFETY: as the caller said.
    let own = unsafe { &mut *sampler.as_ptr() };
    let Some((ticks, counts)) = of_thread(rate, own.attention) else {
        // SAFETY: as the caller said.
        unsafe { end(sampler) };
        return None;
    };
    own.own.get_mut().walker.go_on();
    (own.ticks, own.counts) = (Some(ticks), counts);
    SamplerWord::set(sampler.as_ptr() as usize);
    Some(sampler)
}

/// The thread of a sampler ends, and it with it.
///
/// # Safety
/// It is the calling thread's, and not used afterwards.
pub(crate) unsafe fn end(sampler: NonNull<Sampler>) {
    // SAFETY: as the caller said; afterwards nobody has it.
    unsafe {
        rest(sampler);
        let sampler = Box::from_raw(sampler.as_ptr());
        libc::munmap(sampler.notes.as_ptr().cast(), sampler.room * size_of::<usize>());
    }
}

/// Says how much CPU time a tick was, for this process so far.
pub(crate) fn report<'a>(running: impl Iterator<Item = &'a Counts>) {
    let ended = ENDED.each_ref().map(|sum| sum.load(Relaxed));
    let [ticks, cpu_time, missed, spent] = running.map(Counts::sums).fold(ended, add);
    if ticks > 0 {
        log(&Line::Sampled { ticks, cpu_time, missed, spent });
    }
}

fn add(a: Sums, b: Sums) -> Sums {
    std::array::from_fn(|at| a[at] + b[at])
}

impl Counts {
    fn sums(&self) -> Sums {
        let time = cpu_time_of(self.clock).saturating_sub(self.begin);
        [self.ticks.load(Relaxed), time, self.missed.load(Relaxed), self.spent.load(Relaxed)]
    }

    /// Counts one more; this thread alone does.
    fn count(of: &AtomicU64, more: u64) {
        of.store(of.load(Relaxed) + more, Relaxed);
    }
}

impl Sampler {
    /// None while it has no thread: then they are among those that have ended.
    pub(crate) fn counts(&self) -> Option<Arc<Counts>> {
        self.ticks.is_some().then(|| self.counts.clone())
    }

    /// When the first of the samples that wait was noted.
    pub(crate) fn first(&self) -> Option<u64> {
        // SAFETY: a word that was noted, if any was, by this thread.
        (self.used.load(Relaxed) > 0).then(|| unsafe { self.notes.as_ptr().read() } as u64)
    }

    /// Hands over what was noted: times, and frames, outermost first.
    ///
    /// # Safety
    /// On the sampler's thread, and while its handler only counts.
    pub(crate) unsafe fn take(&self, mut each: impl FnMut(u64, &[Step])) {
        let used = self.used.load(Relaxed);
        // SAFETY: so many words were noted, by this thread.
        let mut words = unsafe { std::slice::from_raw_parts(self.notes.as_ptr(), used) };
        let mut steps: Vec<Step> = Vec::new();
        while let Some((&[time, shared, new], rest)) = words.split_first_chunk::<3>() {
            let Some((frames, rest)) = rest.split_at_checked(2 * new) else { break };
            words = rest;
            steps.truncate(shared);
            let (frames, _) = frames.as_chunks::<2>();
            steps.extend(frames.iter().rev().map(|&[address, below]| Step { address, below, base: 0, told: 0 }));
            each(time as u64, &steps);
        }
        self.used.store(0, Relaxed);
        // SAFETY: the handler's own, which leaves it alone now.
        unsafe { (*self.own.get()).known = 0 };
        if used * size_of::<usize>() > LITTLE {
            let bytes = self.room * size_of::<usize>();
            // SAFETY: the mapping is the sampler's, and what is in it is not needed any more.
            unsafe { libc::madvise(self.notes.as_ptr().cast(), bytes, libc::MADV_DONTNEED) };
        }
    }

    /// Notes where the thread is. For its handler.
    fn note(&self, context: *const c_void) {
        Counts::count(&self.counts.ticks, 1);
        // SAFETY: in the thread's lane, which lives longer.
        let attention = unsafe { self.attention.as_ref() };
        if attention.calls() != 0 || is_quiet() {
            return;
        }
        let time = partune_parts::clock::now();
        // SAFETY: the handler's own: it is not interrupted by itself, and no call is being recorded.
        let own = unsafe { &mut *self.own.get() };
        let Own { walker, before, known, frames, steps, room } = own;
        let (mut count, mut is_ours, mut inner) = (0, false, None);
        walker.walk_interrupted(context, |step, whose| {
            // A wrapper calls what the program gave for the parts of a team; for itself it calls the system.
            is_ours |= whose == Whose::Recorder && inner.is_none_or(|inner| inner == Whose::System);
            inner = Some(whose);
            steps[count] = step;
            count += 1;
            !is_ours && count < FRAMES
        });
        if is_ours {
            return;
        }
        let native = &steps[..count];
        count = 0;
        let mut add = |step: Step| {
            if let Some(frame) = frames.get_mut(count) {
                *frame = [step.address, step.below];
                count += 1;
            }
        };
        if !python::last().is_some_and(|python| python.weave(native, room, &mut add, |_| {})) {
            native.iter().for_each(|step| add(*step));
        }
        if count == 0 {
            return;
        }
        let now = &frames[..count];
        // SAFETY: of the thread's lane, which lives longer.
        unsafe { self.header.as_ref() }.set_seen(time, now.iter().map(|&[address, _]| address));
        let same = |(a, b): &(&Noted, &Noted)| a == b;
        let shared = now.iter().rev().zip(before[..*known].iter().rev()).take_while(same).count();
        let new = count - shared;
        let used = self.used.load(Relaxed);
        if used + 3 + 2 * new > self.room {
            Counts::count(&self.counts.missed, 1);
            return;
        }
        // SAFETY: there is room for them, as was just found.
        unsafe {
            let at = self.notes.as_ptr().add(used);
            at.cast::<[usize; 3]>().write([time as usize, shared, new]);
            at.add(3).cast::<Noted>().copy_from_nonoverlapping(now.as_ptr(), new);
        }
        self.used.store(used + 3 + 2 * new, Relaxed);
        std::mem::swap(before, frames);
        *known = count;
        attention.let_wait();
    }
}

extern "C" fn tick(_: c_int, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the thread's own, until the thread ends.
    if let Some(sampler) = unsafe { (SamplerWord::get() as *const Sampler).as_ref() } {
        errno::kept(|| {
            let begin = partune_parts::clock::now();
            sampler.note(context);
            if let Some(ticks) = &sampler.ticks {
                ticks.ticked();
            }
            // SAFETY: the context of this handler.
            unsafe { restart::wait(context) };
            let took = partune_parts::clock::now().saturating_sub(begin);
            Counts::count(&sampler.counts.spent, took);
        });
    }
}

/// Memory for notes, and how many words it has.
fn notes() -> Option<(NonNull<usize>, usize)> {
    [ROOM, LESS_ROOM].into_iter().find_map(|bytes| {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: a new mapping.
        let place = unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, flags, -1, 0) };
        let place = NonNull::new(place.cast::<usize>()).filter(|_| place != libc::MAP_FAILED)?;
        Some((place, bytes / size_of::<usize>()))
    })
}
