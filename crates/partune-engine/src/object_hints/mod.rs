//! Hints about objects, out of a file of hints: where those of arrays and trees are, which messages come first, and which are sent together. Checked here, and brought
//! into the simple form (JSON) that what follows them in the program takes as it is.
//!
//! Sections are those of the file: `place`, `tree`, `priority`, `combine`, `pipeline`. What an array or a message is called is what the recording calls it.

mod expression;

use std::path::Path;

use serde_json::{Value as Json, json};
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::tune::HintsError;
use expression::checked;

/// Hints about objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectHints {
    /// Lists of them by section.
    sections: Vec<(&'static str, Vec<Json>)>,
    /// What is known and cannot be followed, as sentences.
    pub ignored: Vec<String>,
}

impl ObjectHints {
    /// Whether there is nothing to follow.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|(_, hints)| hints.is_empty())
    }

    /// What is handed to the program.
    pub fn json(&self) -> String {
        self.sections
            .iter()
            .map(|(name, hints)| ((*name).to_owned(), Json::Array(hints.clone())))
            .collect::<Json>()
            .to_string()
    }
}

/// Reads them from a file; none where it has no such section.
///
/// # Errors
/// Where the file cannot be read, or a section says what it must not.
pub fn read_object_hints(path: &Path) -> Result<ObjectHints, HintsError> {
    let error = |reason: String| HintsError { path: path.to_owned(), reason };
    let bytes = partune_files::read_regular(path).map_err(|it| error(it.to_string()))?;
    read(&String::from_utf8_lossy(&bytes)).map_err(error)
}

type Reader = fn(&Entry<'_>) -> Result<Result<Json, String>, String>;

/// Sections and what reads an entry of each: an error is the file's, the inner one is a hint that is not followed.
const SECTIONS: [(&str, Reader); 5] =
    [("place", place), ("tree", tree), ("priority", priority), ("combine", combine), ("pipeline", pipeline)];

fn read(text: &str) -> Result<ObjectHints, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mut hints = ObjectHints::default();
    for (section, reader) in SECTIONS {
        let mut entries = Vec::new();
        let tables = match document.get(section) {
            None => None,
            Some(item) => Some(item.as_array_of_tables().ok_or(format!("`{section}` is no array of tables"))?),
        };
        for (at, table) in tables.into_iter().flatten().enumerate() {
            let entry = Entry { section, at: at + 1, table };
            match reader(&entry)? {
                Ok(hint) => entries.push(hint),
                Err(why) => hints.ignored.push(format!("{section} {}: {why}", at + 1)),
            }
        }
        hints.sections.push((section, entries));
    }
    Ok(hints)
}

/// A table of a section.
struct Entry<'a> {
    section: &'static str,
    at: usize,
    table: &'a Table,
}

