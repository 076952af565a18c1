//! Domains, data, layouts, decompositions and the machine; tables of rows. What must fit is checked where sizes are known.

use std::sync::Arc;

use partune_expr::{Bool, Environment, Expr, Number, Rat, Symbol};
use partune_objects::partition::{Options, Weighted, bisect, partition};

use super::{Lower, Meaning, Type};
use crate::ast::{self, By, ExprKind, Item, Setting, Spec};
use crate::diagnostic::{Diagnostic, Span};
use crate::model::{Data, Domain, Layout, Model, Owners, Resource};
use crate::shape::Shape;

/// Parts that a decomposition may have.
const MAX_PARTS: i64 = 1024;
/// What is partitioned may have so many indices.
const MAX_PARTED: u32 = 1 << 22;

/// The table that says where rows of another one begin, and where the last one ends. No name that can be written.
pub(super) fn firsts(table: &str) -> Arc<str> {
    format!("{table}'first.").into()
}

impl<'a> Lower<'a> {
    pub(super) fn application(&mut self) {
        let file = self.file;
        for item in &file.items {
            match item {
                Item::Domain(domain) => self.domain(domain),
                Item::Machine(machine) => self.machine(machine),
                _ => {}
            }
        }
        for item in &file.items {
            if let Item::Data(data) = item {
                self.data(data);
            }
        }
        for (group, item) in file.items.iter().enumerate() {
            if let Item::Layout(layout) = item {
                self.layout(group, layout);
            }
        }
        self.check_tables();
        for item in &file.items {
            if let Item::Decompose(decompose) = item {
                self.decompose(decompose);
            }
        }
        self.processors();
    }

    fn domain(&mut self, domain: &'a ast::Domain) {
        let mut ranges = Vec::new();
        for (lo, hi) in &domain.ranges {
            ranges.push((self.int(lo, &mut Vec::new()), self.int(hi, &mut Vec::new())));
        }
        let name = &domain.name;
        if ranges.len() > 8 {
            self.error(name.span, "a domain has at most 8 dimensions");
        }
        let index = self.model.application.domains.len();
        self.names.insert(&name.node, (Meaning::Domain(index), name.span));
        let domain = Domain { name: name.node.clone(), ranges, owners: None, span: name.span };
        self.model.application.domains.push(domain);
    }

    fn machine(&mut self, machine: &'a ast::Machine) {
        if self.model.application.machine.span != Span::default() {
            self.error(machine.span, "there is a `machine` already");
        }
        let mut found = crate::model::Machine { span: machine.span, ..crate::model::Machine::default() };
        for (setting, e) in &machine.settings {
            let (_, value) = self.expr(e, &mut Vec::new());
            if value.to_rat().is_some_and(|value| value < Rat::ZERO) {
                self.error(e.span, format!("a negative `{}`", setting.node.name()));
            }
            let place = match setting.node {
                Setting::Line => &mut found.line,
                Setting::Cache => found.cache.insert(Expr::zero()),
                Setting::Near => &mut found.near,
                Setting::Far => &mut found.far,
                Setting::Memory => &mut found.memory,
                Setting::Upgrade => &mut found.upgrade,
                Setting::Exclusive => &mut found.exclusive,
                Setting::Barrier => &mut found.barrier,
                Setting::Unbound => &mut found.unbound,
            };
            *place = value;
        }
        if let Some((name, e)) = &machine.node {
            let symbol = self.variable(&name.node);
            let mut scope = vec![(name.node.clone(), Type::Int, Expr::from(&symbol))];
            found.node = Some((symbol, self.int(e, &mut scope)));
        }
        self.model.application.machine = found;
    }

    fn data(&mut self, data: &'a ast::Data) {
        let mut ranges = Vec::new();
        for dimension in &data.dimensions {
            let domain = match &dimension.node {
                ExprKind::Name(name) => match self.names.get(name.as_str()) {
                    Some((Meaning::Domain(index), _)) => Some(*index),
                    _ => None,
                },
                _ => None,
            };
            match domain {
                Some(index) => ranges.extend(self.model.application.domains[index].ranges.clone()),
                None => ranges.push((Expr::zero(), self.int(dimension, &mut Vec::new()) - Expr::one())),
            }
        }
        if ranges.len() > 8 {
            self.error(data.name.span, "an array has at most 8 dimensions");
        }
        let mut bytes = Expr::from(i64::from(data.bytes));
        if let Some(times) = &data.times {
            let count = self.int(times, &mut Vec::new());
            if count.to_rat().is_some_and(|count| count < Rat::ONE) {
                self.error(times.span, "an element has at least one value");
            }
            bytes = &bytes * &count;
        }
        let index = self.model.application.data.len();
        let name = &data.name;
        self.names.insert(&name.node, (Meaning::Data(index), name.span));
        let data = Data { name: name.node.clone(), ranges, bytes, layout: Layout::default(), span: name.span };
        self.model.application.data.push(data);
    }

