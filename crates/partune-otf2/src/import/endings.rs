//! How processes ended, from what partune's recorder writes into an archive's properties.

use partune_base::{GroupId, Id, PeId, StringId, Time};
use partune_trace::{Awaited, Ended, Ending, LastSeen, TraceBuilder};

use super::archive::Location;
use super::properties::Properties;
use super::resolve::peer;
use super::tables::{DefinedLocation, Tables};
use crate::ending;

/// Fills [`TraceBuilder::endings`]; `locations` are in order of PE. Times are as they were stamped, until [`correct`].
pub(super) fn read(
    properties: &Properties<'_>,
    tables: &Tables,
    locations: &[DefinedLocation],
    builder: &mut TraceBuilder,
) {
    for (process, row) in builder.processes.iter_ids() {
        let Some(location) = row.pes.first().and_then(|pe| locations.get(pe.index())) else { continue };
        let of = |name| properties.of_process(location, name);
        let Some(how) = of(ending::END).and_then(ending_of) else { continue };
        let time = of(ending::TIME).and_then(|ticks| ticks.parse().ok()).map(Time);
        let place = of(ending::PLACE).map_or(StringId::NONE, |place| builder.strings.intern(place));
        builder.endings.processes.push(Ended { process, how, time, place });
    }
    for (index, location) in locations.iter().enumerate() {
        let of = |name| properties.number(location, name);
        let pe = PeId::from_index(index);
        if let Some((stamp, place)) = of(ending::SEEN_TIME).zip(properties.text(location, ending::SEEN_PLACE)) {
            let place = builder.strings.intern(place);
            builder.endings.seen.push(LastSeen { pe, time: Time::clamped(stamp.into()), place });
        }
        if let Some(id) = of(ending::AWAITED_LOCATION) {
            let found = locations.iter().position(|other| other.archive_id == id);
            let peer = found.map_or(PeId::NONE, PeId::from_index);
            builder.endings.awaited.push(Awaited { pe, group: GroupId::NONE, peer });
            continue;
        }
        let mut awaits = |comm: u64, rank: Option<u64>| {
            let group = tables.comms.get(comm).map_or(GroupId::NONE, GroupId);
            let rank = rank.and_then(|rank| u32::try_from(rank).ok());
            let known = builder.groups.get(group).zip(rank);
            let peer = known.map_or(PeId::NONE, |(group, rank)| peer(group, [pe, builder.main_of(pe)], rank));
            builder.endings.awaited.push(Awaited { pe, group, peer });
        };
        let Some(comm) = of(ending::AWAITED_COMM) else { continue };
        awaits(comm, of(ending::AWAITED_RANK));
        for pair in properties.text(location, ending::AWAITED_ALSO).unwrap_or_default().split(' ') {
            let Some((comm, rank)) = pair.split_once(':') else { continue };
            if let (Ok(comm), Ok(rank)) = (comm.parse(), rank.parse()) {
                awaits(comm, Some(rank));
            }
        }
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