impl Entry<'_> {
    fn wrong(&self, name: &str, what: &str) -> String {
        format!("`{name}` of {} {} {what}", self.section, self.at)
    }

    fn has(&self, name: &str) -> bool {
        self.table.contains_key(name)
    }

    fn text(&self, name: &str) -> Result<&str, String> {
        self.table.get(name).and_then(Item::as_str).ok_or_else(|| self.wrong(name, "is no text"))
    }

    /// A method or a message by its name, without parameters.
    fn method(&self, name: &str) -> Result<String, String> {
        let text = self.text(name)?;
        let method = text.split('(').next().unwrap_or(text).trim();
        if method.is_empty() { Err(self.wrong(name, "is no name of a method")) } else { Ok(method.to_owned()) }
    }

    /// A whole number from `least` on.
    fn whole(&self, name: &str, least: i64) -> Result<i64, String> {
        let number = self.table.get(name).and_then(Item::as_integer).filter(|number| *number >= least);
        number.ok_or_else(|| self.wrong(name, &format!("is no whole number from {least} on")))
    }

    /// Numbers, finite; none if they are not said.
    fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>, String> {
        let Some(item) = self.table.get(name) else { return Ok(None) };
        let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|it| it as f64));
        let all = item.as_array().and_then(|all| all.iter().map(number).collect::<Option<Vec<f64>>>());
        let all = all.filter(|all| !all.is_empty() && all.iter().all(|it| it.is_finite()));
        all.map(Some).ok_or_else(|| self.wrong(name, "is no list of numbers"))
    }

    /// Expressions in `P` and `n`: a list, or one for the first dimension and another for the second.
    fn expressions(&self, first: &str, second: &str) -> Result<Vec<String>, String> {
        let one = |name: &str, value: &Value| {
            let text = value.as_integer().map(|it| it.to_string()).or_else(|| value.as_str().map(str::to_owned));
            let text = text.ok_or_else(|| self.wrong(name, "is neither a whole number nor an expression"))?;
            checked(&text).map_err(|why| self.wrong(name, &format!("({text}) {why}")))
        };
        let mut all = Vec::new();
        for name in [first, second] {
            match self.table.get(name).map(Item::as_value) {
                None => {}
                Some(Some(Value::Array(list))) => {
                    all.extend(list.iter().map(|value| one(name, value)).collect::<Result<Vec<_>, _>>()?);
                }
                Some(Some(value)) => all.push(one(name, value)?),
                Some(None) => return Err(self.wrong(name, "is no value")),
            }
        }
        Ok(all)
    }
}

fn place(entry: &Entry<'_>) -> Result<Result<Json, String>, String> {
    let array = entry.text("array")?;
    let texts = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let (map, a, b) = match entry.text("map")? {
        "block" => {
            let aspect = entry.numbers("aspect")?.unwrap_or_default();
            if aspect.iter().any(|share| *share < 0.0) {
                return Err(entry.wrong("aspect", "has a number below 0"));
            }
            return Ok(Ok(aligned(entry, json!({ "array": array, "map": "block", "aspect": aspect }))?));
        }
        "cyclic" => ("block_cyclic", texts(&["1"]), texts(&["P"])),
        "row_block" => ("block_cyclic", texts(&["ceil(n/P)"]), texts(&["P"])),
        "column_block" => ("block_cyclic", texts(&["n", "ceil(n/P)"]), texts(&["1", "P"])),
        map @ ("block_cyclic" | "multi_partition") => (map, entry.expressions("a", "c")?, entry.expressions("b", "d")?),
        other => {
            let known = "block, block_cyclic, cyclic, row_block, column_block and multi_partition";
            return Err(entry.wrong("map", &format!("is {other}, and maps are {known}")));
        }
    };
    if a.is_empty() || b.is_empty() {
        return Err(entry.wrong(if a.is_empty() { "a" } else { "b" }, "is missing"));
    }
    Ok(Ok(aligned(entry, json!({ "array": array, "map": map, "a": a, "b": b }))?))
}

/// With the array that it is aligned with, and which dimensions of that its own are.
fn aligned(entry: &Entry<'_>, mut hint: Json) -> Result<Json, String> {
    if let Some(item) = entry.table.get("aligned_with") {
        let table = item.as_table_like().ok_or_else(|| entry.wrong("aligned_with", "is no table"))?;
        let array =
            table.get("array").and_then(Item::as_str).ok_or_else(|| entry.wrong("aligned_with", "has no array"))?;
        let dims = table.get("dims").and_then(Item::as_array);
        let dims = dims.and_then(|all| all.iter().map(|it| it.as_integer().filter(|it| (0..6).contains(it))).collect());
        let dims: Vec<i64> = dims.ok_or_else(|| entry.wrong("aligned_with", "has no list of dimensions"))?;
        hint["aligned"] = json!({ "array": array, "dims": dims });
    }
    Ok(hint)
}

