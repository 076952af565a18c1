//! What an application takes, from its kernels alone and the couplings of its chains; beside the sum of its kernels, which knows no couplings.

use std::collections::BTreeMap;

use partune_base::Table;

use crate::couplings::{Inputs, Measurements};
use crate::error::{CouplingError, Subject};
use crate::flow::{Flow, KernelId};
use crate::measured::{Combine, Measured, Metric, Quantity};
use crate::uncertain::{Pair, Uncertain};

/// What is around the flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// What is done once, as initialisation and end.
    pub once: Vec<Quantity>,
    /// How often the flow is executed.
    pub iterations: u64,
}

/// How chains become a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// As in the paper: each kernel times its [`coefficients`].
    Weighted,
    /// The mean of chains, `1/k Σ P_W`: nothing is weighted. For flows where each execution of a kernel is on `k` paths, as in loops. Of a maximum the
    /// largest chain.
    Mean,
    /// For chains that were timed inside of the running program: each kernel after those before it, `Σ (P(i-k+1..i) - P(i-k+1..i-1))`, and the path
    /// the flow begins with. It asks for chains of `k - 1` too, and for what adds up.
    InSitu,
}

/// What an application takes, in the unit of the metric, for all iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub value: Measured,
    /// By the sum of kernels alone, which is a prediction with all couplings 1.
    pub summation: Measured,
    /// `value` less `summation`; less uncertain than either where they share measurements.
    pub difference: Measured,
    /// What the flow alone takes, by what it would take by summation.
    pub of_summation: f64,
    /// The least and the largest coupling.
    pub hull: (f64, f64),
}

impl Prediction {
    /// Whether the flow is to its summation as some mean of couplings. [`Method::Weighted`] always is; others may be beyond, and then measurements
    /// contradict each other.
    pub fn is_in_hull(&self) -> bool {
        is_in_hull(self.of_summation, self.hull, 1e-9)
    }
}

/// Whether a prediction by its summation lies between the least and the largest coupling, but for `slack`.
pub fn is_in_hull(of_summation: f64, (least, most): (f64, f64), slack: f64) -> bool {
    (least - slack..=most + slack).contains(&of_summation)
}

/// How far a prediction is from what was measured, as a share of the latter.
pub fn relative_error(predicted: f64, measured: f64) -> f64 {
    (predicted - measured).abs() / measured
}

/// By how much each kernel differs from what it takes alone: `Σ n_W C_W P_W / Σ n_W P_W` over the chains that it is in, as often as it is.
/// The equation of the paper for chains of three in a loop of four; derived for others.
pub fn coefficients(flow: &Flow, measurements: &Measurements) -> Result<BTreeMap<KernelId, Measured>, CouplingError> {
    let coefficients = weighted(flow, &Inputs::measured(flow, measurements)?);
    coefficients.into_iter().map(|(kernel, coefficient)| Ok((kernel, coefficient.finish()?))).collect()
}

/// Predicts an application from what was measured of it. Errors are those of the first order; of a maximum, of what is largest. Chains × their length², and a sort.
pub fn predict(
    flow: &Flow,
    measurements: &Measurements,
    application: &Application,
    method: Method,
) -> Result<Prediction, CouplingError> {
    let mut inputs = Inputs::measured(flow, measurements)?;
    let looped = match method {
        Method::Weighted => from_coefficients(flow, &inputs),
        Method::Mean => mean(flow, &inputs)?,
        Method::InSitu => in_situ(flow, &mut inputs, measurements)?,
    };
    finished(flow, inputs, &looped, application)
}

/// Predicts an application from kernels measured or modelled where it is to run, and couplings found elsewhere: one for each chain of the flow, in its
/// order, independent of each other and of the kernels. `P_W` is then `C_W E_W`.
pub fn predict_with(
    flow: &Flow,
    metric: Metric,
    isolated: &Table<KernelId, Quantity>,
    couplings: &[Measured],
    application: &Application,
) -> Result<Prediction, CouplingError> {
    let inputs = Inputs::transferred(flow, metric, isolated, couplings)?;
    let looped = from_coefficients(flow, &inputs);
    finished(flow, inputs, &looped, application)
}

fn weighted(flow: &Flow, inputs: &Inputs) -> BTreeMap<KernelId, Uncertain> {
    let weights: Vec<Uncertain> = inputs.chains.iter().map(|chain| inputs.metric.weight(chain)).collect();
    let products: Vec<Uncertain> = weights.iter().zip(&inputs.couplings).map(|(a, b)| a.times(b)).collect();
    let mut on: BTreeMap<KernelId, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, (chain, count)) in flow.chains().enumerate() {
        chain.iter().for_each(|kernel| on.entry(*kernel).or_default().push((at, count as f64)));
    }
    let mean = |(kernel, on): (KernelId, Vec<(usize, f64)>)| {
        let sum = |of: &[Uncertain]| Uncertain::sum(on.iter().map(|(at, count)| (*count, &of[*at])));
        (kernel, sum(&products).by(&sum(&weights)))
    };
    on.into_iter().map(mean).collect()
}

