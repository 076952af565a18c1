//! Points at which generated code is tested: admissible values of all open parameters, by chance and always the same.

use partune_expr::{Number, Rat, Symbol};

use super::{Instance, Point};
use crate::ast::Kind;
use crate::decide::{Choice, Decision};
use crate::diagnostic::{Diagnostic, Span};
use crate::estimate::{Bounds, Given, numbers};
use crate::model::Model;
use crate::simulate::{Options, simulate};

const POINTS: usize = 32;
const TRIES: usize = 20_000;
/// Points that are simulated too, and steps that one simulation may take.
const SIMULATED: usize = 8;
const STEPS: u64 = 2_000_000;

pub(super) fn points(model: &Model, decision: &Decision, instance: Instance<'_>) -> Result<Vec<Point>, Diagnostic> {
    let mut random = Random(0x5EED);
    let mut points = Vec::new();
    for attempt in 0..TRIES {
        if points.len() == POINTS {
            break;
        }
        let Some(given) = sample(model, &mut random, attempt) else { continue };
        let all =
            given.params.iter().filter_map(|param| param.value.map(|value| (param.name.clone(), value))).collect();
        let Some(closed) = instance(&all) else { continue };
        let cost = |choice: &Choice| {
            let found = numbers(&choice.form, model, &closed, &closed.alternative(&choice.name)?.term);
            found.ok().map(|it| it.bounds)
        };
        let Some(costs) = decision.choices.iter().map(cost).collect::<Option<Vec<Bounds>>>() else { continue };
        let mut chosen = 0;
        for position in 1..costs.len() {
            if costs[position].head_tail.compare(costs[chosen].head_tail).is_lt() {
                chosen = position;
            }
        }
        // What is enumerated in doubles cannot tell equal costs.
        let near = |bounds: &Bounds| {
            let (own, least) = (bounds.head_tail.to_f64(), costs[chosen].head_tail.to_f64());
            (own - least).abs() <= 1e-9 * (own + least)
        };
        let tied = !decision.is_closed() && costs.iter().filter(|bounds| near(bounds)).count() > 1;
        let chosen = (!tied).then_some(chosen);
        let values: Vec<Rat> = open(model).map(|param| value(&given, &param.name)).collect();
        let mut simulated = vec![None; costs.len()];
        if points.len() < SIMULATED {
            for (position, choice) in decision.choices.iter().enumerate().filter(|(at, _)| !costs[*at].random) {
                let Some(alternative) = closed.alternative(&choice.name) else { continue };
                let options = Options { max_steps: STEPS, ..Options::default() };
                let time = simulate(&closed, &alternative.term, &options).ok();
                let time = time.filter(|outcome| matches!(outcome.makespan, Number::Exact(_)));
                simulated[position] = time.map(|time| (time.makespan.to_f64(), costs[position].upper.to_f64()));
            }
        }
        let costs = costs.iter().map(|bounds| bounds.head_tail.to_f64()).collect();
        points.push(Point { values, costs, chosen, simulated });
    }
    if points.is_empty() {
        let text = "no values were found that satisfy all assumptions";
        return Err(Diagnostic::error(Span::default(), text).help("give some parameters with -D"));
    }
    Ok(points)
}

/// Parameters that the generated function takes.
pub(super) fn open(model: &Model) -> impl Iterator<Item = &crate::model::Param> {
    model.open()
}

fn value(model: &Model, name: &str) -> Rat {
    model.params.iter().find(|param| param.name == name).and_then(|param| param.value).unwrap_or(Rat::ZERO)
}

/// The model with values for all parameters, if they satisfy the assumptions.
fn sample(model: &Model, random: &mut Random, attempt: usize) -> Option<Model> {
    let mut given = model.clone();
    let wide = 4 + (attempt as u64 % 28);
    for param in given.params.iter_mut().filter(|param| param.value.is_none()) {
        param.value = Some(match param.kind {
            Kind::Int => Rat::from(random.below(wide)),
            Kind::Time => Rat::from(random.below(40)),
            Kind::Real => Rat::new(random.below(400).into(), 8),
            Kind::Prob => Rat::new(random.below(9).into(), 8),
        });
    }
    // What must be divisible becomes a product.
    let quotients = model.quotients.clone();
    for quotient in &quotients {
        let factor = Rat::from(1 + random.below(wide));
        let divisor = quotient.divisor.eval(&Given(&given)).ok()?;
        let Number::Exact(divisor) = divisor else { return None };
        let dividend = quotient.dividend.to_symbol()?.clone();
        let own = given.params.iter_mut().find(|param| *param.name == *dividend.name)?;
        own.value = Some(divisor * factor);
    }
    let holds = model.assumptions.iter().all(|assumption| assumption.condition.eval(&Given(&given)) == Ok(true));
    let positive = |symbol: &Symbol| given.params.iter().any(|param| *param.name == *symbol.name);
    let known = quotients.iter().all(|quotient| quotient.dividend.to_symbol().is_some_and(positive));
    (holds && known).then_some(given)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n) as i64
    }
}
