//! A file of hints as text.

use std::fmt;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::{Combine, Count, Datum, Evidence, File, Knob, Pipeline, Place, Priority, Size, Tree, Urgency, VERSION};

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let File { program, run, phases, place, tree, priority, pipeline, combine, knob } = self;
        let mut document = DocumentMut::new();
        document["hints"] = value(VERSION);
        document["program"] = value(program);
        if !run.is_empty() {
            document["run"] = value(data(run));
        }
        if let Some(phases) = phases {
            let mut table = InlineTable::new();
            table.insert("kind", phases.kind.as_str().into());
            if let Some(method) = &phases.method {
                table.insert("method", method.as_str().into());
            }
            table.insert("varying", phases.varying.into());
            document["phases"] = value(table);
        }
        let mut section = |name: &str, tables: Vec<Table>| {
            if !tables.is_empty() {
                document[name] = Item::ArrayOfTables(tables.into_iter().collect::<ArrayOfTables>());
            }
        };
        section("place", place.iter().map(placed).collect());
        section("tree", tree.iter().map(spread).collect());
        section("priority", priority.iter().map(urgent).collect());
        section("pipeline", pipeline.iter().map(pieced).collect());
        section("combine", combine.iter().map(combined).collect());
        section("knob", knob.iter().map(set).collect());
        write!(f, "{document}")
    }
}

fn datum(datum: &Datum) -> Value {
    match datum {
        Datum::Integer(number) => (*number).into(),
        Datum::Float(number) => (*number).into(),
        Datum::Text(text) => text.as_str().into(),
    }
}

fn data(data: &Evidence) -> InlineTable {
    data.iter().map(|(name, it)| (name.as_str(), datum(it))).collect()
}

fn with_evidence(mut table: Table, evidence: &Evidence) -> Table {
    if !evidence.is_empty() {
        table["evidence"] = value(data(evidence));
    }
    table
}

fn sizes(sizes: &[Size]) -> Array {
    let of = |size: &Size| match size {
        Size::Of(number) => Value::from(i64::from(*number)),
        Size::Pes | Size::Share { .. } | Size::Even => size.to_string().into(),
    };
    sizes.iter().map(of).collect()
}

fn whole(numbers: impl IntoIterator<Item = u32>) -> Array {
    numbers.into_iter().map(i64::from).collect()
}

fn placed(it: &Place) -> Table {
    let mut table = Table::new();
    table["array"] = value(&it.array);
    if let Some(locality) = &it.locality {
        table["locality"] = value(locality);
    }
    table["map"] = value(it.map.name());
    for (name, list) in [("a", sizes(&it.a)), ("b", sizes(&it.b)), ("aspect", it.aspect.iter().copied().collect())] {
        if !list.is_empty() {
            table[name] = value(list);
        }
    }
    if let Some(pes) = it.pes {
        table["pes"] = value(i64::from(pes));
        table["extents"] = value(whole(it.extents.iter().copied()));
        table["table"] = value(whole(it.table.iter().copied()));
    }
    for (key, least) in [("least_per_pe", it.least_per_pe), ("least_per_pe_shared", it.least_per_pe_shared)] {
        if let Some(least) = least {
            table[key] = value(least);
        }
    }
    let aligned = |it: &crate::Aligned| {
        let mut table = InlineTable::new();
        table.insert("array", it.array.as_str().into());
        table.insert("dims", whole(it.dims.iter().map(|&dim| dim.into())).into());
        table
    };
    match it.aligned_with.as_slice() {
        [] => {}
        [one] => table["aligned_with"] = value(aligned(one)),
        several => table["aligned_with"] = value(several.iter().map(aligned).collect::<Array>()),
    }
    with_evidence(table, &it.evidence)
}

fn spread(it: &Tree) -> Table {
    let mut table = Table::new();
    table["array"] = value(&it.array);
    table["kind"] = value(&it.kind);
    if let Some(branch) = it.branch {
        table["branch"] = value(i64::from(branch));
    }
    for (key, shares) in [("ratios", &it.ratios), ("roots", &it.roots)] {
        if !shares.is_empty() {
            table[key] = value(shares.iter().copied().collect::<Array>());
        }
    }
    if let Some(strategy) = &it.strategy {
        table["strategy"] = value(strategy);
    }
    with_evidence(table, &it.evidence)
}

fn urgent(it: &Priority) -> Table {
    let mut table = Table::new();
    match &it.of {
        Urgency::Object { array, linear, offset, r2 } => {
            table["object"] = value(array);
            table["linear"] = value(linear.iter().copied().collect::<Array>());
            table["offset"] = value(*offset);
            table["r2"] = value(*r2);
        }
        Urgency::Message { message, level } => {
            table["message"] = value(message);
            table["level"] = value(i64::from(*level));
        }
    }
    with_evidence(table, &it.evidence)
}

fn pieced(it: &Pipeline) -> Table {
    let mut table = Table::new();
    table["message"] = value(&it.message);
    table["method"] = value(&it.method);
    table["degree"] = value(i64::from(it.degree));
    if let Some(parameter) = &it.parameter {
        table["parameter"] = value(parameter);
    }
    with_evidence(table, &it.evidence)
}

fn combined(it: &Combine) -> Table {
    let mut table = Table::new();
    table["message"] = value(&it.message);
    table["dest"] = value(&it.dest);
    table["count"] = match it.count {
        Count::Local => value("n_local"),
        Count::Of(count) => value(i64::from(count)),
    };
    table["timeout_us"] = value(it.timeout_us);
    with_evidence(table, &it.evidence)
}

fn set(it: &Knob) -> Table {
    let mut table = Table::new();
    table["what"] = value(&it.what);
    if let Some(set) = &it.value {
        table["value"] = value(datum(set));
    }
    if !it.environment.is_empty() {
        let environment = it.environment.iter().map(|(name, set)| (name.as_str(), set.as_str()));
        table["environment"] = value(environment.collect::<InlineTable>());
    }
    with_evidence(table, &it.evidence)
}
