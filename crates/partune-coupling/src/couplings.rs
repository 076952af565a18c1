//! Couplings: how a chain of kernels measured together differs from what its kernels would make, `C_W = P_W / E_W` (equation 2 of the paper).

use std::collections::BTreeMap;

use partune_base::Table;

use crate::error::{CouplingError, Subject};
use crate::flow::{Flow, KernelId};
use crate::measured::{Better, Measured, Metric, Quantity};
use crate::uncertain::{Pair, Sources, Uncertain};

/// What was measured of a program at one size and number of PEs, for one execution each. All are independent of each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    pub metric: Metric,
    /// Each kernel alone: p.
    pub isolated: Table<KernelId, Quantity>,
    /// Chains of two kernels and more: P. Of more lengths than one is asked for, others are not looked at.
    pub chains: BTreeMap<Vec<KernelId>, Quantity>,
}

/// What the kernels of a chain do to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interaction {
    /// Nothing that could be told from errors of measurement: |C - 1| < 2σ.
    None,
    /// Together they are better than alone.
    Constructive,
    Destructive,
}

/// The coupling of one chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    pub chain: Vec<KernelId>,
    /// Paths of the flow that are this chain.
    pub count: u64,
    /// C, without a unit, and its standard deviation: `σ² = C² (σ_P²/P² + Σ σ_p²/(Σ p)²)` for a sum; 0 for a single kernel.
    pub value: Measured,
    pub interaction: Interaction,
}

/// What rounding may make of a coupling of 1.
const ROUNDING: f64 = 1e-12;

/// The couplings of all chains of a flow, in its order. Chains × their length.
pub fn couplings(flow: &Flow, measurements: &Measurements) -> Result<Vec<Coupling>, CouplingError> {
    let inputs = Inputs::measured(flow, measurements)?;
    let of = |((chain, count), coupling): ((&[KernelId], u64), &Uncertain)| {
        let value = coupling.finish()?;
        let interaction = interaction(value, measurements.metric.better);
        Ok(Coupling { chain: chain.to_vec(), count, value, interaction })
    };
    flow.chains().zip(&inputs.couplings).map(of).collect()
}

/// What a coupling says.
pub fn interaction(coupling: Measured, better: Better) -> Interaction {
    let off = coupling.value - 1.0;
    if off.abs() < (2.0 * coupling.deviation).max(ROUNDING) {
        return Interaction::None;
    }
    let is_constructive = match better {
        Better::Lower => off < 0.0,
        Better::Higher => off > 0.0,
    };
    if is_constructive { Interaction::Constructive } else { Interaction::Destructive }
}

/// What a prediction is made from, with errors that know their measurements.
pub(crate) struct Inputs {
    pub(crate) metric: Metric,
    /// p of the kernels that are executed.
    pub(crate) kernels: BTreeMap<KernelId, Pair>,
    /// P and C by chain of the flow.
    pub(crate) chains: Vec<Pair>,
    pub(crate) couplings: Vec<Uncertain>,
    pub(crate) sources: Sources,
}

impl Inputs {
    /// Kernels and chains as measured. Of single kernels, both are the same measurement.
    pub(crate) fn measured(flow: &Flow, measurements: &Measurements) -> Result<Inputs, CouplingError> {
        let mut inputs = Inputs::kernels(flow, measurements.metric, &measurements.isolated)?;
        for (chain, _) in flow.chains() {
            let pair = inputs.chain(chain, measurements)?;
            inputs.couplings.push(inputs.metric.level(&pair).by(&inputs.metric.level(&inputs.together(chain))));
            inputs.chains.push(pair);
        }
        Ok(inputs)
    }

    /// Kernels as measured or modelled here, and couplings found elsewhere: `P_W = C_W E_W`. A coupling for each chain of the flow, in its order.
    pub(crate) fn transferred(
        flow: &Flow,
        metric: Metric,
        isolated: &Table<KernelId, Quantity>,
        couplings: &[Measured],
    ) -> Result<Inputs, CouplingError> {
        let (given, needed) = (couplings.len(), flow.chains().len());
        if given != needed {
            return Err(CouplingError::Number { given, needed });
        }
        let mut inputs = Inputs::kernels(flow, metric, isolated)?;
        for ((chain, _), coupling) in flow.chains().zip(couplings) {
            let coupling = inputs.sources.measured(coupling.check_positive(&Subject::Chain(chain.to_vec()))?);
            let alone = inputs.together(chain);
            inputs.chains.push(Pair { amount: alone.amount.times(&coupling), per: alone.per });
            inputs.couplings.push(coupling);
        }
        Ok(inputs)
    }

    /// What was measured of a chain, of a single kernel too.
    pub(crate) fn chain(&mut self, chain: &[KernelId], measurements: &Measurements) -> Result<Pair, CouplingError> {
        if let [kernel] = chain {
            return Ok(self.kernels[kernel].clone());
        }
        let quantity = measurements.chains.get(chain).ok_or_else(|| CouplingError::Missing(chain.to_vec()))?;
        self.metric.check(quantity, &Subject::Chain(chain.to_vec()))?;
        Ok(self.sources.pair(quantity))
    }

    fn kernels(flow: &Flow, metric: Metric, isolated: &Table<KernelId, Quantity>) -> Result<Inputs, CouplingError> {
        Measured::exact(metric.resolution).check(&Subject::Resolution)?;
        let mut sources = Sources::default();
        let mut kernels = BTreeMap::new();
        for kernel in flow.executions().keys() {
            let alone = vec![*kernel];
            let quantity = isolated.get(*kernel).ok_or_else(|| CouplingError::Missing(alone.clone()))?;
            metric.check(quantity, &Subject::Chain(alone))?;
            kernels.insert(*kernel, sources.pair(quantity));
        }
        let inputs = Inputs { metric, kernels, chains: Vec::new(), couplings: Vec::new(), sources };
        for (chain, _) in flow.chains() {
            // Only a ratio can be none here, where none of its kernels has an amount.
            if inputs.together(chain).amount.value == 0.0 {
                return Err(CouplingError::Zero(Subject::Chain(chain.to_vec())));
            }
        }
        Ok(inputs)
    }

    /// E: what the kernels of a chain would make if they did nothing to each other.
    fn together(&self, chain: &[KernelId]) -> Pair {
        self.metric.combined(chain.iter().map(|kernel| (1.0, &self.kernels[kernel])))
    }
}
