//! From an OTF2 archive to a trace.
//!
//! Global definitions become tables ([`tables`]); the archive is a source then ([`runs`]) whose runs of chunks are decoded in parallel
//! ([`decode`]), ids resolved at once ([`resolve`]), into segments that `partune-import` joins. Where enters name calling contexts ([`contexts`]),
//! a joined location gets the visits of the functions around its operations ([`weave`]), by what is known of the time between them ([`gaps`], [`lasting`],
//! [`shares`]). An archive that has statistics of call paths in
//! place of events becomes a profile ([`statistics`]). A large archive is looked through for moments at which nothing is under way ([`scout`]), and
//! is a source for each slice between them ([`slices`]), or for what lies around a piece of the run ([`around`]).
//!
//! Nothing here fails on damage: what cannot be read is reported in the trace's `Quality`. Only an anchor that cannot be read, or
//! a substrate that we do not know, is an error.

mod addresses;
mod archive;
mod around;
mod clock;
mod contexts;
mod copies;
mod counts;
mod decode;
mod definitions;
mod devices;
mod endings;
mod gaps;
mod inflated;
mod lasting;
mod mappings;
mod offsets;
mod own_paths;
mod processors;
mod properties;
mod report;
mod resolve;
mod runs;
mod scout;
mod shares;
mod slices;
mod statistics;
mod tables;
mod weave;

use std::collections::BTreeSet;
use std::hash::Hasher;
use std::sync::atomic::AtomicU64;

use partune_base::{PeId, Strings};
use partune_import::{Advance, Files, Format, ImportError};
use partune_trace::{Provenance, Trace, TraceBuilder};
use rayon::prelude::*;
use rustc_hash::FxHasher;

pub(crate) use archive::{Archive, read_anchor};
pub(crate) use report::report_damage;

use crate::codec::anchor::Anchor;
use crate::codec::{self, Scope};
use crate::write::{COMMAND, COMPILER, LIBRARY};
use contexts::Contexts;
use definitions::Definitions;
use runs::Events;
use shares::Generators;

/// OTF2 archives, by their anchor file.
pub const FORMAT: Format = Format {
    name: "OTF2",
    endings: &[".otf2"],
    others: &[],
    detect: |_, head| head.len() > 7 && head[0] == 3 && &head[2..7] == b"OTF2\0",
    open: import,
    slices: Some(slices::find),
    around: Some(around::find),
};

/// Imports the archive with this anchor file. `progress` gets bytes of events done and in all.
///
/// Cost: linear in events. Memory: the columns of the trace, once more for what of them is being concatenated. The result does
/// not depend on the number of threads.
pub fn import(files: &dyn Files, anchor_name: &str, progress: Advance<'_>) -> Result<Trace, ImportError> {
    import_in_runs(files, anchor_name, None, progress)
}

/// What the anchor file and properties of processes say of where the archive comes from.
fn provenance(anchor: &Anchor, definitions: &Definitions, strings: &mut Strings) -> Provenance {
    let command = anchor.properties.iter().find(|(name, _)| name == COMMAND);
    let mut of_processes = |wanted: &str| {
        let texts = definitions.process_texts().filter(|(_, name, text)| *name == wanted && !text.is_empty());
        texts.map(|(_, _, text)| text).collect::<BTreeSet<_>>().into_iter().map(|text| strings.intern(text)).collect()
    };
    let (libraries, compilers) = (of_processes(LIBRARY), of_processes(COMPILER));
    Provenance {
        command: command.map(|(_, command)| strings.intern(command)),
        producer: Some(anchor.creator.trim()).filter(|it| !it.is_empty()).map(|creator| strings.intern(creator)),
        began: definitions.began(),
        libraries,
        compilers,
    }
}

/// The same with runs of at least so many bytes, for tests; the result does not depend on it.
#[doc(hidden)]
pub fn import_in_runs(
    files: &dyn Files,
    anchor_name: &str,
    run_bytes: Option<usize>,
    progress: Advance<'_>,
) -> Result<Trace, ImportError> {
    let (events, builder) = open(files, anchor_name)?;
    Ok(partune_import::read(Events { run_bytes, ..events }, builder, progress))
}

/// Reads the definitions of an archive.
fn open<'a>(files: &'a dyn Files, anchor_name: &'a str) -> Result<(Events<'a>, TraceBuilder), ImportError> {
    let anchor = read_anchor(files, anchor_name)?;
    let archive = Archive::new(files, anchor_name, anchor.clone());
    let mut builder = TraceBuilder::default();

    let mut definitions = Definitions::default();
    let name = format!("{}.def", archive.name);
    let bytes = archive.read(&name).map_err(|error| ImportError::unreadable(&name, &error))?;
    let outcome = codec::read_definitions(&bytes, anchor.definition_chunk_size, Scope::Global, &mut |it| {
        definitions.add(&it);
    })
    .map_err(|error| {
        ImportError::damaged(&*name, error.to_string(), "the anchor file is damaged; copy the archive again")
    })?;
    let mut hash = FxHasher::default();
    hash.write(&bytes);
    drop(bytes);
    report_damage(&name, &outcome.damage, &mut builder.quality);
    definitions.report(&mut builder.quality);

    let (tables, defined) = tables::build(&definitions, &mut builder);
    builder.provenance = provenance(&anchor, &definitions, &mut builder.strings);
    let TraceBuilder { regions, strings, quality, .. } = &mut builder;
    let contexts = Contexts::build(&definitions, regions, strings, &tables, quality);
    let statistics = statistics::read(&archive, &defined, quality);
    let open = |(index, location)| archive.location(PeId(index as u32), &location, &definitions, &builder);
    let locations = defined.into_par_iter().enumerate().map(open).collect();
    let (groups, windows) = (builder.groups.clone(), builder.windows.clone());
    let chunk_size = anchor.event_chunk_size;
    let generators = Generators::new(&definitions);
    let slowdowns = builder.ran.iter().map(|ran| ran.map_or(1.0, |ran| ran.slowdown())).collect();
    let events = Events {
        archive,
        locations,
        tables,
        contexts,
        groups,
        windows,
        generators,
        slowdowns,
        used: AtomicU64::new(0),
        unknown: AtomicU64::new(0),
        statistics,
        chunk_size,
        definitions: hash.finish(),
        run_bytes: None,
    };
    Ok((events, builder))
}
