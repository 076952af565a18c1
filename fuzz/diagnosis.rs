//! What the fuzz target of the whole way does with its input: an archive, every analysis, every document.
//!
//! An input is an archive in one piece (see [`pack`]). For `fuzz_targets/diagnosis.rs`, which changes records by the same means as the
//! tests of `partune`, and for these tests.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use partune_engine::{Mode, Options, Request};
use partune_import::{Bytes, Files};
use partune_otf2::codec::Anchor;
use partune_otf2::import::import;
use partune_report::{NamedRun, Style, TextOptions};
use partune_testkit::mutate::{Random, records};

/// The anchor's name in an input.
pub(crate) const ANCHOR: &str = "traces.otf2";

/// The files of an archive, by name.
pub(crate) type Archive = BTreeMap<String, Vec<u8>>;

struct InMemory(BTreeMap<String, Arc<Vec<u8>>>);

impl Files for InMemory {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        Ok(self.0.get(name).ok_or(io::ErrorKind::NotFound)?.clone())
    }
}

/// An archive in one piece: of each file the length of its name, the name, its length in four bytes, and what it holds.
pub(crate) fn pack(archive: &Archive) -> Vec<u8> {
    let mut packed = Vec::new();
    for (name, bytes) in archive {
        packed.push(name.len() as u8);
        packed.extend(name.bytes());
        packed.extend((bytes.len() as u32).to_le_bytes());
        packed.extend(bytes);
    }
    packed
}

/// The archive of an input, as far as it is one.
pub(crate) fn unpack(mut packed: &[u8]) -> Archive {
    let mut archive = Archive::new();
    while let Some((name, bytes)) = next(&mut packed) {
        archive.insert(name, bytes);
    }
    archive
}

/// Takes a file from the begin of what is left.
fn next(packed: &mut &[u8]) -> Option<(String, Vec<u8>)> {
    let mut take = |length: usize| -> Option<&[u8]> {
        let (taken, rest) = packed.split_at_checked(length)?;
        *packed = rest;
        Some(taken)
    };
    let length = take(1)?[0];
    let name = String::from_utf8_lossy(take(length.into())?).into_owned();
    let length = u32::from_le_bytes(take(4)?.try_into().ok()?);
    Some((name, take(length as usize)?.to_vec()))
}

/// Changes records in some files of an archive.
pub(crate) fn change(archive: &mut Archive, random: &mut Random) {
    let Some(Ok(anchor)) = archive.get(ANCHOR).map(|bytes| Anchor::read(bytes)) else { return };
    let names: Vec<String> = archive.keys().filter(|name| *name != ANCHOR).cloned().collect();
    for _ in 0..=random.below(3) {
        let Some(name) = names.get(random.below(names.len())) else { return };
        let is_events = Path::new(name).extension().is_some_and(|ending| ending == "evt");
        let size = if is_events { anchor.event_chunk_size } else { anchor.definition_chunk_size };
        let changed = archive.get(name).and_then(|bytes| records(bytes, size as usize, random));
        archive.extend(changed.map(|bytes| (name.clone(), bytes)));
    }
}

/// Everything that partune says of an archive.
pub(crate) fn diagnosis(packed: &[u8]) {
    let files = unpack(packed).into_iter().map(|(name, bytes)| (name, Arc::new(bytes))).collect();
    let Ok(trace) = import(&InMemory(files), ANCHOR, &|_, _| {}) else { return };
    let options = Options { minimum: 0.0, ..Options::default() };
    let diagnosis = partune_engine::analyze(trace, &Request { options, ..Request::default() }, &());
    let document = partune_report::document(&diagnosis, "archive");
    assert!(serde_json::from_str::<serde_json::Value>(&document).is_ok(), "{document}");
    let all = TextOptions { findings: 50, table_rows: 50, style: Style::terminal(80, true) };
    let _ = partune_report::text(&diagnosis, "archive", all);
    let _ = partune_report::html(&diagnosis, "archive", None);
    let _ = partune_report::chrome(&diagnosis, &mut io::sink());
    let runs = [&diagnosis, &diagnosis];
    let named = runs.map(|diagnosis| NamedRun { archive: "archive", diagnosis });
    if let Ok(comparison) = partune_engine::compare(&runs) {
        let _ = partune_report::compare_document(&comparison, &named);
        let _ = partune_report::compare_text(&comparison, &named, 20, Style::PLAIN);
    }
    if let Ok(scaling) = partune_engine::scale(&runs, Mode::Strong) {
        let _ = partune_report::scaling_document(&scaling, &named);
    }
}
