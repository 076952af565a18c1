//! Changes applied: a model as somebody would write it next, before it is written.
//!
//! For who tunes models. What has a place in the text (values, layouts, owners, the machine) is changed in the syntax tree and lowered anew, so all that
//! is checked of models is checked of what is tried. Loops and barriers are changed in the steps, where processes are expanded and conditions decided. What
//! cannot be is told at its place in the change: names that there are not, changes that change nothing, changes that contradict each other.

use std::collections::BTreeSet;

use partune_expr::{Expr, Rat};

use crate::ast::{self, Change, ChangeKind, File, Item, Name, Spec};
use crate::diagnostic::{Diagnostic, Span, has_errors};
use crate::lower::{Files, Values, constant, defaults, lower, nearest};
use crate::model::{Alternative, Data, Layout, Model, Schedule, Step, WhyNot};

/// A model and what is read of it.
#[derive(Clone, Copy, Debug)]
pub struct Original<'a> {
    /// The text; behind it may stand those of changes, whose places are there.
    pub text: &'a str,
    pub file: &'a File,
    /// Values that are given, without defaults.
    pub values: &'a Values,
    /// What comes of these, and which alternative is meant.
    pub model: &'a Model,
    pub alternative: &'a Alternative,
}

/// A model after changes, and the alternative that is meant. Its term is that of its steps.
#[derive(Clone, Debug)]
pub struct Changed {
    pub model: Model,
    pub alternative: Alternative,
}

/// Applies changes, one after the other. `text` is that of the original with the changes behind it.
pub fn apply(
    original: &Original<'_>,
    text: &str,
    changes: &[Change],
    files: Files<'_>,
) -> Result<Changed, Vec<Diagnostic>> {
    let mut told = contradictions(changes);
    let mut values = original.values.clone();
    let mut file = original.file.clone();
    let mut name = &original.alternative.name;
    let before = complete(original.file, original.values);
    for change in changes {
        let done = match &change.node {
            ChangeKind::Set(param, e) => set(original.model, &before, &mut values, param, e),
            ChangeKind::Alternative(other) => {
                let known = original.model.alternatives.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
                if !known.contains(&other.node) {
                    Err(nearest("alternative", &other.node, other.span, &known))
                } else if *name == other.node {
                    Err(nothing(change.span, &format!("`{}` is followed already", other.node)))
                } else {
                    name = &other.node;
                    Ok(())
                }
            }
            ChangeKind::Layout(layout) => place(original.model, &mut file, layout),
            ChangeKind::Decompose { domain, parts, by } => {
                decompose(original.model, &mut file, domain, parts.as_ref(), by.as_ref())
            }
            ChangeKind::Machine(machine) => {
                set_machine(&mut file, machine);
                Ok(())
            }
            ChangeKind::Schedule(..) | ChangeKind::NoWait(_) | ChangeKind::Fuse(..) | ChangeKind::RemoveBarrier(_) => {
                Ok(())
            }
        };
        told.extend(done.err());
    }
    if !told.is_empty() {
        return Err(told);
    }
    let (model, told) = lower(text, &file, &complete(&file, &values), files);
    let Some(model) = model else {
        return Err(told.into_iter().filter(|one| has_errors(std::slice::from_ref(one))).collect());
    };
    let mut told: Vec<Diagnostic> = changes.iter().filter_map(|change| same(original.model, &model, change)).collect();
    let Some(mut alternative) = model.alternative(name).cloned() else { return Err(told) };
    let values = complete(&file, &values);
    if let Some(steps) = &mut alternative.steps {
        for change in changes {
            told.extend(change_steps(&model, steps, &values, change).err());
        }
        alternative.term = steps.term(&model);
    }
    if told.is_empty() { Ok(Changed { model, alternative }) } else { Err(told) }
}

/// The values given, and defaults of the others.
fn complete(file: &File, given: &Values) -> Values {
    let mut values = defaults(file, given);
    values.extend(given.clone());
    values
}

fn nothing(span: Span, why: &str) -> Diagnostic {
    Diagnostic::error(span, format!("nothing to change: {why}")).help("leave it out, or try something else")
}

