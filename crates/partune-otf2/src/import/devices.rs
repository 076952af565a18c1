//! Devices: which process uses a stream of a device, and which streams are of one device.
//!
//! A context on a device is a location group of its own in newer archives, beside the processes, and names the process that made it:
//! its streams are that process's, and no process of their own. In older archives streams are in the group of their process. What
//! is recorded nowhere is not guessed: a context whose maker is unknown is a group of its own if there are several processes, and a
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
            Some(group) if group.is_accelerator && self.definitions.is_device(group.parent) => {
                Device::Node(group.parent)
            }
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
    use crate::codec::Definition;
    use crate::codec::definition::{Location, LocationGroup, SystemTreeNode, SystemTreeNodeDomain, Text};

    const NONE: u32 = u32::MAX;

    /// Nodes: a host 0 and on it a device 1. Groups as (type, parent, creator), locations as (type, group, name).
    fn definitions(groups: &[(u8, u32, u32)], locations: &[(u8, u32, &str)]) -> Definitions {
        let mut all = Definitions::default();
        let mut add = |definition: Definition<'_>| all.add(&definition);
        add(Text { id: 0, string: b"host" }.into());
        add(Text { id: 1, string: b"GPU" }.into());
        add(SystemTreeNode { id: 0, name: 0, class_name: 0, parent: NONE }.into());
        add(SystemTreeNode { id: 1, name: 1, class_name: 0, parent: 0 }.into());
        add(SystemTreeNodeDomain { system_tree_node: 1, system_tree_domain: 7 }.into());
        for (id, (location_group_type, system_tree_parent, creator)) in (0..).zip(groups) {
            add(LocationGroup {
                id,
                name: 0,
                location_group_type: *location_group_type,
                system_tree_parent: *system_tree_parent,
                creating_location_group: Some(*creator),
            }
            .into());
        }
        for (id, (location_type, location_group, name)) in (0..).zip(locations) {
            let text = id + 2;
            add(Text { id: text, string: name.as_bytes() }.into());
            let (location_type, location_group) = (*location_type, *location_group);
            add(Location { id: u64::from(id), name: text, location_type, number_of_events: 0, location_group }.into());
        }
        all
    }

    /// Process and device of each location.
    fn found(definitions: &Definitions) -> Vec<(u64, Option<u32>)> {
        let mut devices = Devices::new(definitions);
        definitions.locations.iter().map(|location| (devices.process(location), devices.device(location))).collect()
    }

    #[test]
    fn a_context_is_of_the_process_that_made_it() {
        let groups = [(1, 0, NONE), (1, 0, NONE), (2, 1, 1), (2, 1, 0), (2, 0, 1)];
        let locations = [(1, 0, "main"), (1, 1, "main"), (2, 2, "a"), (2, 3, "b"), (2, 4, "c"), (2, 4, "d")];
        let definitions = definitions(&groups, &locations);
        // Two contexts on one device, and one on a device that is not recorded.
        let expected = [(0, None), (1, None), (1, Some(0)), (0, Some(0)), (1, Some(1)), (1, Some(1))];
        assert_eq!(found(&definitions), expected);
        assert_eq!([0, 1].map(|node| definitions.text(definitions.node_name(node))), ["host", "host"]);
    }

    #[test]
    fn a_context_without_maker_is_of_the_only_process_or_of_none() {
        let context = (2, 1, NONE);
        let one = definitions(&[(1, 0, NONE), context], &[(1, 0, "main"), (2, 1, "stream")]);
        assert_eq!(found(&one), [(0, None), (0, Some(0))]);
        let two = definitions(&[(1, 0, NONE), (1, 0, NONE), context], &[(1, 0, ""), (1, 1, ""), (2, 2, "stream")]);
        assert_eq!(found(&two), [(0, None), (1, None), (2, Some(0))]);
        // Contexts that made each other.
        let circle = definitions(&[(1, 0, NONE), (2, 1, 2), (2, 1, 1)], &[(1, 0, ""), (2, 1, "")]);
        assert!([1, 2].contains(&found(&circle)[1].0));
    }

    #[test]
    fn streams_of_old_archives_are_told_by_their_names() {
        let locations =
            [(1, 0, "main"), (2, 0, "CUDA[0:7]"), (2, 0, "CUDA[0:8]"), (2, 0, "CUDA[1:7]"), (2, 0, "x"), (2, 0, "x")];
        let devices: Vec<_> = found(&definitions(&[(1, 0, NONE)], &locations)).into_iter().map(|it| it.1).collect();
        assert_eq!(devices, [None, Some(0), Some(0), Some(1), Some(2), Some(3)]);
    }

    #[test]
    fn names_of_streams_tell_devices() {
        assert_eq!(["CUDA[0:7]", "HIP[12:0]", "[3:1]"].map(numbered), [Some(0), Some(12), Some(3)]);
        assert_eq!(["CUDA", "CUDA[0]", "CUDA[a:7]", "CUDA[0:b]", "[", "]", ""].map(numbered), [None; 7]);
    }
}