fn tree(entry: &Entry<'_>) -> Result<Result<Json, String>, String> {
    let array = if entry.has("array") { Some(entry.text("array")?) } else { None };
    let ratios = entry.numbers("ratios")?;
    if ratios.iter().flatten().any(|ratio| *ratio <= 0.0) {
        return Err(entry.wrong("ratios", "has a number that is not above 0"));
    }
    let kind = entry.text("kind")?;
    match kind {
        "uniform" | "uniform_branch" | "uniform_load" => {
            let ratios = match ratios {
                Some(ratios) => ratios,
                None => vec![1.0; entry.whole("branch", 1)?.min(1 << 16) as usize],
            };
            if entry.has("branch") && entry.whole("branch", 1)? != ratios.len() as i64 {
                return Err(entry.wrong("ratios", "is not a number for each branch"));
            }
            Ok(Ok(json!({ "array": array, "kind": kind, "ratios": ratios })))
        }
        "irregular" => match entry.text("strategy")? {
            "round_robin" => Ok(Ok(json!({ "array": array, "kind": kind, "ratios": [1.0] }))),
            other => Ok(Err(format!("of strategies for irregular trees round_robin can be followed, not {other}"))),
        },
        other => Err(entry
            .wrong("kind", &format!("is {other}, and kinds are uniform, uniform_branch, uniform_load and irregular"))),
    }
}

fn priority(entry: &Entry<'_>) -> Result<Result<Json, String>, String> {
    match (entry.has("object"), entry.has("message")) {
        (true, false) => {
            let linear = entry.numbers("linear")?.ok_or_else(|| entry.wrong("linear", "is missing"))?;
            let offset = match entry.table.get("offset") {
                None => 0.0,
                Some(item) => item
                    .as_float()
                    .or_else(|| item.as_integer().map(|it| it as f64))
                    .filter(|it| it.is_finite())
                    .ok_or_else(|| entry.wrong("offset", "is no number"))?,
            };
            Ok(Ok(json!({ "object": entry.text("object")?, "linear": linear, "offset": offset })))
        }
        (false, true) => Ok(Ok(json!({ "message": entry.method("message")?, "level": entry.whole("level", 0)? }))),
        _ => Err(entry.wrong("object", "or `message` has to be there, and not both")),
    }
}

fn combine(entry: &Entry<'_>) -> Result<Result<Json, String>, String> {
    let count = match entry.table.get("count").and_then(Item::as_str) {
        Some("n_local") => json!("n_local"),
        Some(other) => return Err(entry.wrong("count", &format!("is {other}, and neither n_local nor a number"))),
        None => json!(entry.whole("count", 2)?),
    };
    if entry.has("dest") && entry.text("dest")? != "single" {
        return Ok(Err("messages to single objects can be combined, others not".to_owned()));
    }
    let timeout = if entry.has("timeout_us") { entry.whole("timeout_us", 1)? } else { 1000 };
    Ok(Ok(json!({ "message": entry.method("message")?, "count": count, "timeout_us": timeout })))
}

