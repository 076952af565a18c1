//! What this host is: name, processor, kernel, caches, memory; and the date.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Its name.
pub(crate) fn name() -> String {
    first_line("/proc/sys/kernel/hostname").unwrap_or_else(|| "unknown".to_owned())
}

/// Its processor's name.
pub(crate) fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = text.lines().find(|line| line.starts_with("model name") || line.starts_with("Model"));
    named
        .and_then(|line| line.split_once(':'))
        .map_or_else(|| std::env::consts::ARCH.to_owned(), |it| it.1.trim().to_owned())
}

/// Its operating system and version.
pub(crate) fn kernel() -> String {
    let release = first_line("/proc/sys/kernel/osrelease").unwrap_or_default();
    let name = first_line("/proc/sys/kernel/ostype").unwrap_or_else(|| std::env::consts::OS.to_owned());
    format!("{name} {release}").trim().to_owned()
}

/// Processors that this process may use; fewer than there are if it is bound.
pub(crate) fn usable() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}

/// Processors of this host.
pub(crate) fn processors() -> u32 {
    let list = first_line("/sys/devices/system/cpu/online").unwrap_or_default();
    count(&list).max(usable())
}

/// How many numbers a list such as `0-3,8` has.
fn count(list: &str) -> u32 {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.split(',').filter_map(range).sum()
}

/// How often another program took the processor from this thread so far.
pub(crate) fn interruptions() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// A cache as the system describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CacheSize {
    pub(crate) bytes: u64,
    pub(crate) line: u32,
    pub(crate) ways: u32,
}

/// The caches of data of the first processor, from the core on; none where the system does not describe them, or not as caches can be.
pub(crate) fn caches() -> Vec<CacheSize> {
    let cache = |index: u32| {
        let said = |what: &str| first_line(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}"));
        let number = |what: &str| said(what)?.parse::<u32>().ok().filter(|number| *number > 0);
        let is_of_data = said("type")? != "Instruction";
        let known = |size: &str| {
            let digits = size.trim_end_matches(|letter: char| !letter.is_ascii_digit());
            let factor = if size.ends_with('M') { 1 << 20 } else { 1 << 10 };
            digits.parse::<u64>().ok().map(|number| number * factor)
        };
        let (bytes, line) = (known(&said("size")?)?, number("coherency_line_size")?);
        // Where a line may be anywhere the system has no ways.
        let ways = number("ways_of_associativity").unwrap_or((bytes / u64::from(line)) as u32);
        is_of_data.then_some((number("level")?, CacheSize { bytes, line, ways }))
    };
    let mut caches: Vec<(u32, CacheSize)> = (0..8).filter_map(cache).collect();
    caches.sort_unstable_by_key(|(level, _)| *level);
    let caches: Vec<CacheSize> = caches.into_iter().map(|(_, cache)| cache).collect();
    let grow = caches.windows(2).all(|pair| pair[0].bytes < pair[1].bytes && pair[0].line == pair[1].line);
    let is_whole = |cache: &CacheSize| {
        cache.line.is_power_of_two() && cache.bytes.is_multiple_of(u64::from(cache.line) * u64::from(cache.ways))
    };
    if grow && caches.iter().all(is_whole) { caches } else { Vec::new() }
}

/// Bytes of the largest cache; 32 MiB if unknown.
pub(crate) fn last_cache() -> usize {
    caches().last().map_or(32 << 20, |cache| cache.bytes as usize)
}

/// Bytes of memory that can be had; 1 GiB if unknown.
pub(crate) fn free_memory() -> usize {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|rest| rest.split_whitespace().next()?.parse::<usize>().ok()).map_or(1 << 30, |kib| kib << 10)
}

/// Now, in UTC: `2026-01-31T12:00:00Z`.
pub fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days as i64);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Year, month and day of so many days after 1970-01-01, in the Gregorian calendar. Years begin in March here, so that
/// the leap day is the last of its year; an era is 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

fn first_line(path: &str) -> Option<String> {
    fs::read_to_string(path).ok()?.lines().next().map(|line| line.trim().to_owned())
}

/// Seconds on a clock that all processes of a host share.
#[allow(unsafe_code, reason = "the clock of the system")]
pub(crate) fn now_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time, of a clock that every system has.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_the_calendar() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_483), (2026, 1, 30));
        assert_eq!(date().len(), 20);
    }

    #[test]
    fn lists_of_processors() {
        assert_eq!(count("0-3,8"), 5);
        assert_eq!(count("0"), 1);
        assert_eq!(count("3-1,x"), 0);
    }

    #[test]
    fn the_host_is_known() {
        assert!(usable() > 0 && processors() >= usable() && last_cache() > 0 && free_memory() > 0);
        assert!(caches().iter().all(|cache| cache.bytes >= u64::from(cache.line) && cache.ways > 0));
        assert!(!name().is_empty() && !cpu().is_empty() && !kernel().is_empty());
    }
}
