//! Decoding in parallel: runs of chunks, dealt out whatever location they belong to, become segments; those of a location are
//! joined.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::archive::Source;
use super::contexts::Contexts;
use super::decode::Decoder;
use super::segment::{Assembler, Segment};
use super::stitch::{self, Joined};
use super::tables::Tables;
use crate::codec::{self, Chunk, Damage, EndKind};

/// Chunks of a location are decoded together until they have this many bytes, or this share of all: large enough that most
/// locations are one run, which need not be concatenated, and small enough that a large location does not hold the others.
const RUN_BYTES: usize = 4 << 20;
const RUN_SHARE: usize = 48;

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
pub(super) struct Decode<'a> {
    sources: &'a [Source],
    tables: &'a Tables,
    contexts: &'a Contexts,
    chunk_size: u64,
    run_bytes: usize,
}

impl<'a> Decode<'a> {
    /// `run_bytes`: the least bytes of a run, if not to be chosen by the size of the archive.
    pub(super) fn new(
        sources: &'a [Source],
        tables: &'a Tables,
        contexts: &'a Contexts,
        chunk_size: u64,
        run_bytes: Option<usize>,
    ) -> Self {
        let bytes = |source: &Source| source.events.as_ref().map_or(0, |events| events.as_ref().as_ref().len());
        let total: usize = sources.iter().map(bytes).sum();
        Decode {
            sources,
            tables,
            contexts,
            chunk_size,
            run_bytes: run_bytes.unwrap_or(RUN_BYTES.max(total / RUN_SHARE)),
        }
    }

    /// Decodes in parallel over runs of chunks, and joins each location.
    pub(super) fn all(&self, progress: &(dyn Fn(u64, u64) + Sync)) -> Vec<Joined> {
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
        let mut decoder = Decoder::new(assembler, self.tables, self.contexts, &source.mappings, source.process);
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
