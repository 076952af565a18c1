//! Ends of processes: nothing is lost, or the loss is stated to the event.

use std::fs;
use std::path::Path;

use partune_otf2::codec::{Anchor, Event, EventVisitor, chunks, read_chunk};

use crate::process::{complete, record};

/// What an event file holds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    enters: u64,
    leaves: u64,
    sends: u64,
    flushes: u64,
    others: u64,
    /// Bytes of all sends.
    bytes: u64,
}

impl Counts {
    fn events(&self) -> u64 {
        self.enters + self.leaves + self.sends + self.flushes + self.others
    }
}

impl EventVisitor for Counts {
    fn enter(&mut self, _: u64, _: u32) {
        self.enters += 1;
    }
    fn leave(&mut self, _: u64, _: u32) {
        self.leaves += 1;
    }
    fn event(&mut self, _: u64, event: &Event<'_>) {
        match event {
            Event::MpiSend { msg_length, .. } => {
                self.sends += 1;
                self.bytes += msg_length;
            }
            Event::BufferFlush { .. } => self.flushes += 1,
            _ => self.others += 1,
        }
    }
}

/// Counts the events of a location, and holds the numbers in the headers of chunks against them.
fn count(folder: &Path, location: u64) -> Counts {
    let anchor = Anchor::read(&fs::read(folder.join("traces.otf2")).expect("an anchor")).expect("a good anchor");
    let bytes = fs::read(folder.join(format!("traces/{location}.evt"))).expect("an event file");
    let mut counts = Counts::default();
    for chunk in chunks(&bytes, anchor.event_chunk_size).expect("a chunk size") {
        let chunk = chunk.expect("a good chunk");
        assert_eq!(chunk.first_event, counts.events() + 1);
        read_chunk(&chunk, &mut counts);
        assert_eq!(chunk.last_event, counts.events());
    }
    counts
}

/// The sizes of the sends of `calls` calls.
fn bytes(calls: u64) -> u64 {
    (0..calls).step_by(2).sum()
}

#[test]
fn everything_is_in_the_archive_of_a_process_that_exits() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(record(folder.path(), "exit 1000", &[]).success());
    let summary = complete(folder.path());
    let counts = count(folder.path(), 0);
    let expected = Counts { enters: 1000, leaves: 1000, sends: 500, bytes: bytes(1000), ..Counts::default() };
    assert_eq!(counts, expected);
    assert_eq!((summary.processes, summary.pes, summary.events), (1, 1, 2500));
    assert!(summary.quality.entries().is_empty(), "{:?}", summary.quality.entries());
    assert!(!folder.path().join("parts").exists());
    assert_eq!(ended(&summary), None);
}

#[test]
fn a_full_ring_is_flushed_and_a_kill_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    // Two chunks: some flushes, the last one not at the end.
    let status = record(folder.path(), "kill 100000", &[("PARTUNE_BUFFER", "524288")]);
    assert!(!status.success());
    let summary = complete(folder.path());
    let counts = count(folder.path(), 0);
    assert_eq!((counts.enters, counts.leaves, counts.sends), (100_000, 100_000, 50_000));
    assert_eq!((counts.bytes, counts.others), (bytes(100_000), 0));
    assert!(counts.flushes > 3, "{counts:?}");
    assert_eq!(summary.events, counts.events());
    let said: Vec<_> = summary.quality.entries().iter().map(|entry| entry.message.as_str()).collect();
    assert_eq!(said, ["1 of 1 processes ended without finishing (killed, crashed or aborted)"]);
    let read = "the run was ended: 1 of 1 processes did not finish (killed, crashed or aborted)";
    assert_eq!(ended(&summary).as_deref(), Some(read));
}

/// What whoever reads the archive is told of how the run ended.
fn ended(summary: &partune_record::Summary) -> Option<String> {
    let trace = partune_engine::inside::read(&summary.archive, &()).expect("it opens");
    trace.quality().entries().iter().map(|entry| entry.message.clone()).find(|message| message.contains("ended"))
}

#[test]
fn threads_have_lanes_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(record(folder.path(), "threads 3000", &[]).success());
    let summary = complete(folder.path());
    assert_eq!((summary.pes, summary.events), (4, 4 * 7500));
    for thread in 0..4 {
        assert_eq!(count(folder.path(), thread << 32).events(), 7500);
    }
}

#[test]
fn a_forked_child_does_not_write_into_its_parents_lane() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(record(folder.path(), "fork 100", &[]).success());
    let summary = complete(folder.path());
    assert_eq!((summary.processes, summary.events), (1, 500));
}

#[test]
fn a_full_disk_costs_events_and_says_how_many() {
    let folder = tempfile::tempdir().expect("a folder");
    // The file of flushed chunks may grow to 2 MiB; four flushes of 512 KiB fit.
    assert!(record(folder.path(), "full 200000", &[("PARTUNE_BUFFER", "524288")]).success());
    let summary = complete(folder.path());
    let counts = count(folder.path(), 0);
    let lost: u64 = summary
        .quality
        .entries()
        .iter()
        .filter_map(|entry| entry.message.split_once(" events are lost")?.0.parse::<u64>().ok())
        .sum();
    assert!(lost > 0, "{:?}", summary.quality.entries());
    // Each flush is an event of the ring that it made room for, and the last ring stays.
    assert_eq!((counts.flushes, counts.events() + lost), (4, 500_000 + 4));
    assert_eq!(summary.events, counts.events());
    // What is kept is the begin: nothing is missing in between.
    assert!(counts.enters.abs_diff(counts.leaves) <= 1);
}

