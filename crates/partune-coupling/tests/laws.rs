//! What holds for all times and couplings.

use std::collections::BTreeMap;

use partune_base::Table;
use partune_coupling::couplings::{Measurements, couplings};
use partune_coupling::error::CouplingError;
use partune_coupling::flow::{Flow, KernelId};
use partune_coupling::measured::{Better, Combine, Measured, Metric, Quantity};
use partune_coupling::predict::{Application, Method, Prediction, predict, predict_with};
use proptest::collection::vec;
use proptest::prelude::*;

/// Kernels in a loop, and how chains of some length differ from them.
#[derive(Clone, Debug)]
struct Case {
    metric: Metric,
    length: usize,
    isolated: Vec<(f64, f64)>,
    /// By first kernel.
    coupling: Vec<f64>,
}

impl Case {
    fn order(&self) -> Vec<KernelId> {
        (0..self.isolated.len() as u32).map(KernelId).collect()
    }

    fn flow(&self) -> Flow {
        Flow::cyclic(&self.order(), self.length).unwrap()
    }

    fn measurements(&self, coupling: impl Fn(usize) -> f64) -> Measurements {
        let count = self.isolated.len();
        let quantity = |(amount, per): (f64, f64)| {
            Quantity::ratio(Measured::new(amount, 0.01 * amount), Measured::new(per, 0.02 * per))
        };
        let chain = |first: usize| {
            let on = (0..self.length).map(|step| (first + step) % count);
            let each = || on.clone().map(|kernel| self.isolated[kernel]);
            let per: f64 = each().map(|it| it.1).sum();
            let amount = match self.metric.combine {
                Combine::Sum | Combine::Ratio => each().map(|it| it.0).sum::<f64>(),
                Combine::Maximum => each().map(|it| it.0).fold(0.0, f64::max),
            };
            (on.clone().map(|kernel| KernelId(kernel as u32)).collect(), quantity((coupling(first) * amount, per)))
        };
        Measurements {
            metric: self.metric,
            isolated: self.isolated.iter().map(|it| quantity(*it)).collect(),
            chains: (0..count).map(chain).collect(),
        }
    }
}

fn cases() -> impl Strategy<Value = Case> {
    let combine = prop_oneof![Just(Combine::Sum), Just(Combine::Ratio), Just(Combine::Maximum)];
    let kernels = vec((0.01_f64..100.0, 0.1_f64..10.0, 0.3_f64..3.0), 1..7);
    (combine, kernels, 0_usize..7).prop_map(|(combine, kernels, length)| Case {
        metric: Metric { combine, better: Better::Lower, resolution: 0.0 },
        length: 1 + length % kernels.len(),
        isolated: kernels.iter().map(|it| (it.0, it.1)).collect(),
        coupling: kernels.iter().map(|it| it.2).collect(),
    })
}

const TURNS: Application = Application { once: Vec::new(), iterations: 7 };

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
}

fn alike(one: &Prediction, other: &Prediction) -> bool {
    close(one.value.value, other.value.value)
        && close(one.value.deviation, other.value.deviation)
        && close(one.summation.value, other.summation.value)
}

/// Weighted as in the paper, and as the mean of chains.
fn both(flow: &Flow, measurements: &Measurements) -> [Prediction; 2] {
    [Method::Weighted, Method::Mean].map(|method| predict(flow, measurements, &TURNS, method).unwrap())
}

