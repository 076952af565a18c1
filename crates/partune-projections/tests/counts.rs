//! Recorded archives: what is read is what a count of their lines says.

use std::collections::BTreeMap;
use std::io::Read;

use partune_trace::Trigger;

use crate::archives::{Shared, shared};
use crate::texts::{open, stream, time_in};

/// What the lines of a log say: executions, messages made, idle in microseconds, bytes of messages made.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    executions: u64,
    creations: u64,
    idle: i64,
    bytes: u64,
    records: u64,
}

fn count(log: &[u8]) -> Counted {
    let mut text = String::new();
    if flate2::read::MultiGzDecoder::new(log).read_to_string(&mut text).is_err() {
        text = String::from_utf8_lossy(log).into_owned();
    }
    let mut counted = Counted::default();
    for line in text.lines().skip(1) {
        let words: Vec<i64> = line.split(' ').map(|word| word.parse().unwrap_or(0)).collect();
        counted.records += 1;
        match words[0] {
            1 | 20 | 21 => {
                counted.creations += 1;
                counted.bytes += words[6] as u64;
            }
            2 => counted.executions += 1,
            14 => counted.idle -= words[1],
            15 => counted.idle += words[1],
            _ => {}
        }
    }
    counted
}

#[test]
fn lines_of_recorded_logs() {
    for Shared { name, entry, files } in shared() {
        let trace = open(&files, &entry);
        let mut pes = 0;
        for (file, bytes) in files.iter().filter(|(file, _)| file.contains(".log")) {
            let pe: u32 = file.split('.').filter_map(|part| part.parse().ok()).next_back().expect("a PE has a number");
            let counted = count(bytes);
            let stream = stream(&trace, pe);
            let (sends, (_, idle)) = (time_in(&trace, pe, "send").0, time_in(&trace, pe, "idle"));
            let executions = stream.executions.len() as u64;
            let read = Counted { executions, creations: sends, idle, bytes: counted.bytes, records: stream.events };
            assert_eq!(read, counted, "{name} {file}");
            pes += 1;
        }
        assert_eq!(pes, trace.pes().len(), "{name}");
    }
}

/// Messages, bytes and messages between PEs, of which a short script in another language made the same: for each message that was made, the PEs on which an
/// execution has its number and sender, and its entry method or length; of those for one PE the first whose entry method is the one it calls, else the first.
/// In the first set the broadcasts that were passed on to four PEs are added: 64 of 640 bytes, lines `20 24 71` of PE 0 and as many `1 25 71` of each, and one of 112, `20 23 174`;
/// in the second one of 112 to eight PEs, `20 23 181`, in the third one of 96 to two, `20 23 212`. And what PE 0 made and others passed on to themselves: in the first set 3 of 80 bytes, lines `1 24 152`
/// of PE 0, in the second 7 of 80, `1 24 155`, and 90 results of reductions of 224 to 7 PEs each, `1 24 154`.
#[test]
fn messages_of_recorded_logs() {
    let expected = BTreeMap::from([
        ("charm-local-ge-4", (333 + 256 + 4 + 3, 206_544 + 256 * 640 + 4 * 112 + 3 * 80, 54 + 192 + 3 + 3)),
        ("charm-local-jacobi2d-8-gz", (5058 + 8 + 637, 1_268_928 + 8 * 112 + 7 * 80 + 630 * 224, 3517 + 7 + 637)),
        ("pipit-pingpong-2", (145 + 2, 23_024 + 2 * 96, 125 + 1)),
        ("projections-test", (22, 2768, 20)),
    ]);
    for Shared { name, entry, files } in shared() {
        let trace = open(&files, &entry);
        let index = partune_index::Index::build(&trace);
        let (mut messages, mut bytes, mut between) = (0, 0, 0);
        for message in &index.messages {
            messages += 1;
            bytes += stream(&trace, message.sender.0).sends[message.send as usize].bytes;
            between += u64::from(message.sender != message.receiver);
        }
        assert_eq!((messages, bytes, between), expected[&*name], "{name}");
        assert_eq!((index.messages.unmatched_sends, index.messages.unmatched_recvs), (0, 0), "{name}");
        let rows: usize = trace.streams().iter().map(|stream| stream.recvs.len()).sum();
        assert_eq!(rows, messages as usize, "{name}");
    }
}

/// The arrays of the programs, as their sources make them: 8 elements of Gauss, 4×4 of Jacobi.
#[test]
fn elements_of_recorded_arrays() {
    for Shared { name, entry, files } in shared() {
        let (class, expected) = match &*name {
            "charm-local-ge-4" => ("Rows", (0..8).map(|at| vec![at]).collect::<Vec<_>>()),
            "charm-local-jacobi2d-8-gz" => ("Jacobi", (0..16).map(|at| vec![at / 4, at % 4]).collect()),
            _ => continue,
        };
        let trace = open(&files, &entry);
        let of_class = trace.objects().iter().filter(|object| trace.strings().get(object.class) == class);
        let indices: Vec<Vec<i32>> = of_class.map(|object| object.index.to_vec()).collect();
        assert_eq!(indices, expected, "{name}");
        let made = trace.streams().iter().flat_map(|stream| &stream.executions);
        let made = made.filter(|row| row.trigger == Trigger::Creation && row.object.is_some());
        assert!(made.count() >= expected.len(), "{name}");
    }
}
