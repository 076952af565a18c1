//! Steps of a model, compiled: expressions by slots of variables, tables of rows as numbers, who owns what.

use std::collections::BTreeMap;
use std::sync::Arc;

use partune_expr::{EvalError, Expr, Rat, Symbol};
use partune_model::code::{Compiler, Slots, Test, Value};
use partune_model::model::{Act, EffectKind, Model, Over, Schedule, Step, Task};
use partune_model::{Diagnostic, Span};

use crate::layout::{Arrays, int};

type Tables = Arc<BTreeMap<Arc<str>, Arc<[Rat]>>>;

#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) root: Node,
    pub(crate) pes: usize,
    /// Slots that variables need.
    pub(crate) slots: usize,
    pub(crate) domains: Vec<Domain>,
    /// How many loops over domains there are.
    pub(crate) loops: usize,
    pub(crate) rows: Vec<Rows>,
    /// Whether anything is posted or awaited.
    pub(crate) has_events: bool,
}

#[derive(Debug)]
pub(crate) struct Domain {
    /// First index and how many, one a dimension; and how many altogether.
    pub(crate) ranges: Vec<(i64, u64)>,
    pub(crate) count: u64,
    /// The owner by the index, whose dimensions are in the slots from 0 on.
    pub(crate) owner: Option<(Value, Span)>,
}

/// A table of rows.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) name: Arc<str>,
    pub(crate) first: Vec<u32>,
    pub(crate) items: Vec<i64>,
}

#[derive(Debug)]
pub(crate) enum Node {
    Nothing,
    Sequence(Vec<Node>),
    Seq { slot: u16, lo: Value, hi: Value, body: Box<Node>, span: Span },
    If { test: Test, then: Box<Node>, otherwise: Box<Node>, span: Span },
    Phase(usize, Box<Node>),
    Forall(Box<Loop>),
    Work(Work),
    Event(Event),
    Barrier,
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) act: Act,
    /// Its place in the model.
    pub(crate) number: usize,
    pub(crate) index: Vec<Value>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Pieces {
    Owned,
    Own(Value),
    Guided(Value),
}

#[derive(Debug)]
pub(crate) struct Loop {
    /// Its number among all loops.
    pub(crate) number: usize,
    pub(crate) domain: usize,
    /// The first of the slots of its variables.
    pub(crate) slot: u16,
    /// In place of the domain's owners.
    pub(crate) owner: Option<Value>,
    pub(crate) pieces: Pieces,
    pub(crate) nowait: bool,
    pub(crate) body: Node,
    pub(crate) span: Span,
}

/// A task.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) references: Vec<Reference>,
    pub(crate) weight: Option<(Value, Span)>,
}

#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) kind: EffectKind,
    pub(crate) array: usize,
    /// None: all of the dimension.
    pub(crate) index: Vec<Option<Value>>,
    pub(crate) each: Vec<Each>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Each {
    pub(crate) slot: u16,
    pub(crate) over: EachOver,
}

#[derive(Debug)]
pub(crate) enum EachOver {
    Range(Value, Value),
    /// A position in [`Program::rows`], and the row.
    Row(usize, Value),
}

/// The error of an expression, with its place.
pub(crate) fn at(span: Span) -> impl Fn(EvalError) -> Diagnostic {
    move |reason| Diagnostic::error(span, reason.to_string())
}

pub(crate) fn compile(model: &Model, steps: &Step, arrays: &Arrays) -> Result<Program, Diagnostic> {
    let tables: Tables = Arc::new(model.tables.clone());
    let mut domains = Vec::new();
    let mut pes = 1;
    for domain in &model.application.domains {
        let mut ranges = Vec::new();
        for (lo, hi) in &domain.ranges {
            let (lo, hi) = (int(model, lo, domain.span)?, int(model, hi, domain.span)?);
            let length = hi.checked_sub(lo).and_then(|gap| gap.checked_add(1));
            let Some(length) = length else {
                return Err(Diagnostic::error(domain.span, format!("indices {lo} to {hi} are too many")));
            };
            ranges.push((lo, length.max(0) as u64));
        }
        let count = ranges.iter().try_fold(1_u64, |count, range| count.checked_mul(range.1)).filter(|it| *it < 1 << 31);
        let Some(count) = count else {
            return Err(Diagnostic::error(domain.span, format!("`{}` has 2^31 indices or more", domain.name)));
        };
        let mut owner = None;
        if let Some(owners) = &domain.owners {
            let parts = int(model, &owners.parts, owners.span)?;
            if !(1..=1024).contains(&parts) {
                return Err(Diagnostic::error(owners.span, format!("{parts} parts: there are 1 to 1024 PEs")));
            }
            pes = pes.max(parts as usize);
            let slots: Slots = owners.symbols.iter().cloned().zip(0..).collect();
            owner = Some((Compiler { slots, tables: &tables }.value(&owners.owner), owners.span));
        }
        domains.push(Domain { ranges, count, owner });
    }
    let mut making = Making {
        model,
        arrays,
        tables: &tables,
        slots: Slots::new(),
        used: 0,
        most: 8,
        loops: 0,
        rows: Vec::new(),
        has_events: false,
    };
    let root = making.node(steps, false)?;
    let Making { most: slots, loops, rows, has_events, .. } = making;
    Ok(Program { root, pes, slots, domains, loops, rows, has_events })
}

struct Making<'a> {
    model: &'a Model,
    arrays: &'a Arrays,
    tables: &'a Tables,
    /// Of the variables in scope.
    slots: Slots,
    used: usize,
    most: usize,
    loops: usize,
    rows: Vec<Rows>,
    has_events: bool,
}

