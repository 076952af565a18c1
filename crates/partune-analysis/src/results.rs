//! Results that others calculate with, as types: whoever reads one names a field, which the compiler knows. The figures of a section are made from
//! its result, and what the schema says of them from the same declaration.

use partune_base::{PeId, RegionId};
use partune_trace::{Activity, Role};

use crate::section::{Column, DataTable, Scalar, Section, Unit, Values};
use crate::{EarlyEnd, Loss};

/// The result of an analysis whose figures are more than rows to be shown.
#[derive(Clone, Debug, PartialEq)]
pub enum AnalysisResult {
    Account(Account),
    Efficiency(Box<Efficiency>),
    Bounds(Hierarchies),
    Activities(Activities),
    Pairs(Vec<Pair>),
    Ending(EarlyEnd),
    Operations(Vec<TopOperation>),
}

impl AnalysisResult {
    pub fn account(&self) -> Option<&Account> {
        if let AnalysisResult::Account(account) = self { Some(account) } else { None }
    }

    pub fn efficiency(&self) -> Option<&Efficiency> {
        if let AnalysisResult::Efficiency(efficiency) = self { Some(efficiency) } else { None }
    }

    pub fn bounds(&self) -> Option<&Hierarchies> {
        if let AnalysisResult::Bounds(bounds) = self { Some(bounds) } else { None }
    }

    pub fn activities(&self) -> Option<&Activities> {
        if let AnalysisResult::Activities(activities) = self { Some(activities) } else { None }
    }

    pub fn ending(&self) -> Option<&EarlyEnd> {
        if let AnalysisResult::Ending(ending) = self { Some(ending) } else { None }
    }

    pub fn pairs(&self) -> Option<&[Pair]> {
        if let AnalysisResult::Pairs(pairs) = self { Some(pairs) } else { None }
    }

    pub fn operations(&self) -> Option<&[TopOperation]> {
        if let AnalysisResult::Operations(operations) = self { Some(operations) } else { None }
    }
}

/// Declares a result: a field a figure, with its unit. A figure may be unknown.
macro_rules! figures {
    ($(#[$doc:meta])* $Name:ident { $($(#[$note:meta])* $field:ident: $unit:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $Name {
            $($(#[$note])* pub $field: Option<f64>,)*
        }

        impl $Name {
            /// The figures by name, as a document shows them.
            pub(crate) const SHOWS: &[(&str, Unit)] = &[$((stringify!($field), Unit::$unit)),*];

            fn scalars(&self) -> Vec<Scalar> {
                let values = [$(self.$field),*];
                let known = Self::SHOWS.iter().zip(values).filter_map(|((name, unit), value)| Some((*name, *unit, value?)));
                known.map(|(name, unit, value)| Scalar::new(name, unit, value)).collect()
            }

            /// A section that shows them.
            pub(crate) fn section(self, name: &'static str) -> Section {
                let (scalars, result) = (self.scalars(), Some(self.into()));
                Section { name, scalars, result, ..Section::default() }
            }
        }
    };
}

figures! {
    /// What the base of all shares, `run` times `pes`, went into; seconds summed over PEs.
    Account {
        run: Seconds,
        outside_run: Seconds,
        pes: Count,
        computation: Seconds,
        waiting: Seconds,
        device_waiting: Seconds,
        start_up: Seconds,
        transfer: Seconds,
        io: Seconds,
        idle: Seconds,
    }
}

figures! {
    /// The factors of efficiency: of all PEs, between processes, inside of processes, of devices.
    Efficiency {
        parallel: Ratio,
        load_balance: Ratio,
        communication: Ratio,
        serialization: Ratio,
        transfer: Ratio,
        run_seconds: Seconds,
        ideal_seconds: Seconds,
        useful_seconds: Seconds,
        device_parallel: Ratio,
        device_load_balance: Ratio,
        device_communication: Ratio,
        device_orchestration: Ratio,
        offload: Ratio,
        device_call_seconds: Seconds,
        device_wait_seconds: Seconds,
        phases: Count,
        process_parallel: Ratio,
        process_load_balance: Ratio,
        process_communication: Ratio,
        process_serialization: Ratio,
        process_transfer: Ratio,
        thread_parallel: Ratio,
        thread_load_balance: Ratio,
        thread_communication: Ratio,
        thread_serialization: Ratio,
        thread_transfer: Ratio,
    }
}

impl Account {
    /// What PEs lose time by, in seconds.
    pub fn losses(&self) -> [(Loss, f64); 6] {
        [
            (Loss::Waiting, self.waiting),
            (Loss::Devices, self.device_waiting),
            (Loss::StartUp, self.start_up),
            (Loss::Transfer, self.transfer),
            (Loss::Io, self.io),
            (Loss::Idle, self.idle),
        ]
        .map(|(loss, seconds)| (loss, seconds.unwrap_or(0.0)))
    }
}

impl From<Account> for AnalysisResult {
    fn from(account: Account) -> AnalysisResult {
        AnalysisResult::Account(account)
    }
}

impl From<Efficiency> for AnalysisResult {
    fn from(efficiency: Efficiency) -> AnalysisResult {
        AnalysisResult::Efficiency(Box::new(efficiency))
    }
}

/// Whose efficiency factors are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    AllPes,
    BetweenProcesses,
    InProcesses,
    Devices,
}

/// Factors by name, as far as they are known.
pub type LevelFactors = [(&'static str, Option<f64>); 6];

impl Efficiency {
    /// The factors of each level, in one order.
    pub fn levels(&self) -> [(Level, LevelFactors); 4] {
        let factors = |[parallel, balance, communication, orchestration, serialization, transfer]: [Option<f64>; 6]| {
            [
                ("parallel", parallel),
                ("load_balance", balance),
                ("communication", communication),
                ("orchestration", orchestration),
                ("serialization", serialization),
                ("transfer", transfer),
            ]
        };
        let it = self;
        let all = [it.parallel, it.load_balance, it.communication, None, it.serialization, it.transfer];
        let processes = [
            it.process_parallel,
            it.process_load_balance,
            it.process_communication,
            None,
            it.process_serialization,
            it.process_transfer,
        ];
        let threads = [
            it.thread_parallel,
            it.thread_load_balance,
            it.thread_communication,
            None,
            it.thread_serialization,
            it.thread_transfer,
        ];
        let devices =
            [it.device_parallel, it.device_load_balance, it.device_communication, it.device_orchestration, None, None];
        [
            (Level::AllPes, factors(all)),
            (Level::BetweenProcesses, factors(processes)),
            (Level::InProcesses, factors(threads)),
            (Level::Devices, factors(devices)),
        ]
    }
}

/// The hierarchies of bounds: of the run, and the mean of those of the threads of each process if there are several.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hierarchies {
    pub run: Hierarchy,
    pub threads: Option<Hierarchy>,
}

/// Bounds in order, and the gap after each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hierarchy {
    pub bounds: Vec<Bound>,
    pub gaps: Vec<Gap>,
}

/// A lower bound on run time; the last is the run time itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    pub name: &'static str,
    pub seconds: f64,
}

