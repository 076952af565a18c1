//! Calibration of a model: what its classes of work cost, from what PEs of a recorded run computed in each phase.
//!
//! A class is a parameter that is a time, and of which weights of tasks are multiples, such as what one update of an element takes. How much of each class a
//! PE does in a phase is what the model says of it; what that takes is what least squares without negative coefficients make of it, after the time for lines
//! has been taken off. Phases count alike, whatever they take: rows are weighed by the mean of their phase. What the model does not explain stays as such.
//!
//! Cost: that of [`follow`](crate::follow) for each class, and six more.

use partune_expr::Rat;
use partune_fit::solve_positive;
use partune_model::ast::Kind;
use partune_model::change::Original;
use partune_model::model::{Schedule, Step};
use partune_model::{Diagnostic, Files, Span, Values, lower};

use crate::outcome::{Outcome, PeRow, PhaseRow};
use crate::{Options, follow};

/// Turns of fitting and following: what lines take depends on who meets whom, and so a little on what tasks take.
const TURNS: usize = 3;

/// What PEs computed in a phase, by PE, in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub phase: String,
    pub pes: Vec<f64>,
}

/// A class of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    pub name: String,
    /// Seconds, with six digits; and what the model had.
    pub value: Rat,
    pub before: Option<Rat>,
}

impl Class {
    pub fn seconds(&self) -> f64 {
        self.value.to_f64()
    }

    pub fn seconds_before(&self) -> Option<f64> {
        self.before.map(Rat::to_f64)
    }
}

/// A PE in a phase: what was measured, what of it are weights of the calibrated model, and what it waits for lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Explained {
    pub measured_s: f64,
    pub work_s: f64,
    pub latency_s: f64,
}

impl Explained {
    /// What the model does not say; negative where it says too much, and nothing where that is what rounding leaves.
    pub fn rest_s(&self) -> f64 {
        let rest = self.measured_s - self.work_s - self.latency_s;
        if rest.abs() > 1e-9 * self.measured_s { rest } else { 0.0 }
    }

