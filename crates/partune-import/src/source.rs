//! From a source of events to a trace: the same way for every format.
//!
//! A source has read what its input defines; its events it reads in parts, in any order and on any thread, each into [`Segment`]s. Here parts are
//! dealt out, the segments of a PE are joined, the call paths of all PEs are given one order, and columns are concatenated. The result does not
//! depend on the number of threads.

use std::sync::atomic::{AtomicU64, Ordering};

use partune_base::{CallPathId, PeId, RegionId, Table};
use partune_trace::{CallPaths, CallSite, Stream, Trace, TraceBuilder};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::joined::{self, Joined};
use crate::pauses;
use crate::replaced::PePath;
use crate::segment::{Beside, RegionKey, Segment};
use crate::tasks;

/// Told how much of an input is read: done, and in all, in bytes.
pub type Advance<'a> = &'a (dyn Fn(u64, u64) + Sync);

/// An input whose definitions are read, and whose events are not.
pub trait Source: Sync {
    /// What can be read on its own.
    type Part: Sync;
    /// What it keeps of a segment beside rows.
    type Beside: Beside;

    /// All parts; those of a PE in the order of time. Threads take them from several places of the list at once.
    fn parts(&self) -> Vec<Self::Part>;

    /// The bytes of a part.
    fn size(&self, part: &Self::Part) -> u64;

    /// Reads a part: a segment for each PE that is in it.
    fn read(&self, part: &Self::Part) -> Vec<(PeId, Segment<Self::Beside>)>;

    /// Reads all events of a PE as one segment from its begin, where the call stack is always known.
    fn whole(&self, pe: PeId) -> Segment<Self::Beside>;

    /// The region that events of a PE name.
    fn region(&self, pe: PeId, key: RegionKey) -> RegionId;

    /// A PE is joined: its visits may be replaced by others.
    fn joined(&self, _pe: PeId, _joined: &mut Joined<Self::Beside>) {}

    /// All PEs are joined: what was wrong with them goes to the quality of the trace.
    fn report(&self, joined: &[Joined<Self::Beside>], builder: &mut TraceBuilder);

    /// All streams and call paths are in the trace: completes it by what was kept beside, by PE.
    fn complete(self, _beside: Vec<Self::Beside>, _builder: &mut TraceBuilder)
    where
        Self: Sized,
    {
    }
}

/// Reads the events of a source into a trace that has its definitions.
///
/// Cost: linear in events. Memory: the columns of the trace, once more for what of them is being concatenated, and what the source needs for
/// the parts that are being read, one per thread.
pub fn read<S: Source>(source: S, mut builder: TraceBuilder, advance: Advance<'_>) -> Trace {
    let mut joined = read_parts(&source, builder.pes.len(), advance);
    joined.par_iter_mut().enumerate().for_each(|(pe, joined)| source.joined(PeId(pe as u32), joined));
    tasks::divide(&source, &mut joined, &mut builder);
    source.report(&joined, &mut builder);
    let pauses = pauses::pauses(&joined, &builder.pes);
    let of_pe =
        |(pe, joined): (usize, &Joined<S::Beside>)| joined.paths_of_trace(|key| source.region(PeId(pe as u32), key));
    let path_maps = merge_paths(joined.iter().enumerate().map(of_pe), &mut builder.paths);
    if let Some(slice) = builder.slice.as_mut().filter(|slice| !slice.is_last) {
        slice.open = joined.iter().map(Joined::going_on).collect();
    }
    let assembled: Vec<(Stream, S::Beside)> =
        joined.into_par_iter().zip(&path_maps).map(|(joined, paths)| joined.assemble(paths)).collect();
    let (mut streams, beside): (Vec<Stream>, Vec<_>) = assembled.into_iter().unzip();
    for (stream, pauses) in streams.iter_mut().zip(pauses).filter(|(_, pauses)| !pauses.is_empty()) {
        stream.pauses.extend(pauses);
        stream.pauses.sort_by_key(|pause| pause.end);
    }
    builder.streams = Table::from(streams);
    source.complete(beside, &mut builder);
    builder.seal()
}

/// Reads all parts in parallel, and joins the segments of each PE.
fn read_parts<S: Source>(source: &S, pes: usize, advance: Advance<'_>) -> Vec<Joined<S::Beside>> {
    let parts = source.parts();
    let total: u64 = parts.iter().map(|part| source.size(part)).sum();
    let done = AtomicU64::new(0);
    let read = |part: &S::Part| {
        let segments = source.read(part);
        let size = source.size(part);
        advance(done.fetch_add(size, Ordering::Relaxed) + size, total);
        segments
    };
    let segments: Vec<_> = parts.par_iter().with_max_len(1).map(read).collect();
    let mut of_pe: Vec<Vec<Segment<S::Beside>>> = (0..pes).map(|_| Vec::new()).collect();
    for (pe, segment) in segments.into_iter().flatten() {
        if let Some(of_pe) = of_pe.get_mut(pe.0 as usize) {
            of_pe.push(segment);
        }
    }
    let join = |(pe, segments): (usize, Vec<Segment<S::Beside>>)| {
        let again = || joined::join(vec![source.whole(PeId(pe as u32))]);
        joined::join(segments).or_else(again).unwrap_or_default()
    };
    of_pe.into_par_iter().enumerate().map(join).collect()
}

/// Gives the paths of PEs one order, behind those that are there, and returns for each PE where its paths went. Of each path of a PE it is told what it is,
/// and whether a visit of it was recorded.
pub fn merge_paths(of_pes: impl Iterator<Item = Vec<(PePath, bool)>>, paths: &mut CallPaths) -> Vec<Vec<CallPathId>> {
    let there = paths.ids().map(|path| ((paths.parent(path), paths.region(path), paths.site(path)), path));
    let mut known: FxHashMap<(CallPathId, RegionId, CallSite), CallPathId> = there.collect();
    let of_pe = |own: Vec<(PePath, bool)>| {
        let mut map: Vec<CallPathId> = Vec::with_capacity(own.len());
        for ((parent, region, site), is_recorded) in own {
            let parent = parent.map_or(CallPathId::NONE, |parent| map[parent as usize]);
            let mut is_new = false;
            let path = *known.entry((parent, region, site)).or_insert_with(|| {
                is_new = true;
                paths.push_at(parent, region, site)
            });
            if is_new || is_recorded {
                paths.set_recorded(path, is_recorded);
            }
            map.push(path);
        }
        map
    };
    of_pes.map(of_pe).collect()
}
