//! What is worth keeping, as a file of hints.

use partune_advice::Value;
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, value};

use super::Tried;

/// TOML, with the evidence of each.
pub fn hints(command: &str, pes: usize, tried: &[Tried]) -> String {
    let mut document = DocumentMut::new();
    document["hints"] = value(1);
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