    /// The array that a name means; an error is told where there is none.
    pub(super) fn array(&mut self, name: &ast::Name) -> Option<usize> {
        if let Some((Meaning::Data(index), _)) = self.names.get(name.node.as_str()) {
            return Some(*index);
        }
        let known: Vec<String> = self.model.application.data.iter().map(|data| data.name.clone()).collect();
        self.unknown(&name.node, name.span, "data", &known);
        None
    }

    /// The domain that a name means, likewise.
    pub(super) fn domain_of(&mut self, name: &ast::Name) -> Option<usize> {
        if let Some((Meaning::Domain(index), _)) = self.names.get(name.node.as_str()) {
            return Some(*index);
        }
        let known: Vec<String> = self.model.application.domains.iter().map(|domain| domain.name.clone()).collect();
        self.unknown(&name.node, name.span, "domain", &known);
        None
    }

    fn layout(&mut self, group: usize, layout: &'a ast::Layout) {
        let mut all = Layout::default();
        for spec in &layout.specs {
            match &spec.node {
                Spec::RowMajor => all.column_major = false,
                Spec::ColumnMajor => all.column_major = true,
                Spec::Pad(from, to) => {
                    let (from, to) = (self.int(from, &mut Vec::new()), self.int(to, &mut Vec::new()));
                    if (&from - &to).to_rat().is_some_and(|gap| gap > Rat::ZERO) {
                        self.error(spec.span, format!("{from} elements do not fit into the room of {to}"));
                    }
                    all.pad = Some((from, to, spec.span));
                }
                Spec::Align(e) => all.align = Some((self.int(e, &mut Vec::new()), e.span)),
                Spec::Base(e) => all.base = Some((self.int(e, &mut Vec::new()), e.span)),
                Spec::Group => all.group = Some(group),
            }
        }
        for name in &layout.names {
            let Some(index) = self.array(name) else { continue };
            if self.placed.contains(&index) {
                self.error(name.span, format!("`{}` has a layout already", name.node));
            }
            self.placed.push(index);
            self.check_layout(index, &all, name.span);
            self.model.application.data[index].layout = all.clone();
        }
    }

    fn check_layout(&mut self, index: usize, layout: &Layout, span: Span) {
        let ranges = self.model.application.data[index].ranges.clone();
        let name = self.model.application.data[index].name.clone();
        if layout.group.is_some() && layout.column_major {
            self.error(span, "arrays of structures are in row-major order");
        }
        let Some((from, _, spec)) = &layout.pad else { return };
        let together = if layout.column_major { ranges.first() } else { ranges.last() };
        let Some((lo, hi)) = together else { return };
        let length = hi - lo + Expr::one();
        if (&length - from).to_rat().is_some_and(|gap| !gap.is_zero()) {
            self.error(*spec, format!("`{name}` has {length} elements along the dimension that is padded, not {from}"));
        }
    }

    /// Tables by the index of a domain have an entry, or a row, for each of its indices.
    fn check_tables(&mut self) {
        let file = self.file;
        for item in &file.items {
            let Item::Table(table) = item else { continue };
            let Some(name) = &table.index else { continue };
            let Some((Meaning::Domain(index), _)) = self.names.get(name.node.as_str()) else { continue };
            let ranges = &self.model.application.domains[*index].ranges;
            let known = if let [(lo, hi)] = &ranges[..] {
                lo.to_int().zip(hi.to_int())
            } else {
                self.error(name.span, "a table has one index: its domain must have one dimension");
                continue;
            };
            let kept = if table.rows { firsts(&table.name.node) } else { table.name.node.as_str().into() };
            let Some(values) = self.model.tables.get(&kept) else { continue };
            let count = values.len() as i128 - i128::from(table.rows);
            let Some((lo, hi)) = known else { continue };
            if lo < 0 || count != hi + 1 {
                let what = if table.rows { "rows" } else { "entries" };
                let text = format!(
                    "`{}` has {count} {what}, from 0 on, and `{}` goes from {lo} to {hi}",
                    table.name.node, name.node
                );
                self.error(table.source_span, text);
            }
        }
    }

