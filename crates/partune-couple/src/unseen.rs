//! Sizes and numbers of PEs that were not measured: kernels by the laws that they follow where they were, couplings by their plateaus.

use partune_coupling::couplings::couplings;
use partune_coupling::error::CouplingError;
use partune_coupling::flow::{Flow, KernelId};
use partune_coupling::measured::{Measured, Metric, Quantity};
use partune_coupling::plateau::{Course, Options};
use partune_coupling::predict::{Application, Method, Prediction, predict, predict_with, relative_error};
use partune_fit::{Fitted, Point, fit};

use crate::outcome::{Configuration, LengthRow, PredictionRow, Unpredicted};
use crate::plan::Plan;

/// How well each size and number of PEs is predicted from all others.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Relative errors: their mean, and the largest; those of the sum of kernels.
    pub mean: f64,
    pub worst: f64,
    pub summation: f64,
    /// How many are within the interval that was said, and of how many.
    pub within: usize,
    pub of: usize,
}

/// What rounding may make of a prediction without any error.
const ROUNDING: f64 = 1e-9;
/// Laws of fewer configurations would say what they like.
const LEAST: usize = 4;

/// What kernel alone takes over size and PEs.
pub(crate) fn law(configurations: &[Configuration], kernel: KernelId) -> Option<Fitted> {
    let all: Vec<&Configuration> = configurations.iter().collect();
    of_kernel(&all, kernel)
}

fn of_kernel(known: &[&Configuration], kernel: KernelId) -> Option<Fitted> {
    let value = |it: &Configuration| it.measurements.isolated.get(kernel).map(|quantity| quantity.amount);
    fitted(known, |it| value(it).unwrap_or(Measured::exact(f64::NAN)))
}

fn fitted(known: &[&Configuration], value: impl Fn(&Configuration) -> Measured) -> Option<Fitted> {
    let point = |it: &&Configuration| {
        let Measured { value, deviation } = value(it);
        Point { at: vec![it.size, f64::from(it.pes)], value, deviation }
    };
    fit(&known.iter().map(point).collect::<Vec<_>>())
}

/// A quantity that is counted: equal everywhere, or by its law.
fn counted(known: &[&Configuration], at: [f64; 2], value: impl Fn(&Configuration) -> f64) -> Option<f64> {
    let first = value(known.first()?);
    if known.iter().all(|it| value(it).total_cmp(&first).is_eq()) {
        return Some(first);
    }
    Some(fitted(known, |it| Measured::exact(value(it)))?.at(&at).0)
}

/// What is needed of one place, whatever the length of chains.
struct Place {
    isolated: Vec<Quantity>,
    application: Application,
    /// What couplings change with.
    at: f64,
}

impl Place {
    /// Why not, if not.
    fn of(known: &[&Configuration], (size, pes): (f64, u32)) -> Result<Place, &'static str> {
        let at = [size, f64::from(pes)];
        let kernels = known.first().map_or(0, |it| it.measurements.isolated.len());
        let kernel = |kernel: usize| {
            let (value, deviation) = of_kernel(known, KernelId(kernel as u32))?.at(&at);
            (value > 0.0 && value.is_finite()).then(|| Quantity::amount(value, deviation))
        };
        let once = counted(known, at, |it| it.application.once.iter().map(|once| once.amount.value).sum())
            .ok_or("what is done once follows no law")?;
        let iterations = counted(known, at, |it| it.application.iterations as f64).ok_or("turns follow no law")?;
        let bytes = counted(known, at, |it| it.state_bytes).ok_or("the size of the state follows no law")?;
        Ok(Place {
            isolated: (0..kernels)
                .map(kernel)
                .collect::<Option<_>>()
                .ok_or("what some kernel takes alone follows no law, or one that comes to nothing there")?,
            application: Application {
                once: (once > 0.0).then(|| Quantity::amount(once, 0.0)).into_iter().collect(),
                iterations: iterations.round().max(1.0) as u64,
            },
            at: if bytes > 0.0 { bytes } else { size / at[1] },
        })
    }

    /// By couplings of the others; with the error that predictions have where all was measured.
    fn predict(&self, flow: &Flow, known: &[&Configuration]) -> Result<Prediction, CouplingError> {
        let options = Options::default();
        let at: Vec<f64> = known.iter().map(|it| it.at()).collect();
        let measured: Vec<_> = known.iter().map(|it| couplings(flow, &it.measurements)).collect::<Result<_, _>>()?;
        let mut values = Vec::new();
        for chain in 0..flow.chains().len() {
            let series: Vec<Measured> = measured.iter().map(|it| it[chain].value).collect();
            values.push(Course::of(&at, &series, &options)?.at(self.at)?.0);
        }
        let mut squares = 0.0;
        for it in known {
            let prediction = predict(flow, &it.measurements, &it.application, Method::Weighted)?;
            squares += relative_error(prediction.value.value, it.actual.value).powi(2);
        }
        let isolated = self.isolated.clone().into();
        let mut prediction = predict_with(flow, Metric::time(0.0), &isolated, &values, &self.application)?;
        let method = prediction.value.value * (squares / known.len() as f64).sqrt();
        prediction.value.deviation = prediction.value.deviation.hypot(method);
        Ok(prediction)
    }
}

