//! What was lost or wrong, as diagnostics.

use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{Faults, Joined};

use super::archive::Location;
use super::runs::Kept;
use crate::codec::Damage;

/// Tells what was lost of a file.
pub(crate) fn report_damage(name: &str, damage: &Damage, quality: &mut Quality) {
    let lost = damage.lost_chunks + damage.damaged_chunks;
    if lost > 0 {
        let place = damage.first.map_or(String::new(), |(offset, flaw)| format!(", first at byte {offset}: {flaw}"));
        let message = format!("{name} is damaged{place}");
        quality.add(
            Diagnostic::data_loss(
                Code::DamagedFile,
                message,
                "what could be read is used; copy or record again for the rest",
            )
            .times(lost),
        );
    }
    if damage.truncated_chunks > 0 {
        let message = format!("{name} ends without an end mark: it was cut, or its writer did not finish");
        quality.add(Diagnostic::data_loss(
            Code::CutFile,
            message,
            "what could be read is used; copy or record again for the rest",
        ));
    }
    quality.add(
        Diagnostic::info(
            Code::UnknownRecords,
            "records of a type that this version does not know were skipped",
            "they come from a newer OTF2; a newer partune may read them",
        )
        .times(damage.unknown_records),
    );
}

/// Tells what was wrong with locations.
pub(super) fn report_locations(locations: &[Location], joined: &[Joined<Kept>], quality: &mut Quality) {
    let mut faults = Faults::default();
    let mut samples = 0;
    let mut miscounted: Vec<(u64, u64)> = Vec::new();
    for (location, joined) in locations.iter().zip(joined) {
        for fault in &location.faults {
            quality.add(fault.clone());
        }
        let mut damage = Damage::default();
        joined.beside().for_each(|(kept, _)| damage.add(&kept.damage));
        report_damage(&format!("the event file of location {}", location.pe.0), &damage, quality);
        if let Some(error) = joined.beside().find_map(|(kept, _)| kept.unread.as_ref()) {
            let remedy = "what could be read is used; see that the file system is well, and try again";
            quality.add(Diagnostic::data_loss(
                Code::UnreadFile,
                format!("event files cannot be read to their end: {error}"),
                remedy,
            ));
        }
        faults.add(joined.faults);
        samples += joined.beside().map(|(kept, _)| kept.samples).sum::<u64>();
        let read = joined.events();
        if location.event_bytes.is_some() && read != location.announced {
            miscounted.push((location.announced, read));
        }
    }
    if let Some((announced, read)) = miscounted.first() {
        let message = format!(
            "locations have another number of events than their definitions say, the first {read} instead of {announced}"
        );
        let remedy = "a fault of the producer, unless the archive is damaged: what is in the event files counts";
        quality.add(Diagnostic::info(Code::MiscountedEvents, message, remedy).times(miscounted.len() as u64));
    }
    faults.report("location", quality);
    quality.add(
        Diagnostic::info(
            Code::SamplesLeftOut,
            "samples of calling contexts were not analysed",
            "record with instrumentation, or analyse them with a sampling tool",
        )
        .times(samples),
    );
}
