//! A term as a program: a flat list of steps that processes walk through, with loop variables in numbered slots.

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_expr::{Expr, Rat, Symbol};

use crate::ast::Act;
use crate::code::{Compiler, Slots, Test, Value};
use crate::diagnostic::Span;
use crate::model::{Draw, Model, Range, Term};

/// A position in the program.
pub(super) type At = u32;

#[derive(Debug)]
pub(super) enum Drawn {
    Fixed(Value),
    Exponential(Value),
    Uniform(Value, Value),
    Normal(Value, Value),
    Erlang(Value, Value),
    Empirical(Arc<[Rat]>),
}

#[derive(Debug)]
pub(super) struct Usage {
    pub(super) resource: u32,
    pub(super) index: Box<[Value]>,
    pub(super) duration: Drawn,
    pub(super) span: Span,
}

/// An event, and which of those of the name.
#[derive(Debug)]
pub(super) struct Event {
    /// Its place in the model.
    pub(super) number: u32,
    pub(super) index: Box<[Value]>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum Step {
    Delay(Drawn, Span),
    Use(Usage),
    Event(Act, Event),
    /// Goes on behind, or elsewhere if it does not hold.
    Unless(Test, At),
    Jump(At),
    /// Sets a variable to the begin of a range; leaves if the range is empty. The slot behind holds the end.
    Begin {
        slot: u16,
        lo: Value,
        hi: Value,
        exit: At,
        span: Span,
    },
    /// The same from zero to below a number that is drawn.
    Count {
        slot: u16,
        count: Drawn,
        exit: At,
        span: Span,
    },
    /// Advances the variable and goes back while the range lasts.
    Again {
        slot: u16,
        body: At,
    },
    /// Begins to start processes.
    Fork,
    /// Starts the next process of a range; at its end waits for all.
    EachNext {
        slot: u16,
        child: Child,
        after: After,
    },
    /// Starts one process.
    Start(Child, After),
    /// Waits for all that were started.
    Join(After),
    /// Goes to one of the cases, by chance.
    Choose {
        cases: Box<[(Value, At)]>,
        span: Span,
    },
    /// Leaves by chance.
    Chance {
        again: Value,
        exit: At,
        span: Span,
    },
    /// Runs a process with its own variables, and waits for it.
    Call {
        /// Its place in the model.
        process: u32,
        entry: At,
        args: Box<[(u16, Value)]>,
        after: After,
        span: Span,
    },
    End,
}

/// What is started.
#[derive(Debug)]
pub(super) enum Child {
    /// A process from a position on.
    Process(At),
    /// A single use, which needs no process of its own.
    Leaf(Usage),
}

/// Where a process goes on after a join; nowhere if that is its end: then its children belong to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    At(At),
    Nothing,
}

/// What the source calls a branch of a parallel term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Label {
    /// The same for all branches of a term, and more for terms further down.
    pub(super) fork: At,
    pub(super) name: LabelName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LabelName {
    /// The variable of a range.
    Index(String),
    /// The position among branches, from one; and the process, if it is one by name.
    Position(usize, Option<String>),
}

#[derive(Debug)]
pub(super) struct Program {
    /// By the step that starts a branch.
    pub(super) labels: BTreeMap<At, Label>,
    pub(super) steps: Vec<Step>,
    pub(super) slots: usize,
    pub(super) entry: At,
    pub(super) random: bool,
}

/// Compiles a term. Without `shortcuts` every `use` belongs to a process of its own, as a recording needs it.
pub(super) fn compile(model: &Model, term: &Term, shortcuts: bool) -> Program {
    let tables = Arc::new(model.tables.clone());
    let mut build = Build {
        compiler: Compiler { slots: Slots::new(), tables: &tables },
        model,
        steps: Vec::new(),
        shortcuts,
        random: false,
        entries: vec![None; model.processes.len()],
        highest: 0,
        labels: BTreeMap::new(),
    };
    build.term(term, true);
    build.steps.push(Step::End);
    Program { labels: build.labels, slots: build.highest, steps: build.steps, entry: 0, random: build.random }
}

struct Build<'a> {
    compiler: Compiler<'a>,
    model: &'a Model,
    steps: Vec<Step>,
    shortcuts: bool,
    random: bool,
    /// Where each recursive process begins.
    entries: Vec<Option<At>>,
    highest: usize,
    labels: BTreeMap<At, Label>,
}

