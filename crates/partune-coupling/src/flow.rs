//! In which order a program executes its kernels: the chains of one length that it goes through, and how often.
//!
//! Control flow is cyclic (a loop; chains go round), acyclic (once from begin to end) or branching (paths of a control-flow graph, counted). All are
//! kept alike, as counted paths, so that what is made of them needs one formula. The paper has the cyclic one; the others are derived.

use std::collections::BTreeMap;

use crate::error::CouplingError;

partune_base::ids! {
    /// A kernel: a part of a program that can be executed and measured alone.
    KernelId,
}

/// The chains of one length in a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    length: usize,
    /// `length` kernels a chain; chains in ascending order of their kernels.
    kernels: Vec<KernelId>,
    counts: Vec<u64>,
    executions: BTreeMap<KernelId, u64>,
    /// Paths of one kernel less that the flow begins with, and how often; none of a loop.
    begins: BTreeMap<Vec<KernelId>, u64>,
    /// How often it begins with a path that is not known.
    begins_anyhow: u64,
}

impl Flow {
    /// A loop that executes kernels in this order; counts are those of one turn. A kernel may come more than once.
    pub fn cyclic(order: &[KernelId], length: usize) -> Result<Flow, CouplingError> {
        let round: Vec<KernelId> = order.iter().chain(order.iter().take(length.saturating_sub(1))).copied().collect();
        if length > order.len() {
            return Err(CouplingError::Length(length));
        }
        Flow::sealed(length, executions(&[order]), paths(&[&round], length))
    }

    /// Kernels that are executed once, in this order.
    pub fn acyclic(order: &[KernelId], length: usize) -> Result<Flow, CouplingError> {
        Flow::observed(&[order], length)
    }

    /// Kernels as some runs executed them. Linear, times the length.
    pub fn observed(runs: &[&[KernelId]], length: usize) -> Result<Flow, CouplingError> {
        let mut flow = Flow::sealed(length, executions(runs), paths(runs, length))?;
        for run in runs.iter().filter(|run| length > 1 && !run.is_empty()) {
            match run.get(..length - 1) {
                Some(begin) => *flow.begins.entry(begin.to_vec()).or_default() += 1,
                None => flow.begins_anyhow += 1,
            }
        }
        Ok(flow)
    }

    /// Paths of a control-flow graph that was entered (and left) so many times, none for a loop whose last turn leads to its first; how often each
    /// kernel was executed, and each path gone. Counts that cannot be of one flow are refused:
    ///
    /// - at each position of paths a kernel is found as often as it was executed, less what begins and ends of the flow cut off;
    /// - a path of one kernel less is entered as often as it is left, but where the flow begins or ends.
    pub fn branching(
        length: usize,
        entries: u64,
        executions: BTreeMap<KernelId, u64>,
        paths: &[(Vec<KernelId>, u64)],
    ) -> Result<Flow, CouplingError> {
        let mut counted = BTreeMap::new();
        for (path, count) in paths {
            if path.len() != length {
                return Err(CouplingError::OtherLength(path.clone()));
            }
            if counted.insert(path.clone(), *count).is_some() {
                return Err(CouplingError::Twice(path.clone()));
            }
        }
        counted.retain(|_, count| *count > 0);
        let mut flow = Flow::sealed(length, executions, counted)?;
        flow.check_positions(entries)?;
        if length > 1 {
            let begins = flow.begins_of(entries)?;
            // Where it begins as often as it ends, nothing is to be seen of either.
            flow.begins_anyhow = entries - begins.values().sum::<u64>();
            flow.begins = begins;
        }
        Ok(flow)
    }

    /// Kernels of a chain, `k` in the equations.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Chains with their counts, in ascending order of their kernels.
    pub fn chains(&self) -> impl ExactSizeIterator<Item = (&[KernelId], u64)> + Clone {
        self.kernels.chunks_exact(self.length).zip(self.counts.iter().copied())
    }

    /// How often each kernel is executed.
    pub fn executions(&self) -> &BTreeMap<KernelId, u64> {
        &self.executions
    }

    /// Paths of one kernel less that the flow begins with, and how often; refused where that is not known.
    pub(crate) fn begins(&self) -> Result<&BTreeMap<Vec<KernelId>, u64>, CouplingError> {
        if self.begins_anyhow == 0 { Ok(&self.begins) } else { Err(CouplingError::Begins(self.begins_anyhow)) }
    }

    fn sealed(
        length: usize,
        mut executions: BTreeMap<KernelId, u64>,
        paths: BTreeMap<Vec<KernelId>, u64>,
    ) -> Result<Flow, CouplingError> {
        executions.retain(|_, count| *count > 0);
        if length == 0 || paths.is_empty() {
            return Err(CouplingError::Length(length));
        }
        let counts = paths.values().copied().collect();
        let kernels: Vec<KernelId> = paths.into_keys().flatten().collect();
        let mut on_paths = kernels.clone();
        on_paths.sort_unstable();
        if let Some(kernel) = executions.keys().find(|kernel| on_paths.binary_search(kernel).is_err()) {
            return Err(CouplingError::Uncovered(*kernel));
        }
        Ok(Flow { length, kernels, counts, executions, begins: BTreeMap::new(), begins_anyhow: 0 })
    }

    fn check_positions(&self, entries: u64) -> Result<(), CouplingError> {
        let cut_off = u128::from(entries) * (self.length as u128 - 1);
        for position in 0..self.length {
            let mut there: BTreeMap<KernelId, u128> = self.executions.keys().map(|kernel| (*kernel, 0)).collect();
            for (chain, count) in self.chains() {
                *there.entry(chain[position]).or_default() += u128::from(count);
            }
            for (kernel, there) in there {
                let executions = self.executions.get(&kernel).copied().unwrap_or(0);
                let missing = u128::from(executions).checked_sub(there);
                if missing.is_none_or(|missing| missing > cut_off) {
                    return Err(CouplingError::Counts { kernel, executions, there });
                }
            }
        }
        Ok(())
    }

    /// Paths of one kernel less that are left more often than entered, at most as often as the flow is entered; and no more may be the other way round.
    fn begins_of(&self, entries: u64) -> Result<BTreeMap<Vec<KernelId>, u64>, CouplingError> {
        let mut ends: BTreeMap<&[KernelId], (u128, u128)> = BTreeMap::new();
        for (chain, count) in self.chains() {
            ends.entry(&chain[1..]).or_default().0 += u128::from(count);
            ends.entry(&chain[..self.length - 1]).or_default().1 += u128::from(count);
        }
        let mut begins = BTreeMap::new();
        let [mut begun, mut ended] = [0_u128; 2];
        for (path, (entered, left)) in ends {
            begun += left.saturating_sub(entered);
            ended += entered.saturating_sub(left);
            if begun.max(ended) > u128::from(entries) {
                return Err(CouplingError::Ends { path: path.to_vec(), entered, left });
            }
            if left > entered {
                begins.insert(path.to_vec(), (left - entered) as u64);
            }
        }
        Ok(begins)
    }
}

fn executions(runs: &[&[KernelId]]) -> BTreeMap<KernelId, u64> {
    let mut counts = BTreeMap::new();
    runs.iter().copied().flatten().for_each(|kernel| *counts.entry(*kernel).or_default() += 1);
    counts
}

fn paths(runs: &[&[KernelId]], length: usize) -> BTreeMap<Vec<KernelId>, u64> {
    let mut counts = BTreeMap::new();
    for path in runs.iter().flat_map(|run| run.windows(length.max(1))) {
        *counts.entry(path.to_vec()).or_default() += 1;
    }
    counts
}
