//! An archive slice by slice: where to cut it, and a source for what lies between two cuts.
//!
//! Cut is where all processes have met and nothing is under way ([`super::scout`]); of these moments, those that make slices of about the wanted size. A slice
//! begins at a record of each event file, with the functions that are open there. Main threads are looked through first, then others, for which it is known then when their processes met.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use partune_base::{CallPathId, GroupId, Id, MetricId, PeId, RegionId, Table, Time};
use partune_diag::Quality;
use partune_import::{
    Advance, Files, ImportError, Joined, RegionKey, Segment, Slices, Source, Tree, merge_paths, read,
};
use partune_job::{Job, agree, deal, gather};
use partune_trace::{Ending, Group, GroupKind, MetricSample, PeKind, Slice, Trace, TraceBuilder, VisitIx};
use rayon::prelude::*;
use rustc_hash::FxHasher;

use super::contexts::Contexts;
use super::counts::Counted;
use super::decode::Decoder;
use super::endings;
use super::gaps::Recording;
use super::offsets::{self, Change, Positions, Users};
use super::own_paths::OwnPaths;
use super::report::{Between, report_between, report_miscounted};
use super::runs::{Events, Kept};
use super::scout::{CpuTimes, Found, Moment, Scout, Step};
use super::weave::Part;
use crate::codec::attributes::AttributeList;
use crate::codec::{self, Event, EventVisitor};

/// Moments that are kept of all locations together, and of one at least.
const MOMENTS: usize = 1 << 21;
const LEAST_MOMENTS: usize = 64;

/// What of a location is in a slice.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretch {
    /// The chunks that it is in, and the records of the first one before it.
    chunks: Range<u64>,
    skip: u64,
    take: u64,
    /// Regions that are open at its begin, outermost first.
    open: Vec<RegionKey>,
    /// Where functions are known from calling contexts: that of the meeting where it begins, or of the last part in a team, and when it ended.
    context: Option<(u32, Time)>,
    /// It is that of another thread than the main one, which is in no function between its parts in teams.
    serves: bool,
    /// Where it begins and ends; none at the ends of the run.
    since: Option<Time>,
    until: Option<Time>,
    /// When it is said to be there, beside its visits.
    pub(super) present: Option<(Time, Time)>,
    /// How many [changes](Looked::changes) of handles of files came before.
    changes: usize,
    /// Counters of CPU time where it begins, see [`Slice::stood`].
    cpu: Vec<MetricSample>,
}

/// An archive that was looked through, of which what lies between two meetings can be read.
pub(super) struct Looked<'a> {
    events: Events<'a>,
    /// Tables, all call paths, and what was noticed so far.
    pub(super) builder: TraceBuilder,
    pub(super) quality: Quality,
    /// By location: what is known of gaps between operations, where functions are known from calling contexts.
    counted: Vec<Option<Counted>>,
    /// By location whether CPU time is counted on it, and the counters of it.
    counts_cpu: Vec<bool>,
    cpu_times: Vec<MetricId>,
    /// By location where handles of files are from which meeting on, and who uses them; nothing where the archive tells offsets.
    changes: Vec<Vec<Change>>,
    users: Users,
    between: Between,
}

struct Sliced<'a> {
    looked: Looked<'a>,
    /// By slice, by location.
    stretches: Vec<Vec<Stretch>>,
    /// Where each slice begins, see [`Slice::met`].
    met: Vec<Option<(Time, Table<PeId, CallPathId>)>>,
}

/// Looks for slices; see [`partune_import::FindSlices`].
pub(super) fn find<'a>(
    files: &'a dyn Files,
    anchor_name: &'a str,
    wanted: u64,
    job: &dyn Job,
    advance: Advance<'_>,
) -> Result<Result<Box<dyn Slices + 'a>, Option<String>>, ImportError> {
    let opened = open_large(files, anchor_name, wanted, job)?;
    Ok(opened.and_then(|(events, builder)| {
        sliced(events, builder, wanted, job, advance).map(|it| Box::new(it) as Box<dyn Slices + 'a>).map_err(Some)
    }))
}

