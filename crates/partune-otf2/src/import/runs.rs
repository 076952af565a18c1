//! The archive as a source of events: runs of chunks, dealt out whatever location they belong to, become segments. A thread has one event file
//! open and one chunk of it in memory.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use partune_base::{GroupId, PeId, RegionId, Table, Time, WindowId};
use partune_import::{Assembler, Beside, Joined, Pieces, RegionKey, Segment, Source};
use partune_trace::{Group, IoTransfer, Stream, TraceBuilder, VisitIx, Window};

use super::addresses::{self, Addresses};
use super::archive::{Archive, Location};
use super::contexts::Contexts;
use super::copies;
use super::counts::{Counted, Counts};
use super::decode::Decoder;
use super::endings;
use super::gaps::{Called, Recording, Sampled, length, walk};
use super::offsets::{self, Act};
use super::report::{Between, report_between, report_locations};
use super::resolve::Resolver;
use super::shares::Generators;
use super::statistics;
use super::tables::Tables;
use super::weave::{self, Part};
use crate::codec::{self, Damage, EndKind};
use crate::statistics::Statistics;

/// Chunks of a location are decoded together until they have this many bytes, or this share of all: large enough that most
/// locations are one run, which need not be concatenated, and small enough that a large location does not hold the others.
const RUN_BYTES: u64 = 4 << 20;
const RUN_SHARE: u64 = 48;

/// A run of chunks of one location.
pub(super) struct Run {
    location: usize,
    /// Its place among the runs of the location.
    order: usize,
    /// Where its chunks begin in the file.
    bytes: Range<u64>,
}

/// What is kept of a run, or of a location, beside its rows.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// What visits were called in, where their enters say so.
    pub(super) called: Vec<Called>,
    /// What is recorded of addresses; visits as in the rows.
    pub(super) addresses: Addresses,
    /// File operations that were under way at an end of it.
    pub(super) io: OpenOperations,
    /// What was done with handles of files, where offsets have to be found.
    pub(super) acts: Vec<Act>,
    /// Where it was interrupted.
    pub(super) samples: Vec<Sampled>,
    /// Samples whose context is not defined.
    pub(super) lost_samples: u64,
    /// What was lost of the event file.
    pub(super) damage: Damage,
    /// Why some of it could not be read.
    pub(super) unread: Option<String>,
}

/// File operations of which a run has one end.
#[derive(Debug, Default)]
pub(super) struct OpenOperations {
    /// Number and row of each that had begun and not ended, in order of numbers.
    pub(super) begun: Vec<(u64, u32)>,
    /// Number, time and bytes of each that ended and had begun before.
    pub(super) completed: Vec<(u64, Time, u64)>,
}

impl OpenOperations {
    /// Ends those that ended in a later run, in the rows of the earlier ones; what is begun in that goes on.
    fn append(&mut self, later: OpenOperations, earlier: &mut [IoTransfer]) {
        for (id, end, bytes) in later.completed {
            if let Ok(at) = self.begun.binary_search_by_key(&id, |(id, _)| *id)
                && let Some(row) = earlier.get_mut(self.begun.remove(at).1 as usize)
            {
                (row.end, row.bytes) = (end.max(row.begin), bytes);
            }
        }
        let first = earlier.len() as u32;
        self.begun.extend(later.begun.iter().map(|(id, row)| (*id, row + first)));
        // Of equal numbers the later counts.
        self.begun.sort_by_key(|(id, row)| (*id, std::cmp::Reverse(*row)));
        self.begun.dedup_by_key(|(id, _)| *id);
    }
}

impl Beside for Kept {
    fn map_visits(&mut self, map: &dyn Fn(VisitIx) -> VisitIx) {
        self.addresses.entered.iter_mut().for_each(|(visit, _)| *visit = map(*visit));
    }

    fn append(&mut self, later: Kept, before: &mut Stream) {
        self.addresses.append(later.addresses, [before.transfers.len(), before.rma_syncs.len()]);
        let first = before.io.len() as u32;
        self.acts.extend(later.acts.into_iter().map(|act| Act { row: first + act.row, ..act }));
        self.io.append(later.io, &mut before.io);
    }
}

