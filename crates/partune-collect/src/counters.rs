//! Counters of the processor and the kernel, read at the begin and end of each call. A profile keeps the CPU time alone.
//!
//! By `perf_event_open` for the calling thread, user mode only, which needs no administrator; and the thread's CPU time by the system's
//! clock. What has another name is asked of [PAPI](crate::papi). A counter that this machine or its administrator does not give is left out and
//! noted: recording never fails for it.

use crate::definitions;
use crate::papi::{self, Sets};
use crate::perf::{Attributes, Event, SOFTWARE, TASK_CLOCK, USER_ONLY};

/// A counter by the name that users give: its type and number in `perf_event_open`, and its unit.
struct Known {
    name: &'static str,
    kind: u32,
    config: u64,
    unit: &'static str,
}

const HARDWARE: u32 = 0;

const KNOWN: &[Known] = &[
    Known { name: "cycles", kind: HARDWARE, config: 0, unit: "#" },
    Known { name: "instructions", kind: HARDWARE, config: 1, unit: "#" },
    Known { name: "cache-references", kind: HARDWARE, config: 2, unit: "#" },
    Known { name: "cache-misses", kind: HARDWARE, config: 3, unit: "#" },
    Known { name: "branches", kind: HARDWARE, config: 4, unit: "#" },
    Known { name: "branch-misses", kind: HARDWARE, config: 5, unit: "#" },
    Known { name: "stalled-cycles-frontend", kind: HARDWARE, config: 7, unit: "#" },
    Known { name: "stalled-cycles-backend", kind: HARDWARE, config: 8, unit: "#" },
    Known { name: "ref-cycles", kind: HARDWARE, config: 9, unit: "#" },
    Known { name: "task-clock", kind: SOFTWARE, config: TASK_CLOCK, unit: "ns" },
    Known { name: "page-faults", kind: SOFTWARE, config: 2, unit: "#" },
    Known { name: "context-switches", kind: SOFTWARE, config: 3, unit: "#" },
    Known { name: "cpu-migrations", kind: SOFTWARE, config: 4, unit: "#" },
    Known { name: "minor-faults", kind: SOFTWARE, config: 5, unit: "#" },
    Known { name: "major-faults", kind: SOFTWARE, config: 6, unit: "#" },
];

/// The name of the thread's CPU time, which is a clock and not an event.
const CPU_TIME: &str = "cpu-time";

/// Where a counter's value comes from.
enum Source {
    Clock,
    Event(&'static Known, Option<Event>),
    /// Of PAPI, by its name there.
    Papi(Box<str>, Option<papi::Place>),
}

/// A counter of one thread after another.
struct Counter {
    metric: u32,
    source: Source,
    /// What threads before counted, and its value when it was read last.
    before: u64,
    last: u64,
}

/// The counters of one thread.
pub(crate) struct Counters {
    all: Vec<Counter>,
    papi: Sets,
}

impl Counters {
    /// Opens counters for the calling thread; `None` if none was asked for or none can be opened.
    pub(crate) fn open(names: &[String]) -> Option<Counters> {
        let mut papi = Sets::default();
        let sources = names.iter().map(|name| (name, source(name, &mut papi))).collect::<Vec<_>>();
        let refused = papi.start();
        let counter = |(name, source): (&String, Result<(Source, &str), String>)| {
            let refused = |place: papi::Place| refused.iter().find(|(set, _)| place.set == *set);
            let why = match source {
                Ok((Source::Papi(_, Some(place)), _)) if let Some((_, why)) = refused(place) => why.clone(),
                Ok((source, unit)) => return Some(Counter { metric: metric(name, unit), source, before: 0, last: 0 }),
                Err(why) => why,
            };
            once(name, &why);
            None
        };
        let all = sources.into_iter().filter_map(counter).collect::<Vec<_>>();
        (!all.is_empty()).then_some(Counters { all, papi })
    }

