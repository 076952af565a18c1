//! Parts that are damaged: cut, flipped and missing files never stop completion by a panic, and what it writes can be read.

#[path = "../../../fuzz/parts.rs"]
mod fuzzed;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use partune_testkit::mutate::Random;
use rayon::prelude::*;

use self::fuzzed::{Packed, change, pack, parts, unpack};
use crate::process::{complete, record};

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

/// The parts of a run in one piece.
fn packed(folder: &Path) -> Packed {
    let files = fs::read_dir(folder).expect("parts").map(|entry| entry.expect("an entry").path());
    let file = |path: PathBuf| {
        let name = path.file_name().expect("a part has a name").to_string_lossy().into_owned();
        (name, fs::read(path).expect("a part"))
    };
    files.map(file).collect()
}

/// Those that the fuzz target begins with (two processes of an MPI program; one, in a profile), and two of which events were flushed, in one of them over older ones.
/// Seeds of another version of the parts are recorded again: kill `partune record` before the program ends, and pack `parts`.
#[test]
fn damaged_parts_make_a_smaller_archive_or_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(!record(folder.path(), "kill 30000", &[("PARTUNE_BUFFER", "524288")]).success());
    let recorded = packed(&folder.path().join("parts"));
    let newest = folder.path().join("newest");
    let limits = [("PARTUNE_BUFFER", "524288"), ("PARTUNE_MAX_SIZE", "1572864"), ("PARTUNE_KEEP", "newest")];
    assert!(!record(&newest, "kill 300000", &limits).success());
    let newest = packed(&newest.join("parts"));
    let trace = unpack(include_bytes!("../../../fuzz/seeds/parts/trace"));
    let profile = unpack(include_bytes!("../../../fuzz/seeds/parts/profile"));
    for (seed, files) in [(recorded, 3), (newest, 3), (trace, 4), (profile, 4)] {
        assert_eq!(seed.len(), files);
        assert!(parts(&pack(&seed)), "what is not damaged makes an archive");
        let rounds: Vec<bool> = (0..100)
            .into_par_iter()
            .map(|round| {
                let mut changed = seed.clone();
                change(&mut changed, &mut Random::new(round));
                parts(&pack(&changed))
            })
            .collect();
        let whole = rounds.iter().filter(|whole| **whole).count();
        assert!((40..100).contains(&whole), "{whole} archives");
    }
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
