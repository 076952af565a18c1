//! Functions that a compiler instrumented (`-finstrument-functions`): their begin and end are events.
//!
//! A function that the filter names, or that turned out to be too short to measure, costs a look into a small table of its
//! thread. Short is: after [`Short::visits`] visits of one thread its mean time, without instrumented functions inside, is below
//! [`Short::nanoseconds`]; it is left out on all threads from then on, and how often is said at the end. Call paths stay whole:
//! the walker finds what is not instrumented.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::filter::Filter;
use super::marks;
use crate::frame::Frame;
use crate::region::{Kind, Region};
use crate::{call, modules};
use partune_parts::clock;

/// A function of the program.
#[derive(Debug)]
struct Function {
    region: Region,
    address: usize,
    state: AtomicU8,
    /// Calls that were left out, as far as threads have said.
    left_out: AtomicU64,
}

const RECORDED: u8 = 0;
const FILTERED: u8 = 1;
const SHORT: u8 = 2;

/// When a function is too short.
#[derive(Clone, Copy, Debug)]
struct Short {
    /// Visits of one thread before it is judged; 0: never.
    visits: u32,
    nanoseconds: u64,
}

/// What was asked for, and what is known of all threads.
struct Functions {
    filter: Filter,
    short: Short,
    start: clock::Reading,
    known: Mutex<HashMap<usize, &'static Function>>,
    threads: Mutex<Vec<Thread>>,
}

/// A function as one thread knows it.
struct Slot {
    function: Option<&'static Function>,
    visits: u32,
    /// Ticks inside of it alone, of the visits that were measured.
    ticks: u64,
    left_out: AtomicU64,
}

/// A visit that is being recorded.
struct Active {
    function: &'static Function,
    /// When it began; 0 if it is not measured.
    begin: u64,
    /// Ticks of measured visits inside.
    inside: u64,
    /// Visits of the same function directly inside that are not recorded, and whose ends are to be told from its own.
    hidden: u32,
}

const SLOTS: usize = 1024;

struct Local {
    slots: Vec<Slot>,
    active: Vec<Active>,
}

struct Thread(*const Local);

// SAFETY: other threads read the atomic counts only, and locals are never freed.
unsafe impl Send for Thread {}

/// What a call looks up first; one thing, because finding it costs nanoseconds.
struct Here {
    local: Cell<*mut Local>,
    /// Set while this module works: what it calls may be instrumented, an allocator of the program's.
    busy: Cell<bool>,
}

thread_local! {
    static HERE: Here = const { Here { local: Cell::new(std::ptr::null_mut()), busy: Cell::new(false) } };
}

static USED: AtomicBool = AtomicBool::new(false);

#[allow(clippy::inline_always, reason = "the frame is that of the exported function")]
#[inline(always)]
pub(super) fn enter(address: usize, frame: Frame) {
    visit(address, frame);
}

pub(super) fn exit(address: usize) {
    if crate::is_recorded() {
        HERE.with(|here| {
            let local = here.local.get();
            if !local.is_null() && !here.busy.replace(true) {
                // SAFETY: leaked, this thread's own, and used by one call at a time: see `busy`.
                leave(unsafe { &mut *local }, address);
                here.busy.set(false);
            }
        });
    }
}

#[inline(never)]
fn visit(address: usize, frame: Frame) {
    HERE.with(|here| {
        if here.busy.replace(true) {
            return;
        }
        if !marks::is_awake() {
            here.busy.set(false);
            return;
        }
        if here.local.get().is_null() {
            here.local.set(make_local());
        }
        // SAFETY: leaked, this thread's own, and used by one hook at a time: see `busy`.
        let local = unsafe { &mut *here.local.get() };
        let slot = slot(&mut local.slots, address);
        if let Some(function) = slot.function {
            if function.state.load(Relaxed) == RECORDED {
                record(function, slot.visits < short().visits, &mut local.active, frame);
            } else {
                slot.left_out.store(slot.left_out.load(Relaxed) + 1, Relaxed);
                if let Some(outer) = local.active.last_mut().filter(|outer| outer.function.address == address) {
                    outer.hidden += 1;
                }
            }
        }
        here.busy.set(false);
    });
}

fn record(function: &'static Function, is_measured: bool, active: &mut Vec<Active>, frame: Frame) {
    if !marks::is_silent() {
        call::enter_region(&function.region, frame);
        let begin = if is_measured { clock::now() } else { 0 };
        active.push(Active { function, begin, inside: 0, hidden: 0 });
    }
}

fn leave(local: &mut Local, address: usize) {
    let top = local.active.last_mut().filter(|top| top.function.address == address);
    let Some(top) = top else {
        let is_recorded = |function: &Function| function.state.load(Relaxed) == RECORDED;
        if slot(&mut local.slots, address).function.is_some_and(is_recorded) && !marks::is_silent() {
            leave_jumped(&mut local.active, address);
        }
        return;
    };
    if top.hidden > 0 {
        top.hidden -= 1;
        return;
    }
    if marks::is_silent() {
        return;
    }
    let Some(ended) = local.active.pop() else { return };
    if ended.begin != 0 {
        let ticks = clock::now().saturating_sub(ended.begin);
        if let Some(outer) = local.active.last_mut() {
            outer.inside += ticks;
        }
        let slot = slot(&mut local.slots, address);
        slot.visits += 1;
        slot.ticks += ticks.saturating_sub(ended.inside);
        if slot.visits == short().visits && is_short(slot) {
            ended.function.state.store(SHORT, Relaxed);
        }
    }
    call::leave_region(&ended.function.region);
}

