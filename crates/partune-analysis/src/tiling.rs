//! Tiles: the blocks of a world of PEs within its run, cut at the synchronisations of all of them.
//!
//! A world is what works side by side: the processes of a job, or the threads of a process. A tile is what its PEs do between one
//! synchronisation of all of them and the next; it belongs to the region of the call site that *closes* it, so the first tile of a run
//! belongs to its region too. Processes are cut at [`partune_index::Blocks`]; threads where a team forks, at its barriers, and
//! where it joins, and where the first thread that the program creates begins and the last one ends ([`crate::crowds`]), so that what
//! lies outside of both are tiles of their own.

use partune_base::{CallPathId, PeId, ProcessId, Table, Time};
use partune_index::{Block, Blocks, Fork, Index, Member};
use partune_trace::{Role, Slice, Trace, VisitIx};
use serde::{Deserialize, Serialize};

use crate::crowds::{Crowd, crowds};
use crate::spending::Level;
use crate::useful::{cpu_pes, role_of_path, span_of, windows};

/// One tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tile {
    /// The call path of the synchronisation that closes it (on its first PE); none at the end of the run.
    pub(crate) closes: CallPathId,
    /// That of the one before it; none at the begin of the run.
    pub(crate) after: CallPathId,
    /// Whether the time from the last arrival before it to its begin is what a synchronisation took.
    pub(crate) synchronised: bool,
}

/// The tiles of a world, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Tiling {
    pub(crate) level: Level,
    pub(crate) pes: Vec<PeId>,
    pub(crate) tiles: Vec<Tile>,
    /// For each PE, from when to when it is in each tile: 16 bytes each.
    pub(crate) extents: Vec<Vec<(Time, Time)>>,
    /// From the end of start-up to the begin of shut-down.
    pub(crate) span: (Time, Time),
    /// Whether the first tile was begun before a slice of a run, and whether the last one goes on behind it.
    pub(crate) cut: [bool; 2],
}

/// The worlds of a run.
pub(crate) struct Worlds {
    /// Processes of a job; for a run of one process its PEs.
    pub(crate) run: Tiling,
    /// The threads of each process, where there are several processes and one of them has several PEs.
    pub(crate) processes: Vec<Tiling>,
}

impl Worlds {
    /// Linear in PEs times synchronisations.
    pub(crate) fn find(trace: &Trace, index: &Index) -> Worlds {
        let windows = windows(trace);
        let cpus = cpu_pes(trace);
        let mut by_process: Vec<(ProcessId, PeId)> = cpus.iter().map(|pe| (trace.pes()[*pe].process, *pe)).collect();
        by_process.sort_unstable();
        let processes: Vec<Vec<PeId>> =
            by_process.chunk_by(|a, b| a.0 == b.0).map(|pes| pes.iter().map(|it| it.1).collect()).collect();
        let threaded = processes.iter().any(|pes| pes.len() > 1);
        let span = span_of(&windows, &cpus);
        let teams = Teams::new(trace, index);
        if processes.len() < 2 {
            let together = teams.together(trace, &cpus, span);
            let run = if together.is_empty() {
                Tiling::of_blocks(&index.blocks, cpus, &windows, (span, trace.slice()), Level::Pes)
            } else {
                teams.tiling(trace, cpus, span, Level::Pes, &together)
            };
            return Worlds { run, processes: Vec::new() };
        }
        let first = processes.iter().map(|pes| main(trace, index, pes)).collect();
        let level = if threaded { Level::Processes } else { Level::Pes };
        let run = Tiling::of_blocks(&index.blocks, first, &windows, (span, trace.slice()), level);
        let of_process = |pes: Vec<PeId>| {
            let slice = trace.slice();
            // Of a slice that of the main thread, at whose meetings all threads of the process are cut.
            let span = match pes.first().filter(|_| slice.is_some()) {
                Some(main) => windows[*main],
                None => span_of(&windows, &pes),
            };
            let together = teams.together(trace, &pes, span);
            let tiling = if together.is_empty() {
                Tiling::whole(pes, &windows, span, Level::Threads)
            } else {
                teams.tiling(trace, pes, span, Level::Threads, &together)
            };
            tiling.cut_in(slice, &windows)
        };
        let processes = processes.into_iter().filter(|_| threaded).map(of_process).collect();
        Worlds { run, processes }
    }
}

