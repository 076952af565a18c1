//! What comes of measurements: couplings of chains, predictions beside what was measured, and how long chains should be.

use std::collections::{BTreeMap, BTreeSet};

use partune_coupling::choice::{self, choose};
use partune_coupling::couplings::{Interaction, Measurements, couplings};
use partune_coupling::error::CouplingError;
use partune_coupling::flow::{Flow, KernelId};
use partune_coupling::measured::{Measured, Metric, Quantity};
use partune_coupling::plateau::{Course, Options};
use partune_coupling::predict::{Application, Method, coefficients, predict, relative_error};

use crate::error::CoupleError;
use crate::judge::{Problem, combined, judge, median};
use crate::plan::{Launch, Plan};
use crate::results::{Head, Recorded, Sampled};
use crate::unseen::{self, LeftOut};

/// All that is said of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Kernels of one turn of the loop, in its order.
    pub order: Vec<String>,
    pub problems: Vec<Problem>,
    /// By size and PEs, those without problems of kernels.
    pub configurations: Vec<Configured>,
    pub chains: Vec<ChainRow>,
    /// Of what was measured, then of what was not.
    pub predictions: Vec<PredictionRow>,
    /// By length of chains, ascending.
    pub lengths: Vec<LengthRow>,
    /// The length that predicts best what was left out, by places that all lengths have; of one such place, what was measured.
    pub best: Option<usize>,
    /// Why nothing is said of what was not measured.
    pub no_laws: Option<&'static str>,
    /// What the plan wants predicted, and is not.
    pub unpredicted: Vec<Unpredicted>,
    /// What kernels alone take, by size n and PEs P.
    pub laws: Vec<(String, String)>,
}

/// One size and number of PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct Configured {
    pub size: f64,
    pub pes: u32,
    pub launches: usize,
    /// Seconds of an execution, in the order of names.
    pub alone: Vec<(String, Measured)>,
    /// By what each kernel is multiplied there, with chains of the best length.
    pub coefficients: Vec<(String, Measured)>,
    pub iterations: u64,
    /// Seconds of all that is done beside the loop.
    pub once_s: f64,
    /// Bytes of the state of one rank; 0: it has none.
    pub state_bytes: f64,
    /// Seconds of the loop with all its turns and what is beside it.
    pub actual: Measured,
    /// By how much a launch was faster or slower altogether than they mostly are. It is taken out: couplings and errors are of what is left.
    pub launches_differ: f64,
    /// The share of measurements that another program took a part of: of the loop, and of kernels and chains.
    pub loop_disturbed: f64,
    pub chains_disturbed: f64,
    /// Kernels and chains were executed one by one, since some do not leave finite numbers when they are executed again on what they left.
    pub one_by_one: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChainRow {
    pub kernels: Vec<String>,
    pub size: f64,
    pub pes: u32,
    pub coupling: Measured,
    pub interaction: Interaction,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionRow {
    pub k: usize,
    pub size: f64,
    pub pes: u32,
    pub predicted: Measured,
    pub summation: f64,
    /// What was measured.
    pub actual: Option<Measured>,
}

/// A place that is not predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unpredicted {
    pub size: f64,
    pub pes: u32,
    /// By chains of this length; by none.
    pub k: Option<usize>,
    pub why: &'static str,
}

/// How well chains of one length do.
#[derive(Clone, Debug, PartialEq)]
pub struct LengthRow {
    pub k: usize,
    /// Mean relative errors over what was measured.
    pub error: f64,
    pub summation_error: f64,
    /// Of each, with couplings of the others and its own kernels alone.
    pub couplings_left_out: Option<f64>,
    /// Of each, with kernels and couplings of the others.
    pub left_out: Option<LeftOut>,
    /// Chains whose coupling changes suddenly; not of others.
    pub changes: Vec<Change>,
}

/// Where the coupling of a chain changes suddenly.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    pub kernels: Vec<String>,
    /// Bytes of state, or of what has none size by PEs, from which on.
    pub from: Vec<f64>,
}

impl PredictionRow {
    /// Two standard deviations about the prediction.
    pub fn interval(&self) -> (f64, f64) {
        let off = 2.0 * self.predicted.deviation;
        ((self.predicted.value - off).max(0.0), self.predicted.value + off)
    }
}

