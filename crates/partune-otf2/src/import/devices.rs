//! Devices: which process uses a stream of a device, and which streams are of one device.
//!
//! A context on a device is a location group of its own in newer archives, beside the processes, and names the process that made it:
//! its streams are that process's, and no process of their own. In older archives streams are in the group of their process. What
//! is told nowhere is not guessed: a context whose maker is unknown is a group of its own if there are several processes, and a
//! stream whose device is unknown is a device of its own.

use partune_trace::PeKind;
use rustc_hash::FxHashMap;

use super::definitions::{Definitions, LocationDef};

/// What makes streams those of one device.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Device {
    /// The same node of the machine.
    Node(u64),
    /// The same context.
    Context(u64),
    /// The same number in names of streams of one process, `CUDA[0:7]`.
    Numbered(u64, u64),
    /// No other.
    Stream(u64),
}

/// Finds processes and devices.
pub(super) struct Devices<'a> {
    definitions: &'a Definitions,
    /// The group of the only process, if there is one only.
    only: Option<u64>,
    numbers: FxHashMap<Device, u32>,
}

/// How far creators are followed.
const STEPS: usize = 8;

impl<'a> Devices<'a> {
    pub(super) fn new(definitions: &'a Definitions) -> Devices<'a> {
        let mut of_cpus = definitions.locations.iter().filter(|location| location.kind == PeKind::Cpu);
        let first = of_cpus.next().map(|location| location.group);
        let only = first.filter(|first| of_cpus.all(|location| location.group == *first));
        Devices { definitions, only, numbers: FxHashMap::default() }
    }

    /// The location group that is the process of a location.
    pub(super) fn process(&self, location: &LocationDef) -> u64 {
        let mut group = location.group;
        for _ in 0..STEPS {
            match self.definitions.location_group(group) {
                Some(it) if it.is_accelerator => match self.definitions.location_group(it.creator) {
                    Some(_) => group = it.creator,
                    None => return self.only.unwrap_or(group),
                },
                _ => break,
            }
        }
        group
    }

    /// The number of the device that a location is a stream of; devices are numbered as they are first asked for.
    pub(super) fn device(&mut self, location: &LocationDef) -> Option<u32> {
        if location.kind != PeKind::Accelerator {
            return None;
        }
        let device = match self.definitions.location_group(location.group) {
            Some(group) if group.is_accelerator && self.definitions.is_device(group.parent) => Device::Node(group.parent),
            Some(group) if group.is_accelerator => Device::Context(location.group),
            _ => match numbered(self.definitions.text(location.name)) {
                Some(number) => Device::Numbered(location.group, number),
                None => Device::Stream(location.id),
            },
        };
        let next = self.numbers.len() as u32;
        Some(*self.numbers.entry(device).or_insert(next))
    }
}

/// The device in the name of a stream as Score-P gives it: paradigm, device, stream.
fn numbered(name: &str) -> Option<u64> {
    let (_, numbers) = name.strip_suffix(']')?.rsplit_once('[')?;
    let (device, stream) = numbers.split_once(':')?;
    stream.parse::<u64>().ok()?;
    device.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_streams_tell_devices() {
        assert_eq!(["CUDA[0:7]", "HIP[12:0]", "[3:1]"].map(numbered), [Some(0), Some(12), Some(3)]);
        assert_eq!(["CUDA", "CUDA[0]", "CUDA[a:7]", "CUDA[0:b]", "[", "]", ""].map(numbered), [None; 7]);
    }
}