fn pipeline(entry: &Entry<'_>) -> Result<Result<Json, String>, String> {
    let (degree, method) = (entry.whole("degree", 1)?, entry.method("method")?);
    let (class, method) =
        method.rsplit_once("::").ok_or_else(|| entry.wrong("method", "has no class, as Class::method"))?;
    let parameter = if entry.has("parameter") { entry.text("parameter")? } else { "degree" };
    Ok(Ok(json!({ "class": class, "method": method, "degree": degree, "parameter": parameter })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_is_handed_on() {
        let text = "hints = 1\nprogram = \"app.py\"
            [[place]]\narray = \"Row\"\nmap = \"block_cyclic\"\na = [1]\nb = \"P\"\nlocality = \"all_to_all\"
            [[place]]\narray = \"Tile\"\nmap = \"block\"\naspect = [1, 0.5]\naligned_with = { array = \"Row\", dims = [0] }
            [[place]]\narray = \"Line\"\nmap = \"column_block\"
            [[place]]\narray = \"Grid\"\nmap = \"block_cyclic\"\na = 2\nb = \"sqrt(P)\"\nc = \"n/ 4\"\nd = \"P/2\"
            [[tree]]\nkind = \"uniform\"\nbranch = 2
            [[tree]]\nkind = \"irregular\"\nstrategy = \"manager\"
            [[priority]]\nobject = \"Row\"\nlinear = [1.0]
            [[priority]]\nmessage = \"Row::pivot(k, row)\"\nlevel = 0
            [[combine]]\nmessage = \"Sum::value\"\ndest = \"single\"\ncount = \"n_local\"\ntimeout_us = 200
            [[pipeline]]\nmethod = \"Strip::sweep\"\ndegree = 8";
        let hints = read(text).expect("it is a file of hints");
        assert_eq!(
            hints.ignored,
            ["tree 2: of strategies for irregular trees round_robin can be followed, not manager"]
        );
        let json: Json = serde_json::from_str(&hints.json()).expect("it is JSON");
        let expected = json!({
            "place": [
                { "array": "Row", "map": "block_cyclic", "a": ["1"], "b": ["P"] },
                { "array": "Tile", "map": "block", "aspect": [1.0, 0.5], "aligned": { "array": "Row", "dims": [0] } },
                { "array": "Line", "map": "block_cyclic", "a": ["n", "ceil(n/P)"], "b": ["1", "P"] },
                { "array": "Grid", "map": "block_cyclic", "a": ["2", "n/4"], "b": ["sqrt(P)", "P/2"] },
            ],
            "tree": [{ "array": null, "kind": "uniform", "ratios": [1.0, 1.0] }],
            "priority": [
                { "object": "Row", "linear": [1.0], "offset": 0.0 },
                { "message": "Row::pivot", "level": 0 },
            ],
            "combine": [{ "message": "Sum::value", "count": "n_local", "timeout_us": 200 }],
            "pipeline": [{ "class": "Strip", "method": "sweep", "degree": 8, "parameter": "degree" }],
        });
        assert_eq!(json, expected);
        assert!(read("hints = 1").expect("no section is needed").is_empty());
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for (text, reason) in [
            ("place = 3", "`place` is no array of tables"),
            ("[[place]]\nmap = \"block\"", "`array` of place 1 is no text"),
            ("[[place]]\narray = \"a\"\nmap = 3", "`map` of place 1 is no text"),
            (
                "[[place]]\narray = \"a\"\nmap = \"block\"\naspect = [\"x\"]",
                "`aspect` of place 1 is no list of numbers",
            ),
            ("[[place]]\narray = \"a\"\nmap = \"block\"\naspect = [-1]", "`aspect` of place 1 has a number below 0"),
            ("[[place]]\narray = \"a\"\nmap = \"block_cyclic\"\nb = \"P\"", "`a` of place 1 is missing"),
            (
                "[[place]]\narray = \"a\"\nmap = \"block_cyclic\"\na = [1]\nb = \"exec(P)\"",
                "`b` of place 1 (exec(P)) has `exec`, which is neither P nor n nor a function of them",
            ),
            ("[[tree]]\nkind = \"uniform\"", "`branch` of tree 1 is no whole number from 1 on"),
            (
                "[[tree]]\nkind = \"uniform\"\nbranch = 3\nratios = [1, 1]",
                "`ratios` of tree 1 is not a number for each branch",
            ),
            ("[[priority]]\nlevel = 0", "`object` of priority 1 or `message` has to be there, and not both"),
            ("[[priority]]\nmessage = \"m\"\nlevel = \"x\"", "`level` of priority 1 is no whole number from 0 on"),
            ("[[combine]]\nmessage = \"m\"\ncount = 1", "`count` of combine 1 is no whole number from 2 on"),
            ("[[pipeline]]\nmethod = \"m\"\ndegree = 2", "`method` of pipeline 1 has no class, as Class::method"),
        ] {
            assert_eq!(read(text).expect_err(text), reason, "{text}");
        }
        let unknown = read("[[place]]\narray = \"a\"\nmap = \"spiral\"").expect_err("there is no such map");
        assert!(unknown.starts_with("`map` of place 1 is spiral, and maps are block,"), "{unknown}");
    }
}
