//! Application models: domains, data, layouts, decompositions, the machine, loops over domains and tasks. For `parser`; one function a rule of
//! the grammar.

use super::{Parse, Parser};
use crate::ast::{
    By, Data, Decompose, Domain, Each, Effect, EffectKind, Forall, Layout, Machine, Over, Ref, Schedule, Setting,
    Spanned, Spec, Task,
};
use crate::diagnostic::{Diagnostic, Span};
use crate::lexer::Kind;

/// Types of elements, and their bytes.
const TYPES: &[(&str, u32)] = &[("f64", 8), ("f32", 4), ("i64", 8), ("i32", 4), ("i16", 2), ("byte", 1)];

impl Parser<'_> {
    /// `elem = 0..E-1`, `grid = 0..N-1 x 0..M-1`.
    pub(super) fn domain(&mut self) -> Parse<Domain> {
        let name = self.name()?;
        self.expect("=")?;
        let mut ranges = Vec::new();
        loop {
            let lo = self.expr()?;
            self.expect("..")?;
            ranges.push((lo, self.expr()?));
            if !self.take("x") {
                return Ok(Domain { name, ranges });
            }
        }
    }

    /// `Pos[elem, 3]: f64`.
    pub(super) fn data(&mut self) -> Parse<Data> {
        let name = self.name()?;
        self.expect("[")?;
        let dimensions = self.list()?;
        self.expect("]")?;
        self.expect(":")?;
        let word = self.peek();
        let Some((_, bytes)) = TYPES.iter().find(|(text, _)| *text == word.text) else {
            return Err(self.wanted(&one_of(TYPES.iter().map(|it| it.0))));
        };
        self.next();
        let times = if self.take("*") { Some(self.expr()?) } else { None };
        Ok(Data { name, dimensions, bytes: *bytes, times })
    }

    /// `Pos, Vel: row_major, pad 3 -> 4`.
    pub(super) fn layout(&mut self) -> Parse<Layout> {
        let mut names = vec![self.name()?];
        while self.take(",") {
            names.push(self.name()?);
        }
        self.expect(":")?;
        let mut specs = Vec::new();
        loop {
            let begin = self.peek();
            self.at += usize::from(begin.kind == Kind::Word);
            let node = match begin.text {
                "row_major" => Spec::RowMajor,
                "col_major" => Spec::ColumnMajor,
                "group" => Spec::Group,
                "align" => Spec::Align(self.expr()?),
                "base" => Spec::Base(self.expr()?),
                "pad" => {
                    let from = self.expr()?;
                    self.expect("->")?;
                    Spec::Pad(from, self.expr()?)
                }
                _ => {
                    self.at -= usize::from(begin.kind == Kind::Word);
                    return Err(self.wanted(&one_of(["row_major", "col_major", "pad", "align", "base", "group"])));
                }
            };
            specs.push(Spanned { node, span: self.since(begin.span) });
            if !self.take(",") {
                return Ok(Layout { names, specs });
            }
        }
    }

    /// `elem -> P by block`.
    pub(super) fn decompose(&mut self) -> Parse<Decompose> {
        let domain = self.name()?;
        self.expect("->")?;
        let parts = self.expr()?;
        self.expect("by")?;
        Ok(Decompose { domain, parts, by: self.by()? })
    }

    pub(super) fn by(&mut self) -> Parse<Spanned<By>> {
        self.nested(|parser| {
            let begin = parser.peek().span;
            let node = parser.kind_of_by()?;
            Ok(Spanned { node, span: parser.since(begin) })
        })
    }

    fn kind_of_by(&mut self) -> Parse<By> {
        let begin = self.peek();
        self.at += usize::from(begin.kind == Kind::Word);
        Ok(match begin.text {
            "block" => By::Block,
            "cyclic" => By::Cyclic,
            "block_cyclic" => {
                self.expect("(")?;
                let size = self.expr()?;
                self.expect(")")?;
                By::BlockCyclic(size)
            }
            "table" => {
                self.expect("(")?;
                let name = self.name()?;
                self.expect(")")?;
                By::Table(name)
            }
            "graph" => {
                self.expect("(")?;
                let name = self.name()?;
                let weight = if self.take(",") { Some(self.name()?) } else { None };
                self.expect(")")?;
                By::Graph(name, weight)
            }
            "rcb" => {
                let (mut axes, mut weight) = (Vec::new(), None);
                if self.take("(") {
                    while weight.is_none() {
                        if self.take("weight") {
                            weight = Some(self.name()?);
                        } else {
                            axes.push(self.name()?);
                        }
                        if !self.take(",") {
                            break;
                        }
                    }
                    self.expect(")")?;
                }
                By::Coordinates(axes, weight)
            }
            "owner" => {
                let names = self.names()?;
                self.expect("=")?;
                By::Owner(names, self.expr()?)
            }
            "if" => {
                let condition = self.expr()?;
                self.expect("then")?;
                let then = Box::new(self.by()?);
                self.expect("else")?;
                By::If(condition, then, Box::new(self.by()?))
            }
            _ => {
                self.at -= usize::from(begin.kind == Kind::Word);
                let all = ["block", "cyclic", "block_cyclic", "table", "graph", "rcb", "owner", "if"];
                return Err(self.wanted(&one_of(all)));
            }
        })
    }

    /// `machine { line 64; far 2us; node(q) = q div 4 }`.
    pub(super) fn machine(&mut self, begin: Span) -> Parse<Machine> {
        self.expect("{")?;
        let mut machine = Machine { settings: Vec::new(), node: None, span: begin };
        while !self.is("}") {
            let word = self.peek();
            if self.take("node") {
                self.expect("(")?;
                let name = self.name()?;
                self.expect(")")?;
                self.expect("=")?;
                machine.node = Some((name, self.expr()?));
            } else if let Some((_, setting)) = Setting::ALL.iter().find(|(name, _)| self.is(name)) {
                self.next();
                let setting = Spanned { node: *setting, span: word.span };
                if machine.settings.iter().any(|(other, _)| other.node == setting.node) {
                    self.tell(Diagnostic::error(word.span, format!("`{}` is said already", word.text)));
                }
                machine.settings.push((setting, self.expr()?));
            } else {
                return Err(self.wanted(&one_of(Setting::ALL.iter().map(|it| it.0).chain(["node"]))));
            }
            if !self.take(";") {
                break;
            }
        }
        self.expect("}")?;
        machine.span = self.since(begin);
        Ok(machine)
    }

    /// `(i in D on e) schedule self(4) nowait body`.
    pub(super) fn forall(&mut self) -> Parse<Forall> {
        self.expect("(")?;
        let mut variables = vec![self.name()?];
        while self.take(",") {
            variables.push(self.name()?);
        }
        self.expect("in")?;
        let domain = self.name()?;
        let on = if self.take("on") { Some(self.expr()?) } else { None };
        self.expect(")")?;
        let schedule = if self.take("schedule") { self.schedule()? } else { Schedule::Static };
        let nowait = self.take("nowait");
        Ok(Forall { variables, domain, on, schedule, nowait, body: self.process()? })
    }

    /// `static`, `self(4)`, `guided(4)`.
    pub(super) fn schedule(&mut self) -> Parse<Schedule> {
        let word = self.peek();
        self.at += usize::from(word.kind == Kind::Word);
        Ok(match word.text {
            "static" => Schedule::Static,
            "self" | "guided" => {
                self.expect("(")?;
                let size = self.expr()?;
                self.expect(")")?;
                if word.text == "self" { Schedule::Own(size) } else { Schedule::Guided(size) }
            }
            _ => {
                self.at -= usize::from(word.kind == Kind::Word);
                return Err(self.wanted(&one_of(["static", "self", "guided"])));
            }
        })
    }

    /// `{ reads A[i, *], B[j] for j in nbr[i]; writes C[i]; weight w }`.
    pub(super) fn task(&mut self) -> Parse<Task> {
        self.expect("{")?;
        let mut task = Task { effects: Vec::new(), weight: None };
        while !self.is("}") {
            if let Some((_, kind)) = EffectKind::ALL.iter().find(|(name, _)| self.is(name)) {
                self.next();
                let mut refs = vec![self.reference()?];
                while self.take(",") {
                    refs.push(self.reference()?);
                }
                task.effects.push(Effect { kind: *kind, refs });
            } else if self.is("weight") {
                let span = self.next().span;
                let weight = self.expr()?;
                if task.weight.replace(weight).is_some() {
                    self.tell(Diagnostic::error(span, "`weight` is said already"));
                }
            } else {
                return Err(self.wanted(&one_of(EffectKind::ALL.iter().map(|it| it.0).chain(["weight"]))));
            }
            if !self.take(";") {
                break;
            }
        }
        self.expect("}")?;
        Ok(task)
    }

    fn reference(&mut self) -> Parse<Ref> {
        let begin = self.peek().span;
        let data = self.name()?;
        self.expect("[")?;
        let mut index = Vec::new();
        loop {
            index.push(if self.take("*") { None } else { Some(self.expr()?) });
            if !self.take(",") {
                break;
            }
        }
        self.expect("]")?;
        let mut each = Vec::new();
        while self.take("for") {
            let variable = self.name()?;
            self.expect("in")?;
            let row = self.row()?;
            let over = if let Some((table, index)) = row {
                Over::Row(table, index)
            } else {
                let lo = self.expr()?;
                self.expect("..")?;
                Over::Range(lo, self.expr()?)
            };
            each.push(Each { variable, over });
        }
        Ok(Ref { data, index, each, span: self.since(begin) })
    }

    /// `nbr[e]` as a whole; none where a range begins, which is not taken then.
    fn row(&mut self) -> Parse<Option<(crate::ast::Name, crate::ast::Expr)>> {
        let at = self.at;
        let told = self.diagnostics.len();
        let expr = self.expr()?;
        if !self.is("..")
            && let crate::ast::ExprKind::Entry(name, mut index) = expr.node
            && index.len() == 1
        {
            return Ok(index.pop().map(|index| (name, index)));
        }
        self.at = at;
        self.diagnostics.truncate(told);
        Ok(None)
    }
}

fn one_of<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
    format!("one of {}", words.join(", "))
}
