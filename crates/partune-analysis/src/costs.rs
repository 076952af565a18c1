//! What operations, teams and idle threads cost where nobody was late: with the waits, all that is not computation has a place.

use partune_base::{CallPathId, Id, PeId, Span, Table, Time};
use partune_trace::{PeKind, Role, Trace, Visit};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::places::told;
use crate::queries::{Query, add_rows};
use crate::spending::{Kinds, Level, Meter};
use crate::useful::{cpu_pes, operations_between_processes, role_of_path};
use crate::waits::is_start_up;
use crate::{Analysis, Base, Finding, Input, Needs, Occurrence, Outcome, Pattern, tiling};

pub(crate) static COSTS: Analysis = Analysis {
    name: "costs",
    title: "What operations, teams and idle threads cost where nobody was late",
    docs: DOCS,
    finds: true,
    needs: Needs::Queries,
    shows: &[],
    run,
};

const DOCS: &str = "\
# Costs

Time that is neither computation nor a wait, by the place where it goes, summed over PEs. Together with the waits it is all that a run
loses between start-up and shut-down, but for threads that idle beside a main thread that computes (serial sections, see the bounds) and pauses of
the recorder. So the largest loss always has a finding.

| pattern | time |
|---|---|
| operation_cost | in operations that communicate, synchronise or manage, less the waits in them |
| input_output | in operations on files, less the waits in them |
| wait_on_device | in operations that wait for a device |
| start_up | in start-up and shut-down, less the waits in them within the run. Most of it is outside of the run, of which shares are: that part is told apart (`outside_s`), and is in none of the sums, shares and ranks |
| fork_join | of each member of a team: from the fork until its part begins, and from the end of its part until the join, with nothing recorded in it |
| idle_threads | of threads in no team, while the main thread of their process communicates with other processes |

A place is the same construct in the same function. A finding is reported from ten times the share that findings of losses need (1 % of the
run): some cost is the usual price. Places that cost less are told together: those of a construct as one finding if they reach it, else those of a pattern. Where another
finding tells why an operation takes long (small transfers, a redundant barrier, …), its time is taken out of that of the same call path.

**Source**: ours; with Scalasca's metrics of time in MPI, OpenMP management and idle threads as the model.
";

/// Costs are told from so many times the share of the run that losses are.
const USUAL: i64 = 10;

/// The cost of one PE at one place.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Cost {
    time: Span,
    /// What is outside of the run besides.
    outside: Span,
    count: u64,
    longest: (Time, Time),
}

/// The costs of a PE at the call paths that have some.
type Costs = Vec<((Pattern, CallPathId), Cost)>;

/// One of them with its PE.
type Row = ((Pattern, CallPathId), PeId, Cost);

fn run(input: &Input<'_>) -> Outcome {
    let is_some = |row: &&Row| row.2.time.is_positive() || row.2.outside.is_positive();
    let all: Vec<Row> = input.cost_rows().0.iter().filter(is_some).copied().collect();
    let least = input.least().saturating_mul(USUAL).max(1);
    let findings = all.chunk_by(|a, b| a.0 == b.0).map(|rows| finding(input, rows)).collect();
    Outcome { findings: told(input.trace, findings, least, input.options.details), sections: Vec::new() }
}

/// All costs, in order of pattern, call path and PE.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Rows(Vec<Row>);

impl Query for Rows {
    fn of(input: &Input<'_>) -> Rows {
        Rows(rows(input))
    }

    fn add(&mut self, next: Rows) {
        add_rows(&mut self.0, next.0, |row| (row.0, row.1), |sum, more| sum.2.join(&more.2));
    }
}

