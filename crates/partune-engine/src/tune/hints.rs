//! What is worth keeping, as a file of hints, and what such a file says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partune_advice::{Value, knobs};
use thiserror::Error;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::Tried;

/// What a file of hints says that can be set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// The command that was tuned.
    pub program: String,
    /// Variables and their values.
    pub environment: BTreeMap<String, String>,
    /// Knobs that nobody here knows.
    pub unknown: Vec<String>,
}

/// Why a file of hints is not followed.
#[derive(Debug, Error)]
#[error("{}: {reason}\n  remedy: let partune tune -o write it", path.display())]
pub struct HintsError {
    pub path: PathBuf,
    pub reason: String,
}

/// The version of such files.
const VERSION: i64 = 1;

/// Reads a file. Knobs that are not known are left out; a known one may set its own variables only.
pub fn read_hints(path: &Path) -> Result<Hints, HintsError> {
    let error = |reason: String| HintsError { path: path.to_owned(), reason };
    let bytes = partune_files::read_regular(path).map_err(|it| error(it.to_string()))?;
    read(&String::from_utf8_lossy(&bytes)).map_err(error)
}

fn read(text: &str) -> Result<Hints, String> {
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    match document.get("hints").map(Item::as_integer) {
        Some(Some(VERSION)) => {}
        Some(_) => return Err(format!("its hints are not of version {VERSION}")),
        None => return Err("it has no hints".to_owned()),
    }
    let program = document.get("program").and_then(Item::as_str).ok_or("it does not say of which program it is")?;
    let mut hints = Hints { program: program.to_owned(), ..Hints::default() };
    let tables = match document.get("knob") {
        None => return Ok(hints),
        Some(item) => item.as_array_of_tables().ok_or("`knob` is no array of tables")?,
    };
    for (at, table) in tables.iter().enumerate() {
        let what = table.get("what").and_then(Item::as_str).ok_or(format!("`what` of knob {} is no text", at + 1))?;
        if knobs().iter().any(|knob| knob.is(what)) {
            hints.environment.extend(environment(what, table)?);
        } else {
            hints.unknown.push(what.to_owned());
        }
    }
    Ok(hints)
}

/// The variables of a knob.
fn environment(what: &str, table: &Table) -> Result<Vec<(String, String)>, String> {
    let wrong = |about: &str| format!("`environment` of {what} {about}");
    let set = table.get("environment").and_then(Item::as_table_like).ok_or_else(|| wrong("is no table"))?;
    let of_entry = |(name, item): (&str, &Item)| {
        let value = item.as_str().ok_or_else(|| wrong(&format!("has a value of {name} that is no text")))?;
        let is_own = knobs().iter().any(|knob| knob.is(what) && knob.sets(name));
        is_own
            .then(|| (name.to_owned(), value.to_owned()))
            .ok_or_else(|| wrong(&format!("sets {name}, which is none of its own")))
    };
    set.iter().map(of_entry).collect()
}

/// TOML, with the evidence of each.
pub fn hints(command: &str, pes: usize, tried: &[Tried]) -> String {
    let mut document = DocumentMut::new();
    document["hints"] = value(VERSION);
    document["program"] = value(command);
    document["run"] = value(InlineTable::from_iter([("pes", pes as i64)]));
    let kept = tried.iter().filter(|it| it.kept);
    document["knob"] = Item::ArrayOfTables(kept.filter_map(knob).collect::<ArrayOfTables>());
    document.to_string()
}

fn knob(tried: &Tried) -> Option<Table> {
    let setting = &tried.setting;
    let measured = tried.measured.as_ref().ok()?;
    let mut table = Table::new();
    table["what"] = value(&setting.what);
    table["value"] = match &setting.value {
        Value::Number(number) => value(i64::try_from(*number).unwrap_or(i64::MAX)),
        Value::Text(text) => value(text),
    };
    let environment = setting.environment.iter().map(|(name, set)| (name, set.as_str()));
    table["environment"] = value(environment.collect::<InlineTable>());
    let predicted = if setting.predicted.is_most { "predicted_saves_at_most_s" } else { "predicted_saves_s" };
    let mut evidence = InlineTable::from_iter([
        (predicted, setting.predicted.saving.saves_s),
        ("saves_s", measured.saved.estimate),
        ("saves_low_s", measured.saved.low),
        ("saves_high_s", measured.saved.high),
        ("confidence", measured.saved.confidence),
    ]);
    evidence.insert("runs", (measured.runs as i64).into());
    table["evidence"] = value(evidence);
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "hints = 1\nprogram = \"mpirun -n 2 ./app\"\n[[place]]\narray = \"rows\"\n";

    #[test]
    fn what_a_file_says_is_set() {
        let text = "[[knob]]
            what = \"collective:bcast\"
            value = \"ring\"
            environment = { OMPI_MCA_coll_tuned_bcast_algorithm = \"ring\", OMPI_MCA_coll_tuned_use_dynamic_rules = \"1\" }
            [[knob]]
            what = \"rank_map\"
            value = \"by_node\"
            [[knob]]
            what = \"eager_limit\"
            value = 65536
            environment.OMPI_MCA_btl_tcp_eager_limit = \"65536\"";
        let hints = read(&format!("{HEAD}{text}")).expect("it is a file of hints");
        assert_eq!(hints.program, "mpirun -n 2 ./app");
        let names: Vec<&str> = hints.environment.keys().map(String::as_str).collect();
        let expected = [
            "OMPI_MCA_btl_tcp_eager_limit",
            "OMPI_MCA_coll_tuned_bcast_algorithm",
            "OMPI_MCA_coll_tuned_use_dynamic_rules",
        ];
        assert_eq!(names, expected);
        assert_eq!(hints.environment["OMPI_MCA_coll_tuned_bcast_algorithm"], "ring");
        assert_eq!(hints.unknown, ["rank_map"]);
        assert_eq!(read(HEAD).map(|hints| hints.environment.len()), Ok(0));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let limit = |environment: &str| format!("{HEAD}[[knob]]\nwhat = \"eager_limit\"\nenvironment = {environment}");
        for (text, reason) in [
            ("hints = ", ""),
            ("program = \"a\"", "it has no hints"),
            ("hints = 2\nprogram = \"a\"", "its hints are not of version 1"),
            ("hints = \"1\"\nprogram = \"a\"", "its hints are not of version 1"),
            ("hints = 1", "it does not say of which program it is"),
            ("hints = 1\nprogram = \"a\"\nknob = 3", "`knob` is no array of tables"),
            (&format!("{HEAD}[[knob]]\nwhat = 3"), "`what` of knob 1 is no text"),
            (&limit("3"), "`environment` of eager_limit is no table"),
            (
                &limit("{ UCX_RNDV_THRESH = 3 }"),
                "`environment` of eager_limit has a value of UCX_RNDV_THRESH that is no text",
            ),
            (
                &limit("{ LD_PRELOAD = \"x.so\" }"),
                "`environment` of eager_limit sets LD_PRELOAD, which is none of its own",
            ),
        ] {
            let error = read(text).expect_err(text);
            assert!(error == reason || reason.is_empty(), "{text}: {error}");
        }
    }
}