/// What a change decides on: two of the same in one list contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Subject<'a> {
    Value(&'a str),
    Alternative,
    Layout(&'a str, u8),
    Parts(&'a str),
    Owners(&'a str),
    Machine(&'a str),
    Schedule(&'a str),
    NoWait(&'a str),
    Fused(&'a str),
    Barrier(&'a str),
}

impl Subject<'_> {
    fn text(&self) -> String {
        match self {
            Subject::Value(name) => format!("the value of `{name}`"),
            Subject::Alternative => "the alternative".to_owned(),
            Subject::Layout(name, _) => format!("the layout of `{name}`"),
            Subject::Parts(name) => format!("the number of parts of `{name}`"),
            Subject::Owners(name) => format!("the owners of `{name}`"),
            Subject::Machine(name) => format!("`{name}` of the machine"),
            Subject::Schedule(name) => format!("the schedule of `{name}`"),
            Subject::NoWait(name) => format!("the end of `{name}`"),
            Subject::Fused(name) => format!("what `{name}` becomes a part of"),
            Subject::Barrier(name) => format!("the barrier after `{name}`"),
        }
    }

    fn of(change: &Change) -> Vec<Subject<'_>> {
        match &change.node {
            ChangeKind::Set(name, _) => vec![Subject::Value(&name.node)],
            ChangeKind::Alternative(_) => vec![Subject::Alternative],
            ChangeKind::Layout(layout) => {
                let of = |name| layout.specs.iter().map(move |spec| Subject::Layout(name, kind(&spec.node)));
                layout.names.iter().flat_map(|name| of(name.node.as_str())).collect()
            }
            ChangeKind::Decompose { domain, parts, by } => {
                let parts = parts.as_ref().map(|_| Subject::Parts(&domain.node));
                parts.into_iter().chain(by.as_ref().map(|_| Subject::Owners(&domain.node))).collect()
            }
            ChangeKind::Machine(machine) => {
                let node = machine.node.as_ref().map(|_| Subject::Machine("node"));
                machine.settings.iter().map(|(it, _)| Subject::Machine(it.node.name())).chain(node).collect()
            }
            ChangeKind::Schedule(name, _) => vec![Subject::Schedule(&name.node)],
            ChangeKind::NoWait(name) => vec![Subject::NoWait(&name.node)],
            ChangeKind::Fuse(_, second) => vec![Subject::Fused(&second.node)],
            ChangeKind::RemoveBarrier(name) => vec![Subject::Barrier(&name.node)],
        }
    }
}

/// Which of the things that a layout says it is: two of a kind contradict each other.
fn kind(spec: &Spec) -> u8 {
    match spec {
        Spec::RowMajor | Spec::ColumnMajor => 0,
        Spec::Pad(..) => 1,
        Spec::Align(_) => 2,
        Spec::Base(_) => 3,
        Spec::Group => 4,
    }
}

fn contradictions(changes: &[Change]) -> Vec<Diagnostic> {
    let mut known = BTreeSet::new();
    let mut told = Vec::new();
    for change in changes {
        for subject in Subject::of(change) {
            if known.contains(&subject) {
                let text = format!("{} is changed twice in one try", subject.text());
                told.push(Diagnostic::error(change.span, text).help("give each a --try of its own"));
            }
            known.insert(subject);
        }
    }
    told
}

fn set(model: &Model, before: &Values, values: &mut Values, name: &Name, e: &ast::Expr) -> Result<(), Diagnostic> {
    if !model.params.iter().any(|param| param.name == name.node) {
        let known: Vec<String> = model.params.iter().map(|param| param.name.clone()).collect();
        return Err(nearest("parameter", &name.node, name.span, &known));
    }
    let value = number(model, before, e)?;
    if before.get(&name.node) == Some(&value) {
        return Err(nothing(name.span.to(e.span), &format!("`{}` is {value}", name.node)));
    }
    values.insert(name.node.clone(), value);
    Ok(())
}

/// The value of arithmetic on numbers and parameters.
fn number(model: &Model, values: &Values, e: &ast::Expr) -> Result<Rat, Diagnostic> {
    let wrong = || {
        Diagnostic::error(e.span, "this is no number")
            .help("write one, or arithmetic on numbers and parameters with values")
    };
    let kind = |name: &str| model.params.iter().find(|param| param.name == name).map(|param| param.kind);
    constant(e, &|name| Some((kind(name)?, values.get(name).copied()?))).ok_or_else(wrong)
}

/// Replaces what a layout says of arrays; what it does not say stays.
fn place(model: &Model, file: &mut File, layout: &ast::Layout) -> Result<(), Diagnostic> {
    let known: Vec<String> = model.application.data.iter().map(|data| data.name.clone()).collect();
    if let Some(name) = layout.names.iter().find(|name| !known.contains(&name.node)) {
        return Err(nearest("data", &name.node, name.span, &known));
    }
    let is_said = |spec: &Spec| layout.specs.iter().any(|own| kind(&own.node) == kind(spec));
    let is_group = is_said(&Spec::Group);
    let is_named = |name: &Name| layout.names.iter().any(|own| own.node == name.node);
    let mut rest = layout.names.clone();
    let mut added = Vec::new();
    for item in &mut file.items {
        let Item::Layout(old) = item else { continue };
        let (named, others): (Vec<Name>, Vec<Name>) = std::mem::take(&mut old.names).into_iter().partition(is_named);
        old.names = others;
        rest.retain(|name| !named.iter().any(|own| own.node == name.node));
        if named.is_empty() {
            continue;
        }
        // Who leaves a group has records of its own.
        let stays = |spec: &&ast::Spanned<Spec>| {
            !is_said(&spec.node) && (old.names.is_empty() || !matches!(spec.node, Spec::Group))
        };
        let kept: Vec<_> = old.specs.iter().filter(stays).cloned().collect();
        added.push(ast::Layout { names: named, specs: [layout.specs.clone(), kept].concat() });
    }
    file.items.retain(|item| !matches!(item, Item::Layout(old) if old.names.is_empty()));
    if is_group {
        added = vec![layout.clone()];
    } else if !rest.is_empty() {
        added.push(ast::Layout { names: rest, specs: layout.specs.clone() });
    }
    file.items.extend(added.into_iter().map(Item::Layout));
    Ok(())
}

fn decompose(
    model: &Model,
    file: &mut File,
    domain: &Name,
    parts: Option<&ast::Expr>,
    by: Option<&ast::Spanned<ast::By>>,
) -> Result<(), Diagnostic> {
    let known: Vec<String> = model.application.domains.iter().map(|it| it.name.clone()).collect();
    if !known.contains(&domain.node) {
        return Err(nearest("domain", &domain.node, domain.span, &known));
    }
    let old = file.items.iter_mut().find_map(|item| match item {
        Item::Decompose(old) if old.domain.node == domain.node => Some(old),
        _ => None,
    });
    match (old, parts, by) {
        (Some(old), parts, by) => {
            parts.into_iter().for_each(|parts| old.parts = parts.clone());
            by.into_iter().for_each(|by| old.by = by.clone());
        }
        (None, Some(parts), Some(by)) => {
            let new = ast::Decompose { domain: domain.clone(), parts: parts.clone(), by: by.clone() };
            file.items.push(Item::Decompose(new));
        }
        (None, ..) => {
            let text = format!("nobody owns `{}` so far", domain.node);
            let help = format!("say both: decompose {} -> PARTS by block", domain.node);
            return Err(Diagnostic::error(domain.span, text).help(help));
        }
    }
    Ok(())
}

fn set_machine(file: &mut File, machine: &ast::Machine) {
    let old = file.items.iter_mut().find_map(|item| if let Item::Machine(old) = item { Some(old) } else { None });
    let Some(old) = old else {
        file.items.push(Item::Machine(machine.clone()));
        return;
    };
    for (setting, e) in &machine.settings {
        match old.settings.iter_mut().find(|(it, _)| it.node == setting.node) {
            Some((_, own)) => *own = e.clone(),
            None => old.settings.push((setting.clone(), e.clone())),
        }
    }
    if machine.node.is_some() {
        old.node.clone_from(&machine.node);
    }
    // What is wrong with a machine is most likely what was changed.
    old.span = machine.span;
}

/// Says so where a change leaves the model as it was.
fn same(old: &Model, new: &Model, change: &Change) -> Option<Diagnostic> {
    let why = match &change.node {
        ChangeKind::Layout(layout) => {
            let of = |model: &Model, name: &Name| {
                let data = &model.application.data;
                let own = data.iter().find(|it| it.name == name.node)?;
                Some((placed(&own.layout), together(data, own)))
            };
            let is_same = layout.names.iter().all(|name| of(old, name) == of(new, name));
            is_same.then(|| "elements lie so already".to_owned())
        }
        ChangeKind::Decompose { domain, .. } => {
            let of = |model: &Model| {
                let domains = &model.application.domains;
                let owners = domains.iter().find(|it| it.name == domain.node)?.owners.clone()?;
                // Owners by the parts of a graph are in a table of this name.
                let table = model.tables.get(format!("{}'owner.", domain.node).as_str()).cloned();
                Some((owners.parts, owners.owner, table))
            };
            (of(old) == of(new)).then(|| format!("`{}` is decomposed so already", domain.node))
        }
        ChangeKind::Machine(machine) => {
            let (a, b) = (&old.application.machine, &new.application.machine);
            let setting =
                machine.settings.iter().find(|(setting, _)| a.setting(setting.node) == b.setting(setting.node));
            let (setting, _) = setting?;
            let name = setting.node.name();
            return Some(nothing(setting.span, &format!("`{name}` of the machine is that already")));
        }
        _ => None,
    };
    why.map(|why| nothing(change.span, &why))
}

/// What a layout says, but for places in the text.
fn placed(layout: &Layout) -> (bool, Vec<Option<Expr>>) {
    let pad = layout.pad.as_ref();
    let first = |of: &Option<(Expr, Span)>| of.as_ref().map(|it| it.0.clone());
    let all = vec![pad.map(|it| it.0.clone()), pad.map(|it| it.1.clone()), first(&layout.align), first(&layout.base)];
    (layout.column_major, all)
}

/// Names of the arrays that have records together with one.
fn together(all: &[Data], data: &Data) -> Vec<String> {
    let group = data.layout.group;
    all.iter().filter(|it| group.is_some() && it.layout.group == group).map(|it| it.name.clone()).collect()
}

fn change_steps(model: &Model, steps: &mut Step, values: &Values, change: &Change) -> Result<(), Diagnostic> {
    let phases = &model.application.phases;
    let phase = |name: &Name| {
        let found = phases.iter().position(|it| *it == name.node);
        found.ok_or_else(|| nearest("phase", &name.node, name.span, phases))
    };
    let (name, done) = match &change.node {
        ChangeKind::Set(..)
        | ChangeKind::Alternative(_)
        | ChangeKind::Layout(_)
        | ChangeKind::Decompose { .. }
        | ChangeKind::Machine(_) => return Ok(()),
        ChangeKind::Schedule(name, schedule) => {
            let size = |e: &ast::Expr| {
                let size = number(model, values, e)?;
                let least = || Diagnostic::error(e.span, "a piece of a loop has at least one index");
                if size < Rat::ONE { Err(least()) } else { Ok(Expr::number(size.floor())) }
            };
            let schedule = match schedule {
                ast::Schedule::Static => Schedule::Static,
                ast::Schedule::Own(e) => Schedule::Own(size(e)?),
                ast::Schedule::Guided(e) => Schedule::Guided(size(e)?),
            };
            (name, steps.reschedule(phase(name)?, &schedule))
        }
        ChangeKind::NoWait(name) => (name, steps.go_on_after(phase(name)?)),
        ChangeKind::Fuse(first, second) => (second, steps.fuse(phase(first)?, phase(second)?)),
        ChangeKind::RemoveBarrier(name) => (name, steps.remove_barrier(phase(name)?)),
    };
    let name = &name.node;
    let help = |text: &str, help: &str| Diagnostic::error(change.span, text).help(help);
    done.map_err(|why| match (why, &change.node) {
        (WhyNot::NoLoop, _) => {
            help(&format!("`{name}` has no loop over a domain here"), "name a phase with a `forall`")
        }
        (WhyNot::Nothing, ChangeKind::RemoveBarrier(_)) => {
            nothing(change.span, &format!("no barrier follows `{name}`"))
        }
        (WhyNot::Nothing, _) => nothing(change.span, &format!("the loops of `{name}` are so already")),
        (WhyNot::Apart, _) => help(
            &format!("`{name}` does not follow the first phase"),
            "fuse phases with nothing but barriers between them",
        ),
        (WhyNot::NotOneLoop, _) => {
            help("one of these phases is more than one loop over a domain", "fuse phases that are one `forall` each")
        }
        (WhyNot::OtherLoops, _) => help(
            "the loops of these phases run over other domains, or have other owners or schedules",
            "fuse loops over one domain with the same owners and schedule",
        ),
        (WhyNot::Mixed, _) => help(
            &format!("in some places one barrier follows `{name}`, in others several"),
            "write it as an alternative of the model",
        ),
    })
}
