//! On which processors processes ran, and for how long, from what partune's recorder writes into an archive's properties.

use partune_base::{Id as _, PeId, StringId, Table};
use partune_trace::{Cpus, Ran, TraceBuilder};
use rustc_hash::FxHashMap;

use super::definitions::Definitions;
use super::tables::DefinedLocation;
use crate::processors::{ALLOWED, GAVE_UP, LOST, MODEL, ON_CPU, ONLINE, QUOTA, WAITED};

/// Fills [`TraceBuilder::cpus`] and [`TraceBuilder::ran`]; `locations` are in order of PE.
pub(super) fn read(definitions: &Definitions, locations: &[DefinedLocation], builder: &mut TraceBuilder) {
    let texts: FxHashMap<(u64, &str), &str> =
        definitions.process_texts().map(|(id, key, text)| ((id, key), text)).collect();
    let groups: FxHashMap<u64, u64> = definitions.locations.iter().map(|it| (it.id, it.group)).collect();
    let cpus = builder.processes.iter().map(|process| {
        let location = process.pes.first().and_then(|pe| locations.get(pe.index()))?;
        let group = groups.get(&location.archive_id)?;
        let of = |name| texts.get(&(*group, name)).copied();
        Some(Cpus {
            allowed: Cpus::ranges(of(ALLOWED)?),
            model: of(MODEL).map_or(StringId::NONE, |model| builder.strings.intern(model)),
            online: of(ONLINE).and_then(|online| online.parse().ok()).unwrap_or(0),
            quota: of(QUOTA).and_then(|quota| quota.parse().ok()),
        })
    });
    builder.cpus = cpus.collect::<Vec<_>>().into_iter().collect();
    let mut ran: FxHashMap<u64, Ran> = FxHashMap::default();
    for (location, key, number) in definitions.location_numbers() {
        let field: fn(&mut Ran) -> &mut u64 = match key {
            ON_CPU => |ran| &mut ran.on,
            WAITED => |ran| &mut ran.waited,
            GAVE_UP => |ran| &mut ran.gave_up,
            LOST => |ran| &mut ran.lost,
            _ => continue,
        };
        *field(ran.entry(location).or_default()) = number;
    }
    let of_locations = locations.iter().map(|location| ran.get(&location.archive_id).copied());
    builder.ran = of_locations.collect::<Table<PeId, Option<Ran>>>();
}
