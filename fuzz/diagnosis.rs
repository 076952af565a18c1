//! What the fuzz target of the whole way does with its input: an archive, every analysis, every document.
//!
//! An input is an archive in one piece (see [`packed`]). For `fuzz_targets/diagnosis.rs`, which changes records by the same means as the
//! tests of `partune`, and for these tests.

#[path = "packed.rs"]
mod packed;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use partune_engine::{AdviseRequest, Mode, Options, Request, Scope};
use partune_import::{Bytes, Files};
use partune_otf2::codec::Anchor;
use partune_otf2::import::import;
use partune_pages::Runs;
use partune_report::{NamedRun, Style, TextOptions};
use partune_testkit::mutate::{Random, records};

use self::packed::Packed;
pub(crate) use self::packed::{pack, unpack};

/// The anchor's name in an input.
pub(crate) const ANCHOR: &str = "traces.otf2";

/// The files of an archive, by name.
pub(crate) type Archive = Packed;

struct InMemory(BTreeMap<String, Arc<Vec<u8>>>);

impl Files for InMemory {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        Ok(self.0.get(name).ok_or(io::ErrorKind::NotFound)?.clone())
    }
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
    let all = TextOptions { findings: Some(50), table_rows: 50, style: Style::terminal(80, true) };
    let _ = partune_report::text(&diagnosis, "archive", all);
    let _ = partune_report::chrome(&diagnosis, &mut io::sink());
    let runs = [&diagnosis, &diagnosis];
    let named = runs.map(|diagnosis| NamedRun { archive: "archive", diagnosis });
    if let Ok(comparison) = partune_engine::compare(&runs) {
        let _ = partune_report::compare_document(&comparison, &named, None, &[]);
        let _ = partune_report::compare_text(&comparison, &named, 20, Style::PLAIN);
    }
    if let Ok(scaling) = partune_engine::scale(&runs, Mode::Strong) {
        let _ = partune_report::scaling_document(&scaling, &named);
    }
    if let Ok(advised) =
        partune_engine::advise(&diagnosis, &AdviseRequest { scope: Scope::All, ..Default::default() }, &())
    {
        let document = partune_report::advice_document(&advised, &diagnosis, "archive");
        assert!(serde_json::from_str::<serde_json::Value>(&document).is_ok(), "{document}");
        let _ = partune_report::advice_text(&advised, &diagnosis, 50, Style::PLAIN);
    }
    let _ = partune_pages::report(&Runs::of(Path::new("archive"), diagnosis));
}