fn from_coefficients(flow: &Flow, inputs: &Inputs) -> Pair {
    let mut changed = inputs.kernels.clone();
    for (kernel, coefficient) in weighted(flow, inputs) {
        if let Some(pair) = changed.get_mut(&kernel) {
            pair.amount = pair.amount.times(&coefficient);
        }
    }
    all_kernels(flow, inputs.metric, &changed)
}

fn mean(flow: &Flow, inputs: &Inputs) -> Result<Pair, CouplingError> {
    let length = flow.length();
    let shares = flow.chains().zip(&inputs.chains).map(|((_, count), pair)| (count as f64 / length as f64, pair));
    let all = inputs.metric.combined(shares);
    if inputs.metric.combine == Combine::Maximum {
        return Ok(all);
    }
    let mut on: BTreeMap<KernelId, u128> = BTreeMap::new();
    for (chain, count) in flow.chains() {
        chain.iter().for_each(|kernel| *on.entry(*kernel).or_default() += u128::from(count));
    }
    let is_uneven = |(kernel, count): (&KernelId, &u64)| on.get(kernel) != Some(&(u128::from(*count) * length as u128));
    let uneven = flow.executions().iter().find(|it| is_uneven(*it)).map(|(kernel, _)| *kernel);
    uneven.map_or(Ok(all), |kernel| Err(CouplingError::Uneven(kernel)))
}

fn in_situ(flow: &Flow, inputs: &mut Inputs, measurements: &Measurements) -> Result<Pair, CouplingError> {
    if inputs.metric.combine != Combine::Sum {
        return Err(CouplingError::NotAdditive);
    }
    // How often each path of one kernel less is added; mostly less than never.
    let mut shorter: BTreeMap<&[KernelId], f64> = BTreeMap::new();
    if flow.length() > 1 {
        flow.begins()?.iter().for_each(|(path, count)| *shorter.entry(path).or_default() += *count as f64);
        flow.chains().for_each(|(chain, count)| *shorter.entry(&chain[..chain.len() - 1]).or_default() -= count as f64);
    }
    let shorter: Vec<(f64, Pair)> = shorter
        .into_iter()
        .map(|(path, count)| Ok((count, inputs.chain(path, measurements)?)))
        .collect::<Result<_, CouplingError>>()?;
    let longer = flow.chains().zip(&inputs.chains).map(|((_, count), pair)| (count as f64, &pair.amount));
    let amount = Uncertain::sum(longer.chain(shorter.iter().map(|(count, pair)| (*count, &pair.amount))));
    // Errors of measurement can make less than nothing of differences.
    if amount.value <= 0.0 {
        return Err(CouplingError::Negative(Subject::Result));
    }
    Ok(Pair { per: amount.clone(), amount })
}

fn all_kernels(flow: &Flow, metric: Metric, kernels: &BTreeMap<KernelId, Pair>) -> Pair {
    metric.combined(flow.executions().iter().map(|(kernel, count)| (*count as f64, &kernels[kernel])))
}

fn finished(
    flow: &Flow,
    mut inputs: Inputs,
    looped: &Pair,
    application: &Application,
) -> Result<Prediction, CouplingError> {
    if application.iterations == 0 {
        return Err(CouplingError::NoIterations);
    }
    let metric = inputs.metric;
    let mut once = Vec::new();
    for (at, quantity) in application.once.iter().enumerate() {
        metric.check(quantity, &Subject::Once(at))?;
        once.push(inputs.sources.pair(quantity));
    }
    let summed = all_kernels(flow, metric, &inputs.kernels);
    let whole = |looped: &Pair| {
        let parts = once.iter().map(|pair| (1.0, pair)).chain([(application.iterations as f64, looped)]);
        metric.level(&metric.combined(parts))
    };
    let (value, summation) = (whole(looped), whole(&summed));
    let of = |pick: fn(f64, f64) -> f64| inputs.couplings.iter().map(|it| it.value).reduce(pick).unwrap_or(f64::NAN);
    Ok(Prediction {
        value: value.finish()?,
        summation: summation.finish()?,
        difference: Uncertain::sum([(1.0, &value), (-1.0, &summation)]).finish()?,
        of_summation: metric.level(looped).value / metric.level(&summed).value,
        hull: (of(f64::min), of(f64::max)),
    })
}
