//! What the fuzz target of recordings does with its input: the parts of a run, completed in a folder that is removed again.
//!
//! An input is a folder of parts in one piece (see [`packed`]). For `fuzz_targets/parts.rs` and for the tests of `partune-record`. Besides not
//! panicking, completion makes an archive that can be opened and has the PEs that it told, or refuses.

#[path = "packed.rs"]
mod packed;

use std::fs;
use std::mem::offset_of;
use std::path::Path;

use partune_engine::OpenError;
use partune_parts::layout::{CHUNK_SIZE, HEADER_SIZE, Header, PARTS};
use partune_testkit::mutate::{Random, records};

pub(crate) use self::packed::{Packed, pack, unpack};

/// A file system in memory, where there is one: completion waits for the disk.
const MEMORY: &str = "/dev/shm";

/// Completes parts; whether an archive came of them.
pub(crate) fn parts(packed: &[u8]) -> bool {
    let place = if Path::new(MEMORY).is_dir() { MEMORY.into() } else { std::env::temp_dir() };
    let folder = tempfile::tempdir_in(place).expect("a folder");
    let parts = folder.path().join(PARTS);
    fs::create_dir(&parts).expect("a folder");
    let is_name = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0']);
    for (name, bytes) in unpack(packed).iter().filter(|(name, _)| is_name(name)) {
        fs::write(parts.join(name), bytes).expect("a part");
    }
    let Ok(completed) = partune_record::complete(folder.path()) else { return false };
    let summary = completed.expect("it was not complete");
    match partune_engine::inside::read(&summary.archive, &()) {
        Ok(trace) => assert_eq!(trace.pes().as_slice().len(), summary.pes),
        Err(OpenError::Empty { .. }) => {}
        Err(error) => panic!("{error}"),
    }
    assert!(!parts.exists() && matches!(partune_record::complete(folder.path()), Ok(None)));
    true
}

/// Changes what some of the parts say, or cuts or removes one.
pub(crate) fn change(parts: &mut Packed, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let Some(name) = parts.keys().nth(random.below(parts.len())).cloned() else { return };
        let Some(bytes) = parts.get_mut(&name) else { return };
        match (random.below(16), Path::new(&name).extension().and_then(|ending| ending.to_str())) {
            (0, _) => drop(parts.remove(&name)),
            (1, _) => bytes.truncate(random.below(bytes.len())),
            (2, _) if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            (_, Some("log")) => *bytes = lines(&String::from_utf8_lossy(bytes), random).into_bytes(),
            (3..10, Some("lane")) => ring(bytes, random),
            (3..10, Some("evt")) => *bytes = records(bytes, CHUNK_SIZE, random).unwrap_or_default(),
            _ => words(bytes, random),
        }
    }
}

/// Lines that are whole and say something else: one lost, doubled or moved, a word of another line, a number that is none there.
fn lines(log: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    for _ in 0..=random.below(3) {
        let (at, other) = (random.below(lines.len()), random.below(lines.len()));
        let Some(line) = lines.get(at).cloned() else { break };
        match random.below(4) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, line),
            2 => lines.swap(at, other),
            _ => {
                let donors: Vec<&str> = lines[other].split(' ').collect();
                let given = ["0", "-1", "18446744073709551615", donors[random.below(donors.len())]][random.below(4)];
                let mut words: Vec<&str> = line.split(' ').collect();
                let word = random.below(words.len());
                words[word] = given;
                lines[at] = words.join(" ");
            }
        }
    }
    lines.join("\n") + "\n"
}

/// Events of a lane's ring that are whole and say something else, with a header that knows how many bytes they have.
fn ring(lane: &mut Vec<u8>, random: &mut Random) {
    let Some(mut events) = lane.get(HEADER_SIZE..).and_then(|ring| records(ring, CHUNK_SIZE, random)) else { return };
    events.truncate(events.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1));
    lane.truncate(HEADER_SIZE);
    let cursor = offset_of!(Header, cursor);
    lane[cursor..cursor + 8].copy_from_slice(&(events.len() as u64).to_le_bytes());
    lane.extend(events);
}

/// A number of eight bytes that is another, mostly among the first, or among those that are not 0.
fn words(bytes: &mut [u8], random: &mut Random) {
    const FIRST: usize = 32;
    let used: Vec<usize> = (0..bytes.len() / 8).filter(|at| bytes[8 * at..8 * at + 8] != [0; 8]).collect();
    let all = bytes.len() / 8;
    let (Some(any), true) = (used.get(random.below(used.len())), all > 0) else { return };
    let at = 8 * [random.below(all.min(FIRST)), random.below(all), *any][random.below(3)];
    let word = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let new = match random.below(8) {
        0 => 0,
        1 => u64::MAX,
        2 => 1 << random.below(64),
        3 => word.wrapping_add(1),
        4 => word.wrapping_sub(1),
        5 => word ^ 1 << random.below(64),
        6 => word.wrapping_mul(256),
        _ => random.below(1 << 16) as u64,
    };
    bytes[at..at + 8].copy_from_slice(&new.to_le_bytes());
}