/// The PE that stands for a process: its main thread, unless another one takes part in all synchronisations.
fn main(trace: &Trace, index: &Index, pes: &[PeId]) -> PeId {
    let takes_part =
        |pe: &&PeId| index.blocks.extents.get(**pe).is_some_and(|it| it.len() == index.blocks.blocks.len());
    let main = pes.iter().find(|pe| trace.pes()[**pe].thread == 0).into_iter();
    main.chain(pes).find(takes_part).or(pes.first()).copied().unwrap_or(PeId::NONE)
}

impl Tile {
    /// Whether it is not just the whole run: a synchronisation begins or ends it, or it is cut at marked turns, of which this is the loop.
    pub(crate) fn is_known(&self, turns: CallPathId) -> bool {
        self.closes.is_some() || self.after.is_some() || turns.is_some()
    }
}

impl Tiling {
    /// Cut at global synchronisations, within the span; one tile where these PEs have none.
    fn of_blocks(
        blocks: &Blocks,
        pes: Vec<PeId>,
        windows: &Table<PeId, (Time, Time)>,
        (span, slice): ((Time, Time), Option<&Slice>),
        level: Level,
    ) -> Tiling {
        let count = blocks.blocks.len();
        let known = pes.iter().all(|pe| blocks.extents.get(*pe).is_some_and(|extents| extents.len() == count));
        if count == 0 || !known {
            return Tiling::whole(pes, windows, span, level);
        }
        let clip = |pe: PeId, time: Time| time.clamp(windows[pe].0, windows[pe].1.max(windows[pe].0));
        let inside = |block: &usize| {
            let length = |pe: &PeId| {
                let (begin, end) = blocks.extents[*pe][*block];
                clip(*pe, end).since(clip(*pe, begin)).0
            };
            // The last tile closes at the shut-down, even if nobody does anything in it.
            pes.iter().any(|pe| length(pe) > 0)
                || pes.iter().all(|pe| blocks.extents[*pe][*block].0 >= windows[*pe].0)
                    && pes.iter().any(|pe| blocks.extents[*pe][*block].1 <= windows[*pe].1)
        };
        // What follows the meeting that ends a slice is in the next one.
        let count = if slice.is_some_and(|slice| !slice.is_last) { count - 1 } else { count };
        let kept: Vec<usize> = (0..count).filter(inside).collect();
        if kept.is_empty() {
            return Tiling::whole(pes, windows, span, level);
        }
        let extents = pes.iter().map(|pe| {
            let extents = kept.iter().map(|block| blocks.extents[*pe][*block]);
            extents.map(|(begin, end)| (clip(*pe, begin), clip(*pe, end))).collect()
        });
        let tile = |block: &usize| {
            let (after, closes) = blocks.blocks[*block].source;
            // Start-up is a synchronisation too: PEs leave it at different times.
            Tile { closes, after, synchronised: blocks.blocks[*block].begin != u32::MAX }
        };
        let tiles = kept.iter().map(tile).collect();
        Tiling { level, tiles, extents: extents.collect(), pes, span, cut: [false; 2] }.in_slice(slice)
    }

    /// In a slice of a run the first tile begins at the meeting before it, and the last one ends at that which ends the slice.
    fn in_slice(mut self, slice: Option<&Slice>) -> Tiling {
        let Some(slice) = slice else { return self };
        if let Some(((came, paths), tile)) = slice.met.as_ref().zip(self.tiles.first_mut()) {
            let first = self.pes.first().and_then(|pe| paths.get(*pe)).copied();
            (tile.after, tile.synchronised) = (first.unwrap_or(CallPathId::NONE), true);
            self.span.0 = *came;
        }
        if !slice.is_last && !self.tiles.is_empty() {
            self.span.1 = self.arrival(self.tiles.len() - 1);
        }
        self
    }

