//! From the statistics beside an archive's event files to the profile of a trace.
//!
//! A row stands for a context that was recorded: a construct or a marked region. Functions around it have no rows; they are made here
//! from what the gaps between recorded calls tell, by the rule that gives them visits in a trace (see [`super::weave`]): the time between
//! two calls belongs to the innermost function that went on from one to the other (see [`super::lasting`]), and a function is entered where a call is inside of it and the call before
//! was not. A marked region is at the line where it begins; the chain of a call inside of it has it at another one, that of the call. So
//! where a chain has a region that has no row there, it stands for the one in the same functions that has. So a profile has the same functions with the same times and numbers of visits as a trace of the same run would.

use partune_base::{CallPathId, Clock, RegionId, Span, Table, Time};
use partune_diag::{Code, Diagnostic, Quality};
use partune_import::read_all;
use partune_trace::{
    BlockSums, CallPaths, CallSite, PathProfile, PeProfile, Profile, Region, RegionKind, Role, Transfers,
};
use rustc_hash::FxHashMap;

use super::archive::{Archive, Location};
use super::contexts::{Contexts, DEEPEST};
use super::gaps::length;
use super::lasting::{Lasting, Pairs};
use super::report::report_unknown;
use super::tables::{DefinedLocation, Tables};
use crate::statistics::{Block, Gap, SEVERAL, Statistics, members};

/// What the paths of contexts are made from.
pub(super) struct Paths<'a> {
    pub(super) contexts: &'a Contexts,
    pub(super) tables: &'a Tables,
    pub(super) regions: &'a Table<RegionId, Region>,
    /// Ticks of the archive in a second.
    resolution: u64,
    known: FxHashMap<(CallPathId, RegionId, CallSite), CallPathId>,
    /// Paths of contexts that have rows, by what is around them, whatever the line.
    recorded: FxHashMap<(CallPathId, RegionId), CallPathId>,
    of_context: FxHashMap<u32, CallPathId>,
    /// Ticks between calls of one function that may have been called again in between.
    unknown: u64,
}

/// Reads the statistics of all locations. `None` if the archive has none: it holds events.
pub(super) fn read(
    archive: &Archive<'_>,
    locations: &[DefinedLocation],
    quality: &mut Quality,
) -> Option<Vec<Option<Statistics>>> {
    let mut found = false;
    let mut lost = 0_u64;
    let mut one = |location: &DefinedLocation| {
        let name = format!("{}/{}.stat", archive.name, location.archive_id);
        let file = archive.files.open(&name).ok()?;
        found = true;
        let bytes = match read_all(file.as_ref()) {
            Ok(bytes) => bytes,
            Err(error) => {
                quality.add(Diagnostic::error(Code::MissingFile, format!("{name}: {error}"), "copy the archive again"));
                return None;
            }
        };
        let (statistics, damaged) = match Statistics::read(&bytes) {
            Ok(read) => read,
            Err(error) => {
                quality.add(Diagnostic::error(Code::DamagedFile, format!("{name}: {error}"), "copy the archive again"));
                return None;
            }
        };
        if damaged {
            let remedy = "what could be read is used; copy or record again for the rest";
            quality.add(Diagnostic::data_loss(Code::DamagedFile, format!("{name} is damaged"), remedy));
        }
        lost = lost.saturating_add(statistics.lost);
        Some(statistics)
    };
    let all: Vec<Option<Statistics>> = locations.iter().map(&mut one).collect();
    let missing = if found { all.iter().filter(|it| it.is_none()).count() as u64 } else { 0 };
    let remedy = "copy the whole archive, with the folder beside the anchor file";
    quality
        .add(Diagnostic::data_loss(Code::MissingStatistics, "statistics of a PE are missing", remedy).times(missing));
    if lost > 0 {
        let message = format!("the recorder could not count {lost} calls: memory or the disk was full");
        quality.add(Diagnostic::data_loss(
            Code::LostCalls,
            message,
            "record again where the disk has room; what is there is analysed",
        ));
    }
    found.then_some(all)
}