/// What is known of one size and number of PEs.
pub(crate) struct Configuration {
    pub(crate) size: f64,
    pub(crate) pes: u32,
    pub(crate) measurements: Measurements,
    pub(crate) application: Application,
    pub(crate) actual: Measured,
    pub(crate) state_bytes: f64,
    launches: usize,
    once_s: f64,
    launches_differ: f64,
    loop_disturbed: f64,
    chains_disturbed: f64,
    one_by_one: bool,
    /// Lengths whose chains are all sound.
    lengths: BTreeSet<usize>,
}

impl Configuration {
    /// What couplings change with: bytes of state per rank, or where there is none, size by PEs.
    pub(crate) fn at(&self) -> f64 {
        if self.state_bytes > 0.0 { self.state_bytes } else { self.size / f64::from(self.pes) }
    }

    pub(crate) fn is_sound(&self, length: usize) -> bool {
        self.lengths.contains(&length)
    }
}

/// Kernels by their names, in the order of the loop.
struct Names {
    names: Vec<String>,
    order: Vec<KernelId>,
}

impl Names {
    fn of(order: &[String]) -> Names {
        let mut names: Vec<String> = Vec::new();
        let mut ids = Vec::new();
        for name in order {
            let at = names.iter().position(|it| it == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
            ids.push(KernelId(at as u32));
        }
        Names { names, order: ids }
    }

    fn chain(&self, chain: &[KernelId]) -> Vec<String> {
        chain.iter().filter_map(|kernel| self.names.get(kernel.0 as usize).cloned()).collect()
    }
}

/// Makes of all launches of a plan that were recorded what can be said. A size or number of PEs without a launch is none.
pub fn outcome(
    plan: &Plan,
    launches: &[Launch],
    recorded: &BTreeMap<String, Recorded>,
) -> Result<Outcome, CoupleError> {
    let found: Vec<(&Launch, &Recorded)> =
        launches.iter().filter_map(|launch| Some((launch, recorded.get(&launch.label)?))).collect();
    for (launch, it) in &found {
        check_launch(plan, launch, it, &found[0])?;
    }
    let found: Vec<_> = found.into_iter().filter(|(_, it)| it.is_complete()).collect();
    let Some((_, first)) = found.first() else {
        return Err(CoupleError::Nothing("no launch was measured to its end".to_owned()));
    };
    let names = Names::of(&first.head.order);
    let flows: Vec<Flow> = plan
        .lengths_of(names.order.len())?
        .iter()
        .map(|length| Flow::cyclic(&names.order, *length))
        .collect::<Result<_, _>>()
        .map_err(|it| said(&it))?;
    let (mut problems, mut configurations) = (Vec::new(), Vec::new());
    for size in &plan.sizes {
        for pes in &plan.pes {
            let own: Vec<&Recorded> = found
                .iter()
                .filter(|(launch, _)| launch.size.total_cmp(size).is_eq() && launch.pes == *pes)
                .map(|it| it.1)
                .collect();
            if !own.is_empty() {
                configurations.extend(configuration((*size, *pes), &own, &names, &flows, &mut problems));
            }
        }
    }
    if configurations.is_empty() {
        let text = "what was measured has faults for every size and number of PEs";
        return Ok(Outcome { order: first.head.order.clone(), problems, ..Outcome::nothing(text) });
    }
    evaluated(plan, &names, &flows, &configurations, problems).map_err(|error| said(&error))
}

fn said(error: &CouplingError) -> CoupleError {
    CoupleError::Nothing(error.to_string())
}

impl Outcome {
    fn nothing(why: &'static str) -> Outcome {
        Outcome {
            order: Vec::new(),
            problems: Vec::new(),
            configurations: Vec::new(),
            chains: Vec::new(),
            predictions: Vec::new(),
            lengths: Vec::new(),
            best: None,
            no_laws: Some(why),
            unpredicted: Vec::new(),
            laws: Vec::new(),
        }
    }
}

/// That a launch measured what the plan asks for, and the program that others did.
pub fn check_launch(
    plan: &Plan,
    launch: &Launch,
    it: &Recorded,
    first: &(&Launch, &Recorded),
) -> Result<(), CoupleError> {
    if let Some(fault) = &it.fault {
        return Err(CoupleError::Fault { launch: launch.place(), fault: fault.clone() });
    }
    if !it.is_complete() {
        return Ok(());
    }
    let Head { ranks, threads, order, .. } = &it.head;
    // PEs are ranks, or threads, or threads of all ranks, and the same in all launches.
    let are = |launch: &Launch, Head { ranks, threads, .. }: &Head| {
        [*ranks, *threads, ranks.saturating_mul(*threads)].map(|it| it == launch.pes)
    };
    let others = if first.1.is_complete() { are(first.0, &first.1.head) } else { [true; 3] };
    if !are(launch, &it.head).iter().zip(others).any(|(own, other)| *own && other) {
        return Err(CoupleError::OtherPes {
            launch: launch.place(),
            wanted: launch.pes,
            ranks: *ranks,
            threads: *threads,
        });
    }
    plan.lengths_of(order.len())?;
    if let Some(kernel) = plan.order.iter().find(|kernel| !order.contains(kernel)) {
        return Err(CoupleError::UnknownKernel { kernel: kernel.clone(), known: order.join(" ") });
    }
    let (elsewhere, expected) = if !plan.order.is_empty() && *order != plan.order {
        ("in the plan".to_owned(), &plan.order)
    } else if first.1.is_complete() && first.1.head.order != *order {
        (format!("for {}", first.0.place()), &first.1.head.order)
    } else {
        return Ok(());
    };
    Err(CoupleError::OtherLoop {
        launch: launch.place(),
        found: order.join(" "),
        elsewhere,
        expected: expected.join(" "),
    })
}

/// What launches of one size and number of PEs say, but for what is wrong with them; none if kernels alone are wrong.
fn configuration(
    (size, pes): (f64, u32),
    launches: &[&Recorded],
    names: &Names,
    flows: &[Flow],
    problems: &mut Vec<Problem>,
) -> Option<Configuration> {
    let speeds = speeds(launches);
    let launches: Vec<Recorded> = launches.iter().zip(&speeds).map(|(it, speed)| at_speed(it, *speed)).collect();
    let mut measured = |chain: Vec<String>, samples: Vec<(&Head, &Sampled)>| {
        let faults = judge(&samples);
        let is_sound = faults.is_empty();
        problems.extend(faults.into_iter().map(|fault| Problem { size, pes, chain: chain.clone(), fault }));
        is_sound.then(|| combined(&samples.iter().map(|(_, it)| &it.seconds[..]).collect::<Vec<_>>()))
    };
    let samples = |chain: &[String]| -> Vec<(&Head, &Sampled)> {
        launches.iter().filter_map(|it| Some((&it.head, it.chains.get(chain)?))).collect()
    };
    let isolated: Vec<Option<Measured>> = names
        .names
        .iter()
        .map(|name| {
            let chain = vec![name.clone()];
            let samples = samples(&chain);
            measured(chain, samples)
        })
        .collect();
    let mut chains = BTreeMap::new();
    let mut lengths = BTreeSet::new();
    for flow in flows {
        let mut all_sound = true;
        for (chain, _) in flow.chains() {
            let named = names.chain(chain);
            let samples = samples(&named);
            match measured(named, samples) {
                Some(value) => _ = chains.insert(chain.to_vec(), quantity(value)),
                None => all_sound = false,
            }
        }
        if all_sound {
            lengths.insert(flow.length());
        }
    }
    let whole: Vec<(&Head, &Sampled)> = launches.iter().map(|it| (&it.head, &it.whole)).collect();
    let turn = measured(Vec::new(), whole)?;
    let isolated: Vec<Quantity> = isolated.into_iter().map(|it| it.map(quantity)).collect::<Option<_>>()?;
    let head = &launches[0].head;
    let once_s = median(&launches.iter().map(|it| it.head.once.values().sum()).collect::<Vec<f64>>());
    let iterations = head.iterations as f64;
    let all_chains = || launches.iter().flat_map(|it| it.chains.values());
    Some(Configuration {
        size,
        pes,
        measurements: Measurements { metric: Metric::time(0.0), isolated: isolated.into(), chains },
        application: Application {
            once: (once_s > 0.0).then(|| Quantity::amount(once_s, 0.0)).into_iter().collect(),
            iterations: head.iterations,
        },
        actual: Measured { value: once_s + iterations * turn.value, deviation: iterations * turn.deviation },
        state_bytes: launches.iter().map(|it| it.head.state_bytes).fold(0.0, f64::max),
        launches: launches.len(),
        once_s,
        launches_differ: speeds.iter().map(|speed| (speed - 1.0).abs()).fold(0.0, f64::max),
        loop_disturbed: disturbed(launches.iter().map(|it| (&it.whole, 1))),
        chains_disturbed: disturbed(all_chains().map(|it| (it, it.timed.times()))),
        one_by_one: all_chains().any(|it| it.timed.is_one_by_one()),
        lengths,
    })
}

fn quantity(value: Measured) -> Quantity {
    Quantity { amount: value, per: Measured::exact(1.0) }
}

fn evaluated(
    plan: &Plan,
    names: &Names,
    flows: &[Flow],
    configurations: &[Configuration],
    problems: Vec<Problem>,
) -> Result<Outcome, CouplingError> {
    let options = Options::default();
    let (mut chains, mut predictions, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
    for flow in flows {
        let k = flow.length();
        let sound: Vec<&Configuration> = configurations.iter().filter(|it| it.is_sound(k)).collect();
        let mut errors = (0.0, 0.0);
        for it in &sound {
            for coupling in couplings(flow, &it.measurements)? {
                let kernels = names.chain(&coupling.chain);
                let (coupling, interaction) = (coupling.value, coupling.interaction);
                chains.push(ChainRow { kernels, size: it.size, pes: it.pes, coupling, interaction });
            }
            let prediction = predict(flow, &it.measurements, &it.application, Method::Weighted)?;
            errors.0 += relative_error(prediction.value.value, it.actual.value);
            errors.1 += relative_error(prediction.summation.value, it.actual.value);
            predictions.push(PredictionRow {
                k,
                size: it.size,
                pes: it.pes,
                predicted: prediction.value,
                summation: prediction.summation.value,
                actual: Some(it.actual),
            });
        }
        if sound.is_empty() {
            continue;
        }
        let count = sound.len() as f64;
        lengths.push(LengthRow {
            k,
            error: errors.0 / count,
            summation_error: errors.1 / count,
            couplings_left_out: couplings_left_out(flow, &sound, &options)?,
            left_out: None,
            changes: changes(flow, names, &sound, &options)?,
        });
    }
    let unseen = unseen::extend(plan, flows, configurations, &mut lengths, &mut predictions)?;
    let best = best(flows, configurations, &options)?;
    let best_flow = flows.iter().find(|flow| Some(flow.length()) == best);
    let configured = configurations.iter().map(|it| configured(it, names, best_flow)).collect::<Result<_, _>>()?;
    Ok(Outcome {
        order: names.chain(&names.order),
        problems,
        configurations: configured,
        chains,
        predictions,
        lengths,
        best,
        no_laws: unseen.as_ref().err().copied(),
        laws: if unseen.is_ok() { laws(names, configurations) } else { Vec::new() },
        unpredicted: unseen.unwrap_or_default(),
    })
}

/// The length that predicts best, of those that were sound in the most places: each is judged by the same places, with couplings of all others where there are two or
/// more.
fn best(flows: &[Flow], configurations: &[Configuration], options: &Options) -> Result<Option<usize>, CouplingError> {
    let places = |flow: &Flow| configurations.iter().filter(|it| it.is_sound(flow.length())).count();
    let most = flows.iter().map(places).max().unwrap_or(0);
    let flows: Vec<&Flow> = flows.iter().filter(|flow| most > 0 && places(flow) == most).collect();
    let same: Vec<&Configuration> =
        configurations.iter().filter(|it| flows.iter().all(|flow| it.is_sound(flow.length()))).collect();
    let mut best: Option<(f64, usize)> = None;
    for flow in flows {
        let mut error = couplings_left_out(flow, &same, options)?;
        if let (None, Some(it)) = (error, same.first()) {
            let prediction = predict(flow, &it.measurements, &it.application, Method::Weighted)?;
            error = Some(relative_error(prediction.value.value, it.actual.value));
        }
        // Without any place that all have, the shortest.
        let error = error.unwrap_or(0.0);
        if best.is_none_or(|(least, _)| error < least) {
            best = Some((error, flow.length()));
        }
    }
    Ok(best.map(|it| it.1))
}

fn laws(names: &Names, configurations: &[Configuration]) -> Vec<(String, String)> {
    let of = |(at, name): (usize, &String)| {
        Some((name.clone(), unseen::law(configurations, KernelId(at as u32))?.text(&["n", "P"])))
    };
    names.names.iter().enumerate().filter_map(of).collect()
}

fn configured(it: &Configuration, names: &Names, flow: Option<&Flow>) -> Result<Configured, CouplingError> {
    let name = |kernel: KernelId| names.names[kernel.0 as usize].clone();
    let alone =
        names.names.iter().cloned().zip(it.measurements.isolated.iter().map(|quantity| quantity.amount)).collect();
    let coefficients = match flow.filter(|flow| it.is_sound(flow.length())) {
        Some(flow) => {
            coefficients(flow, &it.measurements)?.into_iter().map(|(kernel, by)| (name(kernel), by)).collect()
        }
        None => Vec::new(),
    };
    Ok(Configured {
        size: it.size,
        pes: it.pes,
        launches: it.launches,
        alone,
        coefficients,
        iterations: it.application.iterations,
        once_s: it.once_s,
        state_bytes: it.state_bytes,
        actual: it.actual,
        launches_differ: it.launches_differ,
        loop_disturbed: it.loop_disturbed,
        chains_disturbed: it.chains_disturbed,
        one_by_one: it.one_by_one,
    })
}

/// What each launch takes by the geometric mean of all: of its kernels, chains and loop the median. Where other programs share caches and cores, whole launches
/// are slower, and that says nothing of kernels.
fn speeds(launches: &[&Recorded]) -> Vec<f64> {
    let series = |it: &Recorded| -> BTreeMap<Vec<String>, f64> {
        let whole = std::iter::once((Vec::new(), median(&it.whole.seconds)));
        let all = whole.chain(it.chains.iter().map(|(chain, it)| (chain.clone(), median(&it.seconds))));
        all.filter(|(_, seconds)| *seconds > 0.0).map(|(chain, seconds)| (chain, seconds.ln())).collect()
    };
    let all: Vec<BTreeMap<Vec<String>, f64>> = launches.iter().map(|it| series(it)).collect();
    let mean = |chain: &Vec<String>| {
        let known: Option<Vec<f64>> = all.iter().map(|it| it.get(chain).copied()).collect();
        known.map(|known| known.iter().sum::<f64>() / known.len() as f64)
    };
    let speed = |own: &BTreeMap<Vec<String>, f64>| {
        let off: Vec<f64> = own.iter().filter_map(|(chain, it)| Some(it - mean(chain)?)).collect();
        median(&off)
    };
    let speeds: Vec<f64> = all.iter().map(speed).collect();
    let middle = speeds.iter().sum::<f64>() / speeds.len() as f64;
    speeds.iter().map(|speed| (speed - middle).exp()).collect()
}

/// What a launch would have taken that is neither faster nor slower than others.
fn at_speed(it: &Recorded, speed: f64) -> Recorded {
    let mut it = it.clone();
    for sampled in it.chains.values_mut().chain([&mut it.whole]) {
        sampled.seconds.iter_mut().for_each(|seconds| *seconds /= speed);
    }
    it
}

/// The share of measurements that another program took a part of, with so many in each round.
fn disturbed<'a>(samples: impl Iterator<Item = (&'a Sampled, u64)>) -> f64 {
    let (all, disturbed) = samples.fold((0.0, 0.0), |(all, disturbed), (it, times)| {
        (all + times as f64 * it.seconds.len() as f64, disturbed + it.disturbed)
    });
    if all > 0.0 { disturbed / all } else { 0.0 }
}

