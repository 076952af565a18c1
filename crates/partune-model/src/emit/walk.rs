//! Enumeration of a term in a programming language: what estimates do for models without closed form, as code.
//!
//! What joins costs is the same text in every file of a language, in `walk/`; a term becomes statements that call it.

use std::fmt::Write;

use partune_expr::{Expr, Rat};

use super::Language;
use super::code::Names;
use crate::model::{Draw, Model, Range, Term};

/// The text that joins costs; `@` stands for the numbers that say which queue it is.
pub(super) fn prelude(language: Language, model: &Model) -> String {
    let text = match language {
        Language::Rust => include_str!("walk/rust.txt"),
        Language::C => include_str!("walk/c.txt"),
        Language::Python => include_str!("walk/python.txt"),
    };
    text.replace('@', &width(model).to_string())
}

/// The resource, and as many indices as any has.
fn width(model: &Model) -> usize {
    1 + model.resources.iter().map(|resource| resource.dimensions.len()).max().unwrap_or(0)
}

/// Gives every variable of a term a name of its own.
pub(super) fn define(names: &mut Names, term: &Term) {
    term.visit(&mut |term| {
        if let Term::Seq(range, _) | Term::Par(range, _) = term {
            names.define(&range.variable.name);
        }
    });
}

/// The name of the function of a recursive process, before it is made one of the language.
pub(super) fn process_name(name: &str) -> String {
    format!("enumerated {name}")
}

/// Statements of a term, the last of which gives its cost.
pub(super) fn statements(names: &Names, model: &Model, term: &Term, shared: &[String], give: &str) -> String {
    let mut walk = Walk { names, model, shared, text: String::new(), indent: 1, count: 0 };
    let cost = walk.term(term);
    walk.line(&give.replace('@', &cost));
    walk.text
}

struct Walk<'a> {
    names: &'a Names,
    model: &'a Model,
    /// What every function of a process takes besides its own parameters.
    shared: &'a [String],
    text: String,
    indent: usize,
    count: usize,
}

