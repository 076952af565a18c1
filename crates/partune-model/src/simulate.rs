//! Discrete-event simulation of a model: the same input gives the same result, to the bit.
//!
//! Source: theory, operational semantics. Cost: some 100 ns a use; memory follows the number of processes that are alive at once.

mod accounts;
mod breakdown;
mod chain;
mod events;
mod machine;
mod program;
mod random;
mod resources;
mod time;
mod watch;

use partune_expr::{Expr, Number, Rat};

use self::accounts::Accounts;
pub use self::breakdown::{Breakdown, ChainPart, ProcessTime, ResourceTime};
use self::events::Events;
use self::machine::Machine;
use self::program::Program;
use self::resources::Servers;
use self::time::{Clock, Reals, Stop, Ticks};
use self::watch::Watch;
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Model, Term};
use crate::shape::Shape;

/// Which of several events at the same time comes first; the language leaves it open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ties {
    /// In the order in which processes were started.
    #[default]
    Program,
    /// Against it.
    Reverse,
    /// By chance, from the seed.
    Random,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub ties: Ties,
    pub seed: u64,
    /// Steps of processes.
    pub max_steps: u64,
    /// Processes that are alive at once.
    pub max_processes: usize,
    /// Calls inside each other of processes that call themselves.
    pub max_calls: u32,
    /// Uses and delays that a recording may hold.
    pub max_record: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            ties: Ties::Program,
            seed: 1,
            max_steps: 10_000_000_000,
            max_processes: 20_000_000,
            max_calls: 1_000_000,
            max_record: 20_000_000,
        }
    }
}

/// One queue of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Utilisation {
    /// With its index, as `l[3]`.
    pub name: String,
    pub servers: u32,
    pub uses: u64,
    /// Time that its servers worked, summed.
    pub busy: f64,
    /// `busy` over run time and servers.
    pub utilisation: f64,
    pub mean_queue: f64,
    pub max_queue: u64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Exact unless something irrational was drawn or computed.
    pub makespan: Number,
    pub uses: u64,
    pub steps: u64,
    /// Most processes alive at once; those that are a single use are not counted.
    pub processes: usize,
    /// Queues that were used, in the order of the model.
    pub resources: Vec<Utilisation>,
}

/// A use, a delay or a wait for an event, as it happened; times in the machine's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Activity<T> {
    lane: u32,
    resource: u32,
    request: T,
    begin: T,
    end: T,
}

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Delay,
    /// Waits for an event.
    Await,
    /// A position in [`Recording::names`].
    Use(u32),
}

/// The same with times in seconds; who did it is a lane: a stream that holds one process at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    pub lane: u32,
    pub what: What,
    pub request: f64,
    pub begin: f64,
    pub end: f64,
}

/// Every use and delay of a run, in the order in which they began, and waits for events, as they ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    pub lanes: u32,
    /// Names of queues, and how many servers each has.
    pub names: Vec<(String, u32)>,
    pub activities: Vec<Recorded>,
}

/// Simulates a term. All parameters must have values.
pub fn simulate(model: &Model, term: &Term, options: &Options) -> Result<Outcome, Diagnostic> {
    run(model, term, options, Look::Nothing).map(|run| run.outcome)
}

/// The same, and records what happened.
pub fn record(model: &Model, term: &Term, options: &Options) -> Result<(Outcome, Recording), Diagnostic> {
    run(model, term, options, Look::Recording).map(|run| (run.outcome, run.recording))
}

/// The same as [`simulate`], and says where the time went. Costs some times the time. Memory: the processes that live at once, which are all
/// branches here, also those of a single use; the queues; and links of chains up to [`Options::max_record`], which only models with very many
/// processes at once come near: their number does not grow with the number of uses.
pub fn break_down(model: &Model, term: &Term, options: &Options) -> Result<(Outcome, Breakdown), Diagnostic> {
    run(model, term, options, Look::Breakdown).map(|run| (run.outcome, run.breakdown))
}

/// What is wanted of a run besides its outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Nothing,
    Recording,
    Breakdown,
}

struct Run {
    outcome: Outcome,
    /// Empty unless wanted, as the next.
    recording: Recording,
    breakdown: Breakdown,
}

fn run(model: &Model, term: &Term, options: &Options, look: Look) -> Result<Run, Diagnostic> {
    let open: Vec<&str> = model.open().map(|param| param.name.as_str()).collect();
    if !open.is_empty() {
        let text = format!("no value for {}", open.join(", "));
        return Err(Diagnostic::error(Span::default(), text).help("give values with -D NAME=VALUE"));
    }
    // A resource used by a single process cannot merge its queue; ties other than the program's need a process each.
    let shortcuts = look == Look::Nothing && options.ties == Ties::Program;
    let program = program::compile(model, term, shortcuts);
    let told = |stop| match stop {
        Stop::Error(error) => error,
        Stop::TooDeep { process, span } => model.processes[process as usize].too_deep(options.max_calls, span),
        Stop::Finer(_) | Stop::Inexact => Diagnostic::error(Span::default(), "times are too large"),
    };
    let mut ticks = Ticks(1);
    if !program.random {
        loop {
            match attempt(model, &program, &ticks, options, look) {
                Ok(result) => return Ok(result),
                Err(Stop::Inexact) => break,
                Err(Stop::Finer(by)) => match finer(ticks.0, by) {
                    Some(next) => ticks = Ticks(next),
                    None => break,
                },
                Err(stop) => return Err(told(stop)),
            }
        }
    }
    attempt(model, &program, &Reals, options, look).map_err(told)
}

