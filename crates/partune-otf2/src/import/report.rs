//! What was lost or wrong, as diagnostics.

use partune_base::PeId;
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::{Faults, Joined};
use partune_trace::{Ending, TraceBuilder};

use super::archive::Location;
use super::runs::Kept;
use crate::codec::Damage;

/// Reports what was lost of a file.
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

/// Reports what was wrong with locations.
///
/// A process that is in no job may exit while its threads are in calls and functions: then nothing is missing, if all events are there.
pub(super) fn report_locations(locations: &[Location], joined: &[Joined<Kept>], builder: &mut TraceBuilder) {
    let mut exits: Vec<PeId> = Vec::new();
    for ended in builder.endings.processes.iter().filter(|ended| ended.how == Ending::Left) {
        let process = builder.processes.get(ended.process).filter(|process| process.rank.is_none());
        exits.extend(process.iter().flat_map(|process| &process.pes));
    }
    exits.sort_unstable();
    let quality = &mut builder.quality;
    let mut faults = Faults::default();
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
        let read = joined.events();
        let ends_inside = read == location.announced && exits.binary_search(&location.pe).is_ok();
        let open = if ends_inside { joined.open().len() as u64 } else { 0 };
        faults.add(Faults { missing_leaves: joined.faults.missing_leaves - open, ..joined.faults });
        if location.event_bytes.is_some() && read != location.announced {
            miscounted.push((location.announced, read));
        }
    }
    report_miscounted(&miscounted, quality);
    faults.report("location", quality);
}

/// Reports locations that have another number of events than was announced: announced, and read.
pub(super) fn report_miscounted(locations: &[(u64, u64)], quality: &mut Quality) {
    let Some((announced, read)) = locations.first() else { return };
    let message = format!(
        "locations have another number of events than their definitions say, the first {read} instead of {announced}"
    );
    let remedy = "a fault of the producer, unless the archive is damaged: what is in the event files counts";
    quality.add(Diagnostic::info(Code::MiscountedEvents, message, remedy).times(locations.len() as u64));
}

/// What there is to say of time between operations that became that of functions, summed over locations.
#[derive(Debug, Default)]
pub(super) struct Between {
    /// Samples that it was shared out by.
    pub(super) used: u64,
    /// All, and those whose context is not defined.
    pub(super) samples: u64,
    pub(super) lost: u64,
    /// Ticks that locations were there.
    pub(super) span: f64,
}

impl Between {
    /// By how many samples time was shared out, if there are any.
    pub(super) fn shared_out_by(&self) -> Option<u64> {
        Some(self.used).filter(|samples| *samples > 0)
    }
}

/// Reports how time between operations became that of functions; in `unknown` ticks these may have gone on or have been called again.
pub(super) fn report_between(
    between: &Between,
    unknown: u64,
    rate: Option<f64>,
    resolution: u64,
    quality: &mut Quality,
) {
    quality.add(
        Diagnostic::data_loss(
            Code::UndefinedContext,
            "samples name a calling context that is not defined; they were left out",
            "the archive's .def file is damaged: copy it again",
        )
        .times(between.lost),
    );
    if let Some(samples) = between.shared_out_by() {
        let rate = rate.map_or(String::new(), |rate| format!(" at {rate:.0} Hz"));
        let deviation = 50.0 / (samples as f64).sqrt();
        let s = if samples == 1 { "" } else { "s" };
        let message = format!(
            "time between operations is shared out by {samples} sample{s}{rate}: times and shares of functions are estimates, \
             ±{deviation:.1} percentage points (1σ) for one with half of the time"
        );
        quality.add(Diagnostic::info(
            Code::TimeBySamples,
            message,
            "run for longer, or sample at a higher rate, for a smaller error",
        ));
    } else {
        quality.add(
            Diagnostic::info(
                Code::SamplesLeftOut,
                "samples of calling contexts were not analysed: all lie inside of operations",
                "samples tell what a program does between operations",
            )
            .times(between.samples),
        );
    }
    report_unknown(unknown, between.span, resolution, quality);
}

/// Reports ticks between operations that are those of the outermost function for want of knowing better, if it is 1 % of all.
pub(super) fn report_unknown(ticks: u64, all: f64, resolution: u64, quality: &mut Quality) {
    if ticks as f64 <= 0.01 * all {
        return;
    }
    let seconds = ticks as f64 / resolution.max(1) as f64;
    let message = format!(
        "{seconds:.3} s between operations count for the program's outermost function, or for none where the recorder left that out: the functions around them may have gone on, or have \
         been called again. Times of functions without events of their own are lower bounds"
    );
    let remedy = "samples of calling contexts would tell, and so would marks around what computes";
    quality.add(Diagnostic::info(Code::TimeOfOutermost, message, remedy));
}