    fn decompose(&mut self, decompose: &'a ast::Decompose) {
        let Some(index) = self.domain_of(&decompose.domain) else { return };
        let mut parts = self.int(&decompose.parts, &mut Vec::new());
        if parts.to_int().is_some_and(|parts| !(1..=i128::from(MAX_PARTS)).contains(&parts)) {
            self.error(decompose.parts.span, format!("{parts} parts: there are 1 to {MAX_PARTS} PEs"));
            // So that nobody is told that there are no owners.
            parts = Expr::one();
        }
        let domain = self.model.application.domains[index].clone();
        if domain.owners.is_some() {
            let text = format!("`{}` is decomposed already", domain.name);
            self.error(decompose.domain.span, text);
        }
        let symbols: Vec<Symbol> =
            (0..domain.ranges.len()).map(|at| self.variable(&format!("{}'{at}", domain.name))).collect();
        if let Some(owner) = self.owner(&decompose.by, &domain, &parts, &symbols) {
            let owners = Owners { parts, symbols, owner, span: decompose.by.span };
            self.model.application.domains[index].owners = Some(owners);
        }
    }

    /// The owner of the index that symbols stand for.
    fn owner(&mut self, by: &'a ast::Spanned<By>, domain: &Domain, parts: &Expr, symbols: &[Symbol]) -> Option<Expr> {
        // The place in row-major order, and how many there are.
        let (mut place, mut count) = (Expr::zero(), Expr::one());
        for ((lo, hi), symbol) in domain.ranges.iter().zip(symbols) {
            let length = hi - lo + Expr::one();
            place = &place * &length + (Expr::from(symbol) - lo);
            count = &count * &length;
        }
        Some(match &by.node {
            By::Block if count.is_zero() => Expr::zero(),
            By::Block => (&place * parts).floor_div(&count),
            By::Cyclic => place.modulo(parts),
            By::BlockCyclic(size) => {
                let value = self.int(size, &mut Vec::new());
                if value.to_rat().is_some_and(|value| value < Rat::ONE) {
                    self.error(size.span, "a block has at least one index");
                    return None;
                }
                place.floor_div(&value).modulo(parts)
            }
            By::Table(name) => {
                let [symbol] = symbols else {
                    self.error(by.span, "a table has one index: the domain must have one dimension");
                    return None;
                };
                let Some(values) = self.model.tables.get(name.node.as_str()).cloned() else {
                    let known: Vec<String> = self.model.tables.keys().map(ToString::to_string).collect();
                    self.unknown(&name.node, name.span, "table", &known);
                    return None;
                };
                self.check_owners(&values, domain, parts, name);
                Expr::table(&name.node.as_str().into(), vec![Expr::from(symbol)])
            }
            By::Graph(name, weight) => {
                Expr::table(&self.parts_of_graph(domain, parts, by.span, name, weight.as_ref())?, vec![place])
            }
            By::Coordinates(axes, weight) => {
                Expr::table(&self.parts_by_place(domain, parts, by.span, axes, weight.as_ref())?, vec![place])
            }
            By::Owner(names, e) => {
                if names.len() != symbols.len() {
                    let text = format!("`{}` has {} dimension(s), not {}", domain.name, symbols.len(), names.len());
                    self.error(by.span, text);
                    return None;
                }
                let bound = names.iter().zip(symbols);
                let mut scope = bound.map(|(name, it)| (name.node.clone(), Type::Int, it.into())).collect();
                self.int(e, &mut scope)
            }
            By::If(condition, then, otherwise) => match self.condition(condition, &mut Vec::new()) {
                Bool::True => self.owner(then, domain, parts, symbols)?,
                Bool::False => self.owner(otherwise, domain, parts, symbols)?,
                open => {
                    let holds = open.iverson();
                    let (a, b) =
                        (self.owner(then, domain, parts, symbols)?, self.owner(otherwise, domain, parts, symbols)?);
                    &holds * &a + (Expr::one() - &holds) * b
                }
            },
        })
    }