    fn whole(pes: Vec<PeId>, windows: &Table<PeId, (Time, Time)>, span: (Time, Time), level: Level) -> Tiling {
        let tile = Tile { closes: CallPathId::NONE, after: CallPathId::NONE, synchronised: false };
        let extents = pes.iter().map(|pe| vec![windows[*pe]]).collect();
        Tiling { level, pes, tiles: vec![tile], extents, span, cut: [false; 2] }
    }

    /// The tiles of threads do not end where slices do.
    fn cut_in(mut self, slice: Option<&Slice>, windows: &Table<PeId, (Time, Time)>) -> Tiling {
        let Some(slice) = slice else { return self };
        self.cut = [slice.number > 0, !slice.is_last];
        for (pe, extents) in self.pes.iter().zip(&mut self.extents) {
            if let Some(first) = extents.first_mut().filter(|_| self.cut[0]) {
                first.0 = windows[*pe].0.min(first.1);
            }
            if let Some(last) = extents.last_mut().filter(|_| self.cut[1]) {
                last.1 = windows[*pe].1.max(last.0);
            }
        }
        self
    }

    /// Whether only a part of a tile is in the slice.
    pub(crate) fn is_cut(&self, tile: usize) -> bool {
        self.cut[0] && tile == 0 || self.cut[1] && tile + 1 == self.tiles.len()
    }

    /// When each PE is in a tile.
    pub(crate) fn extents_of(&self, tile: usize) -> impl Iterator<Item = (Time, Time)> {
        self.extents.iter().map(move |extents| extents[tile])
    }

    /// The tile that a PE, by its position, is in at a time, or whose end keeps it then.
    pub(crate) fn at(&self, pe: usize, time: Time) -> Option<usize> {
        self.extents[pe].partition_point(|extent| extent.0 <= time).checked_sub(1)
    }

    /// The last arrival at the end of a tile.
    fn arrival(&self, tile: usize) -> Time {
        self.extents_of(tile).map(|extent| extent.1).max().unwrap_or_default()
    }

    /// From the last arrival before a tile to the last arrival at its own end: no PE can work longer in it, and all tiles
    /// together make up the run.
    pub(crate) fn stretch(&self, tile: usize) -> (Time, Time) {
        let begin = tile.checked_sub(1).map_or(self.span.0, |before| self.arrival(before));
        let end = if tile + 1 == self.tiles.len() { self.span.1 } else { self.arrival(tile) };
        (begin, end.max(begin))
    }

    /// Joins tiles to those before them: what closes a tile keeps PEs apart only if nobody begins the next before all arrived.
    pub(crate) fn join(&mut self, joined: &[bool]) {
        for extents in &mut self.extents {
            let mut kept: Vec<(Time, Time)> = Vec::with_capacity(extents.len());
            for (extent, joined) in extents.iter().zip(joined) {
                match kept.last_mut().filter(|_| *joined) {
                    Some(last) => last.1 = extent.1.max(last.1),
                    None => kept.push(*extent),
                }
            }
            *extents = kept;
        }
        let mut kept: Vec<Tile> = Vec::with_capacity(self.tiles.len());
        for (tile, joined) in self.tiles.iter().zip(joined) {
            match kept.last_mut().filter(|_| *joined) {
                Some(last) => last.closes = tile.closes,
                None => kept.push(*tile),
            }
        }
        self.tiles = kept;
    }
}

/// From when to when several threads of a process live side by side.
enum Together<'a> {
    /// A team, by its position in [`partune_index::Teams::forks`].
    Team(u32, &'a Fork),
    Crowd(Crowd),
}

impl Together<'_> {
    fn extent(&self) -> (Time, Time) {
        match self {
            Together::Team(_, fork) => (fork.fork, fork.join),
            Together::Crowd(crowd) => (crowd.begin, crowd.end),
        }
    }
}

