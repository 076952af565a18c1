//! From an OTF2 archive to a trace.
//!
//! Five steps: global definitions become tables ([`tables`]); runs of chunks are decoded in parallel into segments, whatever
//! location they belong to, so that one large location does not hold the rest ([`runs`], [`decode`], [`segment`]); the segments of a
//! location are joined ([`stitch`]) and, where enters name calling contexts ([`contexts`]), get the visits of the functions
//! around them ([`weave`]); the call paths of all locations are given one order; columns are concatenated and ids resolved, again
//! in parallel ([`resolve`]). An archive that has statistics of call paths in place of events becomes a profile ([`statistics`]).
//!
//! Nothing here fails on damage: what cannot be read is told in the trace's [`Quality`]. Only an anchor that cannot be read, or
//! a substrate that we do not know, is an error.

mod addresses;
mod archive;
mod clock;
mod contexts;
mod copies;
mod decode;
mod definitions;
mod devices;
mod files;
mod ids;
mod inflated;
mod mappings;
mod report;
mod resolve;
mod runs;
mod segment;
mod statistics;
mod stitch;
mod tables;
mod weave;

use std::io;

use partune_base::{CallPathId, PeId, RegionId, Table};
use partune_diag::Quality;
use partune_trace::{CallPaths, CallSite, Trace, TraceBuilder};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use thiserror::Error;

pub(crate) use archive::{Archive, read_anchor};
pub use files::{Bytes, Contents, Files};
pub(crate) use files::{Pieces, read_all};
pub(crate) use report::report_damage;

use crate::codec::{self, CodecError, Scope};
use archive::Source;
use contexts::Contexts;
use definitions::Definitions;
use report::report_sources;
use resolve::Resolver;
use runs::Decode;
use stitch::Joined;

/// Why an archive cannot be imported at all.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("cannot read {name}: {error}\n  remedy: check that the file is there and readable")]
    Read { name: String, error: io::Error },
    #[error("{0}\n  remedy: give the archive's anchor file (usually traces.otf2)")]
    Anchor(CodecError),
    #[error(
        "the archive lies in SION containers, which partune does not read\n  \
         remedy: record with the POSIX substrate (SCOREP_TRACING_USE_SION=false), or unpack it with the SION tools"
    )]
    Sion,
    #[error("the archive was written to nowhere (substrate NONE): there are no events")]
    NoSubstrate,
    #[error("the archive uses substrate {0}, which partune does not know")]
    UnknownSubstrate(u8),
    #[error("{name}: {error}\n  remedy: the anchor file is damaged; copy the archive again")]
    Damaged { name: String, error: CodecError },
}

/// Imports the archive with this anchor file. `progress` is told bytes of events done and in all.
///
/// Cost: linear in events. Memory: the columns of the trace, once more for what of them is being concatenated. The result does
/// not depend on the number of threads.
pub fn import(
    files: &dyn Files,
    anchor_name: &str,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Trace, ImportError> {
    import_in_runs(files, anchor_name, None, progress)
}

/// The same with runs of at least so many bytes, for tests; the result does not depend on it.
#[doc(hidden)]
pub fn import_in_runs(
    files: &dyn Files,
    anchor_name: &str,
    run_bytes: Option<usize>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Trace, ImportError> {
    let anchor = read_anchor(files, anchor_name)?;
    let archive = Archive::new(files, anchor_name, &anchor);
    let mut quality = Quality::default();

    let mut definitions = Definitions::default();
    let name = format!("{}.def", archive.name);
    let bytes = archive.read(&name).map_err(|error| ImportError::Read { name: name.clone(), error })?;
    let outcome = codec::read_definitions(&bytes, anchor.definition_chunk_size, Scope::Global, &mut |it| {
        definitions.add(&it);
    })
    .map_err(|error| ImportError::Damaged { name: name.clone(), error })?;
    drop(bytes);
    report_damage(&name, &outcome.damage, &mut quality);
    definitions.report(&mut quality);

    let mut builder = TraceBuilder::default();
    let (tables, locations) = tables::build(&definitions, &mut builder);
    let contexts = Contexts::build(&definitions, &builder.regions, &mut builder.strings, &tables, &mut quality);
    let statistics = statistics::read(&archive, &locations, &mut quality);
    let sources: Vec<Source> = locations
        .into_par_iter()
        .enumerate()
        .map(|(index, location)| archive.source(PeId(index as u32), &location, &definitions, &builder))
        .collect();
    let mut joined =
        Decode::new(&archive, &sources, &tables, &contexts, anchor.event_chunk_size, run_bytes).all(progress);
    report_sources(&sources, &joined, &mut quality);

    let resolvers: Vec<Resolver<'_>> = sources
        .iter()
        .map(|source| Resolver {
            pe: source.pe,
            tables: &tables,
            mappings: &source.mappings,
            groups: &builder.groups,
            windows: &builder.windows,
        })
        .collect();
    if !contexts.is_empty() {
        joined.par_iter_mut().zip(&resolvers).for_each(|(joined, resolver)| joined.weave(&contexts, resolver));
    }
    let mut paths = CallPaths::default();
    let path_maps = merge_paths(&joined, &resolvers, &mut paths);
    let (mut streams, told): (Vec<_>, Vec<_>) = joined
        .par_drain(..)
        .zip(&path_maps)
        .zip(&resolvers)
        .map(|((joined, paths), resolver)| joined.assemble(paths, resolver))
        .unzip();
    drop(resolvers);
    addresses::resolve(&mut streams, told);
    copies::add(&mut streams, &mut builder, &mut paths);
    builder.profile = statistics.map(|statistics| {
        statistics::Paths::new(&contexts, &tables, &builder.regions, builder.resolution).profile(
            &statistics,
            &sources,
            &mut paths,
            &mut quality,
        )
    });
    builder.clocks = sources.into_iter().map(|source| source.clock.into_measured()).collect::<Vec<_>>().into();
    builder.streams = Table::from(streams);
    builder.paths = paths;
    builder.quality = quality;
    Ok(builder.seal())
}

/// Gives the paths of all locations one order, and returns for each location where its paths went.
fn merge_paths(joined: &[Joined], resolvers: &[Resolver<'_>], paths: &mut CallPaths) -> Vec<Vec<CallPathId>> {
    let mut known: FxHashMap<(CallPathId, RegionId, CallSite), CallPathId> = FxHashMap::default();
    let of_location = |(joined, resolver): (&Joined, &Resolver<'_>)| {
        let mut map: Vec<CallPathId> = Vec::new();
        for (parent, region, site) in joined.paths_of_trace(resolver) {
            let parent = parent.map_or(CallPathId::NONE, |parent| map[parent as usize]);
            map.push(*known.entry((parent, region, site)).or_insert_with(|| paths.push_at(parent, region, site)));
        }
        map
    };
    joined.iter().zip(resolvers).map(of_location).collect()
}
