//! Decoding in parallel: runs of chunks, dealt out whatever location they belong to, become segments; those of a location are
//! joined. A thread has one event file open and one chunk of it in memory.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::archive::{Archive, Source};
use super::contexts::Contexts;
use super::decode::Decoder;
use super::files::Pieces;
use super::segment::{Assembler, Segment};
use super::stitch::{self, Joined};
use super::tables::Tables;
use crate::codec::{self, Damage, EndKind};

/// Chunks of a location are decoded together until they have this many bytes, or this share of all: large enough that most
/// locations are one run, which need not be concatenated, and small enough that a large location does not hold the others.
const RUN_BYTES: u64 = 4 << 20;
const RUN_SHARE: u64 = 48;

/// A run of chunks of one location.
struct Run {
    location: usize,
    /// Its place among the runs of the location.
    order: usize,
    /// Where its chunks begin in the file.
    bytes: Range<u64>,
}

/// What was lost of a run.
#[derive(Default)]
struct Lost {
    damage: Damage,
    /// Why it could not be read to its end.
    unread: Option<String>,
}

/// Decodes the events of all locations.
pub(super) struct Decode<'a> {
    archive: &'a Archive<'a>,
    sources: &'a [Source],
    tables: &'a Tables,
    contexts: &'a Contexts,
    chunk_size: u64,
    run_bytes: u64,
}

impl<'a> Decode<'a> {
    /// `run_bytes`: the least bytes of a run, if not to be chosen by the size of the archive.
    pub(super) fn new(
        archive: &'a Archive<'a>,
        sources: &'a [Source],
        tables: &'a Tables,
        contexts: &'a Contexts,
        chunk_size: u64,
        run_bytes: Option<usize>,
    ) -> Self {
        let total: u64 = sources.iter().filter_map(|source| source.event_bytes).sum();
        let run_bytes = match run_bytes {
            // What must be inflated from its begin on is read once.
            _ if archive.is_packed() => u64::MAX,
            Some(bytes) => bytes as u64,
            None => RUN_BYTES.max(total / RUN_SHARE),
        };
        Decode { archive, sources, tables, contexts, chunk_size, run_bytes }
    }

    /// Decodes in parallel over runs of chunks, and joins each location.
    pub(super) fn all(&self, progress: &(dyn Fn(u64, u64) + Sync)) -> Vec<Joined> {
        let mut runs: Vec<Run> = (0..self.sources.len()).flat_map(|location| self.runs(location)).collect();
        let total: u64 = runs.iter().map(Run::len).sum();
        let done = AtomicU64::new(0);
        // One run of each location in turn, so that threads do not end up with all of a large one.
        runs.sort_by_key(|run| (run.order, run.location));
        let mut segments: Vec<(usize, usize, Segment, Lost)> = runs
            .into_par_iter()
            .with_max_len(1)
            .map(|run| {
                let (segment, lost) = self.run(&run);
                progress(done.fetch_add(run.len(), Ordering::Relaxed) + run.len(), total);
                (run.location, run.order, segment, lost)
            })
            .collect();
        segments.sort_by_key(|(location, order, ..)| (*location, *order));
        let mut by_location: Vec<Vec<Segment>> = self.sources.iter().map(|_| Vec::new()).collect();
        let mut all_lost: Vec<Lost> = self.sources.iter().map(|_| Lost::default()).collect();
        for (location, _, segment, lost) in segments {
            by_location[location].push(segment);
            let all = &mut all_lost[location];
            all.damage.add(&lost.damage);
            all.unread = all.unread.take().or(lost.unread);
        }
        let join = |(location, (segments, lost)): (usize, (Vec<Segment>, Lost))| {
            let mut joined = stitch::join(segments).unwrap_or_else(|| self.whole(location));
            (joined.damage, joined.unread) = (lost.damage, lost.unread);
            joined
        };
        by_location.into_par_iter().zip(all_lost).enumerate().map(join).collect()
    }

    /// The runs of a location.
    fn runs(&self, location: usize) -> Vec<Run> {
        let Some(end) = self.sources[location].event_bytes else { return Vec::new() };
        if codec::check_size(self.chunk_size).is_err() {
            return Vec::new();
        }
        let whole_chunks = self.run_bytes.div_ceil(self.chunk_size).saturating_mul(self.chunk_size).max(1);
        let count = end.div_ceil(whole_chunks);
        let run = |order: u64| {
            let begin = order * whole_chunks;
            Run { location, order: order as usize, bytes: begin..begin.saturating_add(whole_chunks).min(end) }
        };
        (0..count).map(run).collect()
    }

    fn run(&self, run: &Run) -> (Segment, Lost) {
        let source = &self.sources[run.location];
        let assembler = Assembler::new(&source.clock, run.order == 0);
        let mut decoder = Decoder::new(assembler, self.tables, self.contexts, &source.mappings, source.process);
        let mut lost = Lost::default();
        match self.archive.open(&source.events) {
            Ok(file) => {
                let mut pieces = Pieces::new(file.as_ref(), run.bytes.clone(), self.chunk_size);
                let mut index = run.bytes.start / self.chunk_size;
                while let Some(bytes) = pieces.next() {
                    match codec::chunk(bytes, index, self.chunk_size) {
                        Ok(chunk) => {
                            let outcome = codec::read_chunk(&chunk, &mut decoder);
                            lost.damage.add(&outcome.damage(chunk.offset));
                            if outcome.end == EndKind::EndOfFile {
                                break;
                            }
                        }
                        Err(broken) => {
                            let first = Some((broken.offset, broken.flaw));
                            lost.damage.add(&Damage { lost_chunks: 1, first, ..Damage::default() });
                        }
                    }
                    index += 1;
                }
                lost.unread = pieces.failed.map(|error| error.to_string());
            }
            Err(error) => lost.unread = Some(error.to_string()),
        }
        (decoder.assembler.finish(), lost)
    }

    /// Decodes a location from its begin as one segment, where the call stack is always known.
    fn whole(&self, location: usize) -> Joined {
        let bytes = 0..self.sources[location].event_bytes.unwrap_or_default();
        stitch::join(vec![self.run(&Run { location, order: 0, bytes }).0]).unwrap_or_default()
    }
}

impl Run {
    fn len(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }
}