    /// A table of owners has one for each index, and each is a PE.
    fn check_owners(&mut self, values: &[Rat], domain: &Domain, parts: &Expr, name: &ast::Name) {
        if let [(lo, hi)] = &domain.ranges[..]
            && let Some((lo, hi)) = lo.to_int().zip(hi.to_int())
            && (lo < 0 || values.len() as i128 != hi + 1)
        {
            let text =
                format!("`{}` has {} owners, and `{}` goes from {lo} to {hi}", name.node, values.len(), domain.name);
            self.error(name.span, text);
        }
        let Some(parts) = parts.to_rat() else { return };
        let wrong = values.iter().position(|owner| !owner.is_integer() || *owner < Rat::ZERO || *owner >= parts);
        if let Some(at) = wrong {
            let text =
                format!("entry {at} of `{}` is {}, and owners are 0 to {}", name.node, values[at], parts - Rat::ONE);
            self.error(name.span, text);
        }
    }

    /// Owners by the partition of a graph, as a table, whose name is given.
    fn parts_of_graph(
        &mut self,
        domain: &Domain,
        parts: &Expr,
        span: Span,
        name: &'a ast::Name,
        weight: Option<&'a ast::Name>,
    ) -> Option<Arc<str>> {
        let (Some(items), Some(first)) =
            (self.model.tables.get(name.node.as_str()).cloned(), self.model.tables.get(&firsts(&name.node)).cloned())
        else {
            self.error(name.span, format!("`{0}` is no table of rows: `table {0}[{1}, ..]`", name.node, domain.name));
            return None;
        };
        if domain.ranges.len() != 1 {
            self.error(name.span, "a graph is of a domain with one dimension");
            return None;
        }
        let (indices, parts) = self.parted(domain, parts, span)?;
        let count = first.len() - 1;
        if indices.count() != Some(count as u64) || indices.dimensions[0].0 != 0 {
            let text = format!("`{}` has {count} rows, from 0 on, and `{}` has other indices", name.node, domain.name);
            self.error(name.span, text);
            return None;
        }
        let number = |value: &Rat| value.to_int().and_then(|value| u32::try_from(value).ok()).unwrap_or(u32::MAX);
        let mut edges = Vec::new();
        for vertex in 0..count {
            let row = &items[number(&first[vertex]) as usize..number(&first[vertex + 1]) as usize];
            edges.extend(row.iter().map(|other| (vertex as u32, number(other), 1)));
        }
        // Integers in proportion.
        let weights = self.weights(weight, &indices)?;
        let most = weights.iter().copied().fold(0.0, f64::max);
        let scale = if weight.is_none() { 1.0 } else { 1e6 / if most > 0.0 { most } else { f64::INFINITY } };
        let weights: Vec<u64> = weights.iter().map(|weight| (weight * scale).round() as u64).collect();
        let found = partition(&Weighted::new(&weights, &edges), &Options { parts, ..Options::default() });
        Some(self.owners(domain, &found.part))
    }

    /// The same by where indices lie.
    fn parts_by_place(
        &mut self,
        domain: &Domain,
        parts: &Expr,
        span: Span,
        axes: &'a [ast::Name],
        weight: Option<&'a ast::Name>,
    ) -> Option<Arc<str>> {
        let (indices, parts) = self.parted(domain, parts, span)?;
        let weights = self.weights(weight, &indices)?;
        let axes = if axes.is_empty() {
            let axis =
                |dimension: usize| places(&indices).map(|place| indices.index(place)[dimension] as f64).collect();
            (0..indices.dimensions.len()).map(axis).collect()
        } else {
            axes.iter().map(|axis| self.of_indices(axis, &indices)).collect::<Option<Vec<_>>>()?
        };
        Some(self.owners(domain, &bisect(&axes, &weights, parts)))
    }

    /// Indices and parts as numbers, for which all sizes must be known.
    fn parted(&mut self, domain: &Domain, parts: &Expr, span: Span) -> Option<(Shape, u32)> {
        let int = |e: &Expr| i64::try_from(e.to_int()?).ok();
        let known: Option<Vec<_>> = domain.ranges.iter().map(|(lo, hi)| int(lo).zip(int(hi))).collect();
        let (Some(dimensions), Some(parts)) = (known, parts.to_int()) else {
            let text = "indices are parted by a graph or by coordinates where all sizes are known";
            self.tell(Diagnostic::error(span, text).help("give values with -D NAME=VALUE"));
            return None;
        };
        let indices = Shape { name: domain.name.clone(), dimensions, first: 0, span };
        if indices.count().is_none_or(|count| count > u64::from(MAX_PARTED)) {
            self.error(span, format!("`{}` has more than {MAX_PARTED} indices to part", domain.name));
            return None;
        }
        Some((indices, parts as u32))
    }