/// Reads the definitions of an archive, by all processes of a job; none if it has not more than twice so many event records.
pub(super) fn open_large<'a>(
    files: &'a dyn Files,
    anchor_name: &'a str,
    wanted: u64,
    job: &dyn Job,
) -> Result<Result<(Events<'a>, TraceBuilder), Option<String>>, ImportError> {
    let opened = super::open(files, anchor_name);
    let seen = opened.as_ref().map(|(events, _)| seen(events)).map_err(ToString::to_string);
    let agreed = agree(job, seen);
    let (events, builder) = opened?;
    agreed.map_err(|unable| ImportError::elsewhere(&unable))?;
    let announced = events.locations.iter().fold(0_u64, |sum, location| sum.saturating_add(location.announced));
    Ok(if announced <= wanted.saturating_mul(2) { Err(None) } else { Ok((events, builder)) })
}

fn sliced<'a>(
    events: Events<'a>,
    builder: TraceBuilder,
    wanted: u64,
    job: &dyn Job,
    advance: Advance<'_>,
) -> Result<Sliced<'a>, String> {
    let mut found = look_through(&events, &builder, job, advance)?;
    let cuts = cuts(&found, wanted)?;
    let (looked, paths) = Looked::new(events, builder, &mut found);
    let slice = |slice: usize| {
        let begin = slice.checked_sub(1).map(|before| cuts[before].as_slice());
        looked.stretches(&found, begin, cuts.get(slice).map(Vec::as_slice))
    };
    let stretches = (0..=cuts.len()).map(slice).collect();
    let met = |cut: &Vec<usize>| {
        let came = found.iter().zip(cut).map(|(found, at)| found.moments[*at].came).max();
        let path = |((found, at), paths): ((&Found, &usize), &Vec<CallPathId>)| {
            let moment = &found.moments[*at];
            let met = moment.ended.filter(|_| moment.came > Time::MIN);
            met.map_or(CallPathId::NONE, |(path, _)| paths[path as usize])
        };
        came.map(|came| (came, found.iter().zip(cut).zip(&paths).map(path).collect()))
    };
    let met = std::iter::once(None).chain(cuts.iter().map(met)).collect();
    Ok(Sliced { looked, stretches, met })
}

impl<'a> Looked<'a> {
    /// Takes of what was found what is needed to read any part. Also the call paths of each location, by what was found.
    pub(super) fn new(
        events: Events<'a>,
        mut builder: TraceBuilder,
        found: &mut [Found],
    ) -> (Looked<'a>, Vec<Vec<CallPathId>>) {
        let of_pe = |(location, found): (usize, &Found)| {
            let resolver = events.resolver(PeId::from_index(location));
            OwnPaths::new(&found.paths, &events.contexts, |key| resolver.region(key))
        };
        let (own, of): (Vec<_>, Vec<_>) = found.iter().enumerate().map(of_pe).map(|own| (own.paths, own.of)).unzip();
        let merged = merge_paths(own.into_iter(), &mut builder.paths);
        let paths =
            of.iter().zip(&merged).map(|(of, merged)| of.iter().map(|path| merged[*path as usize]).collect()).collect();
        let counted = events.locations.iter().zip(&*found).filter(|(location, _)| location.event_bytes.is_some());
        let counted = counted.map(|(location, found)| (location.announced, found.events));
        let miscounted: Vec<(u64, u64)> = counted.filter(|(announced, read)| announced != read).collect();
        let mut quality = std::mem::take(&mut builder.quality);
        events.locations.iter().flat_map(|location| &location.faults).for_each(|fault| quality.add(fault.clone()));
        report_miscounted(&miscounted, &mut quality);
        let between = Between::of(found);
        builder.shared_out_by = between.shared_out_by();
        let mut users = Users::default();
        for (location, found) in events.locations.iter().zip(&*found) {
            let process = builder.pes[location.pe].process;
            found.handles.iter().for_each(|handle| users.add(process, location.pe, *handle));
        }
        let counts_cpu = found.iter().map(|found| found.counts_cpu).collect();
        let cpu_times = CpuTimes::of(&builder).metrics;
        let (counted, changes) =
            found.iter_mut().map(|found| (found.counted.take(), std::mem::take(&mut found.changes))).unzip();
        (Looked { events, builder, quality, counted, counts_cpu, cpu_times, changes, users, between }, paths)
    }
}

