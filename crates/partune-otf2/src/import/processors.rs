//! On which processors processes ran, for how long, and how much memory they had, from what partune's recorder writes into an archive's properties.

use partune_base::{Id as _, StringId};
use partune_trace::{Cpus, Memory, Ran, TraceBuilder};

use super::properties::Properties;
use super::tables::DefinedLocation;
use crate::memory::{LIMIT, PEAK, RECORDER};
use crate::processors::{ALLOWED, GAVE_UP, LOST, MODEL, ON_CPU, ONLINE, QUOTA, WAITED};

/// Fills [`TraceBuilder::cpus`], [`TraceBuilder::memory`] and [`TraceBuilder::ran`]; `locations` are in order of PE.
pub(super) fn read(properties: &Properties<'_>, locations: &[DefinedLocation], builder: &mut TraceBuilder) {
    let strings = &mut builder.strings;
    let cpus = builder.processes.iter().map(|process| {
        let location = process.pes.first().and_then(|pe| locations.get(pe.index()))?;
        let of = |name| properties.of_process(location, name);
        Some(Cpus {
            allowed: Cpus::ranges(of(ALLOWED)?),
            model: of(MODEL).map_or(StringId::NONE, |model| strings.intern(model)),
            online: of(ONLINE).and_then(|online| online.parse().ok()).unwrap_or(0),
            quota: of(QUOTA).and_then(|quota| quota.parse().ok()),
        })
    });
    builder.cpus = cpus.collect();
    let memory = builder.processes.iter().map(|process| {
        let location = process.pes.first().and_then(|pe| locations.get(pe.index()))?;
        let of = |name| properties.of_process(location, name)?.parse().ok();
        Some(Memory { peak: of(PEAK)?, recorder: of(RECORDER).unwrap_or(0), limit: of(LIMIT) })
    });
    builder.memory = memory.collect();
    let ran = locations.iter().map(|location| {
        let of = |name| properties.number(location, name);
        let or_none = |name| of(name).unwrap_or(0);
        Some(Ran { on: of(ON_CPU)?, waited: or_none(WAITED), gave_up: or_none(GAVE_UP), lost: or_none(LOST) })
    });
    builder.ran = ran.collect();
}
