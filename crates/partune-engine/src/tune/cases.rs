//! What a run shows of what a knob is about: the cases that are worth a look, each with what it names in changes.

use std::collections::{BTreeMap, BTreeSet};

use partune_advice::{Knob, Value, When};
use partune_analysis::Pattern;
use partune_base::{ProcessId, StringId};
use partune_replay::Replay;
use partune_trace::{PeKind, Role, Trace};

use crate::Diagnosis;

/// Something that a knob could be set for.
#[derive(Debug, Default)]
pub(super) struct Case {
    /// What the knob calls it, such as a collective.
    pub(super) word: Option<String>,
    /// As changes name them.
    pub(super) places: Vec<String>,
    /// For changes, where the run says it.
    pub(super) factor: f64,
    /// The share of the run that any value saves at most, where no change says it.
    pub(super) share: Option<f64>,
    /// Those that suit the run, in the order in which they are worth a try; none if the knob or the library knows them.
    pub(super) values: Vec<Value>,
}

/// Bytes that a library puts before a message, at most.
const HEADER: u64 = 256;

pub(super) fn of(knob: &Knob, diagnosis: &Diagnosis, replay: &Replay<'_>) -> Vec<Case> {
    let trace = &diagnosis.run.trace;
    match knob.when {
        When::LongSends => long_sends(replay).into_iter().collect(),
        When::Collectives => collectives(trace, &knob.construct),
        When::UnevenLoops => uneven_loops(trace, &knob.construct).into_iter().collect(),
        When::CrowdedThreads => crowded_threads(diagnosis, knob.values.is_empty()).into_iter().collect(),
        When::NarrowBinding => narrow_binding(diagnosis).into_iter().collect(),
        When::IdleProcessors => idle_processors(trace).into_iter().collect(),
    }
}

/// The limit counts for each of several messages on their way: how many share a buffer is the library's own.
fn long_sends(replay: &Replay<'_>) -> Option<Case> {
    let least = replay.longest_waiting()?.checked_add(HEADER)?.checked_next_power_of_two()?;
    let values = [1, 4, 16].map(|times| Value::Number(least.saturating_mul(times)));
    Some(Case { values: values.into(), ..Case::default() })
}

/// One for each collective.
fn collectives(trace: &Trace, prefix: &str) -> Vec<Case> {
    let named = constructs(trace, |it| it.role.is_collective(), |it| it.construct);
    let of = |name: &String| {
        let word = name.strip_prefix(prefix)?.to_lowercase();
        Some(Case { word: Some(word), places: vec![name.clone()], ..Case::default() })
    };
    named.iter().filter_map(of).collect()
}

fn uneven_loops(trace: &Trace, within: &str) -> Option<Case> {
    let named = constructs(trace, |it| it.role.is_transparent() && it.paradigm.is_some(), |it| it.whole);
    let places: Vec<String> = named.iter().filter(|name| name.contains(within)).map(|name| quoted(name)).collect();
    (!places.is_empty()).then(|| Case { places, ..Case::default() })
}

/// The names of constructs of the run, in their order.
fn constructs(
    trace: &Trace,
    is: impl Fn(&partune_trace::Region) -> bool,
    name: impl Fn(&partune_trace::Region) -> StringId,
) -> BTreeSet<String> {
    let found = trace.regions().iter().filter(|region| is(region));
    found.map(|region| trace.strings().get(name(region)).to_owned()).collect()
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Threads of a process, and processors for them.
struct Threads {
    /// Of the process that has most on its node.
    threads: u64,
    /// Of the node, the part of each process.
    processors: u64,
}

impl Threads {
    /// Of the node with most threads in a process; none if nobody forks a team.
    fn of(trace: &Trace) -> Option<Threads> {
        let has_teams = trace.regions().iter().any(|region| region.role == Role::Parallel);
        let mut nodes: BTreeMap<StringId, Vec<ProcessId>> = BTreeMap::new();
        for (id, process) in trace.processes().iter_ids().filter(|(id, _)| has_teams && trace.cpus(*id).is_some()) {
            nodes.entry(process.node).or_default().push(id);
        }
        let of = |processes: &Vec<ProcessId>| Threads {
            threads: processes.iter().map(|id| threads(trace, *id)).max().unwrap_or(0),
            processors: partune_analysis::processors(trace, processes) / processes.len() as u64,
        };
        nodes.values().map(of).max_by_key(|it| it.threads)
    }
}

fn threads(trace: &Trace, process: ProcessId) -> u64 {
    let pes = &trace.processes()[process].pes;
    pes.iter().filter(|pe| trace.pes()[**pe].kind == PeKind::Cpu).count() as u64
}

/// The share of the run that is saved if PEs do nothing but their work, and never wait for a processor in it; none unless they have fewer
/// processors than they are, and waiting for them is a finding.
fn crowd(diagnosis: &Diagnosis) -> Option<f64> {
    let mut findings = diagnosis.findings.iter().map(|ranked| &ranked.finding);
    let finding = findings.find(|it| it.pattern == Pattern::WaitForProcessor)?;
    let fact = |name: &str| finding.facts.iter().find(|it| it.0 == name).map(|it| it.1);
    let bounds = &diagnosis.bounds()?.run.bounds;
    let work = bounds.first()?.seconds / bounds.last()?.seconds.max(f64::MIN_POSITIVE);
    (fact("pes")? > fact("processors")?).then_some(1.0 - work / fact("slowdown")?.max(1.0))
}

fn crowded_threads(diagnosis: &Diagnosis, counts: bool) -> Option<Case> {
    let share = crowd(diagnosis)?;
    let Threads { threads, processors } = Threads::of(&diagnosis.run.trace)?;
    let fewer = processors.max(1);
    let values = if counts { vec![Value::Number(fewer)] } else { Vec::new() };
    (threads > fewer).then(|| Case { share: Some(share), values, ..Case::default() })
}

fn narrow_binding(diagnosis: &Diagnosis) -> Option<Case> {
    let (share, trace) = (crowd(diagnosis)?, &diagnosis.run.trace);
    let is_narrow = |id: ProcessId| {
        let cpus = trace.cpus(id)?;
        let allowed: u64 = cpus.allowed.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
        (allowed < threads(trace, id).min(u64::from(cpus.online))).then_some(())
    };
    let mut processes = trace.processes().ids();
    processes.any(|id| is_narrow(id).is_some()).then(|| Case { share: Some(share), ..Case::default() })
}

/// Teams that left processors unused could have all of them: at best, their parts would take as much less time.
fn idle_processors(trace: &Trace) -> Option<Case> {
    let Threads { threads, processors } = Threads::of(trace)?;
    let named = constructs(trace, |it| it.role == Role::Parallel, |it| it.construct);
    let places = named.iter().map(|name| quoted(name)).collect();
    let values = vec![Value::Number(processors)];
    (processors > threads).then(|| Case {
        places,
        factor: threads as f64 / processors as f64,
        values,
        ..Case::default()
    })
}