/// An archive whose definitions are read.
pub(super) struct Events<'a> {
    pub(super) archive: Archive<'a>,
    pub(super) locations: Vec<Location>,
    pub(super) tables: Tables,
    pub(super) contexts: Contexts,
    pub(super) groups: Table<GroupId, Group>,
    pub(super) windows: Table<WindowId, Window>,
    pub(super) generators: Generators,
    /// What a second on a processor takes each location.
    pub(super) slowdowns: Vec<f64>,
    /// Samples that time between operations was shared out by, and ticks whose functions are not known, summed over locations.
    pub(super) used: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) statistics: Option<Vec<Option<Statistics>>>,
    pub(super) chunk_size: u64,
    /// A number that its definitions have, and others hardly.
    pub(super) definitions: u64,
    /// The least bytes of a run, if not to be chosen by the size of the archive.
    pub(super) run_bytes: Option<usize>,
}

impl Source for Events<'_> {
    type Part = Run;
    type Beside = Kept;

    /// One run of each location in turn, so that threads do not end up with all of a large one.
    fn parts(&self) -> Vec<Run> {
        if codec::check_size(self.chunk_size).is_err() {
            return Vec::new();
        }
        let total: u64 = self.locations.iter().filter_map(|location| location.event_bytes).sum();
        let run_bytes = match self.run_bytes {
            // What must be inflated as a whole is read once.
            _ if self.archive.is_packed() => u64::MAX,
            Some(bytes) => bytes as u64,
            None => RUN_BYTES.max(total / RUN_SHARE),
        };
        let whole_chunks = run_bytes.div_ceil(self.chunk_size).saturating_mul(self.chunk_size).max(1);
        let of_location = |location: usize| {
            let end = self.locations[location].event_bytes.unwrap_or_default();
            (0..end.div_ceil(whole_chunks)).map(move |order| {
                let begin = order * whole_chunks;
                let bytes = begin..begin.saturating_add(whole_chunks).min(end);
                Run { location, order: order as usize, bytes }
            })
        };
        let mut runs: Vec<Run> = (0..self.locations.len()).flat_map(of_location).collect();
        runs.sort_by_key(|run| (run.order, run.location));
        runs
    }

    fn size(&self, run: &Run) -> u64 {
        run.bytes.end - run.bytes.start
    }

    fn read(&self, run: &Run) -> Vec<(PeId, Segment<Kept>)> {
        vec![(self.locations[run.location].pe, self.run(run))]
    }

    fn whole(&self, pe: PeId) -> Segment<Kept> {
        let location = pe.0 as usize;
        match self.locations.get(location).and_then(|location| location.event_bytes) {
            Some(end) => self.run(&Run { location, order: 0, bytes: 0..end }),
            None => Assembler::new(true).finish(),
        }
    }

    fn region(&self, pe: PeId, key: RegionKey) -> RegionId {
        self.resolver(pe).region(key)
    }

    fn joined(&self, pe: PeId, joined: &mut Joined<Kept>) {
        if joined.beside().all(|(kept, _)| kept.called.is_empty() && kept.samples.is_empty()) {
            return;
        }
        let whole = |recording: &Recording<'_>| {
            let mut counts = Counts::new(&self.contexts, &self.generators, !recording.samples.is_empty());
            walk(recording, &self.contexts, None, true, &mut counts);
            let begin = recording.visits.first().map_or(Time::ZERO, |visit| visit.enter);
            let end = recording.visits.iter().map(|visit| visit.exit).max().unwrap_or(begin);
            let counted = self.counted(pe, counts, length(begin, end));
            self.used.fetch_add(counted.shares.used, Ordering::Relaxed);
            Part { counted, ended: None, serves: false, is_last: true }
        };
        let unknown = self.put_functions(pe, joined, whole);
        self.unknown.fetch_add(unknown, Ordering::Relaxed);
    }

    fn report(&self, joined: &[Joined<Kept>], builder: &mut TraceBuilder) {
        report_locations(&self.locations, joined, builder);
        let kept = || joined.iter().flat_map(Joined::beside).map(|(kept, _)| kept);
        let times = joined.iter().filter_map(Joined::times);
        let between = Between {
            used: self.used.load(Ordering::Relaxed),
            samples: kept().map(|kept| kept.samples.len() as u64).sum(),
            lost: kept().map(|kept| kept.lost_samples).sum(),
            span: times.map(|(begin, end)| end.0.saturating_sub(begin.0) as f64).sum(),
        };
        let unknown = self.unknown.load(Ordering::Relaxed);
        builder.shared_out_by = between.shared_out_by();
        report_between(&between, unknown, self.generators.rate, builder.resolution, &mut builder.quality);
    }

    fn complete(self, kept: Vec<Kept>, builder: &mut TraceBuilder) {
        let (told, acts) = kept.into_iter().map(|kept| (kept.addresses, kept.acts)).unzip();
        addresses::resolve(builder.streams.as_mut_slice(), told);
        offsets::find(builder, acts);
        copies::add(builder);
        builder.profile = self.statistics.map(|statistics| {
            statistics::Paths::new(&self.contexts, &self.tables, &builder.regions, builder.resolution).profile(
                &statistics,
                &self.locations,
                &mut builder.paths,
                &mut builder.quality,
            )
        });
        endings::correct(builder, &self.locations);
        builder.clocks = self.locations.into_iter().map(|location| location.clock.into_measured()).collect();
    }
}