/// A number that tells whether processes look at the same archive: it is of what decides how it is cut, but for the events themselves.
fn seen(events: &Events<'_>) -> u64 {
    let mut hash = FxHasher::default();
    events.definitions.hash(&mut hash);
    events.locations.iter().for_each(|location| (location.announced, location.event_bytes).hash(&mut hash));
    hash.finish()
}

/// Which groups have all main threads, if by its definitions an archive may be cut.
fn can_be_cut(events: &Events<'_>, builder: &TraceBuilder) -> Result<Table<GroupId, bool>, String> {
    let is_early = |how: Ending| match how {
        Ending::Left | Ending::Signal(_) | Ending::Aborted | Ending::Killed => true,
        Ending::InOrder => false,
    };
    let main: Vec<PeId> =
        events.locations.iter().map(|location| location.pe).filter(|pe| is_main(events, pe.index())).collect();
    let why = if events.statistics.is_some() {
        "it is a profile"
    } else if events.archive.is_packed() || codec::check_size(events.chunk_size).is_err() {
        "its files have to be read as a whole"
    } else if builder.begins_late || builder.is_partial {
        "not all of the run is in it"
    } else if builder.endings.processes.iter().any(|ended| is_early(ended.how)) {
        "the run ended early"
    } else if builder.pes.iter().any(|pe| pe.kind != PeKind::Cpu) {
        "it has other PEs than threads of processes"
    } else if main.len() < 2 && events.locations.len() > main.len() {
        "it is one process with threads"
    } else {
        let has_all = |group: &Group| {
            let may = matches!(group.kind, GroupKind::World | GroupKind::Communicator);
            let (known, all) = (group.members.known(), group.members.len());
            may && known == main.len() && all == main.len() && main.iter().all(|pe| group.members.contains(*pe))
        };
        let of_all: Table<GroupId, bool> = builder.groups.iter().map(has_all).collect();
        return if of_all.iter().any(|all| *all) {
            Ok(of_all)
        } else {
            Err("no group of all processes is defined".to_owned())
        };
    };
    Err(why.to_owned())
}

/// Whether a location is the main thread of its process.
fn is_main(events: &Events<'_>, location: usize) -> bool {
    events.locations[location].main == events.locations[location].pe
}

/// One pass over all events, by all processes of the job: those of main threads, then those of others. Why the run cannot be cut, if it cannot.
pub(super) fn look_through(
    events: &Events<'_>,
    builder: &TraceBuilder,
    job: &dyn Job,
    advance: Advance<'_>,
) -> Result<Vec<Found>, String> {
    let of_all = can_be_cut(events, builder);
    agree(job, of_all.as_ref().map(|_| ()).map_err(Clone::clone)).map_err(|unable| unable.why)?;
    let of_all = of_all?;
    let cpu_times = CpuTimes::of(builder);
    let most = (MOMENTS / events.locations.len().max(1)).max(LEAST_MOMENTS);
    let size = |location: usize| events.locations[location].event_bytes.unwrap_or_default();
    // Those of them that are this process's to look through.
    let own = |locations: &[usize]| -> Vec<usize> {
        let sizes: Vec<u64> = locations.iter().map(|location| size(*location)).collect();
        let dealt = deal(&sizes, job.size());
        locations.iter().zip(dealt).filter(|(_, to)| *to == job.rank()).map(|(location, _)| *location).collect()
    };
    let (main, others): (Vec<usize>, Vec<usize>) =
        (0..events.locations.len()).partition(|location| is_main(events, *location));
    let (own_main, own_others) = (own(&main), own(&others));
    let total: u64 = own_main.iter().chain(&own_others).map(|location| size(*location)).sum();
    let done = std::sync::atomic::AtomicU64::new(0);
    let positioned = offsets::positioned(builder);
    let scout = |location: usize| {
        Scout::new(events, events.locations[location].pe, &builder.regions, &of_all, &positioned, &cpu_times, most)
    };
    let look = |location: usize, mut scout: Scout<'_>| {
        let size = size(location);
        let (damage, unread) = events.read_chunks(location, 0..size, |index, chunk| {
            scout.begin_chunk(index);
            codec::read_chunk(chunk, &mut scout)
        });
        advance(done.fetch_add(size, std::sync::atomic::Ordering::Relaxed) + size, total);
        if !damage.is_none() || unread.is_some() && events.locations[location].event_bytes.is_some() {
            scout.unfit("an event file is damaged");
        }
        (location, scout.finish())
    };
    let mut found: Vec<Found> = events.locations.iter().map(|_| Found::default()).collect();
    let of_main = own_main.into_par_iter().with_max_len(1).map(|at| look(at, scout(at))).collect();
    bring_together(job, of_main, &mut found)?;
    if !others.is_empty() {
        let met = met(&main, &found);
        let other = |at: usize| look(at, scout(at).beside(met[events.locations[at].main.index()].clone()));
        let of_others = own_others.into_par_iter().with_max_len(1).map(other).collect();
        bring_together(job, of_others, &mut found)?;
    }
    Ok(found)
}

