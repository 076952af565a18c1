//! Parts that are damaged: cut, flipped and missing files never stop completion by a panic, and what it writes can be read.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use partune_otf2::codec::{Anchor, chunks};

use crate::process::{complete, record};

/// A generator of numbers that is the same everywhere (xorshift64*).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
    }
}

fn copy(from: &Path, to: &Path) -> Vec<PathBuf> {
    fs::create_dir_all(to).expect("a folder");
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(from).expect("parts") {
        let entry = entry.expect("an entry");
        let path = to.join(entry.file_name());
        fs::copy(entry.path(), &path).expect("a copy");
        files.push(path);
    }
    files.sort();
    files
}

/// Damages one file in one way.
fn damage(files: &[PathBuf], numbers: &mut Numbers) {
    let path = &files[numbers.below(files.len())];
    let mut bytes = fs::read(path).expect("a part");
    if path.extension().is_some_and(|ending| ending == "log") && numbers.below(2) == 0 {
        return fs::write(path, other_words(&String::from_utf8_lossy(&bytes), numbers)).expect("a part");
    }
    match numbers.below(4) {
        0 => return fs::remove_file(path).expect("it was there"),
        1 => bytes.truncate(numbers.below(bytes.len())),
        // The header of a lane and the first events are where it hurts.
        2 => {
            let near = bytes.len().min(4300);
            for _ in 0..3 {
                let at = numbers.below(near);
                bytes[at] ^= 1 << numbers.below(8);
            }
        }
        _ => {
            let at = numbers.below(bytes.len());
            bytes[at] = numbers.below(256) as u8;
        }
    }
    fs::write(path, bytes).expect("a part");
}

/// A log whose lines are whole and say something else: a line lost, doubled or moved, a word of another line, a number that is none here.
fn other_words(log: &str, numbers: &mut Numbers) -> String {
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    for _ in 0..=numbers.below(3) {
        let (at, other) = (numbers.below(lines.len()), numbers.below(lines.len()));
        match numbers.below(4) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            _ => {
                let donors: Vec<&str> = lines[other].split(' ').collect();
                let given = ["0", "-1", "18446744073709551615", donors[numbers.below(donors.len())]][numbers.below(4)];
                let mut words: Vec<&str> = lines[at].split(' ').collect();
                let word = numbers.below(words.len());
                words[word] = given;
                lines[at] = words.join(" ");
            }
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn damaged_parts_make_a_smaller_archive_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorded = folder.path().join("recorded");
    fs::create_dir(&recorded).expect("a folder");
    assert!(!record(&recorded, "kill 30000", &[("PARTUNE_BUFFER", "524288")]).success());
    let mut numbers = Numbers(20);
    let (mut whole, mut refused) = (0, 0);
    for round in 0..150 {
        let work = folder.path().join("work");
        let files = copy(&recorded.join("parts"), &work.join("parts"));
        damage(&files, &mut numbers);
        match partune_record::complete(&work) {
            Ok(summary) => {
                let summary = summary.expect("it was not complete");
                whole += 1;
                let anchor = Anchor::read(&fs::read(&summary.archive).expect("an anchor")).expect("a good anchor");
                for entry in fs::read_dir(work.join("traces")).expect("event files") {
                    let bytes = fs::read(entry.expect("an entry").path()).expect("a file");
                    assert!(chunks(&bytes, anchor.event_chunk_size).is_ok(), "round {round}");
                }
            }
            Err(_) => refused += 1,
        }
        fs::remove_dir_all(&work).expect("it was there");
    }
    assert!(whole > 50 && refused > 5, "{whole} archives, {refused} errors");
}

/// A pipe in place of a part has no writer: whoever opened it would wait forever.
#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let recorded = folder.path().join("recorded");
    fs::create_dir(&recorded).expect("a folder");
    assert!(!record(&recorded, "kill 300000", &[("PARTUNE_BUFFER", "524288")]).success());
    let mut refused = 0;
    let names = copy(&recorded.join("parts"), &folder.path().join("names"));
    for name in names.iter().filter_map(|path| path.file_name()) {
        let work = folder.path().join("work");
        copy(&recorded.join("parts"), &work.join("parts"));
        let part = work.join("parts").join(name);
        fs::remove_file(&part).expect("it was there");
        assert!(Command::new("mkfifo").arg(&part).status().expect("mkfifo runs").success());
        match partune_record::complete(&work) {
            // What was flushed has the size of a pipe, which is none: it is missing.
            Ok(summary) => assert_eq!(part.extension(), Some("evt".as_ref()), "{:?}", summary.map(|it| it.quality)),
            Err(error) => {
                assert!(error.to_string().contains("it is a pipe and not a file"), "{error}");
                refused += 1;
            }
        }
        fs::remove_dir_all(&work).expect("it was there");
    }
    assert_eq!((names.len(), refused), (3, 2), "a log, a lane and what was flushed of it: {names:?}");
}

/// A second name of the link would lead nowhere once the parts are gone.
#[test]
fn parts_may_be_links() {
    let folder = tempfile::tempdir().expect("a folder");
    let (recorded, plain) = (folder.path().join("recorded"), folder.path().join("plain"));
    fs::create_dir(&recorded).expect("a folder");
    assert!(!record(&recorded, "kill 300000", &[("PARTUNE_BUFFER", "524288")]).success());
    copy(&recorded.join("parts"), &plain.join("parts"));
    let linked = folder.path().join("linked");
    fs::create_dir_all(linked.join("parts")).expect("a folder");
    for part in copy(&recorded.join("parts"), &folder.path().join("elsewhere")) {
        let name = part.file_name().expect("a part has a name");
        symlink(&part, linked.join("parts").join(name)).expect("a link is made");
    }
    let [of_plain, of_linked] = [plain, linked].map(|folder| {
        complete(&folder);
        fs::read(folder.join("traces/0.evt")).expect("an event file")
    });
    assert!(of_plain.len() > 2 * 262_144, "some of it was flushed");
    assert!(of_plain == of_linked, "{} and {} bytes", of_plain.len(), of_linked.len());
}
