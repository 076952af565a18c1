//! Bounds of a profile: IP, IPC, IPCO, IPCOL and IPCOLM from sums over the blocks that each synchronisation of all processes ended.
//!
//! User code is known by block. Of operations a profile has sums by call path, waits among them: files are input and output, and those that
//! never wait for another PE are communication work; of the others nobody knows how much they waited, so that C' is only what is
//! certain. In which blocks operations were is not known either. So each level is the larger of two bounds: that of user code by block, and
//! that of all certain work of each process, over the whole run.
//!
//! A region is what a call site of such a synchronisation ends. A profile has no turns, so there is no IPCOLMD. Sums of a call path
//! are of one region only if they are over the same blocks on all processes; those that are not are one region together, which can only
//! lower the bounds. So no bound exceeds the run: between the last arrivals at two synchronisations, nobody works longer than that.

use partune_base::{CallPathId, PeId, Span, Time};
use partune_trace::{BlockSums, Completion, PeProfile, Profile, Role, Trace};
use rustc_hash::FxHashMap;

use crate::bounds::SERIAL;
use crate::sums::useful;
use crate::useful::{cpu_pes, span_of, total, windows};
use crate::{Column, DataTable, Hierarchies, Hierarchy, Input, Outcome, RegionKind, Section, Tensor, Values};

/// What ends the blocks of a region.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The synchronisation at this call path.
    At(CallPathId),
    /// Ones whose call paths are not the same on all processes.
    Several,
    /// The shut-down.
    Run,
}

/// Sums of a region: ticks and CPU ticks of each process.
struct Region {
    end: End,
    work: Vec<i64>,
    cpu: Vec<i64>,
}

/// What a process certainly did in operations, without waiting for another PE.
#[derive(Clone, Copy, Default)]
struct Certain {
    /// In those that only work.
    work: i64,
    /// In those on files.
    io: i64,
}

impl Certain {
    /// Of operations between start-up and shut-down.
    fn of(trace: &Trace, of_pe: &PeProfile, (begin, end): (Time, Time)) -> Certain {
        let mut certain = Certain::default();
        let inside = of_pe.rows.iter().filter(|row| row.last > begin && row.first < end);
        for row in inside.filter(|row| trace.paths().operation(row.path) == row.path) {
            let region = &trace.regions()[trace.paths().region(row.path)];
            let sum = if region.role == Role::Io { &mut certain.io } else { &mut certain.work };
            if region.role == Role::Io || never_waits(region.role, region.completion) {
                *sum = sum.saturating_add(row.inclusive.0);
            }
        }
        certain
    }
}

/// Whether no operation of a role can wait for another PE.
fn never_waits(role: Role, completion: Completion) -> bool {
    match role {
        Role::Inquiry
        | Role::GroupNotify
        | Role::RmaPost
        | Role::Signal
        | Role::TaskCreate
        | Role::Management
        | Role::Measurement
        | Role::DeviceWait => true,
        // These begin what another operation completes.
        Role::Send | Role::Recv | Role::SendRecv | Role::Put | Role::Get | Role::Atomic => match completion {
            Completion::Blocking | Completion::Synchronous => false,
            Completion::Buffered => role == Role::Send,
            Completion::NonBlocking | Completion::Persistent => true,
        },
        Role::OneToAll | Role::AllToOne | Role::AllToAll | Role::Scan => match completion {
            Completion::Blocking | Completion::Synchronous | Completion::Buffered => false,
            Completion::NonBlocking | Completion::Persistent => true,
        },
        // They wait, or code inside is the user's.
        Role::Init
        | Role::Finalize
        | Role::GlobalAlloc
        | Role::GroupSync
        | Role::GroupWait
        | Role::CommSync
        | Role::RmaGroupSync
        | Role::RmaStart
        | Role::RmaComplete
        | Role::RmaWait
        | Role::Probe
        | Role::LockAcquire
        | Role::LockRelease
        | Role::WaitOnValue
        | Role::TaskWait
        | Role::PeManagement
        | Role::Io
        | Role::WorkSharing
        | Role::Parallel
        | Role::TaskRun
        | Role::User => false,
    }
}

