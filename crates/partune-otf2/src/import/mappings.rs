//! The mapping tables of one location.

use crate::codec::{Definition, IdMap, Mapping};

use super::clock::Offset;

/// From local ids to global ones, for each kind of definition, and the measured clock offsets.
#[derive(Default)]
pub(super) struct Mappings {
    maps: [IdMap; Mapping::ALL.len()],
    pub(super) offsets: Vec<Offset>,
}

impl Mappings {
    /// Takes in a local definition.
    pub(super) fn add(&mut self, definition: &Definition<'_>) {
        match definition {
            Definition::MappingTable(it) => {
                if let Some(map) = self.maps.get_mut(usize::from(it.mapping_type)) {
                    *map = IdMap::new(&it.id_map);
                }
            }
            Definition::ClockOffset(it) => self.offsets.push(Offset { time: it.time, offset: it.offset }),
            _ => {}
        }
    }

    pub(super) fn map(&self, mapping: Mapping, id: u64) -> u64 {
        self.maps[mapping as usize].get(id)
    }
}