    fn add(&mut self, other: &Explained) {
        self.measured_s += other.measured_s;
        self.work_s += other.work_s;
        self.latency_s += other.latency_s;
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PhaseFit {
    pub name: String,
    pub pes: Vec<Explained>,
    /// Its PEs are known together only, for who does what is not fixed by the model.
    pub is_dealt: bool,
}

impl PhaseFit {
    pub fn all(&self) -> Explained {
        let mut all = Explained::default();
        self.pes.iter().for_each(|pe| all.add(pe));
        all
    }

    /// How far PEs are off from what was measured, as the root of the mean square over the mean.
    pub fn off(&self) -> f64 {
        let all = self.all();
        if self.is_dealt || all.measured_s <= 0.0 {
            return if all.measured_s > 0.0 { all.rest_s().abs() / all.measured_s } else { 0.0 };
        }
        let count = self.pes.len() as f64;
        let squares = self.pes.iter().map(|pe| pe.rest_s().powi(2)).sum::<f64>();
        (squares / count).sqrt() / (all.measured_s / count)
    }
}

#[derive(Clone, Debug)]
pub struct Calibrated {
    pub classes: Vec<Class>,
    pub phases: Vec<PhaseFit>,
    /// Phases of the model of which nothing was measured.
    pub unmeasured: Vec<String>,
    /// The model with these values.
    pub outcome: Outcome,
}

/// Fits the classes of a model: those that are named, else all parameters that are times, are not given and have a weight depend on them. What is measured
/// must be of as many PEs as the model has, in their order.
pub fn calibrate(
    original: &Original<'_>,
    named: &[String],
    measured: &[Measured],
    files: Files<'_>,
    options: &Options,
) -> Result<Calibrated, Diagnostic> {
    let error = |text: String, help: &str| Diagnostic::error(Span::default(), text).help(help);
    let times = || original.model.params.iter().filter(|param| param.kind == Kind::Time);
    if let Some(name) = named.iter().find(|name| !times().any(|param| param.name == **name)) {
        let known: Vec<&str> = times().map(|param| param.name.as_str()).collect();
        let text = format!("`{name}` is no parameter of the model that is a time");
        return Err(error(text, &format!("choose of these: {}", known.join(", "))));
    }
    let is_wanted = |name: &String| {
        if named.is_empty() { !original.values.contains_key(name) } else { named.contains(name) }
    };
    let params: Vec<_> = times().filter(|param| is_wanted(&param.name)).collect();
    // A size that the class may have: what it is now, else a microsecond.
    let unit = |value: Option<Rat>| value.filter(|it| *it > Rat::ZERO).unwrap_or(Rat::new(1, 1_000_000));
    let mut classes: Vec<Class> = Vec::new();
    let mut walks = Walks { original, files, options };
    let ones: Vec<Class> = params
        .iter()
        .map(|param| Class { name: param.name.clone(), value: unit(param.value), before: param.value })
        .collect();
    let base = walks.at(&ones)?;
    let pes = base.pes;
    if let Some(wrong) = measured.iter().find(|it| it.pes.len() != pes) {
        let text = format!("{} PEs were measured in `{}`, and the model has {pes}", wrong.pes.len(), wrong.phase);
        return Err(error(text, "give the model as many with -D, or measure a run with as many"));
    }
    let known: Vec<(&Measured, &PhaseRow)> =
        measured.iter().filter_map(|it| Some((it, phase(&base, &it.phase)?))).collect();
    if known.iter().all(|(it, _)| it.pes.iter().sum::<f64>() <= 0.0) {
        let phases: Vec<&str> = base.phases.iter().map(|it| it.name.as_str()).collect();
        let text = "nothing was measured of any phase of the model".to_owned();
        return Err(error(text, &format!("its phases are {}", phases.join(", "))));
    }
    // What a second of each class adds to each PE of each phase; classes of which nothing depends are none.
    let mut columns: Vec<Vec<Vec<f64>>> = Vec::new();
    for at in 0..ones.len() {
        let mut twice = ones.clone();
        twice[at].value = ones[at].value + ones[at].value;
        let found = walks.at(&twice)?;
        let per = ones[at].value.to_f64();
        let column = added(&base, &found, per);
        if column.iter().any(|pes| pes.iter().sum::<f64>().abs() > 1e-9) {
            columns.push(column);
            classes.push(ones[at].clone());
        } else if !named.is_empty() {
            let text = format!("no weight of a task depends on `{}`", ones[at].name);
            return Err(error(text, "name a parameter that weights are multiples of"));
        }
    }
    if classes.is_empty() {
        let text = "no weight of a task depends on a parameter that is a time and has no value given".to_owned();
        return Err(error(text, "write weights as multiples of such parameters: `weight len(nbr[e])*bar`"));
    }
    let fixed: Vec<Vec<f64>> = base
        .phases
        .iter()
        .enumerate()
        .map(|(row, phase)| {
            let own = |class: usize, pe: usize| classes[class].value.to_f64() * columns[class][row][pe];
            let of_pe = |pe: usize| phase.pes[pe].work_s - (0..classes.len()).map(|class| own(class, pe)).sum::<f64>();
            (0..pes).map(of_pe).collect()
        })
        .collect();
    walks.check_sums(&classes, &columns, &fixed)?;
    let is_dealt = |name: &str| is_dealt(original, name);
    let mut outcome = base.clone();
    for _ in 0..TURNS {
        let mut rows = Vec::new();
        for (measured, of_base) in &known {
            let at = base.phases.iter().position(|it| it.name == of_base.name).unwrap_or_default();
            let mean = measured.pes.iter().sum::<f64>() / pes as f64;
            if mean <= 0.0 {
                continue;
            }
            let latency = |pe: usize| phase(&outcome, &measured.phase).map_or(0.0, |it| it.pes[pe].counts.latency_s);
            let columns_of = |pe: usize| columns.iter().map(|column| column[at][pe]).collect::<Vec<f64>>();
            let target = |pe: usize| measured.pes[pe] - fixed[at][pe] - latency(pe);
            if is_dealt(&measured.phase) {
                let sums = (0..pes).map(columns_of).reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a + b).collect());
                let all = mean * pes as f64;
                rows.push((sums.unwrap_or_default(), (0..pes).map(target).sum(), pes as f64 / all.powi(2)));
            } else {
                rows.extend((0..pes).map(|pe| (columns_of(pe), target(pe), 1.0 / mean.powi(2))));
            }
        }
        let found = solve_positive(&rows);
        for (class, value) in classes.iter_mut().zip(found) {
            class.value = Rat::parse(&format!("{value:.5e}")).unwrap_or(Rat::ZERO);
        }
        outcome = walks.at(&classes)?;
    }
    let fits = known.iter().map(|(measured, _)| {
        let row = phase(&outcome, &measured.phase);
        let of_pe = |(pe, measured_s): (usize, &f64)| {
            let row = row.map_or(PeRow::default(), |row| row.pes[pe]);
            Explained { measured_s: *measured_s, work_s: row.work_s, latency_s: row.counts.latency_s }
        };
        let pes = measured.pes.iter().enumerate().map(of_pe).collect();
        PhaseFit { name: measured.phase.clone(), pes, is_dealt: is_dealt(&measured.phase) }
    });
    let phases = fits.collect();
    let is_measured = |name: &String| measured.iter().any(|it| it.phase == *name);
    let unmeasured = outcome.phases.iter().map(|it| it.name.clone()).filter(|name| !is_measured(name)).collect();
    Ok(Calibrated { classes, phases, unmeasured, outcome })
}