    /// Keeps owners as a table; gives its name. Two of one domain are those of alternatives.
    fn owners(&mut self, domain: &Domain, parts: &[u32]) -> Arc<str> {
        let owners: Arc<[Rat]> = parts.iter().map(|part| Rat::from(i64::from(*part))).collect();
        let mut name = format!("{}'owner.", domain.name);
        while self.model.tables.get(name.as_str()).is_some_and(|other| *other != owners) {
            name.push('\'');
        }
        let name: Arc<str> = name.into();
        self.model.tables.insert(name.clone(), owners);
        name
    }

    /// What each index weighs: 1 where nobody says.
    fn weights(&mut self, name: Option<&'a ast::Name>, indices: &Shape) -> Option<Vec<f64>> {
        let Some(name) = name else { return Some(vec![1.0; places(indices).len()]) };
        let weights = self.of_indices(name, indices)?;
        if let Some(place) = weights.iter().position(|weight| *weight < 0.0) {
            let text = format!("the weight of {} is {}", indices.told(place as u32), weights[place]);
            self.error(name.span, text);
            return None;
        }
        Some(weights)
    }

    /// A function of each index, or the entries of a table, in row-major order.
    fn of_indices(&mut self, name: &'a ast::Name, indices: &Shape) -> Option<Vec<f64>> {
        let count = indices.dimensions.len();
        let symbols: Vec<Symbol> = (0..count).map(|_| self.variable("parted'index")).collect();
        let value = match self.names.get(name.node.as_str()).cloned() {
            Some((Meaning::Let(item), _)) => {
                let arguments = symbols.iter().map(|symbol| (Type::Int, Expr::from(symbol))).collect();
                let super::expr::Any::Value(_, value) = self.function(item, &name.node, name.span, arguments) else {
                    self.error(name.span, format!("`{}` is no value", name.node));
                    return None;
                };
                value
            }
            _ if self.model.tables.contains_key(&firsts(&name.node)) => {
                self.error(
                    name.span,
                    format!("`{}` is a table of rows, and a number of each index is needed", name.node),
                );
                return None;
            }
            _ if count == 1 && self.model.tables.contains_key(name.node.as_str()) => {
                Expr::table(&name.node.as_str().into(), vec![Expr::from(&symbols[0])])
            }
            _ => {
                let lets = self.file.items.iter().filter_map(|item| match item {
                    Item::Let { name, .. } => Some(name.node.clone()),
                    _ => None,
                });
                // Names that nobody can write are the model's own.
                let tables = self.model.tables.keys().map(ToString::to_string).filter(|name| !name.contains('\''));
                let known: Vec<String> = lets.chain(tables).collect();
                self.unknown(&name.node, name.span, "function or table", &known);
                return None;
            }
        };
        let mut values = Vec::with_capacity(places(indices).len());
        for place in places(indices) {
            let at = AtIndex { model: &self.model, symbols: &symbols, index: &indices.index(place) };
            match value.eval(&at) {
                Ok(value) => values.push(value.to_f64()),
                Err(reason) => {
                    self.error(name.span, format!("`{}` of {}: {reason}", name.node, indices.told(place)));
                    return None;
                }
            }
        }
        Some(values)
    }

    /// PEs as resources of the readings that know no data: a queue each, and one for all, behind which they take what comes.
    fn processors(&mut self) {
        if self.model.application.domains.is_empty() {
            return;
        }
        let pes = self.model.application.pes();
        let span = self.model.application.domains[0].span;
        let mut add = |name: &str, dimensions, servers| {
            self.model.resources.push(Resource { name: name.to_owned(), dimensions, servers: Some(servers), span });
            self.model.resources.len() - 1
        };
        let each = add("pe", vec![(Expr::zero(), &pes - Expr::one())], Expr::one());
        let any = add("pes", Vec::new(), pes);
        self.model.application.processors = Some((each, any));
    }
}

/// The places of indices that are few enough to be parted.
fn places(indices: &Shape) -> std::ops::Range<u32> {
    0..indices.count().and_then(|count| u32::try_from(count).ok()).unwrap_or_default()
}

/// Where a function is evaluated.
struct AtIndex<'a> {
    model: &'a Model,
    symbols: &'a [Symbol],
    index: &'a [i64],
}

impl Environment for AtIndex<'_> {
    fn symbol(&self, symbol: &Symbol) -> Option<Number> {
        let dimension = self.symbols.iter().position(|it| it == symbol)?;
        Some(Number::Exact(self.index[dimension].into()))
    }

    fn table(&self, name: &str, index: &[i64]) -> Option<Number> {
        self.model.entry(name, index)
    }
}