impl Build<'_> {
    fn here(&self) -> At {
        self.steps.len() as At
    }

    fn value(&self, e: &Expr) -> Value {
        self.compiler.value(e)
    }

    /// Two slots for a loop: its variable and its end.
    fn slot(&mut self, variable: &Symbol) -> u16 {
        let slot = self.compiler.slots.len() as u16 * 2;
        self.compiler.slots.insert(variable.clone(), slot);
        self.highest = self.highest.max(usize::from(slot) + 2);
        slot
    }

    fn draw(&mut self, draw: &Draw) -> Drawn {
        self.random |= draw.is_random();
        let value = |e: &Expr| self.compiler.value(e);
        match draw {
            Draw::Fixed(e) => Drawn::Fixed(value(e)),
            Draw::Exponential { mean } => Drawn::Exponential(value(mean)),
            Draw::Uniform { low, high } => Drawn::Uniform(value(low), value(high)),
            Draw::Normal { mean, deviation } => Drawn::Normal(value(mean), value(deviation)),
            Draw::Erlang { stages, mean } => Drawn::Erlang(value(stages), value(mean)),
            Draw::Empirical(values) => Drawn::Empirical(values.clone()),
        }
    }

    fn usage(&mut self, resource: usize, index: &[Expr], duration: &Draw, span: Span) -> Usage {
        let index = index.iter().map(|e| self.value(e)).collect();
        Usage { resource: resource as u32, index, duration: self.draw(duration), span }
    }

    /// `last` says that the process ends behind this term.
    fn term(&mut self, term: &Term, last: bool) {
        match term {
            Term::Skip => {}
            Term::Delay(duration, span) => {
                let duration = self.draw(duration);
                self.steps.push(Step::Delay(duration, *span));
            }
            Term::Use { resource, index, duration, span } => {
                let usage = self.usage(*resource, index, duration, *span);
                self.steps.push(Step::Use(usage));
            }
            Term::Event { act, event, index, span } => {
                let index = index.iter().map(|e| self.value(e)).collect();
                self.steps.push(Step::Event(*act, Event { number: *event as u32, index, span: *span }));
            }
            Term::Sequence(all) => {
                for (position, one) in all.iter().enumerate() {
                    self.term(one, last && position + 1 == all.len());
                }
            }
            Term::Parallel(all) => self.parallel(all, last),
            Term::Seq(range, body) => self.seq(range, body),
            Term::Par(range, body) => self.par(range, body, last),
            Term::If(condition, then, otherwise) => {
                let test = self.compiler.test(condition);
                let branch = self.here();
                self.steps.push(Step::Unless(test, 0));
                self.term(then, last);
                let over = self.here();
                self.steps.push(if last { Step::End } else { Step::Jump(0) });
                let other = self.here();
                self.term(otherwise, last);
                let end = self.here();
                if let Step::Unless(_, target) = &mut self.steps[branch as usize] {
                    *target = other;
                }
                if let Step::Jump(target) = &mut self.steps[over as usize] {
                    *target = end;
                }
            }
            Term::Choose(cases, span) => {
                self.random = true;
                let choice = self.here();
                self.steps.push(Step::Jump(0));
                let mut starts = Vec::new();
                let mut jumps = Vec::new();
                for (chance, term) in cases {
                    starts.push((self.value(chance), self.here()));
                    self.term(term, last);
                    jumps.push(self.here());
                    self.steps.push(if last { Step::End } else { Step::Jump(0) });
                }
                let end = self.here();
                for jump in jumps {
                    if let Step::Jump(target) = &mut self.steps[jump as usize] {
                        *target = end;
                    }
                }
                self.steps[choice as usize] = Step::Choose { cases: starts.into(), span: *span };
            }
            Term::WhileProb(again, body, span) => {
                self.random = true;
                let test = self.here();
                self.steps.push(Step::Jump(0));
                self.term(body, false);
                self.steps.push(Step::Jump(test));
                self.steps[test as usize] = Step::Chance { again: self.value(again), exit: self.here(), span: *span };
            }
            Term::WhileBelow(count, body, span) => {
                let count = self.draw(count);
                let name = Symbol::int(&format!("iter.{}", self.steps.len()));
                let slot = self.slot(&name);
                let begin = self.here();
                self.steps.push(Step::Jump(0));
                self.term(body, false);
                self.steps.push(Step::Again { slot, body: begin + 1 });
                self.steps[begin as usize] = Step::Count { slot, count, exit: self.here(), span: *span };
                self.compiler.slots.remove(&name);
            }
            Term::Call(process, args, span) => self.call(*process, args, *span, last),
        }
    }

    fn seq(&mut self, range: &Range, body: &Term) {
        let (lo, hi) = (self.value(&range.lo), self.value(&range.hi));
        let slot = self.slot(&range.variable);
        let begin = self.here();
        self.steps.push(Step::Jump(0));
        self.term(body, false);
        self.steps.push(Step::Again { slot, body: begin + 1 });
        self.steps[begin as usize] = Step::Begin { slot, lo, hi, exit: self.here(), span: range.span };
        self.compiler.slots.remove(&range.variable);
    }

    fn par(&mut self, range: &Range, body: &Term, last: bool) {
        let (lo, hi) = (self.value(&range.lo), self.value(&range.hi));
        let slot = self.slot(&range.variable);
        let begin = self.here();
        self.steps.push(Step::Jump(0));
        self.steps.push(Step::Fork);
        let next = self.here();
        self.steps.push(Step::Jump(0));
        // Variables of the same name are told apart by what follows a full stop.
        let name = range.variable.name.split('.').next().unwrap_or_default().to_owned();
        self.labels.insert(next, Label { fork: begin, name: LabelName::Index(name) });
        let child = self.child(body);
        let exit = self.here();
        self.compiler.slots.remove(&range.variable);
        self.steps[begin as usize] = Step::Begin { slot, lo, hi, exit, span: range.span };
        self.steps[next as usize] = Step::EachNext { slot, child, after: self.after(exit, last) };
    }

    fn parallel(&mut self, all: &[Term], last: bool) {
        let fork = self.here();
        self.steps.push(Step::Fork);
        let mut starts = Vec::new();
        for (position, one) in all.iter().enumerate() {
            let process = match one {
                Term::Call(process, ..) => self.model.processes.get(*process).map(|process| process.name.clone()),
                _ => None,
            };
            self.labels.insert(self.here(), Label { fork, name: LabelName::Position(position + 1, process) });
            starts.push(self.here());
            self.steps.push(Step::Jump(0));
        }
        let join = self.here();
        self.steps.push(Step::Jump(0));
        let children: Vec<Child> = all.iter().map(|one| self.child(one)).collect();
        let after = self.after(self.here(), last);
        for (start, child) in starts.into_iter().zip(children) {
            self.steps[start as usize] = Step::Start(child, after);
        }
        self.steps[join as usize] = Step::Join(after);
    }

    fn after(&self, exit: At, last: bool) -> After {
        if last && self.shortcuts { After::Nothing } else { After::At(exit) }
    }

    fn child(&mut self, body: &Term) -> Child {
        if let (true, Term::Use { resource, index, duration, span }) = (self.shortcuts, body)
            && !duration.is_random()
        {
            return Child::Leaf(self.usage(*resource, index, duration, *span));
        }
        let at = self.here();
        self.term(body, true);
        self.steps.push(Step::End);
        Child::Process(at)
    }

    fn call(&mut self, process: usize, args: &[Expr], span: Span, last: bool) {
        let model = self.model;
        let args: Vec<Value> = args.iter().map(|e| self.value(e)).collect();
        let call = self.here();
        self.steps.push(Step::Jump(0));
        let entry = if let Some(entry) = self.entries[process] {
            entry
        } else {
            let entry = self.here();
            self.entries[process] = Some(entry);
            let outer = std::mem::take(&mut self.compiler.slots);
            for param in &model.processes[process].params {
                self.slot(param);
            }
            self.term(&model.processes[process].body, true);
            self.steps.push(Step::End);
            self.compiler.slots = outer;
            entry
        };
        let args = args.into_iter().enumerate().map(|(position, value)| (position as u16 * 2, value)).collect();
        let after = self.after(self.here(), last);
        self.steps[call as usize] = Step::Call { process: process as u32, entry, args, after, span };
    }
}