    /// Metric and value of a counter now, if it can be read; none after the last one. Those of PAPI are read with the first one.
    #[allow(clippy::option_option, reason = "no counter, or no value")]
    pub(crate) fn read(&mut self, place: usize) -> Option<Option<(u32, u64)>> {
        if place == 0 {
            self.papi.read();
        }
        let Counter { metric, source, before, last } = self.all.get_mut(place)?;
        let value = match source {
            Source::Clock => Some(cpu_time()),
            Source::Event(known, open) => {
                if open.as_ref().is_some_and(|event| !event.is_open()) {
                    // The program has closed it: another one goes on from here.
                    (*before, *open) = (*last, event(known));
                }
                open.as_ref().and_then(Event::read)
            }
            Source::Papi(_, place) => place.and_then(|place| self.papi.value(place)),
        };
        Some(value.map(|value| {
            *last = before.saturating_add(value);
            (*metric, *last)
        }))
    }

    /// Their thread ends: gives descriptors back, and what PAPI has for it.
    pub(crate) fn close(&mut self) {
        for counter in &mut self.all {
            if let Source::Event(_, event) = &mut counter.source {
                *event = None;
            }
        }
        self.papi = Sets::default();
    }

    /// The calling thread goes on where another one has ended.
    pub(crate) fn go_on(&mut self) {
        for Counter { source, before, last, .. } in &mut self.all {
            *before = *last;
            match source {
                Source::Clock => {}
                Source::Event(known, open) => *open = event(known),
                Source::Papi(name, place) => *place = self.papi.add(name).ok(),
            }
        }
        self.papi.start();
    }
}

/// Where the values of a counter come from, and its unit; or why there are none.
fn source(name: &str, papi: &mut Sets) -> Result<(Source, &'static str), String> {
    if name == CPU_TIME {
        return Ok((Source::Clock, "ns"));
    }
    let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
        let why = |why| format!("is none of partune's, and PAPI does not count it: {why}");
        return papi.add(name).map(|place| (Source::Papi(name.into(), Some(place)), "#")).map_err(why);
    };
    match event(known) {
        Some(event) => Ok((Source::Event(known, Some(event)), known.unit)),
        None => Err(format!("cannot be counted here: {}", std::io::Error::last_os_error())),
    }
}

/// Nanoseconds that the calling thread was on a processor.
pub(crate) fn cpu_time() -> u64 {
    cpu_time_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Nanoseconds of a thread's CPU clock.
pub(crate) fn cpu_time_of(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Whether CPU time is among the counters that a profile is to keep; notes those that it cannot.
pub(crate) fn of_profile(names: &[String]) -> bool {
    for name in names.iter().filter(|name| *name != CPU_TIME) {
        once(name, "is not kept in a profile");
    }
    names.iter().any(|name| name == CPU_TIME)
}

/// Opens a counter for the calling thread.
fn event(known: &Known) -> Option<Event> {
    let open = |flags| Attributes { kind: known.kind, config: known.config, flags, ..Attributes::default() }.open();
    // Switches and migrations happen in the kernel.
    let flags = if known.kind == HARDWARE { USER_ONLY } else { 0 };
    open(flags).or_else(|| open(USER_ONLY)).and_then(Event::keep)
}

/// The number of a metric, the same for all threads of the process.
fn metric(name: &str, unit: &str) -> u32 {
    static NUMBERS: std::sync::Mutex<Vec<(String, u32)>> = std::sync::Mutex::new(Vec::new());
    let mut numbers = NUMBERS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, number)) = numbers.iter().find(|(known, _)| *known == name) {
        return *number;
    }
    let number = definitions::counter(unit, name);
    numbers.push((name.to_owned(), number));
    number
}

/// Notes what is wrong with a counter, once a process.
fn once(name: &str, what: &str) {
    static SAID: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let mut said = SAID.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !said.iter().any(|known| known == name) {
        said.push(name.to_owned());
        crate::note(&format!("the counter {name} {what}"));
    }
}