/// The mean relative error of each with the couplings of the others; none of fewer than two.
fn couplings_left_out(flow: &Flow, sound: &[&Configuration], options: &Options) -> Result<Option<f64>, CouplingError> {
    if sound.len() < 2 {
        return Ok(None);
    }
    let configurations: Vec<choice::Configuration> = sound
        .iter()
        .map(|it| choice::Configuration {
            at: it.at(),
            measurements: it.measurements.clone(),
            application: it.application.clone(),
            whole: it.actual.value,
        })
        .collect();
    let chosen = choose(std::slice::from_ref(flow), &configurations, options)?;
    Ok(chosen.lengths.first().map(|it| it.mean))
}

fn changes(
    flow: &Flow,
    names: &Names,
    sound: &[&Configuration],
    options: &Options,
) -> Result<Vec<Change>, CouplingError> {
    let mut all = Vec::new();
    let known: Vec<_> = sound.iter().map(|it| couplings(flow, &it.measurements)).collect::<Result<_, _>>()?;
    let at: Vec<f64> = sound.iter().map(|it| it.at()).collect();
    for (number, (chain, _)) in flow.chains().enumerate() {
        let values: Vec<Measured> = known.iter().map(|it| it[number].value).collect();
        let from = Course::of(&at, &values, options)?.changes();
        if !from.is_empty() {
            all.push(Change { kernels: names.chain(chain), from });
        }
    }
    Ok(all)
}
