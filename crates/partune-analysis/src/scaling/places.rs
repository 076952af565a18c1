//! Which places keep a program from the ideal, and how.
//!
//! Code that others wait for costs all PEs what its longest PE takes: code loses p·max t − ideal(p₀·max t₀), which is what more work, work
//! that every PE repeats, and work that stays on one PE cost alike. Operations lose the growth of their sum. What operations wait for is
//! in the code that makes them wait, so losses of code and of operations tell of the same seconds from two sides and are not added.

use partune_base::{CallPathId, RegionId};
use partune_trace::{Role, Trace};

use super::{CONSIDERABLE, Mode, Point};
use crate::PlaceSums;
use crate::compare::align::Rows;
use crate::compare::measure::RunSums;

/// A place at every point.
#[derive(Clone, Debug, PartialEq)]
pub struct ScaledRow<I> {
    /// For each point what the place is there.
    pub ids: Vec<Vec<I>>,
    /// User code; else an operation, or inside of one.
    pub code: bool,
    /// For each point; none where it never was.
    pub sums: Vec<Option<ScaledSums>>,
    /// How it behaves from the first point to the last.
    pub growth: Growth,
}

/// A place at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScaledSums {
    pub sums: PlaceSums,
    /// Seconds of all PEs more than ideal; negative if less.
    pub lost: f64,
    /// What of that is waiting; none for code, and for a profile, which does not tell.
    pub waited: Option<f64>,
    /// Scalability factor: ideal time to real time, of the longest PE for code, of the mean for operations; none if it took none.
    pub factor: Option<f64>,
}

/// How a place behaves as PEs are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// It loses less than 1 % of the run.
    Ideal,
    /// It takes less than ideal.
    Better,
    /// Code that as few PEs do as before, as long as before (for weak scaling: for the whole problem).
    Serial,
    /// Code that every PE repeats.
    Replicated,
    /// Code that is spread less evenly over PEs.
    Uneven,
    /// Code that takes more in total.
    Work,
    /// An operation that waits more.
    Waiting,
    /// An operation that takes longer by itself.
    Transfer,
    /// An operation of a profile: waiting or transfer.
    Operation,
    /// Start-up or shut-down.
    StartUp,
}

impl Growth {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Growth::Ideal => "ideal",
            Growth::Better => "better",
            Growth::Serial => "serial",
            Growth::Replicated => "replicated",
            Growth::Uneven => "uneven",
            Growth::Work => "work",
            Growth::Waiting => "waiting",
            Growth::Transfer => "transfer",
            Growth::Operation => "operation",
            Growth::StartUp => "start_up",
        }
    }

    /// Whether it loses time.
    pub fn is_loss(self) -> bool {
        !matches!(self, Growth::Ideal | Growth::Better)
    }
}

/// What a place is: the role of the operation that it is or is inside of; user code if there is none.
pub(super) fn role(trace: &Trace, path: CallPathId) -> Role {
    match trace.paths().operation(path).some() {
        Some(operation) => role_of_region(trace, trace.paths().region(operation)),
        None => Role::User,
    }
}

pub(super) fn role_of_region(trace: &Trace, region: RegionId) -> Role {
    let role = trace.regions()[region].role;
    if role.is_transparent() { Role::User } else { role }
}