/// Puts what all processes found to its locations; why the run cannot be cut, if it cannot.
fn bring_together(job: &dyn Job, own: Vec<(usize, Found)>, found: &mut [Found]) -> Result<(), String> {
    gather(job, own).into_iter().flatten().for_each(|(location, of_location)| found[location] = of_location);
    found.iter().find_map(|found| found.unfit.as_deref()).map_or(Ok(()), |why| Err(why.to_owned()))
}

/// For each main thread the meetings behind which nothing is under way between processes, and when it left them.
fn met(main: &[usize], found: &[Found]) -> Vec<Vec<(u64, Time)>> {
    let of_main: Vec<&Found> = main.iter().map(|at| &found[*at]).collect();
    let mut met: Vec<Vec<(u64, Time)>> = vec![Vec::new(); found.len()];
    for meeting in Meetings::new(&of_main) {
        for ((at, found), moment) in main.iter().zip(&of_main).zip(meeting) {
            let Moment { number, time, .. } = found.moments[moment];
            met[*at].push((number, time));
        }
    }
    met
}

/// Where to cut: for each cut the position of its moment in each location.
fn cuts(found: &[Found], wanted: u64) -> Result<Vec<Vec<usize>>, String> {
    let found: Vec<&Found> = found.iter().collect();
    let all: u64 = found.iter().map(|found| found.events).sum();
    let mut cuts: Vec<Vec<usize>> = Vec::new();
    let (mut last, mut before): (Option<(u64, Vec<usize>)>, u64) = (None, 0);
    let (mut most, mut begin) = (0, 0);
    let mut take = |cuts: &mut Vec<Vec<usize>>, (events, at): (u64, Vec<usize>), begin: &mut u64| {
        most = most.max(events - *begin);
        *begin = events;
        cuts.push(at);
    };
    for here in Meetings::new(&found) {
        let moments = || found.iter().zip(&here).map(|(found, at)| &found.moments[*at]);
        let events: u64 = moments().map(|moment| moment.events).sum();
        if events - before > wanted
            && let Some(cut) = last.take()
        {
            before = cut.0;
            take(&mut cuts, cut, &mut begin);
        }
        last = Some((events, here));
    }
    if let Some(cut) = last.filter(|(events, _)| all - before > wanted && all > *events) {
        take(&mut cuts, cut, &mut begin);
    }
    let most = most.max(all - begin);
    if cuts.is_empty() || most > all / 2 + wanted {
        let why = if found.iter().any(|found| found.cpu_unread) {
            "CPU time is counted in it, but hardly ever where all processes have met"
        } else {
            "there are no moments at which all processes have met and nothing is under way, or hardly any"
        };
        return Err(why.to_owned());
    }
    Ok(cuts)
}

/// The meetings behind which nothing is under way, in order: of each the positions of its moments in all locations.
pub(super) struct Meetings<'a> {
    found: &'a [&'a Found],
    stride: u64,
    /// The next moment of each location.
    at: Vec<usize>,
}

