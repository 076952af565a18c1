//! What was lost or wrong, as diagnostics.

use partune_diag::{Diagnostic, Quality};

use super::assemble;
use super::reader::Faults;
use crate::codec::{Counts, Header};

/// What is missing without the small files, and what to do about it.
pub(super) const NO_PCF: (&str, &str) = (
    "functions and counters have numbers for names, and lines of the source are unknown; constructs have Extrae's numbers",
    "copy the .pcf of the trace beside it",
);
pub(super) const NO_ROW: (&str, &str) =
    ("nodes and threads have numbers for names", "copy the .row of the trace beside it");

const AGAIN: &str = "what could be read is used; copy or record again for the rest";

/// Says what was wrong with lines.
pub(super) fn lines(counts: &Counts, header: &Header, faults: &Faults, quality: &mut Quality) {
    let losses = [
        (u64::from(header.broken), "the header of the trace is damaged; threads are those that have records", AGAIN),
        (counts.malformed, "records have too few or too many fields, or something that is no number", AGAIN),
        (counts.endless, "lines are longer than any record; they were skipped", AGAIN),
        (u64::from(counts.cut), "the trace ends inside of a record: it was cut, or its writer did not finish", AGAIN),
        (counts.large, "numbers have more than 64 bits; they count as the largest that there is", AGAIN),
        (faults.unknown_lines, "lines are neither records nor communicators nor comments; they were skipped", AGAIN),
        (
            faults.bad_times,
            "records have times before the begin of the trace, or beyond 2^61 ticks; they were skipped",
            AGAIN,
        ),
        (faults.nobody, "records belong to no thread (application, task or thread 0); they were skipped", AGAIN),
        (
            faults.half_messages,
            "messages have an end without a time; they were skipped",
            "they were not received before the recording ended",
        ),
        (faults.too_many, "records belong to more threads than can be told apart; they were skipped", AGAIN),
    ];
    for (count, message, remedy) in losses {
        quality.add(Diagnostic::data_loss(message, remedy).times(count));
    }
    quality.add(
        Diagnostic::info(
            "records of a type that is not analysed were skipped",
            "records of type 4 are read by no tool; others come from a newer writer",
        )
        .times(counts.ignored),
    );
    quality.add(
        Diagnostic::info(
            "threads were recorded in bursts: of the time between long computations there is only a summary",
            "record in detail: Extrae's mode \"detail\"",
        )
        .times(faults.bursts),
    );
}

/// Says what was wrong with lanes.
pub(super) fn assembled(assembled: &[assemble::Assembled], quality: &mut Quality) {
    let sum = |of: fn(&assemble::Faults) -> u64| assembled.iter().map(|assembled| of(&assembled.faults)).sum::<u64>();
    quality.add(
        Diagnostic::info(
            "events of a thread are not in order of time; they were put in order",
            "nothing is lost; sorted traces are read faster",
        )
        .times(sum(|faults| faults.disorder)),
    );
    quality.add(
        Diagnostic::data_loss(
            "something ends that has not begun; the event was ignored",
            "events are missing, or recording began inside of it",
        )
        .times(sum(|faults| faults.stray_ends)),
    );
    quality.add(
        Diagnostic::data_loss(
            "something begins and never ends; it was closed where what is around it ends, or the next of its kind begins",
            "events are missing, or the program ended inside of it",
        )
        .times(sum(|faults| faults.missing_ends)),
    );
    quality.add(
        Diagnostic::data_loss(
            "states of a thread overlap; each counts from the end of the one before",
            "a fault of the writer: a thread is in one state at a time",
        )
        .times(sum(|faults| faults.overlapping_states)),
    );
    quality.add(
        Diagnostic::info(
            "completions of non-blocking collectives are not in traces of this format; waits for them are not found",
            "record with partune or Score-P, which write them",
        )
        .times(sum(|faults| faults.open_collectives)),
    );
    quality.add(
        Diagnostic::data_loss(
            "collectives name a communicator that the trace does not list; their members are unknown",
            "the trace was cut out of a larger one, or its header is damaged: use the whole trace",
        )
        .times(sum(|faults| faults.unknown_communicators)),
    );
    let of_states = assembled.iter().filter(|assembled| assembled.of_states).count();
    quality.add(
        Diagnostic::info(
            "threads have states and no events; operations are what the states say",
            "record with Extrae, which writes events: they say which call it was, and where",
        )
        .times(of_states as u64),
    );
}
