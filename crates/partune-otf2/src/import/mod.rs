//! From an OTF2 archive to a trace.
//!
//! Four steps: global definitions become tables ([`tables`]); runs of chunks are decoded in parallel into segments, whatever
//! location they belong to, so that one large location does not hold the rest ([`decode`], [`segment`]); the segments of a
//! location are joined ([`stitch`]), which gives the call paths of all locations one order; columns are concatenated and ids
//! resolved, again in parallel ([`resolve`]).
//!
//! Nothing here fails on damage: what cannot be read is told in the trace's [`Quality`]. Only an anchor that cannot be read, or
//! a substrate that we do not know, is an error.

mod clock;
mod decode;
mod definitions;
mod files;
mod ids;
mod mappings;
mod resolve;
mod segment;
mod stitch;
mod tables;

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use partune_base::{CallPathId, PeId, RegionId, Table};
use partune_diag::{Diagnostic, Quality};
use partune_trace::{CallPaths, Trace, TraceBuilder};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use thiserror::Error;

pub use files::{Bytes, Files};

use crate::codec::{self, Anchor, Chunk, CodecError, Compression, Damage, EndKind, Scope, Substrate};
use clock::LocationClock;
use decode::Decoder;
use definitions::Definitions;
use mappings::Mappings;
use resolve::Resolver;
use segment::{Assembler, Faults, Segment};
use stitch::Joined;
use tables::Tables;

/// Why an archive cannot be imported at all.
#[derive(Debug, Error)]
pub enum ImportError {
    #[error("cannot read {name}: {source}\n  remedy: check that the file is there and readable")]
    Read { name: String, source: io::Error },
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
    #[error("{name}: {source}\n  remedy: the anchor file is damaged; copy the archive again")]
    Damaged { name: String, source: CodecError },
}

/// Bytes that an inflated file may have at most for each byte of the compressed one, and at least.
const INFLATE_FACTOR: usize = 1100;

/// Chunks of a location are decoded together until they have this many bytes, or this share of all: large enough that most
/// locations are one run, which need not be concatenated, and small enough that a large location does not hold the others.
const RUN_BYTES: usize = 4 << 20;
const RUN_SHARE: usize = 48;

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
    let bytes = archive.open(&name).map_err(|source| ImportError::Read { name: name.clone(), source })?;
    let outcome =
        codec::read_definitions(bytes.as_ref().as_ref(), anchor.definition_chunk_size, Scope::Global, &mut |it| {
            definitions.add(&it);
        })
        .map_err(|source| ImportError::Damaged { name: name.clone(), source })?;
    report_damage(&name, &outcome.damage, &mut quality);
    definitions.report(&mut quality);

    let mut builder = TraceBuilder::default();
    let (tables, locations) = tables::build(&definitions, &mut builder);
    let sources: Vec<Source> = locations
        .into_par_iter()
        .enumerate()
        .map(|(index, location)| archive.source(PeId(index as u32), &location, &definitions, &builder))
        .collect();
    let bytes: usize =
        sources.iter().map(|source| source.events.as_ref().map_or(0, |it| it.as_ref().as_ref().len())).sum();
    let run_bytes = run_bytes.unwrap_or(RUN_BYTES.max(bytes / RUN_SHARE));
    let decode = Decode { sources: &sources, tables: &tables, chunk_size: anchor.event_chunk_size, run_bytes };
    let mut joined = decode.all(progress);
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
    let mut paths = CallPaths::default();
    let path_maps = merge_paths(&joined, &resolvers, &mut paths);
    let streams: Vec<_> = joined
        .par_drain(..)
        .zip(&path_maps)
        .zip(&resolvers)
        .map(|((joined, paths), resolver)| joined.assemble(paths, resolver))
        .collect();
    drop(resolvers);
    builder.clocks = sources.into_iter().map(|source| source.clock.into_measured()).collect::<Vec<_>>().into();
    builder.streams = Table::from(streams);
    builder.paths = paths;
    builder.quality = quality;
    Ok(builder.seal())
}

