//! What was lost or wrong, as diagnostics.

use partune_diag::{Diagnostic, Quality};

use super::archive::Source;
use super::segment::Faults;
use super::stitch::Joined;
use crate::codec::Damage;

/// Tells what was lost of a file.
pub(crate) fn report_damage(name: &str, damage: &Damage, quality: &mut Quality) {
    let lost = damage.lost_chunks + damage.damaged_chunks;
    if lost > 0 {
        let place = damage.first.map_or(String::new(), |(offset, flaw)| format!(", first at byte {offset}: {flaw}"));
        let message = format!("{name} is damaged{place}");
        quality.add(
            Diagnostic::data_loss(message, "what could be read is used; copy or record again for the rest").times(lost),
        );
    }
    if damage.truncated_chunks > 0 {
        let message = format!("{name} ends without an end mark: it was cut, or its writer did not finish");
        quality.add(Diagnostic::data_loss(message, "what could be read is used; copy or record again for the rest"));
    }
    quality.add(
        Diagnostic::info(
            "records of a type that this version does not know were skipped",
            "they come from a newer OTF2; a newer partune may read them",
        )
        .times(damage.unknown_records),
    );
}

/// Tells what was wrong with locations.
pub(super) fn report_sources(sources: &[Source], joined: &[Joined], quality: &mut Quality) {
    let mut faults = Faults::default();
    let mut miscounted: Vec<(u64, u64)> = Vec::new();
    for (source, joined) in sources.iter().zip(joined) {
        for fault in &source.faults {
            quality.add(fault.clone());
        }
        report_damage(&format!("the event file of location {}", source.pe.0), &joined.damage, quality);
        if let Some(error) = &joined.unread {
            let remedy = "what could be read is used; see that the file system is well, and try again";
            quality.add(Diagnostic::data_loss(format!("event files cannot be read to their end: {error}"), remedy));
        }
        faults.add(joined.faults);
        let read = joined.events();
        if source.event_bytes.is_some() && read != source.announced {
            miscounted.push((source.announced, read));
        }
    }
    if let Some((announced, read)) = miscounted.first() {
        let message = format!(
            "locations have another number of events than their definitions say, the first {read} instead of {announced}"
        );
        let remedy = "a fault of the producer, unless the archive is damaged: what is in the event files counts";
        quality.add(Diagnostic::info(message, remedy).times(miscounted.len() as u64));
    }
    quality.add(
        Diagnostic::data_loss(
            "a region is left that was not entered; the event was ignored",
            "the recorder missed events, or recording began inside the region",
        )
        .times(faults.stray_leaves),
    );
    quality.add(
        Diagnostic::data_loss(
            "a region is entered and never left; it was closed where its caller ended, or at the end of the trace",
            "the recorder missed events, or the program ended inside the region",
        )
        .times(faults.missing_leaves),
    );
    quality.add(
        Diagnostic::data_loss(
            "time stamps of a location run backwards; such events were moved to the time of their predecessor",
            "the recorder's clock is not monotonic: record again with another timer",
        )
        .times(faults.backward_times),
    );
    quality.add(
        Diagnostic::data_loss(
            "time stamps lie more than 2^61 ticks from the begin of the trace; such events were moved to that limit",
            "the time stamps, or the global offset in the .def file, are damaged: copy the archive again",
        )
        .times(faults.far_times),
    );
    quality.add(
        Diagnostic::info(
            "samples of calling contexts were not analysed",
            "record with instrumentation, or analyse them with a sampling tool",
        )
        .times(faults.ignored_records),
    );
}
