//! What a file of hints says of objects, in the simple form (JSON) that what follows it inside of a program takes as it is.

use partune_hints::{Combine, Count, File, Pipeline, Place, Priority, Tree, Urgency};
use partune_objects::map::{Grid, Map, Size};
use serde_json::{Value as Json, json};

/// Hints about objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjectHints {
    /// Lists of them by section.
    sections: Vec<(&'static str, Vec<Json>)>,
    /// What is known and cannot be followed, as sentences.
    pub ignored: Vec<String>,
}

impl ObjectHints {
    /// Of a file.
    pub fn of(file: &File) -> ObjectHints {
        let mut hints = ObjectHints::default();
        hints.add("place", &file.place, |it| Ok(place(it)));
        hints.add("tree", &file.tree, tree);
        hints.add("priority", &file.priority, |it| Ok(vec![priority(it)]));
        hints.add("combine", &file.combine, combine);
        hints.add("pipeline", &file.pipeline, pipeline);
        hints
    }

    fn add<T>(&mut self, section: &'static str, all: &[T], of: impl Fn(&T) -> Result<Vec<Json>, String>) {
        let mut made = Vec::new();
        for (hint, at) in all.iter().zip(1..) {
            match of(hint) {
                Ok(hints) => made.extend(hints),
                Err(why) => self.ignored.push(format!("{section} {at}: {why}")),
            }
        }
        self.sections.push((section, made));
    }

    /// Whether there is nothing to follow.
    pub fn is_empty(&self) -> bool {
        self.sections.iter().all(|(_, hints)| hints.is_empty())
    }

    /// What is handed to the program.
    pub fn json(&self) -> String {
        let sections = self.sections.iter().map(|(name, hints)| ((*name).to_owned(), Json::Array(hints.clone())));
        sections.collect::<Json>().to_string()
    }
}

/// An array, and those that are aligned with it.
fn place(it: &Place) -> Vec<Json> {
    let sizes = |sizes: &[Size]| -> Vec<Option<u32>> {
        let size = |size: &Size| match size {
            Size::Of(number) => Some(*number),
            Size::Even => None,
        };
        sizes.iter().map(size).collect()
    };
    let grid = |grid: &Grid| match grid {
        Grid::Line(dim) => json!({ "line": dim }),
        Grid::Like(like) => json!({ "like": like }),
    };
    let mut hint = match it.rule() {
        Some(Map::Block { aspect }) => json!({ "map": "block", "aspect": aspect }),
        Some(Map::BlockCyclic { size, grid: of }) => {
            json!({ "map": "block_cyclic", "size": sizes(&size), "grid": grid(&of) })
        }
        Some(Map::MultiPartition { size, grid: of }) => {
            json!({ "map": "multipartition", "size": sizes(&size), "grid": grid(&of) })
        }
        None => json!({ "map": "table", "table": it.table, "extents": it.extents, "pes": it.pes }),
    };
    hint["array"] = json!(it.array);
    for (key, least) in [("least", it.least_per_pe), ("least_shared", it.least_per_pe_shared)] {
        if let Some(least) = least {
            hint[key] = json!(least);
        }
    }
    let follows = it
        .aligned_with
        .iter()
        .map(|other| json!({ "array": other.array, "aligned": { "array": it.array, "dims": other.dims } }));
    std::iter::once(hint).chain(follows).collect()
}

fn tree(it: &Tree) -> Result<Vec<Json>, String> {
    let array = Some(&it.array).filter(|array| !array.is_empty());
    let ratios = match (it.kind.as_str(), it.strategy.as_deref()) {
        ("irregular", Some("round_robin")) => vec![1.0],
        ("irregular", other) => {
            let other = other.unwrap_or("none");
            return Err(format!("of strategies for irregular trees round_robin can be followed, not {other}"));
        }
        _ if it.ratios.iter().any(|share| *share > 0.0) => it.ratios.clone(),
        _ => match it.branch {
            Some(branch) => vec![1.0; (branch as usize).min(MOST_BRANCHES)],
            None => return Err("it says neither ratios nor a branch, so nothing is shared out".to_owned()),
        },
    };
    let roots = if it.roots.iter().any(|share| *share > 0.0) { &it.roots[..] } else { &[1.0] };
    Ok(vec![json!({ "array": array, "kind": it.kind, "ratios": ratios, "roots": roots })])
}

/// Children of an object that PEs are shared out to.
const MOST_BRANCHES: usize = 1 << 16;

fn priority(it: &Priority) -> Json {
    match &it.of {
        Urgency::Object { array, linear, offset, .. } => {
            json!({ "object": array, "linear": linear, "offset": offset })
        }
        Urgency::Message { message, level } => json!({ "message": method(message), "level": level }),
    }
}