impl Events<'_> {
    pub(super) fn resolver(&self, pe: PeId) -> Resolver<'_> {
        let Location { main, mappings, .. } = &self.locations[pe.0 as usize];
        Resolver { pe, main: *main, tables: &self.tables, mappings, groups: &self.groups, windows: &self.windows }
    }

    /// What is known of the gaps of a location that took `span` ticks.
    pub(super) fn counted(&self, pe: PeId, counts: Counts<'_>, span: u64) -> Counted {
        let serves = self.locations[pe.0 as usize].main != pe;
        let slowdown = self.slowdowns.get(pe.0 as usize).copied().unwrap_or(1.0);
        counts.finish(serves, span, slowdown)
    }

    /// Adds the visits of functions. Returns the ticks between operations whose function is not known.
    pub(super) fn put_functions(
        &self,
        pe: PeId,
        joined: &mut Joined<Kept>,
        part: impl FnOnce(&Recording<'_>) -> Part,
    ) -> u64 {
        let resolver = self.resolver(pe);
        let samples = joined.beside().flat_map(|(kept, offset)| {
            kept.samples.iter().map(move |it| Sampled { next: VisitIx(it.next.0 + offset), ..*it })
        });
        let samples: Vec<Sampled> = samples.collect();
        let called = joined.beside().flat_map(|(kept, offset)| {
            kept.called.iter().map(move |it| Called { visit: VisitIx(it.visit.0 + offset), ..*it })
        });
        let called: Vec<Called> = called.collect();
        let recorded = joined.recorded(|key| resolver.region(key));
        let recording = Recording::new(&recorded, &called, &samples);
        let woven = weave::weave(&recording, &self.contexts, part(&recording));
        joined.replace(woven.visits);
        woven.unknown
    }

    fn run(&self, run: &Run) -> Segment<Kept> {
        let location = &self.locations[run.location];
        let resolver = self.resolver(location.pe);
        let mut decoder = Decoder::new(run.order == 0, &location.clock, &self.contexts, resolver, location.process);
        let (damage, unread) =
            self.read_chunks(run.location, run.bytes.clone(), |_, chunk| codec::read_chunk(chunk, &mut decoder));
        let mut segment = decoder.finish();
        (segment.beside.damage, segment.beside.unread) = (damage, unread);
        segment
    }

    /// Shows chunks of a location, up to the end of its file: what of them was lost, and why some could not be read.
    pub(super) fn read_chunks(
        &self,
        location: usize,
        bytes: Range<u64>,
        mut show: impl FnMut(u64, &codec::Chunk<'_>) -> codec::ChunkOutcome,
    ) -> (Damage, Option<String>) {
        let mut damage = Damage::default();
        let file = match self.archive.open(&self.locations[location].events) {
            Ok(file) => file,
            Err(error) => return (damage, Some(error.to_string())),
        };
        let mut index = bytes.start / self.chunk_size;
        let mut pieces = Pieces::new(file.as_ref(), bytes, self.chunk_size);
        while let Some(bytes) = pieces.read() {
            match codec::chunk(bytes, index, self.chunk_size) {
                Ok(chunk) => {
                    let outcome = show(index, &chunk);
                    damage.add(&outcome.damage(chunk.offset));
                    if outcome.end == EndKind::EndOfFile {
                        break;
                    }
                }
                Err(broken) => {
                    let first = Some((broken.offset, broken.flaw));
                    damage.add(&Damage { lost_chunks: 1, first, ..Damage::default() });
                }
            }
            index += 1;
        }
        (damage, pieces.failed.map(|error| error.to_string()))
    }
}
