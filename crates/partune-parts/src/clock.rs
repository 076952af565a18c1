//! The clock of all events: the processor's time stamp counter where it runs evenly, else the system's monotonic clock.
//!
//! The counter is read without a barrier: a recorded call is long against the reordering of a few instructions. Ticks become seconds
//! after the run, by the [`calibration`]s that the log holds; the launcher makes another one, for processes that were killed.

use std::hint::cold_path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One point where the clocks were read together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Of the clock of events.
    pub ticks: u64,
    /// Nanoseconds of the system's monotonic clock.
    pub monotonic: u64,
    /// Nanoseconds since 1970.
    pub wall: u64,
}

/// What a tick is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One of the processor's time stamp counter; its rate has to be found out.
    Counter,
    /// A nanosecond of the system's monotonic clock.
    Monotonic,
}

static COUNTER: AtomicBool = AtomicBool::new(false);
/// Ticks and nanoseconds when the clock was chosen.
static CHOSEN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Decides which clock is used. Once, before the first event.
pub fn choose() {
    COUNTER.store(counter_is_even(), Ordering::Relaxed);
    let chosen = [now(), system(libc::CLOCK_MONOTONIC)];
    CHOSEN.iter().zip(chosen).for_each(|(stored, now)| stored.store(now, Ordering::Relaxed));
}

/// About how many ticks a microsecond has, for thresholds.
pub fn microsecond() -> u64 {
    // Shorter, the two readings are too close to tell.
    const LEAST: u64 = 100_000;
    const NANOSECOND: u64 = 1000;
    if source() == Source::Monotonic {
        return NANOSECOND;
    }
    let [ticks, nanoseconds] = CHOSEN.each_ref().map(|chosen| chosen.load(Ordering::Relaxed));
    let passed = system(libc::CLOCK_MONOTONIC).saturating_sub(nanoseconds);
    let ticks = u128::from(now().saturating_sub(ticks));
    if passed < LEAST { NANOSECOND } else { (ticks * 1000 / u128::from(passed)).clamp(1, 1 << 20) as u64 }
}

/// The one that is used.
pub fn source() -> Source {
    if COUNTER.load(Ordering::Relaxed) { Source::Counter } else { Source::Monotonic }
}

/// Ticks now.
#[inline]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    if COUNTER.load(Ordering::Relaxed) {
        // SAFETY: every x86-64 processor has the instruction.
        return unsafe { core::arch::x86_64::_rdtsc() };
    }
    cold_path();
    system(libc::CLOCK_MONOTONIC)
}

/// Nanoseconds since 1970.
pub fn wall() -> u64 {
    system(libc::CLOCK_REALTIME)
}

/// The clocks now; of a few tries the one that took the least time, so that its three numbers belong together.
pub fn calibration() -> Reading {
    let once = || {
        let before = now();
        let (monotonic, wall) = (system(libc::CLOCK_MONOTONIC), wall());
        let after = now();
        (after.wrapping_sub(before), Reading { ticks: before + (after - before) / 2, monotonic, wall })
    };
    (0..7).map(|_| once()).min_by_key(|(took, _)| *took).map_or_else(|| once().1, |(_, reading)| reading)
}

/// The same in a process that is not recorded: of the clock that recorded ones of this machine use.
pub fn reading_beside() -> Reading {
    choose();
    calibration()
}

#[inline(never)]
fn system(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Whether the counter has a constant rate, runs in all sleep states, and the kernel did not find the processors' counters apart.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn counter_is_even() -> bool {
    use core::arch::x86_64::__cpuid;
    const INVARIANT: u32 = 1 << 8;
    let invariant = __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & INVARIANT != 0;
    let source = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    // Where the kernel had to fall back to a slow timer, it saw counters that disagree.
    invariant && !source.is_ok_and(|name| matches!(name.trim(), "hpet" | "acpi_pm" | "jiffies"))
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn counter_is_even() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_forward_and_calibrations_agree_with_the_system() {
        choose();
        let first = calibration();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let second = calibration();
        assert!(second.ticks > first.ticks);
        let monotonic = (second.monotonic - first.monotonic) as f64;
        let wall = (second.wall - first.wall) as f64;
        assert!(monotonic >= 20e6 && (wall / monotonic - 1.0).abs() < 0.05, "{first:?} {second:?}");
    }
}
