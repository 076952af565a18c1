//! Damaged archives: cut anywhere, with flipped bytes or missing files, they are analysed as far as they go, and it is said.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use partune_engine::inside::FORMATS;
use partune_engine::{Diagnosis, Request};
use partune_import::{Bytes, Files};
use partune_otf2::import::import;
use partune_testkit::mutate::{self, Random};
use partune_trace::Trace;
use rayon::prelude::*;

use crate::archives::{Archive, archives, load, paraver, projections};

/// Archives up to this size are cut at 1,000 places; larger ones at fewer, so that the test ends in minutes. All of them are with
/// `PARTUNE_THOROUGH=1`.
const THOROUGH_BYTES: usize = 2 << 20;

/// An archive with one file replaced (or missing).
struct Damaged<'a> {
    files: &'a BTreeMap<String, Arc<Vec<u8>>>,
    name: &'a str,
    bytes: Option<Arc<Vec<u8>>>,
}

impl Files for Damaged<'_> {
    fn open(&self, name: &str) -> std::io::Result<Bytes> {
        let bytes = if name == self.name { self.bytes.as_ref() } else { self.files.get(name) };
        Ok(bytes.ok_or(std::io::ErrorKind::NotFound)?.clone())
    }
}

/// Number of events in an event file, whose name is its location's id.
fn events_of(trace: &Trace, file: &str) -> u64 {
    let id = Path::new(file).file_stem().and_then(|stem| stem.to_string_lossy().parse().ok());
    let pe = trace.pes().iter_ids().find(|(_, pe)| Some(pe.archive_id) == id);
    pe.map_or(0, |(pe, _)| trace.streams()[pe].events)
}

fn is_event_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "evt")
}

/// Analyses what can be read; `None` if the archive cannot be opened at all, which must be an error and not a panic.
fn diagnose(files: &dyn Files, anchor: &str, predicts: bool) -> Option<Diagnosis> {
    let format = FORMATS.iter().find(|format| format.is_entry(anchor))?;
    let trace = (format.open)(files, anchor, &|_, _| {}).ok()?;
    let diagnosis = partune_engine::analyze(trace, &Request { predicts, ..Request::default() }, &());
    assert!(!partune_report::document(&diagnosis, "archive").is_empty());
    Some(diagnosis)
}

/// A name, the entry, and all files.
type Input = (String, String, BTreeMap<String, Vec<u8>>);

fn otf2() -> Vec<Input> {
    let load = |archive: Archive| {
        let (anchor, files) = load(&archive.anchor);
        (archive.name, anchor, files)
    };
    archives().into_iter().map(load).collect()
}

/// Damages each input `times` times (fewer if it is large), predicts for some what would mend them, and hands what came out to `check`.
fn each_damage(
    inputs: Vec<Input>,
    times: usize,
    damage: impl Fn(&[u8], &mut Random) -> Option<Vec<u8>> + Sync,
    check: impl Fn(&str, Option<Diagnosis>) + Sync,
) {
    for (name_of_archive, anchor, files) in inputs {
        let size: usize = files.values().map(Vec::len).sum();
        let files: BTreeMap<String, Arc<Vec<u8>>> =
            files.into_iter().map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        let names: Vec<&String> = files.keys().collect();
        let thorough = size <= THOROUGH_BYTES || std::env::var_os("PARTUNE_THOROUGH").is_some();
        let times = if thorough { times } else { times / 20 };
        (0..times).into_par_iter().for_each(|round| {
            let mut random = Random::new(round as u64);
            let name = names[random.below(names.len())];
            let bytes = damage(&files[name], &mut random).map(Arc::new);
            let damaged = Damaged { files: &files, name, bytes };
            check(&name_of_archive, diagnose(&damaged, &anchor, round % 16 == 0));
        });
    }
}

fn cut(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    bytes[..random.below(bytes.len())].to_vec()
}

fn flip(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    bytes
}

/// Text in lines: some are lost, doubled, or moved, or have a field of another one in place of theirs; what is between fields is given.
fn change_lines(bytes: &[u8], between: u8, random: &mut Random) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=random.below(20) {
        let (at, other) = (random.below(lines.len()), random.below(lines.len()));
        match random.below(4) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            _ => {
                let mut fields: Vec<Vec<u8>> = lines[at].split(|byte| *byte == between).map(<[u8]>::to_vec).collect();
                let of_other: Vec<&[u8]> = lines[other].split(|byte| *byte == between).collect();
                let field = random.below(fields.len());
                fields[field] = of_other[random.below(of_other.len())].to_vec();
                lines[at] = fields.join(&between);
            }
        }
        if lines.is_empty() {
            lines.push(Vec::new());
        }
    }
    lines.join(&b'\n')
}

#[test]
fn cut_at_a_thousand_random_bytes() {
    each_damage(otf2(), 1000, |bytes, random| Some(cut(bytes, random)), |_, _| {});
}

