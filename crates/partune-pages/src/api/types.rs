//! The types of the pages are those of the answers: `docs/view-api.schema.json` and `ui/src/answers.ts` are made from the types that are sent.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::{Ask, ENDPOINTS, piece, runs};
use crate::error::Error;
use crate::run::Run;

/// The schema of an answer.
pub(super) type Shape = Value;

/// The schema of what a function answers.
pub(super) fn shape_of<T: JsonSchema>(_: fn(&Run, &Ask<'_>) -> Result<T, Error>) -> Shape {
    schema_of::<T>()
}

fn schema_of<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.inline_subschemas = true)
        .for_serialize()
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.remove("$schema");
    schemars::transform::transform_subschemas(&mut Untitled, &mut schema);
    schema.remove("title");
    Schema::into(schema)
}

/// Names of our types are nobody else's business.
struct Untitled;

impl schemars::transform::Transform for Untitled {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("title");
        schemars::transform::transform_subschemas(self, schema);
    }
}

/// Every answer by its question, and its schema; those about several runs are documents of the command line.
fn answers() -> Vec<(String, Value)> {
    let document = |text: &str| serde_json::from_str(text).expect("a schema is JSON");
    let runs = [("runs".to_owned(), schema_of::<Vec<runs::Row>>())].into_iter();
    let of_run = ENDPOINTS.iter().map(|endpoint| (format!("runs/R/{}", endpoint.path), (endpoint.shape)()));
    let several = [("compare", partune_report::compare_schema()), ("scaling", partune_report::scaling_schema())];
    let of_run = of_run.chain([("runs/R/piece".to_owned(), schema_of::<piece::Piece>())]);
    // Only in its own page.
    let of_run = of_run.chain([("history".to_owned(), schema_of::<crate::history::History>())]);
    runs.chain(of_run).chain(several.map(|(name, schema)| (name.to_owned(), document(&schema)))).collect()
}

/// A schema as a type of TypeScript; `root` has the definitions that it may refer to.
fn typescript(root: &Value, schema: &Value, indent: usize) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.strip_prefix("#/$defs/")) {
        return typescript(root, &root["$defs"][name], indent);
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    if let Some(any) = schema["anyOf"].as_array() {
        return any.iter().map(|it| typescript(root, it, indent)).collect::<Vec<_>>().join(" | ");
    }
    let one = |name: &str| match name {
        "object" => object(root, schema, indent),
        "array" => {
            let item = &schema["items"];
            let is_union = ["anyOf", "enum"].iter().any(|key| item.get(key).is_some()) || item["type"].is_array();
            let item = typescript(root, item, indent);
            if is_union { format!("({item})[]") } else { format!("{item}[]") }
        }
        "integer" | "number" => "number".to_owned(),
        "string" | "boolean" | "null" => name.to_owned(),
        other => panic!("no type: {other}"),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" | "),
        other => panic!("{other} is no type, in {schema}"),
    }
}

fn object(root: &Value, schema: &Value, indent: usize) -> String {
    let Some(fields) = schema["properties"].as_object() else {
        return format!("Record<string, {}>", typescript(root, &schema["additionalProperties"], indent));
    };
    let required = schema["required"].as_array();
    let mut text = "{\n".to_owned();
    for (name, field) in fields {
        let space = "  ".repeat(indent + 1);
        if let Some(about) = field["description"].as_str() {
            let _ = writeln!(text, "{space}/** {} */", about.replace('\n', " "));
        }
        let may_lack = if required.is_some_and(|all| all.iter().any(|it| it == name)) { "" } else { "?" };
        let _ = writeln!(text, "{space}{name}{may_lack}: {};", typescript(root, field, indent + 1));
    }
    let _ = write!(text, "{}}}", "  ".repeat(indent));
    text
}

/// Compares a file with what it must be; with `PARTUNE_UPDATE` it becomes so.
fn holds(path: &str, text: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("PARTUNE_UPDATE").is_some() {
        std::fs::write(&path, text).expect("the repository can be written");
    }
    let here = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(here == text, "{} is not of these types: run this test with PARTUNE_UPDATE=1", path.display());
}

#[test]
fn the_pages_have_the_types_of_the_answers() {
    let answers = answers();
    let mut text = "// What the server answers, by question: made from its types by a test of partune-pages (PARTUNE_UPDATE=1). Not to be edited.\n\n\
                    export interface Answers {\n"
        .to_owned();
    for (question, schema) in &answers {
        let _ = writeln!(text, "  \"{question}\": {};", typescript(schema, schema, 1));
    }
    text.push_str("}\n");
    holds("ui/src/answers.ts", &text);
    // The documents of several runs have schemas of their own beside this one.
    let own = answers.into_iter().filter(|(question, _)| question.starts_with("runs"));
    let about = "What the server of partune view answers, by question below api/; R is the number of a run. docs/view-api.md says what it means.";
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers",
        "description": about,
        "type": "object",
        "properties": own.collect::<Map<String, Value>>(),
    });
    holds("docs/view-api.schema.json", &(serde_json::to_string_pretty(&schema).expect("it is JSON") + "\n"));
}

#[test]
fn schemas_become_types() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": { "type": "array", "items": { "type": ["integer", "null"] }, "description": "Two\nlines." },
            "b": { "anyOf": [{ "$ref": "#/$defs/x" }, { "type": "null" }] },
            "c": { "type": "array", "items": { "anyOf": [{ "type": "object", "properties": {} }, { "type": "null" }] } },
        },
        "required": ["a", "c"],
        "$defs": { "x": { "enum": ["one", "two"] } },
    });
    let expected =
        "{\n  /** Two lines. */\n  a: (number | null)[];\n  b?: \"one\" | \"two\" | null;\n  c: ({\n  } | null)[];\n}";
    assert_eq!(typescript(&schema, &schema, 0), expected);
}
