//! Which files are read, by which name, and what is said where some are not there.

use std::io::Write;

use partune_diag::Code;
use partune_projections::import::{FORMAT, import};
use partune_trace::Trace;

use crate::texts::{Archive, open, said, steps};

fn compressed(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).expect("memory is written to");
    encoder.finish().expect("memory is written to")
}

/// Whether two traces are the same, but for what was noticed.
fn same(a: &Trace, b: &Trace) -> bool {
    a.streams() == b.streams() && a.objects() == b.objects() && a.regions() == b.regions()
}

#[test]
fn the_entry_is_the_symbol_table_or_a_log() {
    let head = |name: &str| steps()[name][..20].to_vec();
    assert!((FORMAT.detect)("steps.sts", &head("steps.sts")) && (FORMAT.detect)("old.sts", b"VERSION 3.0\n"));
    assert!((FORMAT.detect)("steps.0.log", &head("steps.0.log")));
    assert!((FORMAT.detect)("a.b.12.log.gz", &compressed(b"x")) && !(FORMAT.detect)("a.log.gz", &compressed(b"x")));
    assert!(!(FORMAT.detect)("steps.sum.sts", &head("steps.sts")) && !(FORMAT.detect)("x.sts", b"something"));
    assert!(!(FORMAT.detect)("steps.0.log", b"2026-01-01 started"));
    let whole = open(&steps(), "steps.sts");
    for log in ["steps.0.log", "steps.2.log"] {
        assert!(same(&open(&steps(), log), &whole), "{log}");
    }
}

#[test]
fn compressed_logs_are_the_same() {
    let mut files = steps();
    let whole = open(&files, "steps.sts");
    for pe in 0..3 {
        let plain = files.remove(&format!("steps.{pe}.log")).expect("it is there");
        // In two members, as logs are that were flushed.
        let (first, second) = plain.split_at(plain.len() / 2);
        files.insert(format!("steps.{pe}.log.gz"), [compressed(first), compressed(second)].concat());
    }
    let read = open(&files, "steps.sts");
    assert!(same(&read, &whole) && read.quality() == whole.quality());
    let cut = files["steps.1.log.gz"].len() - 9;
    files.get_mut("steps.1.log.gz").expect("it is there").truncate(cut);
    assert_eq!(said(&open(&files, "steps.sts"), Code::UnreadFile), 1);
}

#[test]
fn logs_may_be_in_folders() {
    let whole = open(&steps(), "steps.sts");
    for folders in 1..4 {
        let mut files = steps();
        for pe in 0..3 {
            let log = files.remove(&format!("steps.{pe}.log")).expect("it is there");
            files.insert(format!("steps.projdir.{}/steps.{pe}.log", pe % folders), log);
        }
        assert!(same(&open(&files, "steps.sts"), &whole), "{folders}");
        // From inside of a folder.
        let below: Archive = files.into_iter().map(|(name, bytes)| (format!("../{name}"), bytes)).collect();
        assert!(same(&open(&below, "steps.0.log"), &whole), "{folders}");
    }
}

#[test]
fn what_is_not_there_is_said() {
    let without = |names: &[&str], entry: &str| {
        let mut files = steps();
        names.iter().for_each(|name| drop(files.remove(*name)));
        import(&files, entry, &|_, _| {})
    };
    let range = without(&["steps.projrc"], "steps.sts").expect("it opens");
    assert_eq!((said(&range, Code::MissingFile), range.quality().entries().len()), (1, 1));
    let one = without(&["steps.1.log"], "steps.sts").expect("it opens");
    assert_eq!((said(&one, Code::MissingProcesses), one.pes().len(), one.active_pes().count()), (1, 3, 2));
    let last = without(&["steps.2.log"], "steps.sts").expect("it opens");
    assert_eq!((said(&last, Code::MissingProcesses), last.pes().len()), (1, 2));
    let names = without(&["steps.sts"], "steps.1.log").expect("it opens");
    assert_eq!((said(&names, Code::MissingNames), names.pes().len()), (1, 3));
    let regions: Vec<&str> = names.regions().iter().map(|region| names.strings().get(region.name)).collect();
    assert!(regions.contains(&"entry method 2") && regions.contains(&"user event 9"), "{regions:?}");
    let none = without(&["steps.0.log", "steps.1.log", "steps.2.log"], "steps.sts").expect_err("nothing is there");
    assert_eq!(none.code, "empty");
    assert_eq!(without(&["steps.sts"], "steps.sts").expect_err("it is not there").code, "unreadable");
}

#[test]
fn files_of_another_run_are_said() {
    let changed = |name: &str, from: &str, to: &str| {
        let mut files = steps();
        let text = String::from_utf8(files[name].clone()).expect("it is text");
        assert!(text.contains(from), "{name}");
        files.insert(name.to_owned(), text.replace(from, to).into_bytes());
        open(&files, "steps.sts")
    };
    assert_eq!(said(&changed("steps.projrc", "1000", "5000"), Code::CutFile), 1);
    assert_eq!(said(&changed("steps.sts", "VERSION 11.0", "VERSION 12.1"), Code::UnknownRecords), 1);
    assert_eq!(said(&changed("steps.sts", "TOTAL_EPS 4", "TOTAL_EPS 5"), Code::DamagedHeader), 1);
    assert_eq!(
        said(&changed("steps.sts", "PROCESSORS 3", "PROCESSORS 18446744073709551615"), Code::MissingProcesses),
        u64::MAX - 3
    );
    // Records with a field less than their version has.
    assert!(said(&changed("steps.1.log", "1 5 3 800 0 1 48 4", "1 5 3 800 0 1 48"), Code::MalformedRecords) == 1);
    let binary = changed("steps.1.log", "PROJECTIONS-RECORD", "\u{1}\u{2}");
    assert_eq!((said(&binary, Code::DamagedFile), binary.active_pes().count()), (1, 2));
    let claims = changed("steps.1.log", "PROJECTIONS-RECORD 15", "PROJECTIONS-RECORD 16");
    assert_eq!(said(&claims, Code::CutFile), 1);
}
