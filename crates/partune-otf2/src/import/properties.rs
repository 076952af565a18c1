//! What properties say of processes and locations, by their names.

use rustc_hash::FxHashMap;

use super::definitions::Definitions;
use super::tables::DefinedLocation;

/// Properties by what they are of, and their names.
type Named<'a, T> = FxHashMap<(u64, &'a str), T>;

pub(super) struct Properties<'a> {
    of_processes: Named<'a, &'a str>,
    numbers: Named<'a, u64>,
    texts: Named<'a, &'a str>,
    /// The process of each location.
    processes: FxHashMap<u64, u64>,
}

impl<'a> Properties<'a> {
    pub(super) fn of(definitions: &'a Definitions) -> Properties<'a> {
        Properties {
            of_processes: definitions.process_texts().map(|(id, name, text)| ((id, name), text)).collect(),
            numbers: definitions.location_numbers().map(|(id, name, number)| ((id, name), number)).collect(),
            texts: definitions.location_texts().map(|(id, name, text)| ((id, name), text)).collect(),
            processes: definitions.locations.iter().map(|it| (it.id, it.group)).collect(),
        }
    }

    /// A text of the process that a location is of.
    pub(super) fn of_process(&self, location: &DefinedLocation, name: &'a str) -> Option<&'a str> {
        let process = self.processes.get(&location.archive_id)?;
        self.of_processes.get(&(*process, name)).copied()
    }

    pub(super) fn number(&self, location: &DefinedLocation, name: &'a str) -> Option<u64> {
        self.numbers.get(&(location.archive_id, name)).copied()
    }

    pub(super) fn text(&self, location: &DefinedLocation, name: &'a str) -> Option<&'a str> {
        self.texts.get(&(location.archive_id, name)).copied()
    }
}
