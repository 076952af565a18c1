//! What a one-sided access needs when nobody competes with it. The first of these that is known:
//!
//! 1. the machine file's time for its role and size between two PEs, and the recording of one event;
//! 2. the median duration of accesses of its kind and size that were alone at their target;
//! 3. the line t(s) = o + G s through the durations of those of other sizes that were alone;
//! 4. where none was alone, what the accesses of its kind and size say together. If k PEs shared the target, each was served for
//!    1/k of the time, and what was served is what one needs, in the mean: more PEs at once make an access longer, but not
//!    what it is served. If durations vary less than what was served would, more PEs at once did *not* make them longer; then
//!    the shortest of them is what they need.
//!
//! Equal size: the same power of two of bytes. Equal spread (all always shared with as many) decides for sharing.

use std::collections::BTreeMap;

use partune_machine::Machine;
use partune_trace::{RmaTransferKind, Role, Trace};

use super::{Access, Sharing};
use crate::machine_baselines::MachineBaselines;
use crate::{Fit, Line};

/// Kind, and power of two of bytes.
type Class = (RmaTransferKind, u32);

/// Time needed in ticks, as far as known.
pub(super) struct Baselines<'a> {
    machine: MachineBaselines<'a>,
    ticks_per_second: f64,
    event_s: f64,
    alone: BTreeMap<Class, f64>,
    lines: [Option<Line>; 3],
    together: BTreeMap<Class, f64>,
}

impl<'a> Baselines<'a> {
    /// Linear but for sorting the durations of those that were alone.
    pub(super) fn new(
        trace: &Trace,
        accesses: &[Access],
        sharing: &[Sharing],
        machine: Option<&'a Machine>,
    ) -> Baselines<'a> {
        let mut alone: BTreeMap<Class, Vec<f64>> = BTreeMap::new();
        let mut fits = [Fit::default(); 3];
        let mut together: BTreeMap<Class, Spread> = BTreeMap::new();
        for (access, shared) in accesses.iter().zip(sharing) {
            let took = access.took().0 as f64;
            if shared.cause.is_some() {
                together.entry(class(access)).or_default().add(took, shared.served);
            } else {
                alone.entry(class(access)).or_default().push(took);
                fits[position(access.kind)].add(access.bytes as f64, took);
            }
        }
        let median = |(class, mut durations): (Class, Vec<f64>)| {
            let middle = durations.len() / 2;
            (class, *durations.select_nth_unstable_by(middle, f64::total_cmp).1)
        };
        Baselines {
            machine: MachineBaselines::new(trace, machine),
            ticks_per_second: trace.clock().ticks_per_second() as f64,
            event_s: machine.map_or(0.0, |machine| machine.overheads.event_s),
            alone: alone.into_iter().map(median).collect(),
            lines: fits.map(|fit| fit.line()),
            together: together.into_iter().map(|(class, spread)| (class, spread.need())).collect(),
        }
    }

    pub(super) fn of(&self, trace: &Trace, access: &Access) -> Option<f64> {
        let (at, class) = (position(access.kind), class(access));
        let path = trace.visit(access.pe, access.operation).path;
        let role = [Role::Put, Role::Get, Role::Atomic][at];
        let measured = self.machine.of_role(trace, path, role).seconds(access.bytes, 2);
        let measured = measured.map(|seconds| (seconds + self.event_s) * self.ticks_per_second);
        let fitted = || self.lines[at].map(|line| line.overhead + line.per_byte * access.bytes as f64);
        measured
            .or_else(|| self.alone.get(&class).copied())
            .or_else(fitted)
            .or_else(|| self.together.get(&class).copied())
    }
}

/// Durations of accesses that were not alone, and how long each was served.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    count: f64,
    took: [f64; 2],
    served: [f64; 2],
    shortest: Option<f64>,
}

impl Spread {
    fn add(&mut self, took: f64, served: f64) {
        self.count += 1.0;
        for (sums, value) in [(&mut self.took, took), (&mut self.served, served)] {
            sums[0] += value;
            sums[1] += value * value;
        }
        self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
    }

    fn need(&self) -> f64 {
        // n Σx² / (Σx)² = 1 + (deviation / mean)²: enough to compare.
        let relative = |[sum, squares]: [f64; 2]| if sum > 0.0 { self.count * squares / (sum * sum) } else { 1.0 };
        let steadier = relative(self.took) + ROUNDING < relative(self.served);
        if steadier { self.shortest.unwrap_or_default() } else { self.served[0] / self.count.max(1.0) }
    }
}

/// Spreads that differ by less are equal.
const ROUNDING: f64 = 1e-9;

fn class(access: &Access) -> Class {
    (access.kind, access.bytes.checked_ilog2().map_or(0, |log| log + 1))
}

fn position(kind: RmaTransferKind) -> usize {
    match kind {
        RmaTransferKind::Put => 0,
        RmaTransferKind::Get => 1,
        RmaTransferKind::Atomic => 2,
    }
}
