//! The schema of `analyze --json` and its documents: every key of every document is in it, whatever is analysed, and no two analyses share one.

use std::collections::BTreeSet;

use partune_engine::{Opened, Options, Request, analyses};
use partune_machine::{Baseline, Machine, Overheads, Point, Provenance, Rates, VERSION};
use serde_json::{Value, json};

use crate::archives::archives;

/// What is wrong with a value by a schema, as far as ours use the language: the first fault, with the way to it.
fn fault(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    for (keyword, says) in schema.as_object().expect("a schema is an object") {
        let wrong = match keyword.as_str() {
            "$ref" => {
                let name = says.as_str().and_then(|name| name.strip_prefix("#/$defs/")).expect("a definition is meant");
                fault(root, &root["$defs"][name], value, at)
            }
            "anyOf" => {
                let any = says.as_array().into_iter().flatten().any(|it| fault(root, it, value, at).is_none());
                (!any).then(|| format!("{at} is nothing of what it may be"))
            }
            "type" => {
                let is = |name: &Value| match name.as_str() {
                    Some("object") => value.is_object(),
                    Some("array") => value.is_array(),
                    Some("string") => value.is_string(),
                    Some("number") => value.is_number(),
                    Some("integer") => value.is_i64() || value.is_u64(),
                    Some("boolean") => value.is_boolean(),
                    Some("null") => value.is_null(),
                    _ => panic!("no type: {name}"),
                };
                let any = says.as_array().map_or_else(|| is(says), |names| names.iter().any(is));
                (!any).then(|| format!("{at} is no {says}: {value}"))
            }
            "enum" => {
                let any = says.as_array().is_some_and(|words| words.contains(value));
                (!any).then(|| format!("{at} is none of {says}: {value}"))
            }
            "minimum" => (value.as_f64() < says.as_f64() && value.is_number()).then(|| format!("{at} is too small")),
            "items" => {
                let mut items = value.as_array().into_iter().flatten().enumerate();
                items.find_map(|(number, item)| fault(root, says, item, &format!("{at}[{number}]")))
            }
            "properties" => {
                let mut fields = value.as_object().into_iter().flatten();
                fields.find_map(|(key, field)| fault(root, says.get(key)?, field, &format!("{at}.{key}")))
            }
            "required" => {
                let mut names = says.as_array().into_iter().flatten().filter_map(Value::as_str);
                names.find(|name| value.get(name).is_none()).map(|name| format!("{at} has no {name}"))
            }
            "additionalProperties" => {
                let known = |key: &str| schema.get("properties").is_some_and(|it| it.get(key).is_some());
                let mut more = value.as_object().into_iter().flatten().filter(|(key, _)| !known(key));
                match says {
                    Value::Bool(true) => None,
                    Value::Bool(false) => more.next().map(|(key, _)| format!("{at}.{key} is not declared")),
                    says => more.find_map(|(key, field)| fault(root, says, field, &format!("{at}.{key}"))),
                }
            }
            "$schema" | "$defs" | "title" | "description" | "format" => None,
            other => panic!("this test does not know the keyword {other}"),
        };
        if wrong.is_some() {
            return wrong;
        }
    }
    None
}

fn schema() -> Value {
    serde_json::from_str(&partune_report::schema()).expect("the schema is JSON")
}

/// With a baseline for barriers, and a cost of recording: so that the analyses that need a machine have something to say.
fn machine() -> Machine {
    let provenance = Provenance {
        date: String::new(),
        hosts: Vec::new(),
        cpu: String::new(),
        cores: 2,
        kernel: String::new(),
        mpi: None,
        launch: Vec::new(),
        pes: 2,
        partune: String::new(),
        took_s: 0.0,
    };
    let point = Point { bytes: 0, median_s: 1e-6, minimum_s: 1e-6, samples: 3 };
    let baseline = Baseline {
        operation: "barrier".to_owned(),
        role: "group_sync".to_owned(),
        paradigm: None,
        pes: 2,
        points: vec![point],
    };
    Machine {
        partune_machine: VERSION,
        provenance,
        overheads: Overheads { timer_s: 1e-8, timer_step_s: 1e-9, event_s: 1e-6 },
        rates: Rates { flops_one: 1e9, flops_all: 1e9, memory_one: 1e9, memory_all: 1e9 },
        caches: None,
        notes: Vec::new(),
        links: Vec::new(),
        baselines: vec![baseline],
    }
}