fn phase<'a>(outcome: &'a Outcome, name: &str) -> Option<&'a PhaseRow> {
    outcome.phases.iter().find(|it| it.name == name)
}

/// Seconds of weights that another walk has more, by phase and PE, over a number.
fn added(base: &Outcome, other: &Outcome, over: f64) -> Vec<Vec<f64>> {
    let rows = base.phases.iter().map(|row| {
        let other = phase(other, &row.name);
        let work = |pe: usize| other.map_or(0.0, |other| other.pes[pe].work_s);
        (0..base.pes).map(|pe| (work(pe) - row.pes[pe].work_s) / over).collect()
    });
    rows.collect()
}

/// Whether which PE does what in a phase depends on times: other schedules, or threads that move.
fn is_dealt(original: &Original<'_>, name: &str) -> bool {
    let Some(steps) = &original.alternative.steps else { return false };
    let phase = original.model.application.phases.iter().position(|it| it == name);
    !original.model.application.machine.unbound.is_zero() || has_dealt(steps, None, phase)
}

fn has_dealt(step: &Step, phase: Option<usize>, wanted: Option<usize>) -> bool {
    match step {
        Step::Nothing | Step::Task(_) | Step::Event { .. } | Step::Barrier(_) | Step::Other(..) => false,
        Step::Sequence(all) => all.iter().any(|one| has_dealt(one, phase, wanted)),
        Step::Seq(_, body) => has_dealt(body, phase, wanted),
        Step::If(_, then, otherwise) => has_dealt(then, phase, wanted) || has_dealt(otherwise, phase, wanted),
        Step::Phase(inner, body) => has_dealt(body, Some(*inner), wanted),
        Step::Forall(forall) => phase == wanted && forall.schedule != Schedule::Static,
    }
}

/// The model with other values of its classes, followed.
struct Walks<'a> {
    original: &'a Original<'a>,
    files: Files<'a>,
    options: &'a Options,
}

impl Walks<'_> {
    fn at(&mut self, classes: &[Class]) -> Result<Outcome, Diagnostic> {
        let Original { text, file, values, alternative, .. } = self.original;
        let mut given: Values = (*values).clone();
        given.extend(classes.iter().map(|class| (class.name.clone(), class.value)));
        let mut all = partune_model::defaults(file, &given);
        all.extend(given);
        let (model, told) = lower(text, file, &all, self.files);
        let wrong = || Diagnostic::error(Span::default(), "the model has no other values of its classes");
        let Some(model) = model else { return Err(told.into_iter().next().unwrap_or_else(wrong)) };
        let alternative = model.alternative(&alternative.name).ok_or_else(wrong)?;
        follow(&model, alternative, self.options)
    }

    /// Whether weights are sums of multiples of the classes: other values of all give what the columns say.
    fn check_sums(
        &mut self,
        classes: &[Class],
        columns: &[Vec<Vec<f64>>],
        fixed: &[Vec<f64>],
    ) -> Result<(), Diagnostic> {
        let mut other = classes.to_vec();
        for (at, class) in other.iter_mut().enumerate() {
            class.value = class.value * Rat::from(3 + at as i64);
        }
        let found = self.at(&other)?;
        for (row, phase) in found.phases.iter().enumerate() {
            let said = |pe: usize| {
                let own = |(class, column): (&Class, &Vec<Vec<f64>>)| class.value.to_f64() * column[row][pe];
                fixed[row][pe] + other.iter().zip(columns).map(own).sum::<f64>()
            };
            let (work, said): (f64, f64) = (phase.pes.iter().map(|pe| pe.work_s).sum(), (0..found.pes).map(said).sum());
            if (work - said).abs() > 1e-6 * work.abs().max(said.abs()) {
                let names: Vec<&str> = classes.iter().map(|class| class.name.as_str()).collect();
                let text = format!("weights in `{}` are no sums of multiples of {}", phase.name, names.join(", "));
                let help = "name those that they are multiples of with --fit, and give the others with -D";
                return Err(Diagnostic::error(Span::default(), text).help(help));
            }
        }
        Ok(())
    }
}