/// Teams and their barriers, in the order in which they are asked for.
struct Teams<'a> {
    index: &'a Index,
    /// For each PE the teams of several PEs that it forks, as positions in [`partune_index::Teams::forks`].
    of_pe: Table<PeId, Vec<u32>>,
    /// Complete barriers of teams, as (fork, instance), in order.
    barriers: Vec<(u32, u32)>,
}

impl<'a> Teams<'a> {
    /// Linear in teams and collectives, but for sorting barriers.
    fn new(trace: &Trace, index: &'a Index) -> Teams<'a> {
        let mut of_pe: Table<PeId, Vec<u32>> = Table::filled(trace.pes().len(), Vec::new());
        for (number, fork) in (0_u32..).zip(&index.teams.forks) {
            if fork.members.len() > 1 && of_pe.get(fork.place.pe).is_some() {
                of_pe[fork.place.pe].push(number);
            }
        }
        let instances = (0_u32..).zip(&index.collectives.instances);
        let of_teams = instances.filter(|(_, it)| it.fork != u32::MAX && it.role == Role::GroupSync && it.missing == 0);
        let mut barriers: Vec<(u32, u32)> = of_teams.map(|(number, it)| (it.fork, number)).collect();
        barriers.sort_unstable();
        Teams { index, of_pe, barriers }
    }

    /// The outermost teams that the first of some PEs forks, in order.
    fn forks_of(&self, trace: &Trace, pes: &[PeId]) -> impl Iterator<Item = (u32, &'a Fork)> {
        let main = pes.first().copied().filter(|pe| trace.pes()[*pe].thread == 0).unwrap_or(PeId::NONE);
        let of_main = self.of_pe.get(main).map_or(&[][..], Vec::as_slice);
        let mut until = Time::MIN;
        let forks = of_main.iter().map(|number| (*number, &self.index.teams.forks[*number as usize]));
        forks.filter(move |(_, fork)| {
            let outermost = fork.fork >= until;
            if outermost {
                until = fork.join;
            }
            outermost
        })
    }

    /// From when to when each of some PEs is in a team, or in those that are forked in it; none if it is in none of them.
    fn parts(&self, number: u32, pes: &[PeId]) -> Vec<Option<(Time, Time)>> {
        let fork = |number: u32| &self.index.teams.forks[number as usize];
        let join = fork(number).join;
        let after = |pe: &PeId| {
            let forks = self.of_pe.get(*pe).map_or(&[][..], Vec::as_slice);
            let later = &forks[forks.partition_point(|it| *it <= number)..];
            later.iter().copied().take_while(|it| fork(*it).fork < join)
        };
        let mut teams: Vec<u32> = pes.iter().flat_map(after).chain([number]).collect();
        teams.sort_unstable();
        let mut parts: Vec<Option<(Time, Time)>> = vec![None; pes.len()];
        for team in teams {
            let is_in = |pe: &PeId| pes.binary_search(pe).is_ok_and(|at| parts[at].is_some());
            if team == number || is_in(&fork(team).place.pe) {
                for (pe, begin, end) in &fork(team).members {
                    if let Ok(at) = pes.binary_search(pe) {
                        let (first, last) = parts[at].unwrap_or((*begin, *end));
                        parts[at] = Some((first.min(*begin), last.max(*end)));
                    }
                }
            }
        }
        parts
    }

    /// The barriers of a team.
    fn barriers_of(&self, fork: u32) -> impl Iterator<Item = &[Member]> {
        let first = self.barriers.partition_point(|it| it.0 < fork);
        let of_fork = self.barriers[first..].iter().take_while(move |it| it.0 == fork);
        let collectives = &self.index.collectives;
        of_fork.map(|(_, instance)| collectives.members(&collectives.instances[*instance as usize]))
    }

    /// The teams of a process and its crowds, in order. Crowds in which teams fork are left to those.
    fn together(&self, trace: &Trace, pes: &[PeId], span: (Time, Time)) -> Vec<Together<'a>> {
        let forks: Vec<(u32, &Fork)> = self.forks_of(trace, pes).collect();
        let is_free = |crowd: &Crowd| {
            let before = forks.partition_point(|(_, fork)| fork.fork < crowd.end);
            before.checked_sub(1).is_none_or(|last| forks[last].1.join <= crowd.begin)
        };
        let clipped = |crowd: Crowd| Crowd { begin: crowd.begin.max(span.0), end: crowd.end.min(span.1), ..crowd };
        let free =
            crowds(trace, pes).into_iter().map(clipped).filter(|crowd| crowd.begin < crowd.end && is_free(crowd));
        let mut together: Vec<Together<'a>> = free.map(Together::Crowd).collect();
        together.extend(forks.iter().map(|(number, fork)| Together::Team(*number, fork)));
        together.sort_by_key(Together::extent);
        together
    }