/// The end of a visit around others whose ends did not come: `longjmp`.
#[cold]
fn leave_jumped(active: &mut Vec<Active>, address: usize) {
    if let Some(at) = active.iter().rposition(|active| active.function.address == address) {
        let region = &active[at].function.region;
        active.truncate(at);
        call::leave_region(region);
    }
}

fn is_short(slot: &Slot) -> bool {
    let (start, now) = (functions().start, clock::calibration());
    let ticks = now.ticks.saturating_sub(start.ticks) as f64;
    let nanoseconds = now.monotonic.saturating_sub(start.monotonic) as f64;
    let mean = slot.ticks as f64 / f64::from(slot.visits) * nanoseconds / ticks;
    mean < short().nanoseconds as f64
}

fn short() -> Short {
    functions().short
}

fn functions() -> &'static Functions {
    static FUNCTIONS: OnceLock<Functions> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        USED.store(true, Relaxed);
        marks::say_at_exit();
        let number =
            |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
        Functions {
            filter: Filter::read(),
            short: Short {
                visits: number("PARTUNE_SHORT_VISITS", 10_000) as u32,
                nanoseconds: number("PARTUNE_SHORT_NS", 1_000),
            },
            start: clock::calibration(),
            known: Mutex::default(),
            threads: Mutex::default(),
        }
    })
}

#[cold]
fn make_local() -> *mut Local {
    let empty = || Slot { function: None, visits: 0, ticks: 0, left_out: AtomicU64::new(0) };
    let slots = std::iter::repeat_with(empty).take(SLOTS).collect();
    let local: *mut Local = Box::leak(Box::new(Local { slots, active: Vec::with_capacity(64) }));
    functions().threads.lock().unwrap_or_else(PoisonError::into_inner).push(Thread(local));
    local
}

/// The slot of a function; it may have been another's, whose visits are forgotten then.
fn slot(slots: &mut [Slot], address: usize) -> &mut Slot {
    let index = (address >> 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - SLOTS.trailing_zeros());
    let slot = &mut slots[index];
    if slot.function.is_none_or(|function| function.address != address) {
        if let Some(other) = slot.function {
            other.left_out.fetch_add(slot.left_out.swap(0, Relaxed), Relaxed);
        }
        slot.function = Some(know(address));
        (slot.visits, slot.ticks) = (0, 0);
    }
    slot
}

#[cold]
fn know(address: usize) -> &'static Function {
    let functions = functions();
    let mut known = functions.known.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(address).or_insert_with(|| {
        let left_out = modules::module_at(address)
            .is_some_and(|((_, _, bias), path)| functions.filter.leaves_out(&path, (address - bias) as u64));
        Box::leak(Box::new(Function {
            region: Region::new("", Kind::Function(address)),
            address,
            state: AtomicU8::new(if left_out { FILTERED } else { RECORDED }),
            left_out: AtomicU64::new(0),
        }))
    })
}

/// Says what was left out.
pub(super) fn say() {
    if !USED.load(Relaxed) {
        return;
    }
    let functions = functions();
    let mut counts: HashMap<usize, u64> = HashMap::new();
    for thread in functions.threads.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // SAFETY: see `Thread`; a slot that changes its function meanwhile costs a wrong count.
        let slots = unsafe { &(*thread.0).slots };
        for slot in slots {
            if let Some(function) = slot.function {
                *counts.entry(function.address).or_default() += slot.left_out.load(Relaxed);
            }
        }
    }
    let known = functions.known.lock().unwrap_or_else(PoisonError::into_inner);
    for (state, why) in [(SHORT, "are too short to measure"), (FILTERED, "the filter leaves out")] {
        let of_state = known.values().filter(|function| function.state.load(Relaxed) == state);
        let mut rows: Vec<(u64, usize)> = of_state
            .map(|function| {
                let here = counts.get(&function.address).copied().unwrap_or(0);
                (function.left_out.load(Relaxed) + here, function.address)
            })
            .collect();
        rows.sort_unstable_by(|a, b| b.cmp(a));
        let calls: u64 = rows.iter().map(|row| row.0).sum();
        if calls > 0 {
            let most: Vec<String> = rows.iter().take(5).map(|(_, address)| place(*address)).collect();
            let (count, most) = (rows.len(), most.join(", "));
            crate::note(&format!("{calls} calls of {count} functions that {why} were not recorded: {most}"));
        }
    }
}

/// Module and address: names are in no table that a program carries in memory.
fn place(address: usize) -> String {
    match modules::module_at(address) {
        Some(((_, _, bias), path)) => format!("{}+{:#x}", path.rsplit('/').next().unwrap_or(&path), address - bias),
        None => format!("{address:#x}"),
    }
}
