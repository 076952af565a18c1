//! What was lost or wrong, as diagnostics.

use partune_base::Time;
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::Joined;

use super::kept::{Faults, Kept};
use super::logs::Log;
use super::messages::Alone;

const AGAIN: &str = "what could be read is used; copy or record again for the rest";
const WRITER: &str =
    "the log is damaged, or of another version than its symbol table says: see that both are of the same run";

/// Says what was wrong with logs and their records.
pub(super) fn logs(joined: &[Joined<Kept>], logs: &[Option<Log>], end: Option<i64>, quality: &mut Quality) {
    let (mut common, mut own) = (partune_import::Faults::default(), Faults::default());
    let (mut early, mut missing, mut last) = (0, 0, None);
    for (joined, log) in joined.iter().zip(logs) {
        let Some(log) = log else {
            missing += 1;
            continue;
        };
        common.add(joined.faults);
        for (kept, _) in joined.beside() {
            own.add(&kept.faults);
            last = last.max(kept.ended.last);
            if let Some(error) = &kept.ended.failed {
                let message = format!("{} cannot be read to its end: {error}", log.name);
                quality.add(Diagnostic::data_loss(Code::UnreadFile, message, AGAIN));
            } else if kept.ended.refused {
                let message = format!("{} is no log of text: it does not begin with PROJECTIONS-RECORD", log.name);
                let remedy = "logs that were recorded with +binary-trace are not read: record without it";
                quality.add(Diagnostic::data_loss(Code::DamagedFile, message, remedy));
            } else {
                early += u64::from(kept.ended.early);
            }
        }
    }
    common.report("PE", quality);
    let mut lost = |code: Code, count: u64, message: &str, remedy: &str| {
        quality.add(Diagnostic::data_loss(code, message, remedy).times(count));
    };
    lost(
        Code::MissingProcesses,
        missing,
        "PEs have no log; what they did is unknown",
        "copy all logs beside the symbol table",
    );
    lost(
        Code::CutFile,
        early,
        "logs end before the computation does; what was open is ended with the last record",
        "the run was killed, or the log was cut: end the program with CkExit, and copy again",
    );
    if let (Some(end), Some(last)) = (end, last)
        && last < Time(end)
        && early == 0
    {
        let message = "the run went on after the last record of all logs";
        lost(
            Code::CutFile,
            1,
            message,
            "logs of PEs are missing, or of another run than the .projrc: copy all files of one run",
        );
    }
    lost(Code::MalformedRecords, own.malformed, "records have too few fields; they were skipped", WRITER);
    lost(Code::LongLines, own.endless_lines, "lines are longer than any record; they were skipped", WRITER);
    lost(
        Code::FarTimes,
        own.far_times,
        "records have times beyond 2^53 microseconds; they were moved to that limit",
        WRITER,
    );
    lost(
        Code::UndefinedReference,
        own.undefined,
        "entry methods, events or statistics are not in the symbol table; they have numbers for names",
        "copy the symbol table of this run beside its logs",
    );
    lost(
        Code::StrayLeaves,
        own.stray_ends,
        "something ends that has not begun; the record was ignored",
        "recording began inside of it, or the log is damaged",
    );
    lost(
        Code::MissingLeaves,
        own.missing_ends,
        "something begins and does not end; it was ended where what cannot be inside of it begins, or with the log",
        "the program ended inside of it, or the log is damaged",
    );
    lost(
        Code::CrossingVisits,
        own.crossing,
        "events of the user's begin before the entry method that they end in, or inside of something that ends before them; they were made to begin after that",
        "begin and end an event in one entry method",
    );
    lost(
        Code::UndefinedPartner,
        own.nobody,
        "entry methods ran for messages of PEs that there is none of; no wait is claimed from them",
        "messages of the runtime's own may have such senders; else logs are missing: copy all of them",
    );
    quality.add(
        Diagnostic::info(
            Code::UnknownRecords,
            "records of a type that is not analysed were skipped",
            "records of memory allocation are among them; others come from a newer writer",
        )
        .times(own.unknown_records),
    );
}

/// Says which messages have one end only.
pub(super) fn alone(alone: Alone, quality: &mut Quality) {
    let mut note = |count: u64, message: &str| {
        let remedy = "the runtime does not log both ends of its own messages; if it concerns yours, see that no entry method is marked notrace";
        quality.add(Diagnostic::info(Code::OneSidedMessages, message, remedy).times(count));
    };
    note(
        alone.creations,
        "messages were sent of which no processing is recorded; nothing is said of whom they were for",
    );
    note(alone.receipts, "entry methods ran for messages whose sending is not recorded; no wait is claimed from them");
}