/// Adds how well what is left out is predicted, and predictions of what the plan asks for; returns which of these there are not, or why there is none at all.
pub(crate) fn extend(
    plan: &Plan,
    flows: &[Flow],
    configurations: &[Configuration],
    lengths: &mut [LengthRow],
    predictions: &mut Vec<PredictionRow>,
) -> Result<Result<Vec<Unpredicted>, &'static str>, CouplingError> {
    if configurations.len() < LEAST {
        return Ok(Err("laws of kernels need four sizes and numbers of PEs or more that were measured"));
    }
    let all: Vec<&Configuration> = configurations.iter().collect();
    let others = |own: usize| -> Vec<&Configuration> {
        all.iter().enumerate().filter(|(other, _)| *other != own).map(|(_, it)| *it).collect()
    };
    let places: Vec<Option<Place>> =
        all.iter().enumerate().map(|(own, it)| Place::of(&others(own), (it.size, it.pes)).ok()).collect();
    for flow in flows {
        let Some(row) = lengths.iter_mut().find(|row| row.k == flow.length()) else { continue };
        let mut left_out = LeftOut { mean: 0.0, worst: 0.0, summation: 0.0, within: 0, of: 0 };
        for (own, place) in places.iter().enumerate() {
            let Some(place) = place else { continue };
            let known: Vec<&Configuration> = others(own).into_iter().filter(|it| it.is_sound(flow.length())).collect();
            if known.len() < LEAST - 1 {
                continue;
            }
            let it = place.predict(flow, &known)?;
            let actual = all[own].actual;
            let error = relative_error(it.value.value, actual.value);
            left_out.mean += error;
            left_out.worst = left_out.worst.max(error);
            left_out.summation += relative_error(it.summation.value, actual.value);
            left_out.of += 1;
            let off = (it.value.value - actual.value).abs();
            let most = 2.0 * it.value.deviation.hypot(actual.deviation) + ROUNDING * actual.value;
            left_out.within += usize::from(off <= most);
        }
        if left_out.of > 0 {
            left_out.mean /= left_out.of as f64;
            left_out.summation /= left_out.of as f64;
            row.left_out = Some(left_out);
        }
    }
    let mut unpredicted = Vec::new();
    for (size, pes) in plan.predict.iter().copied() {
        let place = match Place::of(&all, (size, pes)) {
            Ok(place) => place,
            Err(why) => {
                unpredicted.push(Unpredicted { size, pes, k: None, why });
                continue;
            }
        };
        for flow in flows {
            let k = flow.length();
            let known: Vec<&Configuration> = all.iter().copied().filter(|it| it.is_sound(k)).collect();
            if known.len() < LEAST {
                let why = "fewer than four sizes and numbers of PEs have chains of this length without faults";
                unpredicted.push(Unpredicted { size, pes, k: Some(k), why });
                continue;
            }
            let it = place.predict(flow, &known)?;
            let (predicted, summation) = (it.value, it.summation.value);
            predictions.push(PredictionRow { k, size, pes, predicted, summation, actual: None });
        }
    }
    Ok(Ok(unpredicted))
}