/// Rows that some point has, by what they lose at the last one.
pub(super) fn rows<I: Copy>(
    mode: Mode,
    points: &[Point],
    rows: &Rows<I>,
    sums: &[RunSums],
    role: impl Fn(usize, I) -> Role,
) -> Vec<ScaledRow<I>> {
    let mut all = Vec::new();
    for (number, ids) in rows.ids.iter().enumerate() {
        let of_point = |point: usize| sums[point].rows[number].as_ref().map(|it| it.sums);
        let mut known = ids.iter().enumerate().filter_map(|(run, ids)| Some(role(run, *ids.first()?)));
        let Some(role) = known.next() else { continue };
        if (0..points.len()).all(|point| of_point(point).is_none()) {
            continue;
        }
        let place = Place { mode, role, points, sums: (0..points.len()).map(of_point).collect() };
        let scaled = |point: usize| {
            let (lost, waited, factor) = (place.lost(point), place.waited(point), place.factor(point));
            place.sums[point].map(|sums| ScaledSums { sums, lost, waited, factor })
        };
        let row = ScaledRow {
            ids: ids.clone(),
            code: role == Role::User,
            sums: (0..points.len()).map(scaled).collect(),
            growth: place.growth(),
        };
        all.push((place.lost(points.len() - 1), row));
    }
    // Of equals code comes first: it is what the operation waits for.
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.code.cmp(&a.1.code)));
    all.into_iter().map(|(_, row)| row).collect()
}

/// A place with what is known of it.
struct Place<'a> {
    mode: Mode,
    role: Role,
    points: &'a [Point],
    sums: Vec<Option<PlaceSums>>,
}

impl Place<'_> {
    /// Seconds of all PEs that it costs.
    fn cost(&self, point: usize) -> f64 {
        let Some(sums) = self.sums[point] else { return 0.0 };
        if self.role == Role::User { self.points[point].pes as f64 * sums.longest } else { sums.exclusive }
    }

    /// The same at the first point, if it scaled ideally from there.
    fn ideal(&self, point: usize, first: f64) -> f64 {
        self.mode.ideal(self.points[point].ideal, first)
    }

    fn lost(&self, point: usize) -> f64 {
        self.cost(point) - self.ideal(point, self.cost(0))
    }

    /// What of that is waiting.
    fn waited(&self, point: usize) -> Option<f64> {
        let waiting = |point: usize| self.sums[point].map_or(Some(0.0), |sums| sums.waiting);
        let (first, waiting) = waiting(0).zip(waiting(point)).filter(|_| self.role != Role::User)?;
        Some(waiting - self.ideal(point, first))
    }

    fn factor(&self, point: usize) -> Option<f64> {
        let cost = self.cost(point);
        (cost > 0.0).then(|| self.ideal(point, self.cost(0)) / cost)
    }

    fn growth(&self) -> Growth {
        let last = self.points.len() - 1;
        let considerable = CONSIDERABLE * self.points[last].pes as f64 * self.points[last].seconds;
        let lost = self.lost(last);
        if lost.abs() < considerable {
            return Growth::Ideal;
        }
        if lost < 0.0 {
            return Growth::Better;
        }
        match self.role {
            Role::User => self.code(last),
            Role::Init | Role::Finalize => Growth::StartUp,
            _ => self.operation(last, lost),
        }
    }

    /// More in total, or less even? And if the longest PE is not relieved at all, is it one of few, or one of all?
    fn code(&self, last: usize) -> Growth {
        /// From this share of the growth that no PE is relieved, none is.
        const UNRELIEVED: f64 = 0.8;
        let k = self.points[last].ideal;
        let sum = |point: usize| self.sums[point].map_or(0.0, |sums| sums.exclusive);
        let grown = |value: f64, first: f64| {
            let ideal = self.ideal(last, first);
            if ideal > 0.0 { value / ideal } else { f64::INFINITY }
        };
        let (total, longest) = (grown(sum(last), sum(0)), grown(self.cost(last), self.cost(0)));
        let unrelieved = longest.is_finite() && longest >= UNRELIEVED * k;
        if !longest.is_finite() || total - 1.0 >= 0.5 * (longest - 1.0) {
            let repeated = unrelieved && self.mode == Mode::Strong && total >= UNRELIEVED * k;
            if repeated { Growth::Replicated } else { Growth::Work }
        } else if unrelieved {
            Growth::Serial
        } else {
            Growth::Uneven
        }
    }

    fn operation(&self, last: usize, lost: f64) -> Growth {
        match self.waited(last) {
            Some(waited) if waited >= 0.5 * lost => Growth::Waiting,
            Some(_) => Growth::Transfer,
            None => Growth::Operation,
        }
    }
}
