//! A profile says what the visits of a trace add up to: for made-up executions of any shape, both are imported and compared.

use std::collections::{BTreeMap, BTreeSet};

use partune_base::{CallPathId, PeId};
use partune_otf2::codec::Event;
use partune_otf2::import::import;
use partune_otf2::statistics::{Block, Gap, Row, Statistics};
use partune_trace::{Trace, Transfers};
use proptest::prelude::*;

use super::programs::{
    COMPUTE, EXCHANGE, FINALIZE, HERE, INIT, MAIN, NONE, Place, Program, RECV, SEND, SOLVE, STEP, enter, leave,
};

/// In a tick of these archives.
const NANOSECONDS: u64 = 1_000_000_000;

pub(super) type Events = Vec<(u64, Event<'static>)>;

/// An execution in the making: what is on the stack, and events as the recorder writes them.
#[derive(Default)]
pub(super) struct Execution {
    pub(super) contexts: Vec<(u32, Place, u32)>,
    pub(super) events: Events,
    /// Regions and the lines that they are at; marks have none.
    stack: Vec<(u32, u32)>,
    time: u64,
}

impl Execution {
    fn context(&mut self, region: u32, line: u32, parent: u32) -> u32 {
        let place = if line == 0 { HERE } else { ("a.c", line) };
        let row = (region, place, parent);
        let at = self.contexts.iter().position(|it| *it == row).unwrap_or_else(|| {
            self.contexts.push(row);
            self.contexts.len() - 1
        });
        at as u32
    }

    /// The context of something called now.
    fn called(&mut self, region: u32) -> u32 {
        let stack = self.stack.clone();
        let around = stack.into_iter().fold(NONE, |parent, (region, line)| self.context(region, line, parent));
        self.context(region, 0, around)
    }

    fn at_line(&mut self, line: u32) {
        let function = self.stack.iter_mut().rev().find(|it| it.1 > 0);
        function.expect("main is on the stack").1 = line;
    }

    fn operation(&mut self, region: u32, gap: u64, length: u64) {
        let context = self.called(region);
        self.time += gap;
        self.events.push(enter(self.time, context, 1));
        self.time += length;
        self.events.push(leave(self.time, context));
    }

    /// Does what numbers say, as long as there are some.
    fn run(&mut self, choices: &mut std::slice::Iter<'_, u8>, depth: usize) {
        while let Some(&choice) = choices.next() {
            let (line, length) = (u32::from(choice >> 6) + 10, u64::from(choice % 7));
            match choice % 16 {
                0..=6 => {
                    self.at_line(line);
                    self.operation(if choice.is_multiple_of(2) { SEND } else { RECV }, length, length / 2 + 1);
                }
                7..=9 if depth < 6 => {
                    self.at_line(line);
                    self.stack.push((if choice.is_multiple_of(2) { EXCHANGE } else { COMPUTE }, 1));
                    self.run(choices, depth + 1);
                    self.stack.pop();
                }
                10 | 11 if depth < 6 => {
                    let region = if choice % 16 == 10 { SOLVE } else { STEP };
                    // One mark is at one line of a function; calls inside are at others.
                    self.at_line(100 + region);
                    let context = self.called(region);
                    self.time += length;
                    self.events.push(enter(self.time, context, 1));
                    self.stack.push((region, 0));
                    self.run(choices, depth + 1);
                    self.stack.pop();
                    self.time += 1;
                    self.events.push(leave(self.time, context));
                }
                12..=15 if depth > 0 => return,
                _ => self.time += length,
            }
        }
    }

    pub(super) fn of(choices: &[u8]) -> Execution {
        let mut execution = Execution { stack: vec![(MAIN, 5)], ..Execution::default() };
        execution.operation(INIT, 3, 4);
        execution.run(&mut choices.iter(), 0);
        execution.at_line(90);
        execution.operation(FINALIZE, 2, 2);
        execution
    }
}

/// An open call: context, enter, ticks accounted for inside, and the call before with its end.
struct Open(u32, u64, u64, Option<(u32, u64)>);

/// What the recorder would have kept instead of these events.
fn counted(events: &Events) -> Statistics {
    let mut rows: BTreeMap<u32, Row> = BTreeMap::new();
    let mut gaps: BTreeMap<(Option<u32>, u32), (u64, u64)> = BTreeMap::new();
    let mut open = vec![Open(NONE, 0, 0, None)];
    for (time, event) in events {
        match *event {
            Event::CallingContextEnter { calling_context, .. } => {
                let outer = open.last_mut().expect("the thread");
                let before = outer.3.map(|it| it.0);
                let ticks = outer.3.map_or(0, |it| time - it.1);
                outer.2 += ticks;
                let gap = gaps.entry((before, calling_context)).or_default();
                *gap = (gap.0 + 1, gap.1 + ticks);
                open.push(Open(calling_context, *time, 0, None));
            }
            Event::CallingContextLeave { calling_context } => {
                let Open(context, begin, inside, _) = open.pop().expect("a call");
                assert_eq!(context, calling_context);
                let inclusive = time - begin;
                let new = Row { context, min: u64::MAX, first: begin, ..Row::default() };
                let row = rows.entry(context).or_insert(new);
                row.count += 1;
                row.inclusive += inclusive;
                row.own += inclusive - inside;
                row.cpu = row.own * NANOSECONDS;
                (row.min, row.max, row.last) = (row.min.min(inclusive), row.max.max(inclusive), *time);
                let outer = open.last_mut().expect("the thread");
                outer.2 += inclusive;
                outer.3 = Some((context, *time));
            }
            _ => {}
        }
    }
    let gap = |((before, context), (count, ticks))| Gap { before, context, count, ticks, cpu: ticks * NANOSECONDS };
    Statistics {
        has_cpu: true,
        begin: events.first().map_or(0, |it| it.0),
        end: events.last().map_or(0, |it| it.0),
        rows: rows.into_values().collect(),
        gaps: gaps.into_iter().map(gap).collect(),
        ..Statistics::default()
    }
}

pub(super) fn name(trace: &Trace, path: CallPathId) -> String {
    let one = |path: CallPathId| {
        let region = &trace.regions()[trace.paths().region(path)];
        format!("{}^{}", trace.strings().get(region.name), trace.paths().site(path).line)
    };
    let mut names: Vec<String> = trace.paths().ancestors(path).map(one).collect();
    names.reverse();
    names.join("/")
}

/// Visits, inclusive and exclusive time, first enter and last exit of each path of the first PE.
pub(super) type Sums = BTreeMap<String, [i64; 5]>;

pub(super) fn of_visits(trace: &Trace) -> Sums {
    let mut sums: BTreeMap<CallPathId, [i64; 5]> = BTreeMap::new();
    for visit in trace.streams()[PeId(0)].visits.iter() {
        let time = visit.duration().0;
        let sum = sums.entry(visit.path).or_insert([0, 0, 0, visit.enter.0, 0]);
        *sum = [sum[0] + 1, sum[1] + time, sum[2] + time, sum[3], sum[4].max(visit.exit.0)];
        if let Some(above) = sums.get_mut(&trace.paths().parent(visit.path)) {
            above[2] -= time;
        }
    }
    sums.into_iter().map(|(path, sum)| (name(trace, path), sum)).collect()
}

fn of_profile(trace: &Trace) -> Sums {
    let rows = trace.profile().and_then(|profile| profile.of(PeId(0))).map_or(&[][..], |pe| &pe.rows);
    let sums = rows.iter().map(|row| {
        let sum = [row.visits as i64, row.inclusive.0, row.exclusive.0, row.first.0, row.last.0];
        (name(trace, row.path), sum)
    });
    sums.collect()
}

fn profile_of(program: &Program, statistics: &[u8]) -> Trace {
    let silent = Program::new(&program.contexts, vec![Vec::new()]);
    let mut files = silent.files();
    files.insert("traces/0.stat".to_owned(), statistics.to_vec());
    import(&files, "traces.otf2", &|_, _| {}).expect("it opens")
}

proptest! {
    #[test]
    fn a_profile_is_the_sum_of_visits(choices in proptest::collection::vec(any::<u8>(), 0..200)) {
        let execution = Execution::of(&choices);
        let statistics = counted(&execution.events).write();
        let program = Program::new(&execution.contexts, vec![execution.events]);
        let trace = import(&program.files(), "traces.otf2", &|_, _| {}).expect("it opens");
        let profile = profile_of(&program, &statistics);
        prop_assert!(trace.profile().is_none());
        // That some time is of unknown functions, and how much.
        prop_assert_eq!(trace.quality().entries(), profile.quality().entries());
        prop_assert_eq!(of_visits(&trace), of_profile(&profile));
        prop_assert_eq!(recorded(&trace), recorded(&profile));
        prop_assert_eq!((trace.begin(), trace.end()), (profile.begin(), profile.end()));
        // The thread never left its processor.
        let rows = profile.profile().and_then(|profile| profile.of(PeId(0))).map_or(&[][..], |pe| &pe.rows);
        prop_assert!(rows.iter().all(|row| row.cpu == Some(row.exclusive)));
    }

    #[test]
    fn damaged_statistics_are_a_profile_and_said(
        choices in proptest::collection::vec(any::<u8>(), 0..60),
        cut in 8..400_usize,
        flip in 0..400_usize,
    ) {
        let execution = Execution::of(&choices);
        let mut statistics = counted(&execution.events).write();
        let program = Program::new(&execution.contexts, vec![Vec::new()]);
        statistics.truncate(cut.max(9));
        let whole = statistics.len();
        if flip < whole {
            statistics[flip] ^= 0x55;
        }
        // It opens, sealed, whatever the numbers are.
        let profile = profile_of(&program, &statistics);
        prop_assert!(profile.profile().is_some());
    }
}

/// Call paths that have events of their own.
fn recorded(trace: &Trace) -> BTreeSet<String> {
    trace.paths().ids().filter(|path| trace.paths().is_recorded(*path)).map(|path| name(trace, path)).collect()
}

/// By hand: `main` sends in line 10, computes 20, calls `exchange` in line 20, which sends and after 5 more receives.
#[test]
fn functions_are_known_by_what_is_between_calls() {
    let contexts = [
        (MAIN, ("a.c", 10), NONE),
        (SEND, HERE, 0),
        (MAIN, ("a.c", 20), NONE),
        (EXCHANGE, ("b.c", 1), 2),
        (SEND, HERE, 3),
        (EXCHANGE, ("b.c", 2), 2),
        (RECV, HERE, 5),
    ];
    let mut transfers = Transfers::default();
    transfers.add(100, 0);
    let row = |context, first, last| {
        let time = last - first;
        let row = Row { context, count: 1, inclusive: time, own: time, min: time, max: time, first, ..Row::default() };
        // One of three ticks is on a processor; the send of `main` is a collective of 4 that ends a block.
        let members = if context == 1 { 4 } else { 0 };
        let block =
            if context == 1 { Block { ticks: 7, signature: 3, cpu: 2 * NANOSECONDS } } else { Block::default() };
        Row { last, transfers, cpu: time / 3 * NANOSECONDS, members, block, ..row }
    };
    let gap = |before, context, ticks| Gap { before, context, count: 1, ticks, cpu: ticks / 5 * NANOSECONDS };
    let statistics = Statistics {
        begin: 100,
        end: 145,
        rows: vec![row(1, 100, 110), row(4, 130, 134), row(6, 139, 145), row(99, 0, 1)],
        gaps: vec![gap(None, 1, 0), gap(Some(1), 4, 20), gap(Some(4), 6, 5), gap(Some(98), 6, 7)],
        lost: 2,
        has_cpu: true,
        open_block: Some(Block { ticks: 9, signature: 0, cpu: NANOSECONDS }),
        ..Statistics::default()
    };
    let program = Program::new(&contexts, Vec::new());
    let trace = profile_of(&program, &statistics.write());
    let expected = [
        ("main^0", [1, 45, 20, 100, 145]),
        ("main^0/MPI_Send^10", [1, 10, 10, 100, 110]),
        ("main^0/exchange^20", [1, 15, 5, 130, 145]),
        ("main^0/exchange^20/MPI_Send^1", [1, 4, 4, 130, 134]),
        ("main^0/exchange^20/MPI_Recv^2", [1, 6, 6, 139, 145]),
    ];
    let expected: Sums = expected.into_iter().map(|(path, sums)| (path.to_owned(), sums)).collect();
    assert_eq!(of_profile(&trace), expected);
    let pe = trace.profile().and_then(|profile| profile.of(PeId(0))).expect("it did something");
    // `main` has 20 / 5 of the gap before `exchange`, that 5 / 5 of the gap inside; 10 / 3, 4 / 3 and 6 / 3.
    let cpu: Vec<(String, i64)> = pe.rows.iter().map(|it| (name(&trace, it.path), it.cpu.expect("kept").0)).collect();
    let cpu: BTreeMap<&str, i64> = cpu.iter().map(|(name, cpu)| (name.as_str(), *cpu)).collect();
    assert_eq!(cpu.values().copied().collect::<Vec<_>>(), [4, 3, 1, 2, 1], "{cpu:?}");
    let kept: Vec<_> = pe.rows.iter().map(|it| (it.members, it.blocks.map(|it| (it.time.0, it.signature)))).collect();
    assert!(kept.contains(&(Some(4), Some((7, 3)))) && kept.contains(&(None, None)), "{kept:?}");
    assert_eq!((pe.open_block.map(|it| (it.time.0, it.cpu.map(|cpu| cpu.0))), pe.calls), (Some((9, Some(1))), 4));
    let said = |text: &str| trace.quality().entries().iter().any(|it| it.message.contains(text));
    assert!(said("could not count 2 calls") && said("not defined"), "{:?}", trace.quality());
}

#[test]
fn statistics_that_are_missing_are_said() {
    let program = Program::new(&[(MAIN, HERE, NONE)], vec![Vec::new(), Vec::new()]);
    let mut files = program.files();
    let missing = |files: &BTreeMap<String, Vec<u8>>| {
        let trace = import(files, "traces.otf2", &|_, _| {}).expect("it opens");
        let entries = trace.quality().entries().to_vec();
        let missing = entries.iter().filter(|it| it.message.contains("are missing")).map(|it| it.count).sum::<u64>();
        (trace.profile().is_some(), missing)
    };
    assert_eq!(missing(&files), (false, 0));
    files.insert("traces/1.stat".to_owned(), Statistics::default().write());
    assert_eq!(missing(&files), (true, 1));
    files.insert("traces/0.stat".to_owned(), Statistics::default().write());
    assert_eq!(missing(&files), (true, 0));
}