fn rows(input: &Input<'_>) -> Vec<Row> {
    let (trace, base) = (input.trace, input.base());
    let pes = cpu_pes(trace);
    let kinds = Kinds::new(trace, Level::Pes, &[]);
    let gaps = team_gaps(input, &base);
    let between = operations_between_processes(trace);
    let has_others = trace.cpu_processes().count() > 1;
    let of_pe = |sums: &mut Sums, pe: &PeId| {
        let mut costs = operations(input, *pe, &base, sums);
        in_teams(&mut Idle::new(input, *pe, &base, &kinds), &gaps[*pe], sums);
        costs.extend(sums.finish(|_| Pattern::ForkJoin));
        if has_others {
            let operations = in_main(trace, *pe, &between);
            beside_main(&mut Idle::new(input, *pe, &base, &kinds), operations, &gaps[*pe], sums);
            costs.extend(sums.finish(|_| Pattern::IdleThreads));
        }
        costs
    };
    let costs: Vec<Costs> = pes.par_iter().map_init(|| Sums::new(trace), of_pe).collect();
    let mut all: Vec<Row> = Vec::new();
    for (pe, costs) in pes.iter().zip(costs) {
        all.extend(costs.into_iter().map(|(key, cost)| (key, *pe, cost)));
    }
    // Stable: PEs stay in order.
    all.sort_by_key(|row| row.0);
    all
}

impl Cost {
    fn add(&mut self, begin: Time, end: Time, time: Span) {
        self.time += time;
        self.count += 1;
        if end.since(begin) > self.longest.1.since(self.longest.0) {
            self.longest = (begin, end);
        }
    }

    fn join(&mut self, later: &Cost) {
        self.time += later.time;
        self.outside += later.outside;
        self.count += later.count;
        if later.longest.1.since(later.longest.0) > self.longest.1.since(self.longest.0) {
            self.longest = later.longest;
        }
    }
}

/// Costs by call path while they are summed up: no search for each event, and no pass over all paths for each PE.
struct Sums {
    costs: Table<CallPathId, Cost>,
    /// Paths that were asked for, some of them twice.
    touched: Vec<CallPathId>,
}

impl Sums {
    fn new(trace: &Trace) -> Sums {
        Sums { costs: Table::filled(trace.paths().len(), Cost::default()), touched: Vec::new() }
    }

    fn at(&mut self, path: CallPathId) -> &mut Cost {
        let cost = &mut self.costs[path];
        if cost.count == 0 {
            self.touched.push(path);
        }
        cost
    }

    /// What was summed up, in order of paths; empty then.
    fn finish(&mut self, pattern: impl Fn(CallPathId) -> Pattern) -> Costs {
        self.touched.sort_unstable();
        self.touched.dedup();
        let costs = self.touched.drain(..).map(|path| (path, std::mem::take(&mut self.costs[path])));
        costs.map(|(path, cost)| ((pattern(path), path), cost)).collect()
    }
}

/// Operations less the waits in them. Linear in operations and waits.
fn operations(input: &Input<'_>, pe: PeId, base: &Base, sums: &mut Sums) -> Costs {
    let (trace, stream) = (input.trace, &input.trace.streams()[pe]);
    for visit in stream.operations.iter().map(|visit| stream.visits.at(*visit)) {
        let inside = base.part(visit.enter, visit.exit);
        if is_start_up(role_of_path(trace, visit.path)) {
            let cost = sums.at(visit.path);
            cost.add(visit.enter, visit.exit, inside);
            cost.outside += visit.duration() - inside;
        } else if inside.is_positive() {
            sums.at(visit.path).add(visit.enter.max(base.begin), visit.exit.min(base.end), inside);
        }
    }
    for wait in input.waits.of_pe(pe).iter().chain(input.waits.start_up_of_pe(pe)) {
        sums.at(trace.visit(pe, wait.operation).path).time -= base.part(wait.begin, wait.end);
    }
    sums.finish(|path| match role_of_path(trace, path) {
        Role::Init | Role::Finalize => Pattern::StartUp,
        Role::DeviceWait => Pattern::WaitOnDevice,
        Role::Io => Pattern::InputOutput,
        _ => Pattern::OperationCost,
    })
}

/// What a member of a team has of it before its part begins or after it ended.
struct Gap {
    begin: Time,
    end: Time,
    region: CallPathId,
    /// From the fork to the join.
    team: (Time, Time),
}