/// What lies between two bounds, named after the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    pub name: &'static str,
    pub seconds: f64,
    /// Share of the run.
    pub fraction: f64,
}

impl Hierarchy {
    /// From levels and the gaps between them, each with its name, and what makes seconds of them.
    pub(crate) fn new(
        levels: &[(&'static str, f64)],
        gaps: &[(&'static str, f64)],
        seconds: impl Fn(f64) -> f64,
    ) -> Hierarchy {
        let run = levels.last().map_or(0.0, |level| level.1);
        let gap = |(name, value): &(&'static str, f64)| Gap {
            name,
            seconds: seconds(*value),
            fraction: if run > 0.0 { value / run } else { 0.0 },
        };
        let bound = |(name, value): &(&'static str, f64)| Bound { name, seconds: seconds(*value) };
        Hierarchy { bounds: levels.iter().map(bound).collect(), gaps: gaps.iter().map(gap).collect() }
    }

    fn tables(&self, bounds: &'static str, gaps: &'static str) -> [DataTable; 2] {
        let of_bounds = vec![
            Column::new("name", Values::Word(self.bounds.iter().map(|bound| bound.name).collect())),
            Column::seconds("seconds", self.bounds.iter().map(|bound| bound.seconds).collect()),
        ];
        let of_gaps = vec![
            Column::new("name", Values::Word(self.gaps.iter().map(|gap| gap.name).collect())),
            Column::seconds("seconds", self.gaps.iter().map(|gap| gap.seconds).collect()),
            Column::new("fraction", Values::Number(Unit::Ratio, self.gaps.iter().map(|gap| gap.fraction).collect())),
        ];
        [DataTable { name: bounds, columns: of_bounds }, DataTable { name: gaps, columns: of_gaps }]
    }
}

impl Hierarchy {
    /// Puts levels before the first one, each in seconds and with the gap after it.
    fn begin_with(&mut self, levels: &[(&'static str, f64, &'static str)]) {
        let run = self.bounds.last().map_or(0.0, |level| level.seconds);
        let first = self.bounds.first().map_or(0.0, |level| level.seconds);
        let next = levels.iter().skip(1).map(|level| level.1).chain([first]);
        let gap = |(level, next): (&(&'static str, f64, &'static str), f64)| {
            let seconds = next - level.1;
            Gap { name: level.2, seconds, fraction: if run > 0.0 { seconds / run } else { 0.0 } }
        };
        self.gaps.splice(0..0, levels.iter().zip(next).map(gap).collect::<Vec<_>>());
        self.bounds.splice(0..0, levels.iter().map(|level| Bound { name: level.0, seconds: level.1 }));
    }
}

impl Section {
    /// Puts levels below the bounds of the run that this section shows: each with its seconds and the name of the gap after it. False if it shows none.
    pub fn begin_bounds_with(&mut self, levels: &[(&'static str, f64, &'static str)]) -> bool {
        let Some(AnalysisResult::Bounds(hierarchies)) = &mut self.result else { return false };
        hierarchies.run.begin_with(levels);
        for table in hierarchies.run.tables("bounds", "gaps") {
            if let Some(shown) = self.tables.iter_mut().find(|it| it.name == table.name) {
                *shown = table;
            }
        }
        true
    }
}

impl Hierarchies {
    /// The section that shows them.
    pub(crate) fn section(self) -> Section {
        let of_threads = self.threads.iter().flat_map(|it| it.tables("thread_bounds", "thread_gaps"));
        let tables = self.run.tables("bounds", "gaps").into_iter().chain(of_threads).collect();
        Section { name: "bounds", tables, result: Some(AnalysisResult::Bounds(self)), ..Section::default() }
    }
}

/// What PEs spent their time on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Activities {
    /// Those that recorded something.
    pub pes: Vec<PeId>,
    /// One for each activity, and one for idle time.
    pub times: Vec<ActivityTimes>,
}

/// Seconds of an activity.
#[derive(Clone, Debug, PartialEq)]
pub struct ActivityTimes {
    /// None: idle.
    pub activity: Option<Activity>,
    /// Over all PEs.
    pub total: f64,
    /// Of each PE of [`Activities::pes`].
    pub of_pes: Vec<f64>,
}

impl ActivityTimes {
    pub fn name(&self) -> &'static str {
        self.activity.map_or("idle", Activity::name)
    }
}

impl Activities {
    /// The sums over PEs, as a document shows them.
    pub(crate) fn scalars(&self) -> Vec<Scalar> {
        self.times.iter().map(|it| Scalar::new(it.name(), Unit::Seconds, it.total)).collect()
    }

    pub(crate) fn table(&self, name: &'static str) -> DataTable {
        let pes = Column::new("pe", Values::Pe(self.pes.clone()));
        let times = self.times.iter().map(|it| Column::seconds(it.name(), it.of_pes.clone()));
        DataTable { name, columns: std::iter::once(pes).chain(times).collect() }
    }
}

/// What one PE gave another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub from: PeId,
    pub to: PeId,
    pub messages: u64,
    /// One-sided accesses.
    pub accesses: u64,
    pub bytes: u64,
    /// Of moving the data, without waiting for each other.
    pub seconds: f64,
}

impl Pair {
    pub(crate) fn table(pairs: &[Pair], name: &'static str) -> DataTable {
        let count = |of: fn(&Pair) -> u64| Values::Count(pairs.iter().map(of).collect());
        let bytes = pairs.iter().map(|pair| pair.bytes as f64).collect();
        let columns = vec![
            Column::new("from", Values::Pe(pairs.iter().map(|pair| pair.from).collect())),
            Column::new("to", Values::Pe(pairs.iter().map(|pair| pair.to).collect())),
            Column::new("messages", count(|pair| pair.messages)),
            Column::new("rma", count(|pair| pair.accesses)),
            Column::bytes("bytes", bytes),
            Column::seconds("seconds", pairs.iter().map(|pair| pair.seconds).collect()),
        ];
        DataTable { name, columns }
    }
}

/// What a construct took of the run, on all PEs of CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopOperation {
    /// A region of the construct.
    pub construct: RegionId,
    pub role: Role,
    pub count: u64,
    pub seconds: f64,
    /// What of it was waiting; none where only sums were recorded.
    pub waiting: Option<f64>,
    pub bytes: u64,
    /// Of the run on all PEs.
    pub share: f64,
}

impl TopOperation {
    /// What several took together, with the construct and the role of the first; none of none.
    pub fn sum(rows: &[TopOperation]) -> Option<TopOperation> {
        rows.iter().copied().reduce(|sum, row| TopOperation {
            count: sum.count.saturating_add(row.count),
            seconds: sum.seconds + row.seconds,
            waiting: sum.waiting.zip(row.waiting).map(|(a, b)| a + b),
            bytes: sum.bytes.saturating_add(row.bytes),
            share: sum.share + row.share,
            ..sum
        })
    }

    /// The section that shows them.
    pub(crate) fn section(rows: Vec<TopOperation>, name: &'static str) -> Section {
        let number = |unit, of: fn(&TopOperation) -> f64| Values::Number(unit, rows.iter().map(of).collect());
        let mut columns = vec![
            Column::new("construct", Values::Construct(rows.iter().map(|row| row.construct).collect())),
            Column::new("role", Values::Word(rows.iter().map(|row| row.role.name()).collect())),
            Column::new("count", Values::Count(rows.iter().map(|row| row.count).collect())),
            Column::new("seconds", number(Unit::Seconds, |row| row.seconds)),
        ];
        if rows.iter().all(|row| row.waiting.is_some()) {
            columns.push(Column::new("waiting", number(Unit::Seconds, |row| row.waiting.unwrap_or(0.0))));
        }
        columns.push(Column::new("bytes", number(Unit::Bytes, |row| row.bytes as f64)));
        columns.push(Column::new("share", number(Unit::Ratio, |row| row.share)));
        let tables = vec![DataTable { name, columns }];
        Section { name, tables, result: Some(AnalysisResult::Operations(rows)), ..Section::default() }
    }
}