impl<'a> Paths<'a> {
    pub(super) fn new(
        contexts: &'a Contexts,
        tables: &'a Tables,
        regions: &'a Table<RegionId, Region>,
        resolution: u64,
    ) -> Paths<'a> {
        let (known, recorded, of_context) = <_>::default();
        Paths { contexts, tables, regions, resolution, known, recorded, of_context, unknown: 0 }
    }

    /// The profile of all locations; paths are added where they are met first.
    pub(super) fn profile(
        &mut self,
        statistics: &[Option<Statistics>],
        locations: &[Location],
        paths: &mut CallPaths,
        quality: &mut Quality,
    ) -> Profile {
        let mut unknown = 0;
        let rows = statistics.iter().flatten().flat_map(|it| &it.rows);
        let mut recorded: Vec<u32> = rows.filter_map(|row| self.contexts.position(row.context.into())).collect();
        // Outer ones first, so that they are known where inner ones are placed.
        recorded.sort_unstable_by_key(|context| (self.contexts.length(*context), *context));
        recorded.dedup();
        for context in recorded {
            let path = self.place(context, true, paths);
            paths.set_recorded(path, true);
            self.recorded.entry((paths.parent(path), paths.region(path))).or_insert(path);
        }
        let pes = statistics.iter().zip(locations).map(|(statistics, location)| {
            let statistics = statistics.as_ref()?;
            let serves = location.main != location.pe;
            Some(self.location(statistics, |stamp| location.clock.correct(stamp), serves, paths, &mut unknown))
        });
        let pes: Vec<PeProfile> = pes.map(Option::unwrap_or_default).collect();
        quality.add(
            Diagnostic::data_loss(
                Code::UndefinedContext,
                "statistics name a calling context that is not defined; they were left out",
                "the archive's .def file is damaged: copy it again",
            )
            .times(unknown),
        );
        let all = pes.iter().map(|pe| pe.end.0.saturating_sub(pe.begin.0) as f64).sum();
        report_unknown(self.unknown, all, self.resolution, quality);
        Profile { pes: pes.into() }
    }

    fn location(
        &mut self,
        statistics: &Statistics,
        time: impl Fn(u64) -> Time,
        serves: bool,
        paths: &mut CallPaths,
        unknown: &mut u64,
    ) -> PeProfile {
        let mut sums: FxHashMap<CallPathId, Sums> = FxHashMap::default();
        for row in &statistics.rows {
            let Some(context) = self.contexts.position(row.context.into()) else {
                *unknown += 1;
                continue;
            };
            let path = self.place(context, true, paths);
            let (first, last) = (time(row.first), time(row.last));
            let more = Sums {
                blocks: statistics.open_block.map(|_| self.block(statistics, &row.block)),
                members: row.members,
                cpu: self.cpu(row.cpu),
                is_recorded: true,
                visits: row.count,
                inclusive: span(row.inclusive),
                own: span(row.own),
                extremes: Some((span(row.min), span(row.max))),
                times: Some((first, last)),
                transfers: row.transfers,
            };
            sums.entry(path).or_default().merge(&more);
        }
        let mut pairs = Pairs::default();
        let called = statistics.rows.iter().filter_map(|row| self.contexts.position(row.context.into()));
        called.for_each(|operation| pairs.operation(self.contexts, operation));
        for gap in &statistics.gaps {
            let before = gap.before.and_then(|before| self.contexts.position(before.into()));
            if let Some(pair) = before.zip(self.contexts.position(gap.context.into())) {
                pairs.count(pair, gap.count, gap.ticks);
            }
        }
        let (begin, end) = (time(statistics.begin), time(statistics.end));
        let mut lasting = Lasting::new(self.contexts, &pairs, serves, length(begin, end));
        for gap in &statistics.gaps {
            if self.gap(gap, &mut lasting, paths, &mut sums).is_none() {
                *unknown += 1;
            }
        }
        let rows = rows(paths, sums, statistics.has_cpu);
        let calls = statistics.rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
        let open_block = statistics.open_block.map(|block| self.block(statistics, &block));
        PeProfile { begin, end, paused: span(statistics.paused), calls, open_block, rows }
    }

    fn block(&self, statistics: &Statistics, block: &Block) -> BlockSums {
        let cpu = statistics.has_cpu.then(|| self.cpu(block.cpu));
        BlockSums { time: span(block.ticks), cpu, signature: block.signature }
    }

    /// Nanoseconds in ticks of the archive.
    fn cpu(&self, nanoseconds: u64) -> Span {
        Clock::new(self.resolution).of_nanoseconds(nanoseconds)
    }

    /// Charges the time between two calls and the visits that begin there. None if a context is not defined.
    fn gap(
        &mut self,
        gap: &Gap,
        lasting: &mut Lasting,
        paths: &mut CallPaths,
        sums: &mut FxHashMap<CallPathId, Sums>,
    ) -> Option<()> {
        let context = self.contexts.position(gap.context.into())?;
        let path = self.place(context, true, paths);
        let inside = paths.parent(path);
        let common = if let Some(before) = gap.before {
            let of_before = self.contexts.position(before.into())?;
            let before = self.place(of_before, true, paths);
            let common = common(paths, inside, paths.parent(before));
            let lasting = lasting.of(self.contexts, (of_before, context));
            let common = self.lasting(lasting as usize, common, paths, sums, gap.ticks);
            if common.is_some() {
                let cpu = self.cpu(gap.cpu);
                let sums = sums.entry(common).or_default();
                sums.own += span(gap.ticks);
                sums.cpu += cpu;
            }
            common
        } else {
            // The first call in a marked region, or of the thread: functions inside of the region begin.
            let is_recorded = |path: &CallPathId| sums.get(path).is_some_and(|sums| sums.is_recorded);
            paths.ancestors(inside).find(is_recorded).unwrap_or(CallPathId::NONE)
        };
        let mut at = inside;
        while at.is_some() && at != common {
            let sums = sums.entry(at).or_default();
            if !sums.is_recorded {
                sums.visits = sums.visits.saturating_add(gap.count);
            }
            at = paths.parent(at);
        }
        Some(())
    }

    /// The innermost one of the functions that two calls are in, of which only the outermost `lasting` go on: a recorded region always does.
    fn lasting(
        &mut self,
        lasting: usize,
        common: CallPathId,
        paths: &CallPaths,
        sums: &FxHashMap<CallPathId, Sums>,
        ticks: u64,
    ) -> CallPathId {
        let is_function = |path: &CallPathId| self.is_function(paths.region(*path));
        let functions = paths.ancestors(common).filter(is_function).count();
        let is_recorded = |path: &CallPathId| sums.get(path).is_some_and(|sums| sums.is_recorded);
        let mut path = common;
        for _ in lasting..functions {
            if path.is_some() && !is_recorded(&path) {
                path = paths.parent(path);
            }
        }
        if path != common {
            self.unknown = self.unknown.saturating_add(ticks);
        }
        path
    }

    /// The path of a context, after those of its callers; `has_row`: it is at the line that it says.
    fn place(&mut self, context: u32, has_row: bool, paths: &mut CallPaths) -> CallPathId {
        let innermost = context;
        let mut chain = Vec::new();
        let mut path = CallPathId::NONE;
        let mut at = Some(context);
        while let Some(context) = at {
            if let Some(known) = self.of_context.get(&context) {
                path = *known;
                break;
            }
            chain.push(context);
            at = self.contexts.parent(context);
            // Chains that are circles were cut before; this only bounds what could be wrong there.
            if chain.len() > self.contexts.len() {
                break;
            }
        }
        for context in chain.into_iter().rev() {
            let region = self.tables.region(self.contexts.region(context).into());
            let deep = || self.contexts.depth(self.contexts.around(context)) >= DEEPEST;
            let parent = if self.is_function(region) && deep() { paths.parent(path) } else { path };
            let key = (parent, region, self.contexts.site(context));
            let elsewhere = if has_row && context == innermost { None } else { self.recorded.get(&(parent, region)) };
            path = match (self.known.get(&key), elsewhere) {
                (Some(known), _) | (None, Some(known)) => *known,
                (None, None) => {
                    let path = paths.push_at(key.0, key.1, key.2);
                    paths.set_recorded(path, false);
                    self.known.insert(key, path);
                    path
                }
            };
            self.of_context.insert(context, path);
        }
        path
    }

    fn is_function(&self, region: RegionId) -> bool {
        let region = &self.regions[region];
        region.role == Role::User && region.kind == RegionKind::Function && !region.paradigm.is_some()
    }
}

