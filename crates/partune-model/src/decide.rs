//! Which alternative is best, and when: pairwise tests, each reduced to the smallest.
//!
//! Costs are head-tail estimates. Source: theory, comparison and cross-over, and code generation.

use partune_expr::{Comparison, Expr, Symbol, Test};

use crate::diagnostic::{Diagnostic, Span};
use crate::estimate::{ClosedForm, closed_form};
use crate::model::Model;

/// An alternative with its cost.
#[derive(Clone, Debug)]
pub struct Choice {
    pub name: String,
    pub form: ClosedForm,
    /// When it is chosen: better than all before it, at least as good as all behind it.
    pub chosen: Test,
    /// Why it is never chosen: the alternative that is always at least as good.
    pub dominated_by: Option<String>,
}

/// A comparison of two alternatives.
#[derive(Clone, Debug)]
pub struct Pair {
    pub left: String,
    pub right: String,
    /// When `left` costs less.
    pub less: Test,
    /// When it does not cost more.
    pub at_most: Test,
}

#[derive(Clone, Debug)]
pub struct Decision {
    pub choices: Vec<Choice>,
    pub pairs: Vec<Pair>,
}

/// Compares alternatives by name; all, if none is named. Tests are solved for a parameter, if one is named.
pub fn decide(model: &Model, names: &[String], variable: Option<&str>) -> Result<Decision, Diagnostic> {
    let wanted = |name: &String| names.is_empty() && name != "main" || names.contains(name);
    for name in names {
        if model.alternative(name).is_none() {
            let known: Vec<&str> = model.alternatives.iter().map(|alternative| alternative.name.as_str()).collect();
            let text = format!("no alternative `{name}`");
            return Err(Diagnostic::error(Span::default(), text).help(format!("there are {}", known.join(", "))));
        }
    }
    let chosen: Vec<_> = model.alternatives.iter().filter(|alternative| wanted(&alternative.name)).collect();
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
    let forms: Vec<ClosedForm> = chosen.iter().map(|alternative| closed_form(model, &alternative.term)).collect();
    let context = model.context();
    let test = |left: &Expr, right: &Expr, strict: bool, variable: Option<&Symbol>| {
        Comparison { context: &context, quotients: &model.quotients, strict, variable }.less(left, right)
    };
    let test = |left: usize, right: usize, strict: bool| {
        test(&forms[left].head_tail, &forms[right].head_tail, strict, variable.as_ref())
    };
    let name = |position: usize| chosen[position].name.clone();
    let mut dominated: Vec<Option<usize>> = vec![None; chosen.len()];
    let mut pairs = Vec::new();
    for left in 0..chosen.len() {
        for right in left + 1..chosen.len() {
            let pair = Pair {
                left: name(left),
                right: name(right),
                less: test(left, right, true),
                at_most: test(left, right, false),
            };
            if pair.at_most == Test::Always {
                dominated[right].get_or_insert(left);
            } else if pair.less == Test::Never || test(right, left, true) == Test::Always {
                // Equal ones go to the first, so the later one must be better somewhere.
                dominated[left].get_or_insert(right);
            }
            pairs.push(pair);
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
                chosen: if is_open { Test::all(wins.collect()) } else { Test::Never },
                dominated_by: dominated[position].map(name),
            }
        })
        .collect();
    Ok(Decision { choices, pairs })
}
