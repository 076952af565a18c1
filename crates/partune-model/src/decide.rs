//! Which alternative is best, and when: pairwise tests, each reduced to the smallest.
//!
//! Costs are head-tail estimates. Of one without closed form it is known that it is not below its formula and not above the upper bound; tests
//! hold where that is enough, and where no test holds the costs must be computed. Source: theory, comparison and cross-over, and code
//! generation.

use std::cell::RefCell;
use std::collections::BTreeMap;

use partune_expr::{Comparison, Environment, EvalError, Number, Test};

use crate::diagnostic::{Diagnostic, Span};
use crate::estimate::{ClosedForm, closed_form, numbers};
use crate::model::{Alternative, Model, Term};

/// An alternative with its cost.
#[derive(Clone, Debug)]
pub struct Choice {
    pub name: String,
    pub form: ClosedForm,
    /// When it is chosen for sure: better than all before it, at least as good as all behind it.
    pub chosen: Test,
    /// Why it is never chosen: the alternative that is always at least as good.
    pub dominated_by: Option<String>,
}

/// A comparison of two alternatives.
#[derive(Clone, Debug)]
pub struct Pair {
    pub left: String,
    pub right: String,
    /// When `left` costs less for sure.
    pub less: Test,
    /// When it does not cost more for sure.
    pub at_most: Test,
    /// Whether both have a closed form, so that elsewhere it is the other way round; else nothing is known elsewhere.
    pub closed: bool,
    /// Whether the tests are solved for the parameter that was asked for.
    pub solved: bool,
}

/// Why an alternative is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Its test holds.
    Test,
    /// No test holds, and it has the least cost.
    Costs,
}

#[derive(Clone, Debug)]
pub struct Decision {
    pub choices: Vec<Choice>,
    pub pairs: Vec<Pair>,
}

/// Compares alternatives by name; all, if none is named. Tests are solved for a parameter, if one is named.
pub fn decide(model: &Model, names: &[String], variable: Option<&str>) -> Result<Decision, Diagnostic> {
    // Alternatives of phases stand in plans, and are none to each other.
    let is_apart = |it: &Alternative| it.name == "main" || it.stage.is_some() && !model.plans.is_empty();
    let wanted = |it: &Alternative| names.is_empty() && !is_apart(it) || names.contains(&it.name);
    for name in names {
        if model.alternative(name).is_none() {
            let known: Vec<&str> = model.alternatives.iter().map(|alternative| alternative.name.as_str()).collect();
            let text = format!("no alternative `{name}`");
            return Err(Diagnostic::error(Span::default(), text).help(format!("there are {}", known.join(", "))));
        }
    }
    let chosen: Vec<_> = model.alternatives.iter().filter(|it| wanted(it)).collect();
    if chosen.len() < 2 {
        let help = "name design alternatives with `alt name = ...;`";
        return Err(
            Diagnostic::error(Span::default(), "there is nothing to decide: two alternatives are needed").help(help)
        );
    }
    let variable = match variable {
        None => None,
        Some(name) => {
            let param = model.params.iter().find(|param| param.name == name);
            let none = || Diagnostic::error(Span::default(), format!("no parameter `{name}` to solve for"));
            Some(param.ok_or_else(none)?.symbol())
        }
    };
    let forms = chosen.iter().map(|alternative| cost(model, &alternative.term)).collect::<Result<Vec<_>, _>>()?;
    let context = model.context();
    let comparison =
        |strict| Comparison { context: &context, quotients: &model.quotients, strict, variable: variable.as_ref() };
    let known = RefCell::new(BTreeMap::new());
    let test = |left: usize, right: usize, strict: bool| -> Test {
        if let Some(test) = known.borrow().get(&(left, right, strict)) {
            return Test::clone(test);
        }
        let most = forms[left].most();
        let less = || comparison(strict).less(most, &forms[right].head_tail);
        let test = if most.is_undefined() { Test::Never } else { less() };
        known.borrow_mut().insert((left, right, strict), test.clone());
        test
    };
    let name = |position: usize| chosen[position].name.clone();
    let mut dominated: Vec<Option<usize>> = vec![None; chosen.len()];
    let mut pairs = Vec::new();
    for left in 0..chosen.len() {
        for right in left + 1..chosen.len() {
            let (less, at_most) = (test(left, right, true), test(left, right, false));
            let closed = forms[left].is_closed() && forms[right].is_closed();
            if at_most == Test::Always {
                dominated[right].get_or_insert(left);
            } else if closed && less == Test::Never || test(right, left, false) == Test::Always {
                // Equal ones go to the first, so the later one must be better somewhere.
                dominated[left].get_or_insert(right);
            }
            let is_solved = |test: &Test| variable.as_ref().is_none_or(|variable| test.is_solved_for(variable));
            let solved = is_solved(&less) && is_solved(&at_most);
            pairs.push(Pair { left: name(left), right: name(right), less, at_most, closed, solved });
        }
    }
    let open: Vec<usize> = (0..chosen.len()).filter(|position| dominated[*position].is_none()).collect();
    let choices = (0..chosen.len())
        .map(|position| {
            let against = open.iter().filter(|other| **other != position);
            let wins = against.map(|&other| test(position, other, other < position));
            let is_open = dominated[position].is_none();
            Choice {
                name: name(position),
                form: forms[position].clone(),
                chosen: if is_open { comparison(false).all(wins.collect()) } else { Test::Never },
                dominated_by: dominated[position].map(name),
            }
        })
        .collect();
    Ok(Decision { choices, pairs })
}

