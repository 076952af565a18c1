//! `partune analyze --write-filter`: what need not be recorded next time, as a file for `partune record --filter`.

use std::fmt::Write as _;
use std::path::Path;

use partune_engine::{Diagnosis, Values};

use crate::output;

/// The analysis that knows, and its table.
pub(crate) const ANALYSIS: &str = "frequency";
const TABLE: &str = "not_worth_recording";

/// Writes the file, and says how many functions are in it.
pub(crate) fn write(diagnosis: &Diagnosis, archive: &str, file: &Path) -> anyhow::Result<()> {
    let lines = lines(diagnosis);
    let head = format!(
        "# Functions of {archive} whose recording costs more than it tells.\n# Leave them out: partune record --filter {} -- COMMAND\n",
        file.display()
    );
    output::write(file, &(head + &lines.concat()))?;
    output::note(&format!(
        "partune: {} function{} in {}{}",
        lines.len(),
        if lines.len() == 1 { "" } else { "s" },
        file.display(),
        if lines.is_empty() { ": recording all is worth what it costs" } else { ", for partune record --filter" }
    ));
    Ok(())
}

/// A function each, with how often it is called and how short it is.
fn lines(diagnosis: &Diagnosis) -> Vec<String> {
    let section = diagnosis.section(ANALYSIS);
    let Some(table) = section.and_then(|section| section.tables.iter().find(|table| table.name == TABLE)) else {
        return Vec::new();
    };
    let column = |name: &str| table.columns.iter().find(|column| column.name == name).map(|column| &column.values);
    let (Some(Values::Region(regions)), Some(Values::Count(visits)), Some(Values::Number(_, seconds))) =
        (column("function"), column("visits"), column("inclusive"))
    else {
        return Vec::new();
    };
    let rows = regions.iter().zip(visits).zip(seconds);
    let line = |((region, visits), seconds): ((&_, &u64), &f64)| {
        let region = diagnosis.run.region(*region)?;
        let rule = match region.paradigm {
            Some(paradigm) => format!("not {}", partune_record::word_of(region.name, paradigm)?),
            None => format!("exclude {}", region.whole),
        };
        let mut line = String::new();
        let _ = writeln!(line, "# {visits} calls, {:.0} ns each", seconds * 1e9 / *visits as f64);
        let _ = writeln!(line, "{rule}");
        Some(line)
    };
    rows.filter_map(line).collect()
}