/// Reads an anchor file, and refuses archives whose files we cannot open.
pub(crate) fn read_anchor(files: &dyn Files, name: &str) -> Result<Anchor, ImportError> {
    let bytes = files.open(name).map_err(|source| ImportError::Read { name: name.to_owned(), source })?;
    let anchor = Anchor::read(bytes.as_ref().as_ref()).map_err(ImportError::Anchor)?;
    match anchor.substrate {
        Substrate::Posix => Ok(anchor),
        Substrate::Sion => Err(ImportError::Sion),
        Substrate::None => Err(ImportError::NoSubstrate),
        Substrate::Unknown(byte) => Err(ImportError::UnknownSubstrate(byte)),
    }
}

/// An archive that is being read.
pub(crate) struct Archive<'a> {
    pub(crate) files: &'a dyn Files,
    /// The name of its anchor without `.otf2`: its other files begin with it.
    pub(crate) name: &'a str,
    anchor: &'a Anchor,
}

/// What is known of a location before its events are read.
struct Source {
    pe: PeId,
    process: u32,
    mappings: Mappings,
    clock: LocationClock,
    events: Option<Bytes>,
    /// Number of events by its definition.
    announced: u64,
    /// Faults that were found outside of records.
    faults: Vec<Diagnostic>,
}

impl<'a> Archive<'a> {
    pub(crate) fn new(files: &'a dyn Files, anchor_name: &'a str, anchor: &'a Anchor) -> Archive<'a> {
        Archive { files, name: anchor_name.strip_suffix(".otf2").unwrap_or(anchor_name), anchor }
    }

    /// The plain bytes of a file.
    pub(crate) fn open(&self, name: &str) -> io::Result<Bytes> {
        let bytes = self.files.open(name)?;
        if self.anchor.compression != Compression::Zlib {
            return Ok(bytes);
        }
        let packed: &[u8] = bytes.as_ref().as_ref();
        let limit = packed.len().saturating_mul(INFLATE_FACTOR).saturating_add(1 << 20);
        // A block that cannot be inflated ends the plain bytes early; the decoder then tells that the file is cut.
        match codec::inflate::plain(packed, self.anchor.compression, limit) {
            Ok(plain) => Ok(std::sync::Arc::new(plain.bytes.into_owned())),
            Err(error) => Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }

    /// Opens the files of a location.
    fn source(
        &self,
        pe: PeId,
        location: &tables::Location,
        definitions: &Definitions,
        builder: &TraceBuilder,
    ) -> Source {
        let mut mappings = Mappings::default();
        let mut faults = Vec::new();
        let name = format!("{}/{}.def", self.name, location.archive_id);
        match self.open(&name) {
            Ok(bytes) => {
                let read = codec::read_definitions(
                    bytes.as_ref().as_ref(),
                    self.anchor.definition_chunk_size,
                    Scope::Local,
                    &mut |definition| mappings.add(&definition),
                );
                let mut quality = Quality::default();
                if let Ok(outcome) = read {
                    report_damage(&name, &outcome.damage, &mut quality);
                }
                faults.extend(quality.entries().iter().cloned());
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => faults.push(Diagnostic::error(format!("{name}: {error}"), "copy the archive again")),
        }
        let name = format!("{}/{}.evt", self.name, location.archive_id);
        let events = match self.open(&name) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                if location.events > 0 || error.kind() != io::ErrorKind::NotFound {
                    let message = format!("event files cannot be read: {}", plain_error(&error));
                    faults.push(Diagnostic::data_loss(
                        message,
                        "copy the whole archive, with the folder beside the anchor file",
                    ));
                }
                None
            }
        };
        let clock = LocationClock::new(std::mem::take(&mut mappings.offsets), definitions.global_offset);
        let process = builder.pes[pe].process.0;
        Source { pe, process, mappings, clock, events, announced: location.events, faults }
    }
}

/// An error without the name of the file, so that equal ones are counted together.
fn plain_error(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound { "they are missing".to_owned() } else { error.to_string() }
}

/// A run of chunks of one location.
struct Run<'a> {
    location: usize,
    /// Its place among the runs of the location.
    order: usize,
    chunks: Vec<Chunk<'a>>,
    damage: Damage,
    bytes: usize,
}