fn combine(it: &Combine) -> Result<Vec<Json>, String> {
    if it.dest != "single" {
        return Err("messages to single objects can be combined, others not".to_owned());
    }
    let count = match it.count {
        Count::Local => json!("n_local"),
        Count::Of(count) => json!(count),
    };
    Ok(vec![json!({ "message": method(&it.message), "count": count, "timeout_us": it.timeout_us })])
}

fn pipeline(it: &Pipeline) -> Result<Vec<Json>, String> {
    let Some((class, method)) = method(&it.method).rsplit_once("::") else {
        return Err(format!("{} has no class, as Class::method", it.method));
    };
    let parameter = it.parameter.as_deref().unwrap_or("degree");
    Ok(vec![json!({ "class": class, "method": method, "degree": it.degree, "parameter": parameter })])
}

/// A method by its name, without parameters.
fn method(name: &str) -> &str {
    name.split('(').next().unwrap_or(name).trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_is_handed_on() {
        let text = "hints = 1\nprogram = \"app.py\"
            [[place]]\narray = \"Row\"\nmap = \"block_cyclic\"\na = [1]\nb = \"P\"\nlocality = \"all_to_all\"\nleast_per_pe = 2.5\nleast_per_pe_shared = 4
            [[place]]\narray = \"Tile\"\nmap = \"block\"\naspect = [1, 0.5]\naligned_with = { array = \"Edge\", dims = [1] }
            [[place]]\narray = \"Line\"\nmap = \"block_cyclic\"\na = [1, \"n/b\"]\nb = [1, \"P\"]
            [[place]]\narray = \"Grid\"\nmap = \"block_cyclic\"\na = [2, 2]\nb = [\"P^(1/2)\", \"P^(1/2)\"]
            [[place]]\narray = \"Odd\"\nmap = \"table\"\ntable = [0, 1, 1]\nextents = [3]\npes = 2
            [[tree]]\nkind = \"uniform\"\nbranch = 2\nroots = [0.75, 0.25]
            [[tree]]\nkind = \"irregular\"\nstrategy = \"manager\"
            [[tree]]\nkind = \"uniform_load\"\narray = \"Node\"
            [[priority]]\nobject = \"Row\"\nlinear = [1.0]
            [[priority]]\nmessage = \"Row::pivot(k, row)\"\nlevel = 0
            [[combine]]\nmessage = \"Sum::value\"\ndest = \"single\"\ncount = \"n_local\"\ntimeout_us = 200
            [[combine]]\nmessage = \"Sum::value\"\ndest = \"array\"\ncount = 3\ntimeout_us = 200
            [[pipeline]]\nmessage = \"Strip::edge\"\nmethod = \"Strip::sweep\"\ndegree = 8\nparameter = \"pieces\"";
        let hints = ObjectHints::of(&partune_hints::read(text).expect("it is a file of hints"));
        assert_eq!(
            hints.ignored,
            [
                "tree 2: of strategies for irregular trees round_robin can be followed, not manager",
                "tree 3: it says neither ratios nor a branch, so nothing is shared out",
                "combine 2: messages to single objects can be combined, others not",
            ]
        );
        let json: Json = serde_json::from_str(&hints.json()).expect("it is JSON");
        let expected = json!({
            "place": [
                { "array": "Row", "map": "block_cyclic", "size": [1], "grid": { "line": 0 }, "least": 2.5, "least_shared": 4.0 },
                { "array": "Tile", "map": "block", "aspect": [1.0, 0.5] },
                { "array": "Edge", "aligned": { "array": "Tile", "dims": [1] } },
                { "array": "Line", "map": "block_cyclic", "size": [1, null], "grid": { "line": 1 } },
                { "array": "Grid", "map": "block_cyclic", "size": [2, 2], "grid": { "like": [1, 1] } },
                { "array": "Odd", "map": "table", "table": [0, 1, 1], "extents": [3], "pes": 2 },
            ],
            "tree": [{ "array": null, "kind": "uniform", "ratios": [1.0, 1.0], "roots": [0.75, 0.25] }],
            "priority": [
                { "object": "Row", "linear": [1.0], "offset": 0.0 },
                { "message": "Row::pivot", "level": 0 },
            ],
            "combine": [{ "message": "Sum::value", "count": "n_local", "timeout_us": 200.0 }],
            "pipeline": [{ "class": "Strip", "method": "sweep", "degree": 8, "parameter": "pieces" }],
        });
        assert_eq!(json, expected);
        let empty = partune_hints::read("hints = 1\nprogram = \"a\"").expect("no section is needed");
        assert!(ObjectHints::of(&empty).is_empty());
    }
}