/// Ticks of which both are multiples, if that leaves room for long runs.
fn finer(ticks: i64, by: i64) -> Option<i64> {
    let shared = Rat::int(ticks.into()).gcd(Rat::int(by.into())).to_int()?;
    let finer = i64::try_from(i128::from(ticks) / shared.max(1) * i128::from(by)).ok()?;
    (finer > ticks && finer < 1 << 52).then_some(finer)
}

fn attempt<C: Clock>(model: &Model, program: &Program, clock: &C, options: &Options, look: Look) -> Result<Run, Stop> {
    let mut servers = servers(model)?;
    let mut breakdown = Breakdown { processes: Vec::new(), resources: Vec::new(), chain: Vec::new(), links: 0 };
    let (outcome, recording) = if look == Look::Breakdown {
        let accounts = Accounts::new(clock, servers.queues(), options.max_record);
        let machine = Machine::new(clock, program, options, &mut servers, events(model)?, false, accounts);
        let (finished, mut accounts) = finish(machine)?;
        breakdown = breakdown::breakdown(&mut accounts, program, &servers, clock, finished.now);
        outcome(&finished, &servers, clock)
    } else {
        let record = look == Look::Recording;
        let machine = Machine::new(clock, program, options, &mut servers, events(model)?, record, ());
        let (finished, ()) = finish(machine)?;
        outcome(&finished, &servers, clock)
    };
    Ok(Run { outcome, recording, breakdown })
}

/// What a machine leaves behind.
struct Finished<T> {
    now: T,
    uses: u64,
    steps: u64,
    processes: usize,
    lanes: u32,
    activities: Vec<Activity<T>>,
}

/// Runs a machine to its end.
fn finish<C: Clock, W: Watch<C>>(mut machine: Machine<'_, C, W>) -> Result<(Finished<C::Time>, W), Stop> {
    machine.run()?;
    let finished = Finished {
        now: machine.now,
        uses: machine.uses,
        steps: machine.steps,
        processes: machine.most_processes,
        lanes: machine.lanes(),
        activities: machine.activities,
    };
    Ok((finished, machine.watch))
}

fn outcome<C: Clock>(finished: &Finished<C::Time>, servers: &Servers<C::Time>, clock: &C) -> (Outcome, Recording) {
    let makespan = clock.number(clock.length(finished.now));
    let outcome = Outcome {
        makespan,
        uses: finished.uses,
        steps: finished.steps,
        processes: finished.processes,
        resources: utilisations(servers, clock, makespan.to_f64()),
    };
    let named = if finished.lanes > 0 { servers.queues() } else { 0 };
    let names = (0..named).map(|position| servers.name(position)).collect();
    let recorded = finished.activities.iter().map(|activity| Recorded {
        lane: activity.lane,
        what: match activity.resource {
            machine::NONE => What::Delay,
            machine::AWAIT => What::Await,
            resource => What::Use(resource),
        },
        request: clock.to_f64(activity.request),
        begin: clock.to_f64(activity.begin),
        end: clock.to_f64(activity.end),
    });
    (outcome, Recording { lanes: finished.lanes, names, activities: recorded.collect() })
}

fn servers<T: Copy + Ord + Default>(model: &Model) -> Result<Servers<T>, Stop> {
    let (mut shapes, mut servers) = (Vec::new(), Vec::new());
    for resource in &model.resources {
        let own = resource.servers.as_ref().map_or(Ok(1), |e| int(e, resource.span))?;
        let wrong = |why: String| Diagnostic::error(resource.span, format!("{own} servers: {why}"));
        servers.push(match u32::try_from(own) {
            Ok(servers @ 1..) => servers,
            Err(_) if own > 0 => {
                let error = wrong(format!("a simulation has at most {}", u32::MAX));
                return Err(Stop::Error(error.help("`* inf` has always enough")));
            }
            _ => return Err(Stop::Error(wrong("at least one is needed".to_owned()))),
        });
        shapes.push(Shape::new(&resource.name, &resource.dimensions, resource.span).map_err(Stop::Error)?);
    }
    Servers::new(shapes, servers).map_err(Stop::Error)
}

fn events<T: Copy + Default>(model: &Model) -> Result<Events<T>, Stop> {
    let shapes = model.events.iter().map(|event| Shape::new(&event.name, &event.dimensions, event.span));
    shapes.collect::<Result<_, _>>().and_then(Events::new).map_err(Stop::Error)
}

/// An integer of a model with all parameters given.
fn int(e: &Expr, span: Span) -> Result<i64, Stop> {
    e.eval_int(&|_: &partune_expr::Symbol| None).map_err(|error| machine::of_eval(&error, span))
}

fn utilisations<C: Clock>(servers: &Servers<C::Time>, clock: &C, makespan: f64) -> Vec<Utilisation> {
    let counted = servers.counted(clock).into_iter();
    let share = |value: f64| if makespan > 0.0 { value / makespan } else { 0.0 };
    counted
        .map(|counted| {
            let (name, servers) = servers.name(counted.position);
            Utilisation {
                name,
                servers,
                uses: counted.uses,
                busy: counted.busy,
                utilisation: share(counted.busy) / f64::from(servers),
                mean_queue: share(counted.area),
                max_queue: counted.most,
            }
        })
        .collect()
}