    /// The barriers of all threads between two times.
    fn barriers_between(&self, begin: Time, end: Time) -> impl Iterator<Item = &[Member]> {
        let (blocks, collectives) = (&self.index.blocks.blocks, &self.index.collectives);
        let members = |block: &Block| collectives.instances.get(block.end as usize).map(|it| collectives.members(it));
        let arrival = |block: &Block| members(block).and_then(|it| Some(it.first()?.wait_enter)).unwrap_or(Time::MAX);
        let first = blocks.partition_point(|block| arrival(block) < begin);
        let after = blocks.partition_point(|block| arrival(block) <= end);
        let all = blocks[first..after.max(first)].iter().filter_map(members);
        all.filter(move |members| are_between(begin, end, members))
    }

    /// Cut where teams fork, at their barriers, and where they join; and where crowds begin and end.
    fn tiling(
        &self,
        trace: &Trace,
        pes: Vec<PeId>,
        span: (Time, Time),
        level: Level,
        together: &[Together<'a>],
    ) -> Tiling {
        let mut tiling =
            Tiling { level, tiles: Vec::new(), extents: vec![Vec::new(); pes.len()], pes, span, cut: [false; 2] };
        let (mut now, mut after, mut synchronised) = (span.0, CallPathId::NONE, false);
        let inside = |it: &&Together<'_>| it.extent().0 >= span.0 && it.extent().1 <= span.1;
        for together in together.iter().filter(inside) {
            let (number, fork) = match together {
                Together::Team(number, fork) => (*number, *fork),
                Together::Crowd(crowd) => {
                    tiling.outside(Tile { closes: crowd.opens, after, synchronised }, (now, crowd.begin));
                    after = tiling.crowd(trace, crowd, self.barriers_between(crowd.begin, crowd.end));
                    (now, synchronised) = (crowd.end, true);
                    continue;
                }
            };
            let place = place(trace, fork);
            tiling.outside(Tile { closes: place, after, synchronised }, (now, fork.fork));
            (after, synchronised) = (place, true);
            let parts = self.parts(number, &tiling.pes);
            let begin = |part: &Option<(Time, Time)>| part.map(|(begin, _)| begin.clamp(fork.fork, fork.join));
            let mut begins: Vec<Option<Time>> = parts.iter().map(begin).collect();
            for members in self.barriers_of(number) {
                let closes = members.first().map(|member| trace.visit(member.pe, member.wait).path);
                if let Some(closes) = closes.filter(|_| encloses(fork, members)) {
                    tiling.together(Tile { closes, after, synchronised }, members, &mut begins);
                    (after, synchronised) = (closes, true);
                }
            }
            tiling.rest(Tile { closes: place, after, synchronised }, fork, &begins, &parts);
            (now, after, synchronised) = (fork.join, place, true);
        }
        tiling.outside(Tile { closes: CallPathId::NONE, after, synchronised }, (now, span.1));
        tiling
    }
}

/// The call path of a parallel region: of the region that the forking PE enters then; without one, of the visit that it forks in.
pub(crate) fn place(trace: &Trace, fork: &Fork) -> CallPathId {
    region_of_fork(trace, fork.place.pe, (fork.place.visit, fork.fork), fork.join)
}

/// The same of a fork in a visit, at a time, of what is joined at another one.
pub(crate) fn region_of_fork(trace: &Trace, pe: PeId, (visit, fork): (VisitIx, Time), join: Time) -> CallPathId {
    let visits = &trace.streams()[pe].visits;
    let first = visits.enter.partition_point(|enter| *enter < fork);
    let inside = (first..visits.len()).take_while(|visit| visits.enter[*visit] <= join).map(|visit| visits.path[visit]);
    let of_fork = visit.some().map(|visit| visits.path[visit.index()]);
    let mut near = of_fork.into_iter().chain(inside.take(2));
    let is_parallel = |path: &CallPathId| role_of_path(trace, *path) == Role::Parallel;
    near.clone().find(is_parallel).or_else(|| near.next()).unwrap_or(CallPathId::NONE)
}

/// Whether these are all members of a team, between its fork and its join.
fn encloses(fork: &Fork, members: &[Member]) -> bool {
    members.len() == fork.members.len() && are_between(fork.fork, fork.join, members)
}

fn are_between(begin: Time, end: Time, members: &[Member]) -> bool {
    members.iter().all(|member| member.wait_enter >= begin && member.exit <= end)
}

impl Tiling {
    /// A tile outside of teams.
    fn outside(&mut self, tile: Tile, extent: (Time, Time)) {
        self.extents.iter_mut().for_each(|extents| extents.push(extent));
        self.tiles.push(tile);
    }