#[test]
fn cut_at_every_chunk() {
    for archive in archives() {
        let (anchor, files) = load(&archive.anchor);
        let whole = import(&files, &anchor, &|_, _| {}).expect("the archive opens");
        let (_, header) = files.iter().find(|(name, _)| **name == anchor).expect("the anchor was loaded");
        let chunk = partune_otf2::codec::Anchor::read(header).expect("the anchor is whole").event_chunk_size as usize;
        let files: BTreeMap<String, Arc<Vec<u8>>> =
            files.into_iter().map(|(name, bytes)| (name, Arc::new(bytes))).collect();
        for (name, bytes) in files.iter().filter(|(name, _)| is_event_file(name)) {
            for end in (0..bytes.len()).step_by(chunk) {
                let damaged = Damaged { files: &files, name, bytes: Some(Arc::new(bytes[..end].to_vec())) };
                let diagnosis = diagnose(&damaged, &anchor, true).expect("the other files are whole");
                let before = events_of(&whole, name);
                let lost = whole.events() - diagnosis.run.events();
                assert!(lost <= before && (lost > 0 || before == 0), "{} {name}", archive.name);
            }
        }
    }
}

#[test]
fn flipped_bytes() {
    each_damage(otf2(), 300, |bytes, random| Some(flip(bytes, random)), |_, _| {});
}

/// The same for traces of lines, which are cut and changed between lines and inside of them, and lose the names beside them.
fn lines(inputs: impl Fn() -> Vec<(String, BTreeMap<String, Vec<u8>>)>, between: u8) {
    let inputs = || inputs().into_iter().map(|(entry, files)| (entry.clone(), entry, files)).collect::<Vec<Input>>();
    let change = |bytes: &[u8], random: &mut Random| change_lines(bytes, between, random);
    each_damage(inputs(), 100, |bytes, random| Some(cut(bytes, random)), |_, _| {});
    each_damage(inputs(), 100, |bytes, random| Some(flip(bytes, random)), |_, _| {});
    each_damage(inputs(), 100, |bytes, random| Some(change(bytes, random)), |_, _| {});
    each_damage(inputs(), 9, |_, _| None, |_, _| {});
}

#[test]
fn paraver_traces() {
    lines(paraver, b':');
}

#[test]
fn projections_logs() {
    lines(projections, b' ');
}

/// A plain trace that is cut holds the records before the cut, and it is said if a record was cut through.
#[test]
fn a_cut_paraver_trace_is_said() {
    let (entry, files) = paraver().swap_remove(0);
    let lines = |text: &[u8]| {
        text.split_inclusive(|byte| *byte == b'\n')
            .filter(|line| line[0].is_ascii_digit() && line.ends_with(b"\n"))
            .count()
    };
    let text = files[&entry].clone();
    let first = text.iter().position(|byte| *byte == b'\n').expect("a header") + 1;
    for end in first..text.len() {
        let mut files = files.clone();
        files.insert(entry.clone(), text[..end].to_vec());
        let diagnosis = diagnose(&files, &entry, true).expect("the header is whole");
        assert_eq!(diagnosis.run.events(), lines(&text[..end]) as u64);
        let last = text[..end].rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let said = diagnosis.quality.entries().iter().any(|entry| entry.message.contains("ends inside of a record"));
        assert_eq!(said, last.first().is_some_and(u8::is_ascii_digit), "{}", String::from_utf8_lossy(last));
    }
}

/// Chunks are whole, but records are lost, doubled, moved, or say something else.
#[test]
fn changed_records() {
    // Chunk sizes of what Score-P and most others write: events 1 MiB, definitions 4 MiB; others are walked as far as they go.
    let change = |bytes: &[u8], random: &mut Random| {
        let changed = [1 << 20, 4 << 20].into_iter().find_map(|size| mutate::records(bytes, size, random));
        Some(changed.unwrap_or_else(|| bytes.to_vec()))
    };
    each_damage(otf2(), 100, change, |_, _| {});
}

#[test]
fn missing_files_are_said() {
    let check = |name: &str, diagnosis: Option<Diagnosis>| {
        // Without anchor or global definitions there is nothing to open; without anything else there is something to say,
        // unless the file held nothing that the analysis needs.
        if let Some(diagnosis) = diagnosis
            && diagnosis.run.events() == 0
        {
            assert!(!diagnosis.quality.is_empty(), "{name}");
        }
    };
    each_damage(otf2(), 30, |_, _| None, check);
}

#[test]
fn a_cut_event_file_is_said() {
    for archive in archives() {
        let (anchor, mut files) = load(&archive.anchor);
        let Some((_, bytes)) =
            files.iter_mut().filter(|(name, _)| is_event_file(name)).max_by_key(|(_, bytes)| bytes.len())
        else {
            continue;
        };
        bytes.truncate(bytes.len() / 2);
        let diagnosis = diagnose(&files, &anchor, true).expect("the other files are whole");
        let said = |text: &str| diagnosis.quality.entries().iter().any(|entry| entry.message.contains(text));
        assert!(said("ends without an end mark") || said("is damaged"), "{}: {:?}", archive.name, diagnosis.quality);
    }
}
