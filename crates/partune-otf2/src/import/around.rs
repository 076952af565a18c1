//! What lies around an interval of a large archive, read by itself: from where all processes had met with nothing under way ([`super::scout`]) to where they meet again.
//!
//! Of slices only the meetings where they are cut are kept. Here all are that were found, at most 2²¹ of all locations together, with 88 bytes each: so what is read hardly exceeds what
//! is asked for where processes meet often, whatever a slice would be.

use partune_base::{Clock, Time};
use partune_import::{Advance, Around, Files, ImportError};
use partune_job::Alone;
use partune_trace::{Trace, TraceBuilder};

use super::runs::Events;
use super::scout::{Found, Moment};
use super::slices::{Looked, Meetings, Stretch, look_through, open_large};

struct Known<'a> {
    looked: Looked<'a>,
    found: Vec<Found>,
    extent: (Time, Time),
}

/// Looks for moments where all processes had met; see [`partune_import::FindAround`].
pub(super) fn find<'a>(
    files: &'a dyn Files,
    anchor_name: &'a str,
    wanted: u64,
    advance: Advance<'_>,
) -> Result<Result<Box<dyn Around + 'a>, Option<String>>, ImportError> {
    let opened = open_large(files, anchor_name, wanted, &Alone)?;
    Ok(opened.and_then(|(events, builder)| {
        known(events, builder, advance).map(|it| Box::new(it) as Box<dyn Around + 'a>).map_err(Some)
    }))
}

fn known<'a>(events: Events<'a>, builder: TraceBuilder, advance: Advance<'_>) -> Result<Known<'a>, String> {
    let mut found = look_through(&events, &builder, &Alone, advance)?;
    if found.iter().any(|found| found.has_metrics) {
        return Err("metrics are in it, of which a sample before the piece may tell what is in it".to_owned());
    }
    let (looked, _) = Looked::new(events, builder, &mut found);
    let times = || found.iter().filter_map(|found| found.extent);
    let begin = times().map(|(begin, _)| begin).min().unwrap_or_default();
    let end = times().map(|(_, end)| end).max().unwrap_or_default().max(begin);
    Ok(Known { looked, found, extent: (begin, end) })
}

impl Known<'_> {
    /// The meetings that are nearest around two times, of each the positions of its moments: what is at these times is behind the one, and before the other.
    fn meetings(&self, begin: Time, end: Time) -> [Option<Vec<usize>>; 2] {
        let found: Vec<&Found> = self.found.iter().collect();
        let mut before = None;
        for meeting in Meetings::new(&found) {
            let mut times = found.iter().zip(&meeting).map(|(found, at)| found.moments[*at].time);
            if times.clone().all(|time| time < begin) {
                before = Some(meeting);
            } else if times.all(|time| time > end) {
                return [before, Some(meeting)];
            }
        }
        [before, None]
    }
}

impl Around for Known<'_> {
    fn clock(&self) -> Clock {
        Clock::new(self.looked.builder.resolution)
    }

    fn extent(&self) -> (Time, Time) {
        self.extent
    }

    fn events(&self, begin: Time, end: Time) -> u64 {
        let meetings = self.meetings(begin, end);
        let [before, after] = meetings.each_ref().map(Option::as_ref);
        let events = |meeting: &Vec<usize>| -> u64 {
            let moments = self.found.iter().zip(meeting).map(|(found, at)| &found.moments[*at]);
            moments.map(|moment: &Moment| moment.events).sum()
        };
        let all = || self.found.iter().map(|found| found.events).sum();
        after.map_or_else(all, events) - before.map_or(0, events)
    }

    fn read(&self, begin: Time, end: Time, advance: Advance<'_>) -> Option<Trace> {
        let meetings = self.meetings(begin, end);
        let [before, after] = meetings.each_ref().map(Option::as_deref);
        let mut stretches: Vec<Stretch> = self.looked.stretches(&self.found, before, after);
        for (stretch, found) in stretches.iter_mut().zip(&self.found) {
            // That of a PE is from its first event to its last, if it is in some function in all of the run.
            stretch.present = found.extent.filter(|_| !found.paths.is_empty());
        }
        let mut builder = self.looked.builder.clone();
        builder.quality = self.looked.quality.clone();
        self.looked.read(builder, &stretches, after.is_none(), advance)
    }
}