impl<'a> Meetings<'a> {
    pub(super) fn new(found: &'a [&'a Found]) -> Meetings<'a> {
        let stride = found.iter().map(|found| found.stride).max().unwrap_or(1);
        Meetings { found, stride, at: vec![0; found.len()] }
    }

    /// Moves on to the moments of all locations with a number, if they have them.
    fn go_to(&mut self, number: u64) -> bool {
        for (found, at) in self.found.iter().zip(&mut self.at) {
            while found.moments.get(*at).is_some_and(|moment| moment.number < number) {
                *at += 1;
            }
        }
        let is_here =
            |(found, at): (&&Found, &usize)| found.moments.get(*at).is_some_and(|moment| moment.number == number);
        self.found.iter().zip(&self.at).all(is_here)
    }
}

impl Iterator for Meetings<'_> {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        loop {
            let number = self.found.first()?.moments.get(*self.at.first()?)?.number;
            if number.is_multiple_of(self.stride) && self.go_to(number) {
                let moments = || self.found.iter().zip(&self.at).map(|(found, at)| &found.moments[*at]);
                let is_empty = moments().fold(0_u64, |sum, moment| sum.wrapping_add(moment.messages)) == 0;
                let parts = moments().all(|moment| moment.parts);
                let here = self.at.clone();
                self.at[0] += 1;
                if is_empty && parts {
                    return Some(here);
                }
            } else {
                self.at[0] += 1;
            }
        }
    }
}

impl Looked<'_> {
    /// What of each location lies between two meetings, of each the positions of its moments; from the begin of the run or to its end without them.
    pub(super) fn stretches(&self, found: &[Found], begin: Option<&[usize]>, end: Option<&[usize]>) -> Vec<Stretch> {
        let moment = |cut: Option<&[usize]>, location: usize| cut.map(|at| &found[location].moments[at[location]]);
        let stretch = |location: usize| {
            let of_location = &found[location];
            let (begin, end) = (moment(begin, location), moment(end, location));
            let before = |moment: &Moment| self.changes[location].partition_point(|it| it.number <= moment.number);
            let cpu = |moment: &Moment| -> Vec<MetricSample> {
                let values = self.cpu_times.iter().zip(&moment.cpu);
                let sample = |(metric, value): (&MetricId, &f64)| MetricSample {
                    visit: VisitIx::NONE,
                    time: moment.time,
                    metric: *metric,
                    value: *value,
                };
                values.map(sample).collect()
            };
            let bytes = self.events.locations[location].event_bytes.unwrap_or_default();
            let chunks = bytes.div_ceil(self.events.chunk_size);
            let first = begin.map_or(0, |moment| u64::from(moment.chunk));
            // A thread of which nothing was recorded is not there.
            let since = begin.filter(|_| of_location.events > 0).map(|moment| moment.time);
            let until = end.filter(|_| of_location.events > 0).map(|moment| moment.time);
            Stretch {
                chunks: first..end.map_or(chunks, |moment| u64::from(moment.chunk) + 1),
                skip: begin.map_or(0, |moment| u64::from(moment.in_chunk)),
                take: end.map_or(of_location.events, |moment| moment.events) - begin.map_or(0, |moment| moment.events),
                open: begin.map_or_else(Vec::new, |moment| open(&of_location.paths, moment)),
                context: begin.and_then(|moment| moment.ended).and_then(|(path, time)| {
                    match of_location.paths.step(path) {
                        Step::Context(context) => Some((context, time)),
                        Step::Region(_) | Step::Frame(_) => None,
                    }
                }),
                serves: !is_main(&self.events, location),
                since,
                until,
                present: since.or(until).zip(until.or(since)),
                changes: begin.map_or(0, before),
                cpu: begin.map_or_else(Vec::new, cpu),
            }
        };
        (0..found.len()).map(stretch).collect()
    }

    /// Reads what lies between two meetings. None where the input is not as it was when it was looked through.
    pub(super) fn read(
        &self,
        builder: TraceBuilder,
        stretches: &[Stretch],
        is_last: bool,
        advance: Advance<'_>,
    ) -> Option<Trace> {
        let source = SliceSource { looked: self, stretches, is_last, unknown: AtomicU64::new(0) };
        let trace = read(source, builder, advance);
        let is_whole = trace.streams().iter().zip(stretches).all(|(stream, stretch)| stream.events == stretch.take);
        // All parts have the same call paths.
        (is_whole && trace.paths().len() == self.builder.paths.len()).then_some(trace)
    }
}

