//! A file of hints from text. What is wrong is told with its line; sections and keys that nobody here knows are left alone.

use std::collections::BTreeMap;

use thiserror::Error;
use toml_edit::{Document, Item, TableLike, Value};

use crate::{
    Aligned, Combine, Count, Datum, Evidence, File, Knob, MapKind, Phases, Pipeline, Place, Priority, Size, Tree,
    Urgency, VERSION,
};

/// Why a text is no file of hints, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}\n  remedy: {remedy}")]
pub struct Fault {
    pub line: usize,
    pub reason: String,
    pub remedy: String,
}

/// Reads a file. Linear.
pub fn read(text: &str) -> Result<File, Fault> {
    let document = Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault { line: line(text, at), reason: error.message().to_owned(), remedy: ANEW.to_owned() }
    })?;
    let root = Entry { text, name: String::new(), table: document.as_table() };
    match root.table.get("hints").map(Item::as_integer) {
        Some(Some(VERSION)) => {}
        Some(_) => return Err(root.wrong("hints", format!("its hints are not of version {VERSION}"), ANEW)),
        None => return Err(root.wrong("", "it has no hints", ANEW)),
    }
    let Some(program) = root.maybe_text("program")? else {
        return Err(root.wrong("", "it does not say of which program it is", "write program = \"COMMAND\""));
    };
    let mut file = File { program, run: root.data("run")?, phases: phases(&root)?, ..File::default() };
    file.place = root.section("place", place)?;
    file.tree = root.section("tree", tree)?;
    file.priority = root.section("priority", priority)?;
    file.pipeline = root.section("pipeline", pipeline)?;
    file.combine = root.section("combine", combine)?;
    file.knob = root.section("knob", knob)?;
    Ok(file)
}

const ANEW: &str = "let partune hints -o or partune tune -o write it";

/// From 1 on.
fn line(text: &str, at: usize) -> usize {
    text.char_indices().take_while(|it| it.0 < at).filter(|it| it.1 == '\n').count() + 1
}

/// A table of the file.
struct Entry<'a> {
    text: &'a str,
    /// `place 1`
    name: String,
    table: &'a dyn TableLike,
}