/// Nothing of a profile that was recorded without blocks.
pub(crate) fn run(input: &Input<'_>, profile: &Profile) -> Outcome {
    let trace = input.trace;
    let pes: Vec<PeId> = cpu_pes(trace).into_iter().filter(|pe| trace.pes()[*pe].thread == 0).collect();
    let of_pes: Option<Vec<(&PeProfile, BlockSums)>> =
        pes.iter().map(|pe| profile.of(*pe).and_then(|it| Some((it, it.open_block?)))).collect();
    let Some(of_pes) = of_pes.filter(|it| it.len() > 1) else { return Outcome::default() };
    let windows = windows(trace);
    let useful: Vec<i64> = pes.iter().map(|pe| useful(trace, *pe, windows[*pe])).collect();
    let regions = regions(&of_pes, &useful);
    let kinds: Vec<RegionKind> = regions.iter().map(|region| kind(&region.work)).collect();
    let tensor = |work: &dyn Fn(&Region) -> &[i64]| {
        let mut tensor = Tensor::new(pes.len());
        for (number, (region, kind)) in regions.iter().zip(&kinds).enumerate() {
            tensor.region(*kind);
            tensor.iteration(number, work(region));
        }
        tensor.bounds()
    };
    let bounds = tensor(&|region| &region.work);
    let has_cpu = of_pes.iter().all(|(_, open)| open.cpu.is_some());
    let ip = if has_cpu { tensor(&|region| &region.cpu).ipco() } else { bounds.ipco() };
    let (begin, end) = span_of(&windows, &pes);
    let n = pes.len() as i128;
    let certain: Vec<Certain> =
        pes.iter().zip(&of_pes).map(|(pe, (of_pe, _))| Certain::of(trace, of_pe, windows[*pe])).collect();
    let sum = |of: &dyn Fn(usize) -> i64| (0..pes.len()).map(|at| i128::from(of(at))).sum::<i128>();
    let of_regions = |at: usize, of: &dyn Fn(&Region) -> &[i64]| total(regions.iter().map(|region| of(region)[at]));
    let user = |at: usize| of_regions(at, &|region| &region.work);
    let on_cpu = |at: usize| if has_cpu { of_regions(at, &|region| &region.cpu) } else { user(at) };
    let all = |at: usize| user(at).saturating_add(certain[at].work).saturating_add(certain[at].io);
    let most = i128::from((0..pes.len()).map(all).max().unwrap_or(0));
    let ipc = ip.max(sum(&|at| on_cpu(at).saturating_add(certain[at].work)));
    let ipcol = bounds.ipcol().max(most * n);
    let ladder = [
        ("IP", ip, "C'"),
        ("IPC", ipc, "O"),
        ("IPCO", bounds.ipco().max(sum(&all)), "L"),
        ("IPCOL", ipcol, "M'"),
        ("IPCOLM", bounds.ipcolm().max(ipcol), "rest"),
        ("actual", i128::from(end.since(begin).0) * n, ""),
    ];
    let notes = vec![
        "of a profile, communication work is what calls take that never wait for another PE: of others their waits are not known. A profile \
         has no turns, and `rest` holds what varies from turn to turn, all other calls with their waits, and the synchronisations themselves"
            .to_owned(),
    ];
    let levels: Vec<_> = ladder.iter().map(|(name, level, _)| (*name, *level as f64)).collect();
    let gaps: Vec<_> = ladder.windows(2).map(|pair| (pair[0].2, (pair[1].1 - pair[0].1) as f64)).collect();
    // Levels are scaled by the number of processes.
    let seconds = |scaled: f64| scaled / n as f64 / input.trace.clock().ticks_per_second() as f64;
    let bounds = Hierarchies { run: Hierarchy::new(&levels, &gaps, seconds), threads: None };
    let mut section = Section { notes, ..bounds.section() };
    section.tables.push(region_table(input, &regions, &kinds));
    Outcome { findings: Vec::new(), sections: vec![section] }
}

