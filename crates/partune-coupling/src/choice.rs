//! How long chains should be: as long as predicts best what was left out. The paper leaves it open.

use crate::couplings::{Measurements, couplings};
use crate::error::{CouplingError, Subject};
use crate::flow::Flow;
use crate::measured::Measured;
use crate::plateau::{Course, Options};
use crate::predict::{Application, Prediction, predict_with, relative_error};

/// A program that was measured at one size and number of PEs, as a whole too.
#[derive(Clone, Debug, PartialEq)]
pub struct Configuration {
    /// What couplings change with: bytes of working set per PE, or PEs.
    pub at: f64,
    pub measurements: Measurements,
    pub application: Application,
    /// What the application took, in the unit of the metric.
    pub whole: f64,
}

/// How well chains of one length predict.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Kernels of a chain.
    pub length: usize,
    /// By configuration: from its own kernels alone and the couplings of all others.
    pub predictions: Vec<Prediction>,
    /// Relative errors: their mean, and the largest.
    pub mean: f64,
    pub worst: f64,
}

/// Chains of each length, as the flows were given, and which of them predicts best: the least mean error, of equals the shortest.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub lengths: Vec<LeftOut>,
    pub best: usize,
}

/// Predicts each configuration as if it had only been measured kernel by kernel, by flows with chains of different lengths. Couplings come from those
/// of the other configurations at its position ([`Course::at`]). Configurations × what their courses and predictions cost.
pub fn choose(flows: &[Flow], configurations: &[Configuration], options: &Options) -> Result<Choice, CouplingError> {
    if configurations.len() < 2 {
        return Err(CouplingError::Number { given: configurations.len(), needed: 2 });
    }
    for (number, configuration) in configurations.iter().enumerate() {
        Measured::exact(configuration.whole).check_positive(&Subject::Whole(number))?;
    }
    let lengths: Vec<LeftOut> =
        flows.iter().map(|flow| left_out(flow, configurations, options)).collect::<Result<_, _>>()?;
    let better = |a: &usize, b: &usize| {
        let (a, b) = (&lengths[*a], &lengths[*b]);
        a.mean.total_cmp(&b.mean).then(a.length.cmp(&b.length))
    };
    let best = (0..lengths.len()).min_by(better).ok_or(CouplingError::Number { given: 0, needed: 1 })?;
    Ok(Choice { lengths, best })
}

fn left_out(flow: &Flow, configurations: &[Configuration], options: &Options) -> Result<LeftOut, CouplingError> {
    let known: Vec<Vec<Measured>> = configurations
        .iter()
        .map(|it| Ok(couplings(flow, &it.measurements)?.into_iter().map(|coupling| coupling.value).collect()))
        .collect::<Result<_, CouplingError>>()?;
    let mut predictions = Vec::new();
    let (mut sum, mut worst) = (0.0, 0.0_f64);
    for (own, configuration) in configurations.iter().enumerate() {
        let others = || (0..configurations.len()).filter(|other| *other != own);
        let at: Vec<f64> = others().map(|other| configurations[other].at).collect();
        let coupling = |chain: usize| {
            let values: Vec<Measured> = others().map(|other| known[other][chain]).collect();
            Ok(Course::of(&at, &values, options)?.at(configuration.at)?.0)
        };
        let couplings = (0..flow.chains().len()).map(coupling).collect::<Result<Vec<_>, CouplingError>>()?;
        let Measurements { metric, isolated, .. } = &configuration.measurements;
        let prediction = predict_with(flow, *metric, isolated, &couplings, &configuration.application)?;
        let error = relative_error(prediction.value.value, configuration.whole);
        (sum, worst) = (sum + error, worst.max(error));
        predictions.push(prediction);
    }
    Ok(LeftOut { length: flow.length(), mean: sum / predictions.len() as f64, predictions, worst })
}