/// What adds up to a row.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// It has events of its own in a trace, not only calls inside.
    is_recorded: bool,
    visits: u64,
    inclusive: Span,
    own: Span,
    extremes: Option<(Span, Span)>,
    times: Option<(Time, Time)>,
    transfers: Transfers,
    cpu: Span,
    members: u32,
    blocks: Option<BlockSums>,
}

impl Sums {
    fn merge(&mut self, more: &Sums) {
        self.is_recorded |= more.is_recorded;
        self.visits = self.visits.saturating_add(more.visits);
        self.inclusive += more.inclusive;
        self.own += more.own;
        self.extremes = match (self.extremes, more.extremes) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
        self.span(more.times);
        self.transfers.merge(&more.transfers);
        self.cpu += more.cpu;
        self.members = members(self.members, more.members);
        self.blocks = match (self.blocks, more.blocks) {
            (Some(a), Some(b)) => Some(BlockSums {
                time: a.time + b.time,
                cpu: a.cpu.zip(b.cpu).map(|(a, b)| a + b),
                signature: a.signature.wrapping_add(b.signature),
            }),
            (a, b) => a.or(b),
        };
    }

    fn span(&mut self, times: Option<(Time, Time)>) {
        self.times = match (self.times, times) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }
}

/// Adds to functions what is inside of them: from the innermost outwards, since a parent's number is smaller.
fn rows(paths: &CallPaths, mut sums: FxHashMap<CallPathId, Sums>, has_cpu: bool) -> Vec<PathProfile> {
    let mut order: Vec<CallPathId> = sums.keys().copied().collect();
    // A call inside makes every path around it known, whether or not time was charged there.
    for path in order.clone() {
        for above in paths.ancestors(path).skip(1) {
            if sums.contains_key(&above) {
                break;
            }
            sums.insert(above, Sums::default());
            order.push(above);
        }
    }
    order.sort_unstable();
    let mut rows = Vec::with_capacity(order.len());
    for path in order.into_iter().rev() {
        let Some(it) = sums.get_mut(&path) else { continue };
        if !it.is_recorded {
            it.inclusive += it.own;
        }
        let it = *it;
        if let Some(above) = sums.get_mut(&paths.parent(path)) {
            above.span(it.times);
            if !above.is_recorded {
                above.inclusive += it.inclusive;
            }
        }
        // A construct or region that was called and did not return on this location has nothing to show.
        if let (Some((first, last)), true) = (it.times, it.visits > 0) {
            rows.push(PathProfile {
                path,
                visits: it.visits,
                inclusive: it.inclusive,
                exclusive: it.own.min(it.inclusive),
                extremes: it.extremes,
                first,
                last,
                transfers: it.transfers,
                cpu: has_cpu.then_some(it.cpu),
                members: Some(it.members).filter(|members| ![0, SEVERAL].contains(members)),
                blocks: it.blocks,
            });
        }
    }
    rows.reverse();
    rows
}

/// The innermost path that two are in.
fn common(paths: &CallPaths, mut a: CallPathId, mut b: CallPathId) -> CallPathId {
    while a != b {
        // A parent's number is smaller, and none is larger than all.
        if !a.is_some() || !b.is_some() {
            return CallPathId::NONE;
        }
        if a > b { a = paths.parent(a) } else { b = paths.parent(b) }
    }
    a
}

fn span(ticks: u64) -> Span {
    Span(ticks.min(Time::LIMIT as u64) as i64)
}