proptest! {
    #[test]
    fn without_couplings_it_is_the_sum(case in cases()) {
        let measurements = case.measurements(|_| 1.0);
        for found in both(&case.flow(), &measurements) {
            prop_assert!(close(found.value.value, found.summation.value));
        }
    }

    #[test]
    fn chains_of_one_kernel_are_the_sum_with_its_error(case in cases()) {
        let case = Case { length: 1, ..case };
        let measurements = Measurements { chains: BTreeMap::new(), ..case.measurements(|_| 1.0) };
        for found in both(&case.flow(), &measurements) {
            prop_assert!(close(found.value.value, found.summation.value));
            prop_assert!(close(found.value.deviation, found.summation.deviation));
            prop_assert!(found.difference.deviation <= 1e-9 * found.value.deviation);
        }
    }

    /// All kernels in one chain: what was measured, times the turns.
    #[test]
    fn the_whole_is_itself(case in cases(), coupling in 0.3_f64..3.0) {
        let case = Case { length: case.isolated.len(), ..case };
        let measurements = case.measurements(|_| if case.length == 1 { 1.0 } else { coupling });
        let turns = if case.metric.combine == Combine::Sum { 7.0 } else { 1.0 };
        let whole = &measurements.chains[&case.order()];
        let level = whole.amount.value / if case.metric.combine == Combine::Ratio { whole.per.value } else { 1.0 };
        for found in both(&case.flow(), &measurements) {
            prop_assert!(close(found.value.value, turns * level), "{found:?} {level}");
        }
    }

    /// The one path of an acyclic flow: as uncertain as it is itself, whatever kernels are alone.
    #[test]
    fn a_whole_path_has_its_own_error(case in cases()) {
        let case = Case { length: case.isolated.len(), metric: Metric::time(0.0), ..case };
        prop_assume!(case.length > 1);
        let measurements = case.measurements(|first| case.coupling[first]);
        let whole = measurements.chains[&case.order()].amount;
        let flow = Flow::acyclic(&case.order(), case.length).unwrap();
        let found = predict(&flow, &measurements, &TURNS, Method::Weighted).unwrap().value;
        prop_assert!(close(found.value, 7.0 * whole.value) && close(found.deviation, 7.0 * whole.deviation), "{found:?}");
    }

    #[test]
    fn all_times_by_a_factor_scale_it(case in cases(), factor in 1e-6_f64..1e6) {
        prop_assume!(case.metric.combine != Combine::Ratio);
        let measurements = case.measurements(|first| case.coupling[first]);
        let by = |it: &Quantity| Quantity::amount(factor * it.amount.value, factor * it.amount.deviation);
        let scaled = Measurements {
            isolated: measurements.isolated.iter().map(by).collect(),
            chains: measurements.chains.iter().map(|(chain, it)| (chain.clone(), by(it))).collect(),
            ..measurements
        };
        for (one, other) in both(&case.flow(), &measurements).iter().zip(both(&case.flow(), &scaled)) {
            prop_assert!(close(factor * one.value.value, other.value.value));
            prop_assert!(close(factor * one.value.deviation, other.value.deviation));
        }
    }

    #[test]
    fn a_loop_has_no_begin(case in cases(), turn in 0_usize..7) {
        let measurements = case.measurements(|first| case.coupling[first]);
        let mut order = case.order();
        let turn = turn % order.len();
        order.rotate_left(turn);
        let turned = Flow::cyclic(&order, case.length).unwrap();
        prop_assert_eq!(&turned, &case.flow());
        // Nor do names of kernels matter.
        let name = |kernel: &KernelId| KernelId(order.iter().position(|it| it == kernel).unwrap() as u32);
        let renamed = Measurements {
            metric: case.metric,
            isolated: order.iter().map(|kernel| measurements.isolated[*kernel]).collect(),
            chains: measurements.chains.iter().map(|(chain, it)| (chain.iter().map(name).collect(), *it)).collect(),
        };
        for (one, other) in both(&turned, &measurements).iter().zip(both(&case.flow(), &renamed)) {
            prop_assert!(alike(one, &other));
        }
    }

    #[test]
    fn it_lies_between_its_couplings(case in cases()) {
        let measurements = case.measurements(|first| case.coupling[first]);
        for flow in [case.flow(), Flow::acyclic(&case.order(), case.length).unwrap()] {
            let found = predict(&flow, &measurements, &TURNS, Method::Weighted).unwrap();
            prop_assert!(found.is_in_hull(), "{found:?}");
            let of_chains = couplings(&flow, &measurements).unwrap();
            prop_assert!(of_chains.iter().all(|it| found.hull.0 <= it.value.value && it.value.value <= found.hull.1));
        }
    }

    /// Where couplings are used again at the place where they were found, nothing changes.
    #[test]
    fn couplings_of_the_same_place(case in cases()) {
        let measurements = case.measurements(|first| case.coupling[first]);
        let flow = case.flow();
        let values: Vec<Measured> = couplings(&flow, &measurements).unwrap().iter().map(|it| it.value).collect();
        // What chains of a ratio are counted per is that of their kernels here.
        let found = predict_with(&flow, case.metric, &measurements.isolated, &values, &TURNS).unwrap();
        let expected = predict(&flow, &measurements, &TURNS, Method::Weighted).unwrap();
        prop_assert!(close(found.value.value, expected.value.value), "{found:?} {expected:?}");
    }

    /// A flow of counted paths with all counts alike is the loop; with all of them times a number, that many turns.
    #[test]
    fn counted_loops_are_loops(case in cases(), turns in 1_u64..1000) {
        let measurements = case.measurements(|first| case.coupling[first]);
        let (flow, times) = (case.flow(), |count: u64| count * turns);
        let paths: Vec<(Vec<KernelId>, u64)> = flow.chains().map(|(chain, count)| (chain.to_vec(), times(count))).collect();
        let executions = flow.executions().iter().map(|(kernel, count)| (*kernel, times(*count))).collect();
        let counted = Flow::branching(case.length, 0, executions, &paths).unwrap();
        let whole = |flow: &Flow, iterations: u64| {
            predict(flow, &measurements, &Application { once: Vec::new(), iterations }, Method::Weighted).unwrap()
        };
        prop_assert!(alike(&whole(&counted, 1), &whole(&flow, turns)));
    }

    /// Whatever a program executes, its counts are those of a flow; nothing of them panics, and times in place are exact for what adds up.
    #[test]
    fn any_run_is_a_flow(runs in vec(vec(0_u32..4, 3..20), 1..4), length in 1_usize..4, own in vec(0.1_f64..9.0, 4)) {
        let runs: Vec<Vec<KernelId>> = runs.into_iter().map(|run| run.into_iter().map(KernelId).collect()).collect();
        let borrowed: Vec<&[KernelId]> = runs.iter().map(Vec::as_slice).collect();
        let flow = Flow::observed(&borrowed, length).unwrap();
        let paths: Vec<(Vec<KernelId>, u64)> = flow.chains().map(|(chain, count)| (chain.to_vec(), count)).collect();
        let counted = Flow::branching(length, runs.len() as u64, flow.executions().clone(), &paths).unwrap();
        prop_assert!(counted.chains().eq(flow.chains()) && counted.executions() == flow.executions());
        let isolated: Table<KernelId, Quantity> = own.iter().map(|own| Quantity::amount(*own, 0.0)).collect();
        let sum = |chain: &[KernelId]| chain.iter().map(|kernel| own[kernel.0 as usize]).sum::<f64>();
        let mut chains = BTreeMap::new();
        for count in [length, length.max(2) - 1] {
            for path in runs.iter().flat_map(|run| run.windows(count)) {
                chains.insert(path.to_vec(), Quantity::amount(sum(path), 0.0));
            }
        }
        let measurements = Measurements { metric: Metric::time(0.0), isolated, chains };
        let found = predict(&flow, &measurements, &TURNS, Method::Weighted).unwrap();
        let all: f64 = runs.iter().map(|run| sum(run)).sum();
        prop_assert!(close(found.value.value, 7.0 * all));
        let in_place = |flow: &Flow| predict(flow, &measurements, &TURNS, Method::InSitu);
        prop_assert!(close(in_place(&flow).unwrap().value.value, 7.0 * all));
        // Of counted paths it is not always known where runs begin; then nothing is said.
        match in_place(&counted) {
            Ok(found) => prop_assert!(close(found.value.value, 7.0 * all)),
            Err(error) => prop_assert!(matches!(error, CouplingError::Begins(_)), "{error}"),
        }
    }
}
