//! Which machine this is, and what of it a process may use: processes of one have the same clock.

use std::ffi::CStr;
use std::fs::File;
use std::io::Read as _;

/// A number that is the same in all processes of one machine since it was started.
pub fn boot() -> u64 {
    let id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| host().into_bytes());
    id.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The name of this machine, as a part of a file name.
pub fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer is as long as said, and its last byte stays 0.
    let known = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } == 0;
    let text = CStr::from_bytes_until_nul(&name).ok().filter(|_| known);
    let text = text.map_or_else(|| "host".to_owned(), |text| text.to_string_lossy().into_owned());
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

/// Processors for this process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cpus {
    /// Those that it may use, as the kernel lists them: `0-3,8`.
    pub allowed: String,
    /// How many there are.
    pub online: u32,
    pub model: String,
    /// For how many thousandths of one it may run at a time, if that is limited.
    pub quota: Option<u32>,
}

/// What a thread did on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Nanoseconds on a processor.
    pub on: u64,
    /// Nanoseconds in which it could have run, and another one did.
    pub waited: u64,
    /// How often it gave its processor up, and how often that was taken away.
    pub gave_up: u64,
    pub lost: u64,
}

/// What this process may use now.
pub fn cpus() -> Cpus {
    // SAFETY: a question to the C library.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    Cpus {
        allowed: field(&file("/proc/self/status"), "Cpus_allowed_list"),
        online: u32::try_from(online).unwrap_or(0),
        model: field(&file("/proc/cpuinfo"), "model name"),
        quota: quota(&of_group("cpu.max")),
    }
}

/// The most memory that this process had at a time, in bytes; 0 if the kernel does not say. What it did before it became this program does not count.
pub fn peak_memory() -> u64 {
    kibibytes(&file("/proc/self/status"), "VmHWM")
}

/// How much memory this process may have, in bytes: all of the node, or what its control group lets it have; 0 if unknown.
pub fn memory() -> u64 {
    let all = kibibytes(&file("/proc/meminfo"), "MemTotal");
    of_group("memory.max").trim().parse().map_or(all, |limit: u64| if all > 0 { limit.min(all) } else { limit })
}

/// The begin of a file: what is asked of the processors comes first, and all of them may be many.
fn file(path: &str) -> String {
    let mut text = Vec::new();
    let _ = File::open(path).and_then(|file| file.take(8192).read_to_end(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// A file of the control group of this process.
fn of_group(name: &str) -> String {
    let group = file("/proc/self/cgroup");
    let own = group.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
    file(&format!("/sys/fs/cgroup{own}/{name}"))
}

/// What a line `NAME: VALUE` says.
fn field(text: &str, name: &str) -> String {
    let mut values = text.lines().filter_map(|line| line.split_once(':').filter(|(it, _)| it.trim() == name));
    values.next().map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
}

/// The same of `NAME: 12 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> u64 {
    field(text, name)
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok())
        .map_or(0, |it: u64| it.saturating_mul(1024))
}

/// Thousandths of a processor: `QUOTA PERIOD` in microseconds, or `max PERIOD`.
fn quota(text: &str) -> Option<u32> {
    let (quota, period) = text.trim().split_once(' ')?;
    let [quota, period] = [quota.parse::<u64>().ok()?, period.parse::<u64>().ok()?];
    u32::try_from(quota * 1000 / period.max(1)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_a_part_of_a_processor() {
        assert_eq!([quota("max 100000\n"), quota("150000 100000\n"), quota("")], [None, Some(1500), None]);
    }

    #[test]
    fn sizes_are_bytes() {
        let text = "VmPeak:\t  9000 kB\nVmHWM:\t  4092 kB\n";
        assert_eq!(
            [kibibytes(text, "VmHWM"), kibibytes(text, "VmSwap"), kibibytes("VmHWM: x", "VmHWM")],
            [4_190_208, 0, 0]
        );
        let (peak, all) = (peak_memory(), memory());
        assert!(peak > 0 && peak < all, "{peak} of {all}");
    }

    #[test]
    fn this_process_may_use_a_processor() {
        let cpus = cpus();
        assert!(cpus.online > 0 && !cpus.allowed.is_empty(), "{cpus:?}");
    }
}