/// Decodes the events of all locations.
struct Decode<'a> {
    sources: &'a [Source],
    tables: &'a Tables,
    chunk_size: u64,
    run_bytes: usize,
}

impl<'a> Decode<'a> {
    /// Decodes in parallel over runs of chunks, and joins each location.
    fn all(&self, progress: &(dyn Fn(u64, u64) + Sync)) -> Vec<Joined> {
        let mut runs: Vec<Run<'_>> = (0..self.sources.len()).flat_map(|location| self.runs(location)).collect();
        let total: u64 = runs.iter().map(|run| run.bytes as u64).sum();
        let done = AtomicU64::new(0);
        // One run of each location in turn, so that threads do not end up with all of a large one.
        runs.sort_by_key(|run| (run.order, run.location));
        let mut segments: Vec<(usize, usize, Segment, Damage)> = runs
            .into_par_iter()
            .with_max_len(1)
            .map(|run| {
                let (segment, damage) = self.run(&run);
                let bytes = run.bytes as u64;
                progress(done.fetch_add(bytes, Ordering::Relaxed) + bytes, total);
                (run.location, run.order, segment, damage)
            })
            .collect();
        segments.sort_by_key(|(location, order, ..)| (*location, *order));
        let mut by_location: Vec<Vec<Segment>> = self.sources.iter().map(|_| Vec::new()).collect();
        let mut damages = vec![Damage::default(); self.sources.len()];
        for (location, _, segment, damage) in segments {
            by_location[location].push(segment);
            damages[location].add(&damage);
        }
        let join = |(location, segments)| {
            let mut joined = stitch::join(segments).unwrap_or_else(|| self.whole(location));
            joined.damage = damages[location];
            joined
        };
        by_location.into_par_iter().enumerate().map(join).collect()
    }

    /// The runs of a location.
    fn runs(&self, location: usize) -> Vec<Run<'a>> {
        let Some(events) = &self.sources[location].events else { return Vec::new() };
        let Ok(chunks) = codec::chunks(events.as_ref().as_ref(), self.chunk_size) else { return Vec::new() };
        let new = |order| Run { location, order, chunks: Vec::new(), damage: Damage::default(), bytes: 0 };
        let mut runs = vec![new(0)];
        for chunk in chunks {
            let last = runs.len() - 1;
            let run = &mut runs[last];
            match chunk {
                Ok(chunk) => {
                    run.bytes += chunk.bytes.len();
                    run.chunks.push(chunk);
                }
                Err(broken) => {
                    let first = Some((broken.offset, broken.flaw));
                    run.damage.add(&Damage { lost_chunks: 1, first, ..Damage::default() });
                }
            }
            if run.bytes >= self.run_bytes {
                runs.push(new(last + 1));
            }
        }
        runs
    }

    fn run(&self, run: &Run<'_>) -> (Segment, Damage) {
        let source = &self.sources[run.location];
        let assembler = Assembler::new(&source.clock, run.order == 0);
        let mut decoder = Decoder::new(assembler, self.tables, &source.mappings, source.process);
        let mut damage = run.damage;
        for chunk in &run.chunks {
            let outcome = codec::read_chunk(chunk, &mut decoder);
            damage.add(&outcome.damage(chunk.offset));
            if outcome.end == EndKind::EndOfFile {
                break;
            }
        }
        (decoder.assembler.finish(), damage)
    }

    /// Decodes a location from its begin as one segment, where the call stack is always known.
    fn whole(&self, location: usize) -> Joined {
        let chunks = self.runs(location).into_iter().flat_map(|run| run.chunks).collect();
        let whole = Run { location, order: 0, chunks, damage: Damage::default(), bytes: 0 };
        stitch::join(vec![self.run(&whole).0]).unwrap_or_default()
    }
}