/// For each PE, in order of time.
fn team_gaps(input: &Input<'_>, base: &Base) -> Table<PeId, Vec<Gap>> {
    let trace = input.trace;
    let mut gaps: Table<PeId, Vec<Gap>> = (0..trace.pes().len()).map(|_| Vec::new()).collect();
    let clip = |time: Time| time.clamp(base.begin, base.end);
    for fork in input.index.teams.forks.iter().filter(|fork| fork.members.len() > 1) {
        let region = tiling::place(trace, fork);
        let team = (clip(fork.fork), clip(fork.join));
        for (pe, begin, end) in fork.members.iter().filter(|member| member.0.index() < trace.pes().len()) {
            let begin = begin.clamp(&team.0, &team.1);
            let end = end.clamp(begin, &team.1);
            gaps[*pe].push(Gap { begin: team.0, end: *begin, region, team });
            gaps[*pe].push(Gap { begin: *end, end: team.1, region, team });
        }
    }
    gaps.iter_mut().for_each(|gaps| gaps.sort_by_key(|gap| (gap.begin, gap.end)));
    gaps
}

/// What a PE has of intervals in which it does nothing that was recorded; asked for intervals that do not run backwards.
struct Idle<'a> {
    meter: Meter<'a>,
    base: Base,
    until: Time,
}

impl<'a> Idle<'a> {
    fn new(input: &Input<'a>, pe: PeId, base: &Base, kinds: &'a Kinds) -> Idle<'a> {
        Idle { meter: Meter::new(input, pe, (base.begin, base.end), kinds), base: *base, until: base.begin }
    }

    /// Adds what is idle in an interval, as far as it was not asked for before.
    fn add(&mut self, cost: &mut Cost, begin: Time, end: Time) {
        let (begin, end) = (begin.max(self.until), end.min(self.base.end));
        if end <= begin {
            return;
        }
        let before = self.meter.up_to(begin);
        let spent = self.meter.up_to(end) - before;
        let idle = Span(end.since(begin).0 - spent.work() - spent.wait);
        if idle.is_positive() {
            cost.add(begin, end, idle);
        }
        self.until = end;
    }
}

/// What a PE idles while its teams are forked and joined.
fn in_teams(idle: &mut Idle<'_>, gaps: &[Gap], sums: &mut Sums) {
    for gap in gaps.iter().filter(|gap| gap.region.is_some()) {
        idle.add(sums.at(gap.region), gap.begin, gap.end);
    }
}

/// The operations between processes of the main thread beside a PE.
fn in_main<'a>(trace: &'a Trace, pe: PeId, between: &'a Table<CallPathId, bool>) -> impl Iterator<Item = Visit> + 'a {
    let main = Some(trace.main_of(pe)).filter(|main| *main != pe && trace.pes()[pe].kind == PeKind::Cpu);
    let stream = main.map(|main| &trace.streams()[main]);
    let visits = stream.into_iter().flat_map(|stream| stream.operations.iter().map(|visit| stream.visits.at(*visit)));
    visits.filter(|visit| between[visit.path])
}

/// What a PE idles outside of its teams while the main thread of its process is in one of these operations.
fn beside_main(idle: &mut Idle<'_>, operations: impl Iterator<Item = Visit>, gaps: &[Gap], sums: &mut Sums) {
    let mut teams = gaps.iter().map(|gap| gap.team).peekable();
    for visit in operations {
        let mut begin = visit.enter;
        while let Some((fork, join)) = teams.next_if(|team| team.1 <= visit.exit) {
            idle.add(sums.at(visit.path), begin, fork);
            begin = begin.max(join);
        }
        let end = teams.peek().map_or(visit.exit, |(fork, _)| visit.exit.min(*fork));
        idle.add(sums.at(visit.path), begin, end);
    }
}

/// The same cost of all PEs.
fn finding(input: &Input<'_>, rows: &[Row]) -> Finding {
    let (pattern, path) = rows[0].0;
    let mut longest: Vec<Occurrence> = rows
        .iter()
        .map(|(_, pe, cost)| Occurrence { pe: *pe, begin: cost.longest.0, end: cost.longest.1, cause: PeId::NONE })
        .collect();
    longest.sort_by_key(|it| (std::cmp::Reverse(it.end.since(it.begin)), it.pe));
    longest.truncate(input.options.details);
    Finding {
        time: rows.iter().map(|(_, _, cost)| cost.time).sum(),
        outside: rows.iter().map(|(_, _, cost)| cost.outside).sum(),
        count: rows.iter().map(|(_, _, cost)| cost.count).sum(),
        pes: rows.iter().map(|(_, pe, cost)| (*pe, cost.time)).filter(|(_, time)| time.is_positive()).collect(),
        occurrences: longest,
        ..Finding::at(input.trace, pattern, path)
    }
}
