//! How processes ended, from what partune's recorder writes into an archive's properties.

use partune_base::{GroupId, Id, PeId, StringId, Time};
use partune_trace::{Awaited, Ended, Ending, LastSeen, TraceBuilder};
use rustc_hash::FxHashMap;

use super::archive::Location;
use super::definitions::Definitions;
use super::resolve::peer;
use super::tables::{DefinedLocation, Tables};
use crate::ending;

/// Fills [`TraceBuilder::endings`]; `locations` are in order of PE. Times are as they were stamped, until [`correct`].
pub(super) fn read(
    definitions: &Definitions,
    tables: &Tables,
    locations: &[DefinedLocation],
    builder: &mut TraceBuilder,
) {
    let texts: FxHashMap<(u64, &str), &str> =
        definitions.process_texts().map(|(id, key, it)| ((id, key), it)).collect();
    let groups: FxHashMap<u64, u64> = definitions.locations.iter().map(|it| (it.id, it.group)).collect();
    for (process, row) in builder.processes.iter_ids() {
        let location = row.pes.first().and_then(|pe| locations.get(pe.index()));
        let Some(group) = location.and_then(|it| groups.get(&it.archive_id)) else { continue };
        let of = |name| texts.get(&(*group, name)).copied();
        let Some(how) = of(ending::END).and_then(ending_of) else { continue };
        let time = of(ending::TIME).and_then(|ticks| ticks.parse().ok()).map(Time);
        let place = of(ending::PLACE).map_or(StringId::NONE, |place| builder.strings.intern(place));
        builder.endings.processes.push(Ended { process, how, time, place });
    }
    let numbers: FxHashMap<(u64, &str), u64> =
        definitions.location_numbers().map(|(id, key, it)| ((id, key), it)).collect();
    let texts: FxHashMap<(u64, &str), &str> =
        definitions.location_texts().map(|(id, key, it)| ((id, key), it)).collect();
    for (index, location) in locations.iter().enumerate() {
        let of = |name| numbers.get(&(location.archive_id, name)).copied();
        let pe = PeId::from_index(index);
        if let Some((stamp, place)) =
            of(ending::SEEN_TIME).zip(texts.get(&(location.archive_id, ending::SEEN_PLACE)).copied())
        {
            let place = builder.strings.intern(place);
            builder.endings.seen.push(LastSeen { pe, time: Time::clamped(stamp.into()), place });
        }
        let Some(comm) = of(ending::AWAITED_COMM) else { continue };
        let group = tables.comms.get(comm).map_or(GroupId::NONE, GroupId);
        let rank = of(ending::AWAITED_RANK).and_then(|rank| u32::try_from(rank).ok());
        let peer = builder.groups.get(group).zip(rank).map_or(PeId::NONE, |(group, rank)| peer(group, pe, rank));
        builder.endings.awaited.push(Awaited { pe, group, peer });
    }
}

/// Makes times of the trace from what was stamped. `locations` are in order of PE.
pub(super) fn correct(builder: &mut TraceBuilder, locations: &[Location]) {
    for ended in &mut builder.endings.processes {
        let location = builder.processes[ended.process].pes.first().and_then(|pe| locations.get(pe.index()));
        ended.time = ended.time.zip(location).map(|(stamp, location)| location.clock.correct(stamp.0.unsigned_abs()));
    }
    for seen in &mut builder.endings.seen {
        seen.time = locations[seen.pe.index()].clock.correct(seen.time.0.unsigned_abs());
    }
}

fn ending_of(text: &str) -> Option<Ending> {
    match text {
        ending::KILLED => Some(Ending::Killed),
        ending::ABORT => Some(Ending::Aborted),
        ending::EXIT => Some(Ending::Left),
        ending::FINALIZE => Some(Ending::InOrder),
        other => other.strip_prefix(ending::SIGNAL)?.parse().ok().map(Ending::Signal),
    }
}
