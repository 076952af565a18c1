//! The JSON schema of `analyze`: the fixed fields as their types have them, all others as the analyses declare them.
//!
//! Closed: a key that nobody declares is none of the document, so that who reads it can rely on what it does not have.

use partune_engine::{SectionShape, Shape, TableShape, Unit, analyses};
use serde_json::{Map, Value, json};

use crate::json::Document;

/// The schema of [`crate::document`], indented, with a line break at its end.
pub fn schema() -> String {
    let mut schema = serde_json::to_value(schemars::schema_for!(Document<'_>)).expect("a schema is JSON");
    let declared = analyses().flat_map(|analysis| analysis.shows.iter().map(move |it| (analysis.title, it)));
    if let Some(properties) = schema["properties"].as_object_mut() {
        for (title, section) in declared {
            if !section.scalars.is_empty() {
                properties.insert(section.name.to_owned(), scalars(title, section));
            }
            properties.extend(section.tables.iter().map(|it| (it.name.to_owned(), table(section, it))));
        }
    }
    close(&mut schema);
    if let Some(definitions) = schema["$defs"].as_object_mut() {
        definitions.values_mut().for_each(close);
    }
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}

/// Forbids what is not named; a map says by itself what it may have.
fn close(schema: &mut Value) {
    if let Some(fields) = schema.as_object_mut().filter(|fields| fields.contains_key("properties")) {
        fields.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
}

fn scalars(title: &str, section: &SectionShape) -> Value {
    let properties = section.scalars.iter().map(|(name, unit)| ((*name).to_owned(), number(*unit)));
    json!({
        "description": format!("{title}. A figure that the run does not have is left out, one that is no number (0/0) is null."),
        "type": "object",
        "properties": properties.collect::<Map<String, Value>>(),
        "additionalProperties": false,
    })
}

fn table(section: &SectionShape, table: &TableShape) -> Value {
    let properties = table.columns.iter().map(|(name, shape)| ((*name).to_owned(), value(*shape)));
    json!({
        "description": format!("A table of the analysis {}. A column that the run does not have is left out.", section.name),
        "type": "array",
        "items": {
            "type": "object",
            "properties": properties.collect::<Map<String, Value>>(),
            "additionalProperties": false,
        },
    })
}

/// The schema of a cell.
fn value(shape: Shape) -> Value {
    match shape {
        Shape::Number(unit) => number(unit),
        Shape::Count => json!({ "type": "integer", "minimum": 0 }),
        Shape::Pe => json!({ "description": "Position in pe_names.", "type": ["integer", "null"], "minimum": 0 }),
        Shape::Group => json!({ "description": "Name of a group of PEs.", "type": ["string", "null"] }),
        Shape::Region => json!({ "description": "Name of a region.", "type": ["string", "null"] }),
        Shape::Construct => json!({ "description": "Name of a construct.", "type": ["string", "null"] }),
        Shape::Metric => json!({ "description": "Name of a metric.", "type": ["string", "null"] }),
        Shape::Path => {
            json!({ "description": "Names, outermost first.", "type": "array", "items": { "type": "string" } })
        }
        Shape::Name | Shape::Word => json!({ "type": "string" }),
    }
}

fn number(unit: Unit) -> Value {
    let description = match unit {
        Unit::Seconds => "Seconds.",
        Unit::Bytes => "Bytes.",
        Unit::Count => "A number of things.",
        Unit::Ratio => "A share or a ratio; 1 is all, or as much.",
    };
    json!({ "description": description, "type": ["number", "null"] })
}