/// None where functions are known from calling contexts, see [`super::scout`].
fn open(paths: &Tree<Step>, moment: &Moment) -> Vec<RegionKey> {
    let around = std::iter::successors(moment.path, |path| paths.parent(*path));
    let region = |path: u32| if let Step::Region(region) = paths.step(path) { Some(region) } else { None };
    let mut open: Vec<RegionKey> = around.filter_map(region).collect();
    open.reverse();
    open
}

impl Slices for Sliced<'_> {
    fn count(&self) -> usize {
        self.stretches.len()
    }

    fn conclude(&self, unknown: u64) -> Quality {
        let Looked { events, builder, between, .. } = &self.looked;
        let mut quality = Quality::default();
        report_between(between, unknown, events.generators.rate, builder.resolution, &mut quality);
        quality
    }

    fn read(&self, slice: usize, advance: Advance<'_>) -> Option<Trace> {
        let looked = &self.looked;
        let mut builder = looked.builder.clone();
        if slice == 0 {
            builder.quality = looked.quality.clone();
        }
        let stretches = &self.stretches[slice];
        let is_last = slice + 1 == self.stretches.len();
        builder.slice = Some(Slice {
            number: slice,
            is_last,
            met: self.met[slice].clone(),
            begun: stretches.iter().map(|stretch| stretch.begun(&looked.events.contexts)).collect(),
            open: Table::filled(stretches.len(), Vec::new()),
            stood: stretches.iter().map(|stretch| stretch.cpu.len() as u32).collect(),
            counts_cpu: looked.counts_cpu.iter().copied().collect(),
            unknown: 0,
        });
        looked.read(builder, stretches, is_last, advance)
    }
}

impl Between {
    fn of(found: &[Found]) -> Between {
        let times = found.iter().filter_map(|found| found.times);
        Between {
            used: found.iter().filter_map(|found| found.counted.as_ref()).map(|counted| counted.shares.used).sum(),
            samples: found.iter().map(|found| found.samples).sum(),
            lost: found.iter().map(|found| found.lost_samples).sum(),
            span: times.map(|(begin, end)| end.0.saturating_sub(begin.0) as f64).sum(),
        }
    }
}

impl Stretch {
    /// How many regions and functions are open where it begins.
    fn begun(&self, contexts: &Contexts) -> u32 {
        let functions = self.context.filter(|_| !self.serves);
        functions.map_or(self.open.len() as u32, |(context, _)| contexts.depth(contexts.around(context)))
    }
}

/// What lies between two meetings as a source.
struct SliceSource<'a> {
    looked: &'a Looked<'a>,
    stretches: &'a [Stretch],
    is_last: bool,
    /// See [`Slice::unknown`].
    unknown: AtomicU64,
}