impl Walk<'_> {
    fn line(&mut self, line: &str) {
        let end = if self.names.language == Language::Python || line.ends_with(['{', '}']) { "" } else { ";" };
        let _ = writeln!(self.text, "{}{line}{end}", "    ".repeat(self.indent));
    }

    fn open(&mut self, head: &str) {
        let end = if self.names.language == Language::Python { ":" } else { " {" };
        let _ = writeln!(self.text, "{}{head}{end}", "    ".repeat(self.indent));
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        if self.names.language != Language::Python {
            self.line("}");
        }
    }

    fn if_holds(&mut self, condition: &str) {
        let head =
            if self.names.language == Language::C { format!("if ({condition})") } else { format!("if {condition}") };
        self.open(&head);
    }

    fn made(&mut self, value: &str) -> String {
        self.count += 1;
        let name = format!("cost_{}", self.count);
        let kind = match self.names.language {
            Language::Rust => "let mut ",
            Language::C => "cost ",
            Language::Python => "",
        };
        self.line(&format!("{kind}{name} = {value}"));
        name
    }

    fn timed(&mut self, mean: &str, least: &str, drawn: &str, random: bool) -> String {
        let random = self.flag(random);
        let make = match self.names.language {
            Language::Rust => "Cost::timed",
            Language::C => "timed",
            Language::Python => "Cost",
        };
        self.made(&format!("{make}({mean}, {least}, {drawn}, {random})"))
    }

    fn nothing(&mut self) -> String {
        self.timed("0.0", "0.0", "0.0", false)
    }

    fn drawn(&mut self, draw: &Draw) -> String {
        let (mean, least) = (self.names.real(&draw.mean()), self.names.real(&draw.least()));
        let drawn = if matches!(draw, Draw::Exponential { .. }) { mean.as_str() } else { "0.0" };
        self.timed(&mean, &least, drawn, draw.is_random())
    }

    /// A call that changes a cost; another cost that it takes is used up.
    fn call(&mut self, cost: &str, what: &str, other: Option<&str>, args: &[&str]) {
        let c = self.names.language == Language::C;
        let mut all: Vec<String> = if c { vec![format!("&{cost}")] } else { Vec::new() };
        all.extend(other.map(|other| if c { format!("&{other}") } else { other.to_owned() }));
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        let all = all.join(", ");
        self.line(&if c { format!("{what}({all})") } else { format!("{cost}.{what}({all})") });
    }

    fn flag(&self, value: bool) -> &'static str {
        match (self.names.language, value) {
            (Language::C, true) => "1",
            (Language::C, false) => "0",
            (Language::Rust, true) => "true",
            (Language::Rust, false) => "false",
            (Language::Python, true) => "True",
            (Language::Python, false) => "False",
        }
    }

    fn term(&mut self, term: &Term) -> String {
        match term {
            Term::Skip | Term::Event { .. } => self.nothing(),
            Term::Delay(draw, _) => self.drawn(draw),
            Term::Use { resource, index, duration, .. } => self.uses(*resource, index, duration),
            Term::Sequence(all) => {
                let cost = self.nothing();
                for one in all {
                    let next = self.term(one);
                    self.call(&cost, "then", Some(&next), &[]);
                }
                cost
            }
            Term::Parallel(all) => {
                let cost = self.nothing();
                for one in all {
                    let next = self.term(one);
                    self.call(&cost, "beside", Some(&next), &["1.0"]);
                }
                self.call(&cost, "joined", None, &[]);
                cost
            }
            Term::Seq(range, body) => self.looped(range, body, false),
            Term::Par(range, body) => self.looped(range, body, true),
            Term::If(condition, then, otherwise) => {
                let cost = self.nothing();
                for (condition, branch) in [(condition.clone(), then), (condition.clone().not(), otherwise)] {
                    if matches!(**branch, Term::Skip) {
                        continue;
                    }
                    self.if_holds(&self.names.condition(&condition));
                    let next = self.term(branch);
                    self.call(&cost, "then", Some(&next), &[]);
                    self.close();
                }
                cost
            }
            Term::Choose(cases, _) => {
                let cost = self.nothing();
                for (position, (chance, case)) in cases.iter().enumerate() {
                    let next = self.term(case);
                    let (chance, first) = (self.names.real(chance), self.flag(position == 0));
                    self.call(&cost, "mixed", Some(&next), &[&chance, first]);
                }
                self.call(&cost, "settle", None, &[&format!("{cost}.sure")]);
                cost
            }
            Term::WhileProb(again, body, _) => {
                let times = again.over(&(Expr::one() - again));
                self.repeated(&times, body, true)
            }
            Term::WhileBelow(Draw::Fixed(count), body, _) => self.repeated(&count.ceil(), body, false),
            Term::WhileBelow(count, body, _) => self.repeated(&count.mean(), body, true),
            Term::Call(process, args, _) => {
                let name = self.names.named(&process_name(&self.model.processes[*process].name));
                let args = args.iter().map(|arg| self.names.integer(arg)).chain(self.shared.iter().cloned());
                let call = format!("{name}({})", args.collect::<Vec<_>>().join(", "));
                self.made(&call)
            }
        }
    }

    fn uses(&mut self, resource: usize, index: &[Expr], duration: &Draw) -> String {
        let cost = self.drawn(duration);
        let one = Expr::one();
        let servers = self.names.real(self.model.resources[resource].servers.as_ref().unwrap_or(&one));
        let mut queue = vec![resource.to_string()];
        queue.extend(index.iter().map(|e| self.names.integer(e)));
        queue.resize(width(self.model), "0".to_owned());
        let queue = queue.join(", ");
        match self.names.language {
            Language::Rust => self.call(&cost, "uses", None, &[&format!("[{queue}]"), &servers]),
            Language::Python => self.call(&cost, "uses", None, &[&format!("({queue},)"), &servers]),
            Language::C => {
                self.call(&cost, "uses", None, &[&format!("(demand){{.queue = {{{queue}}}, .servers = {servers}}}")]);
            }
        }
        cost
    }

    fn looped(&mut self, range: &Range, body: &Term, parallel: bool) -> String {
        let Range { variable, lo, hi, .. } = range;
        let cost = self.nothing();
        let mut constant = true;
        body.expressions(&mut |e| constant &= !e.mentions(variable));
        let names = self.names;
        let (from, to) = (names.integer(lo), names.integer(hi));
        if constant {
            let count = names.real(&(hi - lo + Expr::one()));
            self.if_holds(&format!("{from} <= {to}"));
            let next = self.term(body);
            if parallel {
                self.call(&cost, "beside", Some(&next), &[&count]);
            } else {
                self.call(&next, "times", None, &[&count]);
                self.call(&cost, "then", Some(&next), &[]);
            }
        } else {
            let v = names.named(&variable.name);
            self.open(&match names.language {
                Language::Rust => format!("for {v} in ({from})..=({to})"),
                Language::C => format!("for (integer {v} = {from}; {v} <= {to}; {v}++)"),
                Language::Python => format!("for {v} in range({from}, {to} + 1)"),
            });
            let next = self.term(body);
            if parallel {
                self.call(&cost, "beside", Some(&next), &["1.0"]);
            } else {
                self.call(&cost, "then", Some(&next), &[]);
            }
        }
        self.close();
        if parallel {
            self.call(&cost, "joined", None, &[]);
        }
        cost
    }

    fn repeated(&mut self, times: &Expr, body: &Term, random: bool) -> String {
        let cost = self.nothing();
        let count = self.names.real(times);
        if times.to_rat().is_some_and(|times| times <= Rat::ZERO) {
            return cost;
        }
        self.if_holds(&format!("{count} > 0.0"));
        let next = self.term(body);
        self.call(&next, "times", None, &[&count]);
        if random {
            self.call(&next, "settle", None, &["0.0"]);
        }
        self.call(&cost, "then", Some(&next), &[]);
        self.close();
        cost
    }
}
