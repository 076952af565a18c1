//! What was lost or wrong, as diagnostics.

use partune_diag::{Code, Diagnostic, Quality};
use partune_import::Joined;

use super::decode::{self, Kept};
use super::reader::Faults;
use super::text::End;
use crate::codec::Header;

/// What is missing without the small files, and what to do about it.
pub(super) const NO_PCF: (&str, &str) = (
    "functions and counters have numbers for names, and lines of the source are unknown; constructs have Extrae's numbers",
    "copy the .pcf of the trace beside it",
);
pub(super) const NO_ROW: (&str, &str) =
    ("nodes and threads have numbers for names", "copy the .row of the trace beside it");

const AGAIN: &str = "what could be read is used; copy or record again for the rest";

/// Says what was wrong with lines.
pub(super) fn lines(name: &str, end: &End, header: &Header, faults: &Faults, quality: &mut Quality) {
    let End { counts, failed } = end;
    if let Some(error) = failed {
        quality.add(Diagnostic::data_loss(
            Code::UnreadFile,
            format!("{name} cannot be read to its end: {error}"),
            AGAIN,
        ));
    }
    let losses = [
        (
            Code::DamagedHeader,
            u64::from(header.broken),
            "the header of the trace is damaged; threads are those that have records",
            AGAIN,
        ),
        (
            Code::MalformedRecords,
            counts.malformed,
            "records have too few or too many fields, or something that is no number",
            AGAIN,
        ),
        (Code::LongLines, counts.endless, "lines are longer than any record; they were skipped", AGAIN),
        (
            Code::CutFile,
            u64::from(counts.cut),
            "the trace ends inside of a record: it was cut, or its writer did not finish",
            AGAIN,
        ),
        (
            Code::LargeNumbers,
            counts.large,
            "numbers have more than 64 bits; they count as the largest that there is",
            AGAIN,
        ),
        (
            Code::UnknownRecords,
            faults.unknown_lines,
            "lines are neither records nor communicators nor comments; they were skipped",
            AGAIN,
        ),
        (
            Code::FarTimes,
            faults.bad_times,
            "records have times before the begin of the trace, or beyond 2^53 ticks; they were skipped",
            AGAIN,
        ),
        (
            Code::MalformedRecords,
            faults.nobody,
            "records belong to no thread (application, task or thread 0); they were skipped",
            AGAIN,
        ),
        (
            Code::HalfMessages,
            faults.half_messages,
            "messages have an end without a time; they were skipped",
            "they were not received before the recording ended",
        ),
        (
            Code::TooManyThreads,
            faults.too_many,
            "records belong to more threads than can be told apart; they were skipped",
            AGAIN,
        ),
    ];
    for (code, count, message, remedy) in losses {
        quality.add(Diagnostic::data_loss(code, message, remedy).times(count));
    }
    quality.add(
        Diagnostic::info(
            Code::UnknownRecords,
            "records of a type that is not analysed were skipped",
            "records of type 4 are read by no tool; others come from a newer writer",
        )
        .times(counts.ignored),
    );
    quality.add(
        Diagnostic::info(
            Code::RecordedInBursts,
            "threads were recorded in bursts: of the time between long computations there is only a summary",
            "record in detail: Extrae's mode \"detail\"",
        )
        .times(faults.bursts),
    );
}

/// Says what was wrong with threads.
pub(super) fn threads(joined: &[Joined<Kept>], quality: &mut Quality) {
    let (mut common, mut own) = (partune_import::Faults::default(), decode::Faults::default());
    for joined in joined {
        common.add(joined.faults);
        joined.beside().for_each(|(kept, _)| own.add(&kept.faults));
    }
    common.report("thread", quality);
    let mut lost = |code: Code, count: u64, message: &str, remedy: &str| {
        quality.add(Diagnostic::data_loss(code, message, remedy).times(count));
    };
    lost(
        Code::MissingLeaves,
        own.missing_ends,
        "a call begins while one of its kind has not ended; that was closed there",
        "events are missing: record again, and see that Extrae's buffers are large enough",
    );
    lost(
        Code::OverlappingStates,
        own.overlapping_states,
        "states of a thread overlap; each counts from the end of the one before",
        "a fault of the writer: a thread is in one state at a time",
    );
    lost(
        Code::UndefinedGroup,
        own.unknown_communicators,
        "collectives name a communicator that the trace does not list; their members are unknown",
        "the trace was cut out of a larger one, or its header is damaged: use the whole trace",
    );
    let mut note = |code: Code, count: u64, message: &str, remedy: &str| {
        quality.add(Diagnostic::info(code, message, remedy).times(count));
    };
    note(
        Code::UnorderedRecords,
        own.disorder,
        "events of a thread are not in order of time; they were put in order",
        "nothing is lost; sorted traces are read faster",
    );
    note(
        Code::UncompletedCollectives,
        own.open_collectives,
        "completions of non-blocking collectives are not in traces of this format; waits for them are not found",
        "record with partune or Score-P, which write them",
    );
    note(
        Code::StatesOnly,
        own.of_states,
        "threads have states and no events; operations are what the states say",
        "record with Extrae, which writes events: they say which call it was, and where",
    );
}