impl Source for SliceSource<'_> {
    type Part = usize;
    type Beside = Kept;

    fn parts(&self) -> Vec<usize> {
        (0..self.stretches.len()).collect()
    }

    fn size(&self, location: &usize) -> u64 {
        let chunks = &self.stretches[*location].chunks;
        (chunks.end - chunks.start) * self.looked.events.chunk_size
    }

    fn read(&self, location: &usize) -> Vec<(PeId, Segment<Kept>)> {
        vec![(self.looked.events.locations[*location].pe, self.segment(*location))]
    }

    fn whole(&self, pe: PeId) -> Segment<Kept> {
        self.segment(pe.index())
    }

    fn region(&self, pe: PeId, key: RegionKey) -> RegionId {
        self.looked.events.resolver(pe).region(key)
    }

    fn joined(&self, pe: PeId, joined: &mut Joined<Kept>) {
        let Some(counted) = &self.looked.counted[pe.index()] else { return };
        let stretch = &self.stretches[pe.index()];
        let part = |_: &Recording<'_>| Part {
            counted: counted.clone(),
            ended: stretch.context,
            serves: stretch.serves,
            is_last: stretch.until.is_none(),
        };
        let unknown = self.looked.events.put_functions(pe, joined, part);
        self.unknown.fetch_add(unknown, Ordering::Relaxed);
    }

    fn report(&self, joined: &[Joined<Kept>], builder: &mut TraceBuilder) {
        let unknown = self.unknown.load(Ordering::Relaxed);
        if let Some(slice) = &mut builder.slice {
            slice.unknown = unknown;
        } else {
            let Looked { events, between, .. } = self.looked;
            let times = joined.iter().filter_map(Joined::times);
            let span = times.map(|(begin, end)| end.0.saturating_sub(begin.0) as f64).sum();
            let between = Between { span, ..*between };
            report_between(&between, unknown, events.generators.rate, builder.resolution, &mut builder.quality);
        }
        // What is open at the end of another part goes on.
        if self.is_last {
            let mut faults = partune_import::Faults::default();
            joined.iter().for_each(|joined| faults.add(joined.faults));
            faults.report("location", &mut builder.quality);
        }
    }

    fn complete(self, kept: Vec<Kept>, builder: &mut TraceBuilder) {
        let acts = kept.into_iter().map(|kept| kept.acts).collect();
        let positions = |pe: PeId| {
            let mut positions = Positions::default();
            let changes = self.looked.changes[pe.index()].iter().take(self.stretches[pe.index()].changes);
            changes.for_each(|change| positions.change(change));
            positions
        };
        offsets::find_from(builder, acts, &self.looked.users, positions);
        for (stream, stretch) in builder.streams.iter_mut().zip(self.stretches) {
            stream.present = stretch.present;
            // Before those that were taken in the slice.
            stream.metrics.splice(0..0, stretch.cpu.iter().copied());
        }
        let Looked { events, .. } = self.looked;
        endings::correct(builder, &events.locations);
        builder.clocks = events.locations.iter().map(|location| location.clock.clone().into_measured()).collect();
    }
}

impl SliceSource<'_> {
    fn segment(&self, location: usize) -> Segment<Kept> {
        let (events, stretch) = (&self.looked.events, &self.stretches[location]);
        let about = &events.locations[location];
        let resolver = events.resolver(about.pe);
        let mut decoder = Decoder::new(true, &about.clock, &events.contexts, resolver, about.process);
        if let Some(since) = stretch.since.filter(|_| !stretch.open.is_empty()) {
            let time = decoder.assembler.at(since);
            stretch.open.iter().for_each(|region| decoder.assembler.enter(time, *region));
        }
        let bytes = stretch.chunks.start * events.chunk_size..stretch.chunks.end * events.chunk_size;
        let mut within = Within { decoder, skip: stretch.skip, take: stretch.take };
        // What there was to say of damage was said when the archive was looked through.
        events.read_chunks(location, bytes, |_, chunk| codec::read_chunk(chunk, &mut within));
        within.decoder.finish()
    }
}

/// Shows a decoder so many events after so many others.
struct Within<'a> {
    decoder: Decoder<'a>,
    skip: u64,
    take: u64,
}

impl Within<'_> {
    #[inline]
    fn next(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let is_in = self.take > 0;
        self.take = self.take.saturating_sub(1);
        is_in
    }
}

impl EventVisitor for Within<'_> {
    #[inline]
    fn enter(&mut self, stamp: u64, region: u32) {
        if self.next() {
            self.decoder.enter(stamp, region);
        }
    }

    #[inline]
    fn leave(&mut self, stamp: u64, region: u32) {
        if self.next() {
            self.decoder.leave(stamp, region);
        }
    }

    fn event(&mut self, stamp: u64, event: &Event<'_>) {
        if self.next() {
            self.decoder.event(stamp, event);
        }
    }

    fn attributes(&mut self, attributes: AttributeList<'_>) {
        if self.skip == 0 && self.take > 0 {
            self.decoder.attributes(attributes);
        }
    }

    fn unknown(&mut self, stamp: u64, id: u8, bytes: &[u8]) {
        if self.next() {
            self.decoder.unknown(stamp, id, bytes);
        }
    }
}