    /// The tiles of a crowd, cut at barriers of all PEs; gives what closes the last one.
    fn crowd<'m>(&mut self, trace: &Trace, crowd: &Crowd, barriers: impl Iterator<Item = &'m [Member]>) -> CallPathId {
        let mut after = crowd.opens;
        let mut begins = vec![Some(crowd.begin); self.pes.len()];
        for members in barriers {
            if let Some(member) = members.first().filter(|_| members.len() == self.pes.len()) {
                let closes = trace.visit(member.pe, member.wait).path;
                self.together(Tile { closes, after, synchronised: true }, members, &mut begins);
                after = closes;
            }
        }
        for (begin, extents) in begins.into_iter().flatten().zip(&mut self.extents) {
            extents.push((begin, crowd.end.max(begin)));
        }
        self.tiles.push(Tile { closes: crowd.closes, after, synchronised: true });
        crowd.closes
    }

    /// A tile of a team that ends at a barrier. Who is only in a team that was forked in it is in it until the last one comes; others are not in it.
    fn together(&mut self, tile: Tile, members: &[Member], begins: &mut [Option<Time>]) {
        let last = members.iter().map(|member| member.wait_enter).max().unwrap_or_default();
        for ((pe, begin), extents) in self.pes.iter().zip(begins).zip(&mut self.extents) {
            let since = begin.unwrap_or(last);
            if let Ok(at) = members.binary_search_by_key(pe, |member| member.pe) {
                let member = &members[at];
                extents.push((since, member.wait_enter.max(since)));
                *begin = Some(member.exit.max(since));
            } else {
                extents.push((since.min(last), last));
                *begin = begin.map(|begin| begin.max(last));
            }
        }
        self.tiles.push(tile);
    }

    /// What a team does after its last barrier, until each member ends its part.
    fn rest(&mut self, tile: Tile, fork: &Fork, begins: &[Option<Time>], parts: &[Option<(Time, Time)>]) {
        for ((begin, part), extents) in begins.iter().zip(parts).zip(&mut self.extents) {
            let begin = begin.unwrap_or_else(|| extents.last().map_or(fork.fork, |extent| extent.1));
            let end = part.map_or(begin, |(_, end)| end.clamp(begin, fork.join.max(begin)));
            extents.push((begin, end));
        }
        self.tiles.push(tile);
    }
}