/// Of a process that records more than it may, the newest events are there up to the last one, and they nest.
#[test]
fn the_newest_events_go_over_the_oldest() {
    const CALLS: u64 = 400_000;
    let folder = tempfile::tempdir().expect("a folder");
    let limits = [("PARTUNE_BUFFER", "524288"), ("PARTUNE_MAX_SIZE", "3145728"), ("PARTUNE_KEEP", "newest")];
    assert!(record(folder.path(), &format!("exit {CALLS}"), &limits).success());
    let summary = complete(folder.path());
    let counts = count(folder.path(), 0);
    let overwritten = said_of(&summary, " older ones are not there");
    assert!(counts.flushes > 0 && overwritten > 0, "{counts:?}");
    // All flushes of the ring are events, also those that are not there any more.
    let flushes = overwritten + counts.events() - CALLS * 5 / 2;
    assert!((counts.flushes..CALLS / 1000).contains(&flushes), "{flushes} flushes, {counts:?}");
    assert!(counts.enters == counts.leaves, "what was open is entered, {counts:?}");
    // The sends are the last ones: every second call sends as many bytes as calls came before it.
    assert_eq!(counts.bytes, bytes(CALLS) - bytes(CALLS - 2 * counts.sends));
    assert!(summary.bytes <= 3 << 20, "{} bytes", summary.bytes);
    assert!(summary.bytes >= 1 << 20, "{} bytes", summary.bytes);
    let read = partune_engine::inside::read(&summary.archive, &()).expect("it opens");
    assert!(read.begins_late());
}

/// The number before some words in what is said of a recording.
fn said_of(summary: &partune_record::Summary, words: &str) -> u64 {
    let messages = summary.quality.entries().iter().map(|entry| entry.message.as_str());
    let number = |text: &str| text.split_once(words)?.0.rsplit([' ', ':']).next()?.parse::<u64>().ok();
    messages.filter_map(number).sum()
}

/// What a thread had no use for is there for others when it has ended.
#[test]
fn threads_that_have_ended_take_no_room_but_that_of_their_events() {
    // 28 rings of 512 KiB are 14 MiB, of which each thread needs less than a page.
    let (ring, calls) = (("PARTUNE_BUFFER", "524288"), 28 * 10 + 60_000);
    let folder = tempfile::tempdir().expect("a folder");
    assert!(record(folder.path(), "after 60000", &[ring, ("PARTUNE_MAX_SIZE", "8388608")]).success());
    let summary = complete(folder.path());
    assert!(summary.quality.entries().is_empty(), "{:?}", summary.quality.entries());
    let flushes = count(folder.path(), 28 << 32).flushes;
    assert_eq!((summary.pes, summary.events - flushes, flushes > 0), (29, calls * 5 / 2, true));

    // Where there is no room for the last one, there is none.
    let folder = tempfile::tempdir().expect("a folder");
    assert!(record(folder.path(), "after 60000", &[ring, ("PARTUNE_MAX_SIZE", "1048576")]).success());
    let said = complete(folder.path()).quality;
    assert!(said.entries().iter().any(|it| it.message.contains(" events are lost")), "{:?}", said.entries());
}

#[test]
fn nothing_recorded_is_an_error_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = partune_record::complete(folder.path()).expect_err("there is nothing");
    assert!(error.to_string().starts_with("there is no recording"), "{error}");
    fs::create_dir(folder.path().join("parts")).expect("a folder");
    let error = partune_record::complete(folder.path()).expect_err("there is nothing");
    assert!(error.to_string().contains("before a process of it initialised MPI, or its program did not"), "{error}");
    assert!(!folder.path().join("parts").exists(), "the next recording has room");
}

/// What the command did comes first, and where it ended well there is nothing to say of that.
#[test]
fn why_nothing_was_recorded_begins_with_how_the_command_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let around = folder.path().join("made");
    let said = |command: &str| {
        let command = ["sh", "-c", command].map(Into::into).to_vec();
        let request = partune_record::Request { command, folder: around.join("for it"), ..Default::default() };
        let launched = partune_record::launch(&request).expect("a shell is on every system");
        let error = launched.complete().expect_err("nobody calls MPI").to_string();
        assert!(!around.exists(), "what was made for it goes with it");
        error.split_once(": ").expect("a folder and a reason").1.to_owned()
    };
    assert!(said("exit 42").starts_with("the command failed (exit status: 42) before"), "{}", said("exit 42"));
    assert!(said("kill -9 $$").starts_with("the command failed (signal: 9"), "{}", said("kill -9 $$"));
    assert!(said("true").starts_with("the program did not initialise MPI"), "{}", said("true"));
    assert!(!said("true").contains("failed"), "{}", said("true"));
}

/// Folders that were there before stay, and so does what somebody else put there.
#[test]
fn a_start_that_fails_leaves_what_was_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let there = folder.path().join("there");
    fs::create_dir(&there).expect("a folder");
    for at in [folder.path().join("new/and/newer"), there.clone(), there.join("new")] {
        let command = vec!["/no/such/program".into()];
        let request = partune_record::Request { command, folder: at, ..Default::default() };
        let error = partune_record::launch(&request).expect_err("nobody has it");
        assert!(matches!(error, partune_record::RecordError::Start { .. }), "{error}");
    }
    let left: Vec<_> = fs::read_dir(folder.path()).expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["there"]);
    assert_eq!(fs::read_dir(there).expect("it stays").count(), 0);
}