/// Gives the paths of all locations one order, and returns for each location where its paths went.
fn merge_paths(joined: &[Joined], resolvers: &[Resolver<'_>], paths: &mut CallPaths) -> Vec<Vec<CallPathId>> {
    let mut known: FxHashMap<(CallPathId, RegionId), CallPathId> = FxHashMap::default();
    let of_location = |(joined, resolver): (&Joined, &Resolver<'_>)| {
        let mut map: Vec<CallPathId> = Vec::with_capacity(joined.paths.len());
        for (parent, region) in &joined.paths {
            let parent = parent.map_or(CallPathId::NONE, |parent| map[parent as usize]);
            let region = resolver.region(*region);
            map.push(*known.entry((parent, region)).or_insert_with(|| paths.push(parent, region)));
        }
        map
    };
    joined.iter().zip(resolvers).map(of_location).collect()
}

/// Tells what was lost of a file.
pub(crate) fn report_damage(name: &str, damage: &Damage, quality: &mut Quality) {
    let lost = damage.lost_chunks + damage.damaged_chunks;
    if lost > 0 {
        let place = damage.first.map_or(String::new(), |(offset, flaw)| format!(", first at byte {offset}: {flaw}"));
        let message = format!("{name} is damaged{place}");
        quality.add(
            Diagnostic::data_loss(message, "what could be read is used; copy or record again for the rest").times(lost),
        );
    }
    if damage.truncated_chunks > 0 {
        let message = format!("{name} ends without an end mark: it was cut, or its writer did not finish");
        quality.add(Diagnostic::data_loss(message, "what could be read is used; copy or record again for the rest"));
    }
    quality.add(
        Diagnostic::info(
            "records of a type that this version does not know were skipped",
            "they come from a newer OTF2; a newer partune may read them",
        )
        .times(damage.unknown_records),
    );
}

/// Tells what was wrong with locations.
fn report_sources(sources: &[Source], joined: &[Joined], quality: &mut Quality) {
    let mut faults = Faults::default();
    let mut miscounted: Vec<(u64, u64)> = Vec::new();
    for (source, joined) in sources.iter().zip(joined) {
        for fault in &source.faults {
            quality.add(fault.clone());
        }
        report_damage(&format!("the event file of location {}", source.pe.0), &joined.damage, quality);
        faults.add(joined.faults);
        let read = joined.events();
        if source.events.is_some() && read != source.announced {
            miscounted.push((source.announced, read));
        }
    }
    if let Some((announced, read)) = miscounted.first() {
        let message = format!(
            "locations have another number of events than their definitions say, the first {read} instead of {announced}"
        );
        let remedy = "a fault of the producer, unless the archive is damaged: what is in the event files counts";
        quality.add(Diagnostic::info(message, remedy).times(miscounted.len() as u64));
    }
    quality.add(
        Diagnostic::data_loss(
            "a region is left that was not entered; the event was ignored",
            "the recorder missed events, or recording began inside the region",
        )
        .times(faults.stray_leaves),
    );
    quality.add(
        Diagnostic::data_loss(
            "a region is entered and never left; it was closed where its caller ended, or at the end of the trace",
            "the recorder missed events, or the program ended inside the region",
        )
        .times(faults.missing_leaves),
    );
    quality.add(
        Diagnostic::data_loss(
            "time stamps of a location run backwards; such events were moved to the time of their predecessor",
            "the recorder's clock is not monotonic: record again with another timer",
        )
        .times(faults.backward_times),
    );
    quality.add(
        Diagnostic::info(
            "samples of calling contexts were not analysed",
            "record with instrumentation, or analyse them with a sampling tool",
        )
        .times(faults.ignored_records),
    );
}