impl Making<'_> {
    fn bind(&mut self, symbol: &Symbol, span: Span) -> Result<u16, Diagnostic> {
        let slot =
            u16::try_from(self.used).map_err(|_| Diagnostic::error(span, "more than 65536 loops in each other"))?;
        self.slots.insert(symbol.clone(), slot);
        self.used += 1;
        self.most = self.most.max(self.used);
        Ok(slot)
    }

    fn unbind(&mut self, symbols: &[&Symbol]) {
        symbols.iter().for_each(|symbol| _ = self.slots.remove(*symbol));
        self.used -= symbols.len();
    }

    fn value(&self, e: &Expr) -> Value {
        Compiler { slots: self.slots.clone(), tables: self.tables }.value(e)
    }

    fn node(&mut self, step: &Step, inside: bool) -> Result<Node, Diagnostic> {
        Ok(match step {
            Step::Nothing => Node::Nothing,
            Step::Sequence(all) => {
                Node::Sequence(all.iter().map(|one| self.node(one, inside)).collect::<Result<_, _>>()?)
            }
            Step::Seq(range, body) => {
                let (lo, hi) = (self.value(&range.lo), self.value(&range.hi));
                let slot = self.bind(&range.variable, range.span)?;
                let body = Box::new(self.node(body, inside)?);
                self.unbind(&[&range.variable]);
                Node::Seq { slot, lo, hi, body, span: range.span }
            }
            Step::If(condition, then, otherwise) => {
                let test = Compiler { slots: self.slots.clone(), tables: self.tables }.test(condition);
                let (then, otherwise) = (self.node(then, inside)?, self.node(otherwise, inside)?);
                Node::If { test, then: Box::new(then), otherwise: Box::new(otherwise), span: Span::default() }
            }
            Step::Phase(_, body) if inside => self.node(body, inside)?,
            Step::Phase(index, body) => Node::Phase(*index, Box::new(self.node(body, inside)?)),
            Step::Forall(forall) if inside => {
                let text = "a `forall` inside of another one: one PE does all of an index";
                return Err(
                    Diagnostic::error(forall.span, text).help("use `seq` inside, or a domain of two dimensions")
                );
            }
            Step::Forall(forall) => {
                let pieces = match &forall.schedule {
                    Schedule::Static => Pieces::Owned,
                    Schedule::Own(size) => Pieces::Own(self.value(size)),
                    Schedule::Guided(size) => Pieces::Guided(self.value(size)),
                };
                let slot = self.used as u16;
                for symbol in &forall.symbols {
                    self.bind(symbol, forall.span)?;
                }
                let owner = forall.owner.as_ref().map(|owner| self.value(owner));
                let body = self.node(&forall.body, true)?;
                self.unbind(&forall.symbols.iter().collect::<Vec<_>>());
                self.loops += 1;
                Node::Forall(Box::new(Loop {
                    number: self.loops - 1,
                    domain: forall.domain,
                    slot,
                    owner,
                    pieces,
                    nowait: forall.nowait,
                    body,
                    span: forall.span,
                }))
            }
            Step::Task(task) => Node::Work(self.work(task)?),
            Step::Event { act, event, index, span } => {
                self.has_events = true;
                let index = index.iter().map(|e| self.value(e)).collect();
                Node::Event(Event { act: *act, number: *event, index, span: *span })
            }
            Step::Barrier(span) if inside => {
                return Err(Diagnostic::error(*span, "a `barrier` inside of a `forall`"));
            }
            Step::Barrier(_) => Node::Barrier,
            Step::Other(name, span) => {
                let text = format!(
                    "`{name}` says nothing of data, which are followed through `seq`, `if`, `phase`, `forall`, `task`, `post`, `await` and `barrier`"
                );
                return Err(Diagnostic::error(*span, text));
            }
        })
    }

    fn work(&mut self, task: &Task) -> Result<Work, Diagnostic> {
        let mut references = Vec::new();
        for effect in &task.effects {
            let mut each = Vec::new();
            for one in &effect.each {
                let over = match &one.over {
                    Over::Range(lo, hi) => EachOver::Range(self.value(lo), self.value(hi)),
                    Over::Row(items, first, row) => {
                        EachOver::Row(self.rows(items, first, effect.span)?, self.value(row))
                    }
                };
                each.push(Each { slot: self.bind(&one.symbol, effect.span)?, over });
            }
            let index: Vec<_> = effect.index.iter().map(|e| e.as_ref().map(|e| self.value(e))).collect();
            self.unbind(&effect.each.iter().map(|one| &one.symbol).collect::<Vec<_>>());
            debug_assert_eq!(index.len(), self.arrays.all[effect.data].dimensions.len());
            references.push(Reference { kind: effect.kind, array: effect.data, index, each, span: effect.span });
        }
        Ok(Work { references, weight: task.weight.as_ref().map(|(e, span)| (self.value(e), *span)) })
    }

    /// A table of rows as numbers; its items are indices, so they are integers.
    fn rows(&mut self, items: &Arc<str>, first: &Arc<str>, span: Span) -> Result<usize, Diagnostic> {
        if let Some(known) = self.rows.iter().position(|rows| rows.name == *items) {
            return Ok(known);
        }
        let table = |name: &Arc<str>| {
            let values = self.model.tables.get(name).map_or(&[][..], |values| values);
            let int = |value: &Rat| value.to_int().and_then(|value| i64::try_from(value).ok());
            values.iter().map(int).collect::<Option<Vec<i64>>>()
        };
        let (Some(values), Some(first)) = (table(items), table(first)) else {
            return Err(Diagnostic::error(span, format!("`{items}` has what is no integer, and so no index")));
        };
        let first = first.iter().map(|value| *value as u32).collect();
        self.rows.push(Rows { name: items.clone(), first, items: values });
        Ok(self.rows.len() - 1)
    }
}