/// Regions in order of call path, then that of several, then the end of the run.
fn regions(of_pes: &[(&PeProfile, BlockSums)], useful: &[i64]) -> Vec<Region> {
    let n = of_pes.len();
    let new = |end| Region { end, work: vec![0; n], cpu: vec![0; n] };
    // How many processes have a call path with one and the same signature; 0 if there is another one.
    let mut alike: FxHashMap<CallPathId, (u64, usize)> = FxHashMap::default();
    let ended = |pe: &PeProfile| -> Vec<(CallPathId, BlockSums)> {
        let rows = pe.rows.iter().filter_map(|row| Some((row.path, row.blocks?)));
        rows.filter(|(_, blocks)| blocks.signature != 0 || blocks.time.is_positive()).collect()
    };
    for (path, blocks) in of_pes.iter().flat_map(|(pe, _)| ended(pe)) {
        let (signature, count) = alike.entry(path).or_insert((blocks.signature, 0));
        *count = if *signature == blocks.signature { *count + 1 } else { usize::MAX / 2 };
    }
    let mut own: Vec<CallPathId> = of_pes[0].0.rows.iter().map(|row| row.path).collect();
    own.retain(|path| alike.get(path).is_some_and(|(_, count)| *count == n));
    let mut regions: Vec<Region> = own.iter().map(|path| new(End::At(*path))).collect();
    let (several, last) = (regions.len(), regions.len() + 1);
    regions.extend([new(End::Several), new(End::Run)]);
    for (at, (pe, open)) in of_pes.iter().enumerate() {
        let mut known = 0_i64;
        for (path, blocks) in ended(pe) {
            let region = &mut regions[own.binary_search(&path).unwrap_or(several)];
            region.work[at] = region.work[at].saturating_add(blocks.time.0);
            region.cpu[at] = region.cpu[at].saturating_add(blocks.cpu.unwrap_or_default().0);
            known = known.saturating_add(blocks.time.0);
        }
        let rest = useful[at].saturating_sub(known).max(0);
        regions[last].work[at] = rest;
        regions[last].cpu[at] = open.cpu.unwrap_or_default().0.min(rest);
    }
    regions.retain(|region| region.work.iter().any(|ticks| *ticks > 0));
    regions
}

/// Whether one process does nearly all of it.
fn kind(work: &[i64]) -> RegionKind {
    let total: i128 = work.iter().map(|ticks| i128::from(*ticks)).sum();
    let most = work.iter().copied().max().unwrap_or(0);
    if total > 0 && most as f64 >= SERIAL * total as f64 { RegionKind::Serial } else { RegionKind::Parallel }
}

/// What each region has, by what its imbalance loses.
fn region_table(input: &Input<'_>, regions: &[Region], kinds: &[RegionKind]) -> DataTable {
    let clock = input.trace.clock();
    let mean = |region: &Region| {
        let sum: Span = region.work.iter().map(|ticks| Span(*ticks)).sum();
        clock.seconds(sum) / region.work.len().max(1) as f64
    };
    let most = |region: &Region| clock.seconds(Span(region.work.iter().copied().max().unwrap_or(0)));
    let mut rows: Vec<(usize, f64)> =
        regions.iter().enumerate().map(|(at, region)| (at, most(region) - mean(region))).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let to = |end: End| if let End::At(path) = end { path } else { CallPathId::NONE };
    let word = |end: End| match end {
        End::At(_) => "synchronisation",
        End::Several => "several",
        End::Run => "end_of_run",
    };
    let kind = |kind: RegionKind| match kind {
        RegionKind::Serial => "serial",
        RegionKind::Parallel => "parallel",
    };
    DataTable {
        name: "block_regions",
        columns: vec![
            Column::new("to", Values::Path(rows.iter().map(|row| to(regions[row.0].end)).collect())),
            Column::new("ended_by", Values::Word(rows.iter().map(|row| word(regions[row.0].end)).collect())),
            Column::new("kind", Values::Word(rows.iter().map(|row| kind(kinds[row.0])).collect())),
            Column::seconds("mean", rows.iter().map(|row| mean(&regions[row.0])).collect()),
            Column::seconds("imbalance", rows.iter().map(|row| row.1).collect()),
        ],
    }
}