/// The document of a run, analysed with a machine.
fn document(opened: impl Into<Opened>) -> Value {
    let options = Options { machine: Some(machine()), ..Options::default() };
    let diagnosis = partune_engine::analyze(opened, &Request { options, ..Request::default() }, &());
    serde_json::from_str(&partune_report::document(&diagnosis, "archive")).expect("the document is JSON")
}

/// Shared data by address; phases; a barrier of which 10 ms are above the baseline.
const OTHERS: [&str; 2] = [
    "pe 0: main 0..100 { shmem_getmem 0..10 get(to=0, bytes=8, addr=0) shmem_getmem 10..20 get(to=0, bytes=8, addr=8) shmem_getmem 20..60 get(to=1, bytes=8, addr=0) }
     pe 1: main 0..100 { shmem_getmem 10..20 get(to=1, bytes=8, addr=8) }",
    "resolution 1000
     pe 0: main 0..100 { phase solve 0..60 { MPI_Barrier 40..60 barrier } }
     pe 1: main 0..100 { phase solve 0..60 { MPI_Barrier 50..60 barrier } }",
];

#[test]
fn every_document_is_as_the_schema_says() {
    let schema = schema();
    let mut seen = BTreeSet::new();
    let mut check = |name: &str, document: &Value| {
        assert_eq!(fault(&schema, &schema, document, name), None);
        seen.extend(document.as_object().into_iter().flatten().map(|(key, _)| key.clone()));
    };
    for archive in archives() {
        check(&archive.name, &document(partune_engine::open(&archive.anchor, &()).expect("the archive opens")));
    }
    for text in OTHERS {
        check("a trace", &document(partune_testkit::trace(text)));
    }
    // The check had something to check: tables that few runs have were there.
    for key in ["shared_data", "phases", "baseline_places", "measured_pes", "sites", "gaps", "regions", "pes"] {
        assert!(seen.contains(key), "{key} of {seen:?}");
    }
}

#[test]
fn what_nobody_declared_is_no_document() {
    let schema = schema();
    let good = document(partune_testkit::trace(OTHERS[1]));
    let fault = |document: &Value| fault(&schema, &schema, document, "it");
    assert_eq!(fault(&good), None);
    let with = |pointer: &str, key: &str, value: Value| {
        let mut bad = good.clone();
        let at = bad.pointer_mut(pointer).and_then(Value::as_object_mut).expect("there is an object");
        at.insert(key.to_owned(), value);
        fault(&bad)
    };
    assert_eq!(with("", "more", json!(1)).as_deref(), Some("it.more is not declared"));
    assert_eq!(with("/gaps/0", "more", json!(1)).as_deref(), Some("it.gaps[0].more is not declared"));
    assert_eq!(with("/efficiency", "paralel", json!(1)).as_deref(), Some("it.efficiency.paralel is not declared"));
    assert!(with("/gaps/0", "seconds", json!("1")).is_some_and(|it| it.contains("it.gaps[0].seconds is no")));
    assert!(with("", "pes", json!([])).is_some_and(|it| it.contains("it.pes is no")));
    let severity = json!([{ "severity": "data loss", "message": "", "remedy": "", "count": 1 }]);
    assert!(with("", "quality", severity).is_some_and(|it| it.contains("severity is none of")));
}

/// A key is one thing only: two that share one would overwrite each other.
#[test]
fn keys_are_unique() {
    let schema = schema();
    let sections = || analyses().flat_map(|analysis| analysis.shows);
    let scalars = sections().filter(|it| !it.scalars.is_empty()).map(|it| it.name);
    let tables = sections().flat_map(|it| it.tables).map(|it| it.name);
    let mut keys: Vec<&str> = scalars.chain(tables).collect();
    let fixed = schema["properties"].as_object().map_or(0, serde_json::Map::len) - keys.len();
    let fixed_keys = "archive, clocks_aligned, device_streams, devices, duration_s, ending, events, findings, partune, pe_names, pes, piece, quality, whole_names";
    assert_eq!(fixed, fixed_keys.split(", ").count(), "{fixed_keys}");
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}