impl<'a> Entry<'a> {
    fn wrong(&self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Fault {
        let of = |table: &dyn TableLike| table.iter().filter_map(|(_, item)| item.span()).map(|span| span.start).min();
        let at = self.table.get(key).and_then(Item::span).map(|span| span.start).or_else(|| of(self.table));
        let name = if self.name.is_empty() { String::new() } else { format!("{}: ", self.name) };
        Fault {
            line: line(self.text, at.unwrap_or(0)),
            reason: format!("{name}{}", reason.into()),
            remedy: remedy.into(),
        }
    }

    fn section<T>(&self, name: &str, of: impl Fn(&Entry<'a>) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        let Some(item) = self.table.get(name) else { return Ok(Vec::new()) };
        let remedy = format!("begin each entry with [[{name}]]");
        let tables = item.as_array_of_tables();
        let tables = tables.ok_or_else(|| self.wrong(name, format!("`{name}` is no array of tables"), remedy))?;
        let entry = |(at, table)| Entry { text: self.text, name: format!("{name} {}", at + 1), table };
        tables.iter().map(|table| table as &dyn TableLike).enumerate().map(|it| of(&entry(it))).collect()
    }

    fn maybe_text(&self, key: &str) -> Result<Option<String>, Fault> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let text = item.as_str().map(|text| Some(text.to_owned()));
        text.ok_or_else(|| self.wrong(key, format!("`{key}` is no text"), format!("write {key} = \"…\"")))
    }

    fn text(&self, key: &str) -> Result<String, Fault> {
        let found = self.maybe_text(key)?;
        found.ok_or_else(|| self.wrong("", format!("it has no `{key}`"), format!("write {key} = \"…\"")))
    }

    /// One of some words.
    fn word(&self, key: &str, words: &[&str]) -> Result<String, Fault> {
        let found = self.text(key)?;
        let is_known = words.contains(&found.as_str());
        let remedy = || format!("write one of {}", words.join(", "));
        is_known.then_some(found.clone()).ok_or_else(|| self.wrong(key, format!("`{key}` is {found:?}"), remedy()))
    }

    fn maybe_number(&self, key: &str) -> Result<Option<f64>, Fault> {
        let Some(item) = self.table.get(key) else { return Ok(None) };
        let known = item.as_value().and_then(number).map(Some);
        known.ok_or_else(|| self.wrong(key, format!("`{key}` is no number"), format!("write {key} = 1")))
    }

    fn number(&self, key: &str) -> Result<f64, Fault> {
        let found = self.maybe_number(key)?;
        found.ok_or_else(|| self.wrong("", format!("it has no `{key}`"), format!("write {key} = 1")))
    }

    /// A whole number that is at least so large.
    fn whole(&self, key: &str, least: u32) -> Result<u32, Fault> {
        let found = self.number(key)?;
        let is_right = found.fract() == 0.0 && found >= f64::from(least) && found <= f64::from(u32::MAX);
        let reason = format!("`{key}` is {found}");
        is_right
            .then_some(found as u32)
            .ok_or_else(|| self.wrong(key, reason, format!("write a whole number from {least} on")))
    }

    /// A list; one value is a list of one.
    fn list<T>(&self, key: &str, of: impl Fn(&Value) -> Option<T>, remedy: &str) -> Result<Vec<T>, Fault> {
        let Some(item) = self.table.get(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(key, format!("`{key}` has something in it that cannot be there"), remedy);
        match item.as_value() {
            Some(Value::Array(list)) => list.iter().map(|it| of(it).ok_or_else(wrong)).collect(),
            Some(one) => Ok(vec![of(one).ok_or_else(wrong)?]),
            None => Err(wrong()),
        }
    }

    fn numbers(&self, key: &str) -> Result<Vec<f64>, Fault> {
        self.list(key, number, "write a list of numbers")
    }

    fn wholes(&self, key: &str) -> Result<Vec<u32>, Fault> {
        let whole = |value: &Value| value.as_integer().and_then(|it| it.try_into().ok());
        self.list(key, whole, "write a list of whole numbers from 0 on")
    }

    fn sizes(&self, key: &str) -> Result<Vec<Size>, Fault> {
        let size = |value: &Value| match value {
            Value::Integer(number) => number.value().to_string().parse().ok(),
            Value::String(text) => text.value().parse().ok(),
            _ => None,
        };
        let remedy = "write whole numbers from 1 on, \"P\", \"P^(1/2)\", \"2*P^(1/2)\" or \"n/b\"";
        self.list(key, size, remedy)
    }

    /// Names and values of a table.
    fn data(&self, key: &str) -> Result<Evidence, Fault> {
        let Some(item) = self.table.get(key) else { return Ok(Vec::new()) };
        let remedy = format!("write {key} = {{ NAME = VALUE }}");
        let table = item.as_table_like().ok_or_else(|| self.wrong(key, format!("`{key}` is no table"), &remedy))?;
        let wrong = |name: &str| self.wrong(key, format!("`{name}` is neither a number nor a text"), &remedy);
        let of = |(name, item): (&str, &Item)| {
            let known = item.as_value().and_then(datum).ok_or_else(|| wrong(name))?;
            Ok((name.to_owned(), known))
        };
        table.iter().map(of).collect()
    }
}

fn number(value: &Value) -> Option<f64> {
    let number = value.as_float().or_else(|| value.as_integer().map(|number| number as f64));
    number.filter(|number| number.is_finite())
}

fn datum(value: &Value) -> Option<Datum> {
    match value {
        Value::Integer(number) => Some(Datum::Integer(*number.value())),
        Value::Float(number) => Some(Datum::Float(*number.value())),
        Value::String(text) => Some(Datum::Text(text.value().clone())),
        Value::Boolean(_) | Value::Datetime(_) | Value::Array(_) | Value::InlineTable(_) => None,
    }
}

fn phases(root: &Entry<'_>) -> Result<Option<Phases>, Fault> {
    let Some(item) = root.table.get("phases") else { return Ok(None) };
    let remedy = "write phases = { kind = \"initiation\", varying = true }";
    let table = item.as_table_like().ok_or_else(|| root.wrong("phases", "`phases` is no table", remedy))?;
    let entry = Entry { text: root.text, name: "phases".to_owned(), table };
    let kind = entry.word("kind", &["synchronous", "initiation", "loose"])?;
    let varying = table.get("varying").is_some_and(|item| item.as_bool() == Some(true));
    Ok(Some(Phases { kind, method: entry.maybe_text("method")?, varying }))
}

fn place(entry: &Entry<'_>) -> Result<Place, Fault> {
    let names = MapKind::ALL.map(MapKind::name);
    let map = entry.word("map", &names)?;
    let map = MapKind::ALL.into_iter().find(|kind| kind.name() == map).unwrap_or(MapKind::Cyclic);
    let found = Place {
        array: entry.text("array")?,
        locality: entry.maybe_text("locality")?,
        map,
        a: entry.sizes("a")?,
        b: entry.sizes("b")?,
        aspect: entry.numbers("aspect")?,
        table: entry.wholes("table")?,
        extents: entry.wholes("extents")?,
        pes: if map == MapKind::Table { Some(entry.whole("pes", 1)?) } else { None },
        aligned_with: aligned(entry)?,
        least_per_pe: entry.maybe_number("least_per_pe")?,
        least_per_pe_shared: entry.maybe_number("least_per_pe_shared")?,
        evidence: entry.data("evidence")?,
    };
    let missing = |key: &str, remedy: &str| Err(entry.wrong(key, format!("its `{key}` does not suit its map"), remedy));
    let least = [("least_per_pe", found.least_per_pe), ("least_per_pe_shared", found.least_per_pe_shared)];
    if let Some((key, _)) = least.into_iter().find(|it| it.1.is_some_and(|least| least < 0.0)) {
        let reason = format!("`{key}` is negative");
        return Err(entry.wrong(key, reason, "write how many objects a PE has to have at least"));
    }
    match found.map {
        MapKind::Block if found.aspect.iter().any(|&edge| edge < 0.0) => {
            missing("aspect", "write proportions that are not negative")
        }
        MapKind::BlockCyclic if found.b.is_empty() => missing("b", "write b = [\"P\"]"),
        MapKind::BlockCyclic if found.a.len() > found.b.len() => missing("a", "write as many numbers as in b"),
        MapKind::Multipartition if found.a.len() != 2 || found.b.len() != 2 => {
            missing("a", "write two numbers in a, and two in b")
        }
        MapKind::Table => {
            let size = found.extents.iter().fold(1_usize, |size, &n| size.saturating_mul(n as usize));
            if found.extents.is_empty() || size != found.table.len() {
                return missing("table", "write a PE for each position of extents");
            }
            if found.table.iter().any(|&pe| Some(pe) >= found.pes) {
                return missing("table", "write PEs below pes");
            }
            Ok(found)
        }
        MapKind::Block | MapKind::Cyclic | MapKind::BlockCyclic | MapKind::Multipartition => Ok(found),
    }
}

/// One table, or several.
fn aligned(entry: &Entry<'_>) -> Result<Vec<Aligned>, Fault> {
    let Some(item) = entry.table.get("aligned_with") else { return Ok(Vec::new()) };
    let remedy = "write aligned_with = { array = \"NAME\", dims = [0] }";
    let wrong = || entry.wrong("aligned_with", "`aligned_with` names no array and its dimensions", remedy);
    let tables: Vec<&dyn TableLike> = match (item.as_array(), item.as_table_like()) {
        (Some(list), _) => list.iter().map(|it| it.as_inline_table().map(|it| it as _)).collect::<Option<_>>(),
        (None, Some(table)) => Some(vec![table]),
        (None, None) => None,
    }
    .ok_or_else(wrong)?;
    let of = |table| {
        let entry = Entry { text: entry.text, name: entry.name.clone(), table };
        let dims = entry.wholes("dims")?.into_iter().map(|dim| u8::try_from(dim).ok().filter(|&dim| dim < 6));
        Ok(Aligned { array: entry.text("array")?, dims: dims.collect::<Option<_>>().ok_or_else(wrong)? })
    };
    tables.into_iter().map(of).collect()
}

fn tree(entry: &Entry<'_>) -> Result<Tree, Fault> {
    let kind = entry.word("kind", &["uniform", "uniform_branch", "uniform_load", "irregular"])?;
    let shares = |key: &'static str| {
        let shares = entry.numbers(key)?;
        let wrong = || entry.wrong(key, format!("`{key}` has a negative share"), "write shares that are not negative");
        if shares.iter().any(|&share| share < 0.0) { Err(wrong()) } else { Ok(shares) }
    };
    let (ratios, roots) = (shares("ratios")?, shares("roots")?);
    let strategy = if entry.table.get("strategy").is_some() {
        Some(entry.word("strategy", &["round_robin", "neighbours", "hierarchy", "manager"])?)
    } else {
        None
    };
    let branch = if entry.table.get("branch").is_some() { Some(entry.whole("branch", 1)?) } else { None };
    let array = entry.maybe_text("array")?.unwrap_or_default();
    Ok(Tree { array, kind, branch, ratios, roots, strategy, evidence: entry.data("evidence")? })
}

fn priority(entry: &Entry<'_>) -> Result<Priority, Fault> {
    let evidence = entry.data("evidence")?;
    let of = match (entry.maybe_text("object")?, entry.maybe_text("message")?) {
        (Some(array), None) => Urgency::Object {
            array,
            linear: entry.numbers("linear")?,
            offset: entry.maybe_number("offset")?.unwrap_or(0.0),
            r2: entry.maybe_number("r2")?.unwrap_or(1.0),
        },
        (None, Some(message)) => Urgency::Message { message, level: entry.whole("level", 0)? },
        _ => {
            let remedy = "write object = \"ARRAY\" or message = \"METHOD\"";
            return Err(entry.wrong("", "it is of neither one array nor one message", remedy));
        }
    };
    if matches!(&of, Urgency::Object { linear, .. } if linear.is_empty()) {
        return Err(entry.wrong("", "it has no `linear`", "write linear = [1.0], a number for each dimension"));
    }
    Ok(Priority { of, evidence })
}

fn pipeline(entry: &Entry<'_>) -> Result<Pipeline, Fault> {
    let message = entry.text("message")?;
    let method = entry.maybe_text("method")?.unwrap_or_else(|| message.clone());
    let (degree, parameter) = (entry.whole("degree", 2)?, entry.maybe_text("parameter")?);
    Ok(Pipeline { message, method, degree, parameter, evidence: entry.data("evidence")? })
}

fn combine(entry: &Entry<'_>) -> Result<Combine, Fault> {
    let count = match entry.table.get("count").and_then(Item::as_str) {
        Some("n_local") => Count::Local,
        Some(_) => return Err(entry.wrong("count", "`count` is no number", "write a number from 2 on or \"n_local\"")),
        None => Count::Of(entry.whole("count", 2)?),
    };
    let timeout_us = entry.number("timeout_us")?;
    if timeout_us < 0.0 {
        return Err(entry.wrong("timeout_us", "`timeout_us` is negative", "write microseconds from 0 on"));
    }
    let dest = entry.word("dest", &["single", "array"])?;
    Ok(Combine { message: entry.text("message")?, dest, count, timeout_us, evidence: entry.data("evidence")? })
}

fn knob(entry: &Entry<'_>) -> Result<Knob, Fault> {
    let what = entry.text("what")?;
    let remedy = "write environment = { NAME = \"VALUE\" }";
    let mut environment = BTreeMap::new();
    if let Some(item) = entry.table.get("environment") {
        let wrong = |about: &str| entry.wrong("environment", format!("`environment` of {what} {about}"), remedy);
        for (name, item) in item.as_table_like().ok_or_else(|| wrong("is no table"))?.iter() {
            let set = item.as_str().ok_or_else(|| wrong(&format!("has a value of {name} that is no text")))?;
            environment.insert(name.to_owned(), set.to_owned());
        }
    }
    let set = entry.table.get("value").and_then(Item::as_value).and_then(datum);
    Ok(Knob { what, value: set, environment, evidence: entry.data("evidence")? })
}
