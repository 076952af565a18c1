//! Where processes ran, how much of the time they had a processor, and how much memory, where the recorder tells.

use partune_base::StringId;

/// The processors of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// What they are; [`StringId::NONE`] if unknown.
    pub model: StringId,
    /// Those that it may use, from the first to the last of each range, in order.
    pub allowed: Vec<(u32, u32)>,
    /// How many the node has; 0 if unknown.
    pub online: u32,
    /// For how many thousandths of one it may run at a time, if that is limited.
    pub quota: Option<u32>,
}

/// What a PE did while it was recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Nanoseconds on a processor.
    pub on: u64,
    /// Nanoseconds in which it could have run, and another one did.
    pub waited: u64,
    /// How often it gave its processor up.
    pub gave_up: u64,
    /// How often that was taken away.
    pub lost: u64,
}

impl Ran {
    /// What a second on a processor took, with the waiting for it: at least 1.
    pub fn slowdown(&self) -> f64 {
        if self.on == 0 { 1.0 } else { 1.0 + self.waited as f64 / self.on as f64 }
    }
}

/// Memory of a process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The most that it had at a time, with libraries and memory that it shares with others.
    pub peak: u64,
    /// What buffers of the recorder are of it at most.
    pub recorder: u64,
    /// What it may have: the memory of its node, or of its control group.
    pub limit: Option<u64>,
}

impl Cpus {
    /// From a list as kernels write it: `0-3,8`. What is no number or range is left out.
    pub fn ranges(list: &str) -> Vec<(u32, u32)> {
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some((first.trim().parse().ok()?, last.trim().parse().ok()?)).filter(|(first, last)| first <= last)
        };
        list.split(',').filter_map(range).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_ranges() {
        assert_eq!(Cpus::ranges("0-3,8"), [(0, 3), (8, 8)]);
        assert_eq!(Cpus::ranges("x,5-2,"), []);
    }
}