/// The cost; where all values are given and it has no closed form, its number.
fn cost(model: &Model, term: &Term) -> Result<ClosedForm, Diagnostic> {
    let form = closed_form(model, term);
    if form.is_closed() || model.open().next().is_some() {
        return Ok(form);
    }
    let found = numbers(&form, model, model, term)?.bounds;
    let (Number::Exact(basic), Number::Exact(head_tail)) = (found.basic, found.head_tail) else { return Ok(form) };
    Ok(ClosedForm { basic: basic.into(), head_tail: head_tail.into(), weaker: Vec::new(), ..form })
}

impl Choice {
    pub fn is_dominated(&self) -> bool {
        self.dominated_by.is_some()
    }
}

impl Decision {
    /// Alternatives with the test to ask of each, in this order; without a test, if all before it do not hold.
    pub fn tree(&self) -> Vec<(usize, Option<&Test>)> {
        let all = self.choices.iter().enumerate();
        let mut list: Vec<_> =
            all.filter(|(_, choice)| !choice.is_dominated()).map(|(at, choice)| (at, Some(&choice.chosen))).collect();
        // The longest test is the one to leave out.
        list.sort_by_key(|(_, test)| test.map_or(0, |test| test.to_string().len()));
        if self.is_closed()
            && let Some((_, test)) = list.last_mut()
        {
            *test = None;
        }
        list.retain(|(_, test)| *test != Some(&Test::Never));
        list
    }

    /// Whether tests decide everywhere; else, where none of them holds, costs must be computed.
    pub fn is_closed(&self) -> bool {
        let open: Vec<&Choice> = self.choices.iter().filter(|choice| !choice.is_dominated()).collect();
        open.len() < 2 || open.iter().all(|choice| choice.form.is_closed())
    }

    /// What the emitted code does: the alternative that a test chooses; else the first of least cost, of which `cost` has the numbers.
    pub fn choose(
        &self,
        environment: &dyn Environment,
        mut cost: impl FnMut(&Choice) -> Result<Number, EvalError>,
    ) -> Result<(usize, Reason), EvalError> {
        for (position, test) in self.tree() {
            let holds = match test {
                Some(test) => test.condition().eval(environment)?,
                None => true,
            };
            if holds {
                return Ok((position, Reason::Test));
            }
        }
        let mut best: Option<(usize, Number)> = None;
        for (position, choice) in self.choices.iter().enumerate().filter(|(_, choice)| !choice.is_dominated()) {
            let own = cost(choice)?;
            if best.is_none_or(|(_, least)| own.compare(least).is_lt()) {
                best = Some((position, own));
            }
        }
        Ok((best.map_or(0, |best| best.0), Reason::Costs))
    }
}
