//! The questions of the API: one list, one file a view.
#![allow(clippy::unnecessary_wraps, reason = "all questions are answered alike, those too that are never wrong")]

mod array;
mod balance;
mod beside;
mod counters;
mod environment;
mod figures;
mod find;
mod findings;
mod flame;
mod lines;
mod matrix;
mod measured;
mod moment;
mod pes;
mod piece;
mod profile;
mod regions;
mod rows;
mod runs;
mod selection;
mod several;
mod source;
mod summary;
mod timeline;
mod transfers;
#[cfg(test)]
pub(crate) mod types;

use crate::error::{Answer, Error, json};
use crate::query::Query;
use crate::run::Run;
use crate::runs::Runs;

/// A question about one run that is open.
pub(crate) struct Endpoint {
    /// Below `runs/R/`; `*` stands for one part of any text.
    path: &'static str,
    /// Parameters that it knows.
    keys: &'static [&'static str],
    answer: fn(&Run, &Ask<'_>) -> Answer,
    /// What an answer looks like, for the types of the pages.
    #[cfg(test)]
    shape: fn() -> types::Shape,
}

/// A question, and the function whose result is its answer.
macro_rules! endpoint {
    ($path:literal, $keys:expr, $answer:path) => {
        Endpoint {
            path: $path,
            keys: &$keys,
            answer: |run, ask| json(&$answer(run, ask)?),
            #[cfg(test)]
            shape: || types::shape_of($answer),
        }
    };
}

/// What is asked.
pub(crate) struct Ask<'a> {
    /// Of them all, for who asks about two.
    pub(crate) runs: &'a Runs,
    pub(crate) query: Query,
    /// The part of the path that `*` stands for; else empty.
    pub(crate) part: &'a str,
    /// Rows that a list of the answer may have, where that is less than what it has by itself.
    pub(crate) most: usize,
}

/// All questions about a run. To add one: one function, one line.
static ENDPOINTS: &[Endpoint] = &[
    endpoint!("summary", [], summary::summary),
    endpoint!("findings", ["pattern", "text"], findings::list),
    endpoint!("findings/*", [], findings::detail),
    endpoint!("findings/*/next", ["after", "pe", "back"], findings::next),
    endpoint!("thresholds", [], piece::thresholds),
    endpoint!("pes", [], pes::pes),
    endpoint!("kinds", [], pes::kinds),
    endpoint!(
        "timeline",
        ["from", "to", "columns", "only", "order", "first", "pes", "rows", "group", "by"],
        timeline::timeline
    ),
    endpoint!("selection", ["from", "to", "only", "order", "first", "pes", "rows", "region"], selection::selection),
    endpoint!("beside", ["base", "by", "region", "from", "to", "only", "order", "first", "pes"], beside::beside),
    endpoint!("at", ["pe", "time"], moment::at),
    endpoint!("find", ["text"], find::find),
    endpoint!("next", ["region", "after", "pe", "back"], regions::next),
    endpoint!("profile", [], profile::profile),
    endpoint!("tree", ["path", "depth"], profile::tree),
    endpoint!("measured", ["of", "metric", "path", "rows", "only", "order", "first", "pes"], measured::measured),
    endpoint!(
        "flame",
        ["stacking", "under", "levels", "from", "to", "only", "order", "first", "pes", "base"],
        flame::flame
    ),
    endpoint!("balance", ["rows", "columns"], balance::balance),
    endpoint!("matrix", ["by", "rows"], matrix::matrix),
    endpoint!("transfers", ["givers", "getters", "order"], transfers::transfers),
    endpoint!("array", ["window", "block", "pes", "columns", "rows"], array::array),
    endpoint!("metrics", [], counters::metrics),
    endpoint!(
        "counters",
        ["metric", "as", "from", "to", "columns", "only", "order", "first", "pes", "rows"],
        counters::counters
    ),
    endpoint!("sources", [], source::files),
    endpoint!("source", ["file", "from"], source::text),
    endpoint!("environment", [], environment::environment),
    endpoint!("figures", [], figures::figures),
];

/// The answer to a question: a path below `api/`, and what comes after `?`.
pub fn answer(runs: &Runs, path: &str, query: &str) -> Answer {
    short_answer(runs, path, query, usize::MAX)
}

/// The same with lists of at most so many rows.
pub(crate) fn short_answer(runs: &Runs, path: &str, query: &str, most: usize) -> Answer {
    let parts: Vec<&str> = path.split('/').collect();
    let (run, rest) = match parts.as_slice() {
        ["runs"] => {
            Query::new(query, &[])?;
            return json(&runs::list(runs));
        }
        ["compare"] => return several::compare(runs, query),
        ["scaling"] => return several::scaling(runs, query),
        ["runs", run, "piece"] => return json(&piece::piece(runs, run, query)?),
        ["runs", run, rest @ ..] if !rest.is_empty() => (run, rest),
        _ => return Err(Error::not_found("there is no such question")),
    };
    for endpoint in ENDPOINTS {
        if let Some(part) = endpoint.matches(rest) {
            let query = Query::new(query, endpoint.keys)?;
            return (endpoint.answer)(&*runs.ready(run)?, &Ask { runs, query, part, most });
        }
    }
    Err(Error::not_found("there is no such question about a run"))
}

impl Endpoint {
    /// What `*` stands for, if this is the question.
    fn matches<'a>(&self, parts: &[&'a str]) -> Option<&'a str> {
        let mut any = "";
        let mut own = self.path.split('/');
        for part in parts {
            match own.next()? {
                "*" => any = part,
                word if word == *part => {}
                _ => return None,
            }
        }
        own.next().is_none().then_some(any)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::Value;

    use super::*;

    fn runs(text: &str) -> Runs {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &());
        Runs::of(Path::new("hostile"), diagnosis)
    }

    /// The answers to every question that needs no parameter; the traces of these tests name no files of source text.
    fn answers(runs: &Runs) -> Vec<(&'static str, Vec<u8>)> {
        let plain = ENDPOINTS.iter().filter(|endpoint| !endpoint.path.contains('*') && endpoint.path != "source");
        let answers = plain.map(|endpoint| {
            let query = match endpoint.path {
                "at" => "pe=1&time=20",
                "beside" => "base=0",
                "counters" => "metric=0",
                "find" => "text=r",
                "next" => "region=0&after=-1",
                "tree" => "depth=64",
                _ => "",
            };
            let answer = answer(runs, &format!("runs/0/{}", endpoint.path), query);
            (endpoint.path, answer.expect("it is answered"))
        });
        answers.collect()
    }

    fn texts(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
            Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    #[test]
    fn names_are_data_whatever_they_are() {
        let hostile = "<script>alert(1)</script>'\u{202e}\u{7}&\\";
        let long = "x".repeat(5000);
        let runs = runs(&format!(
            "metric \"{hostile}\" next \"{hostile}\"
             pe 0: \"{hostile}\" 0..100 {{ {long} 0..40 metric(\"{hostile}\"=1) MPI_Send 40..50 send(to=1, bytes=8) }}
             pe 1: \"{hostile}\" 0..100 {{ MPI_Recv 10..50 recv(from=0, bytes=8) }}"
        ));
        let mut seen = Vec::new();
        for (path, bytes) in answers(&runs) {
            let answer: Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{path}: {error}"));
            texts(&answer, &mut seen);
        }
        assert!(seen.iter().any(|text| text.contains("<script>alert(1)</script>")), "it is text, and kept");
        assert!(seen.iter().all(|text| !text.contains('\u{202e}') && !text.contains('\u{7}')));
        assert!(seen.iter().all(|text| text.matches('x').count() < 1300), "names are cut");
    }

    /// The barrier waits for PE 1 until 12, and then for the put of its own PE until 38.
    #[test]
    fn a_moment_has_all_waits_of_its_operation() {
        let runs = runs(
            "resolution 1000
             pe 0: main 0..50 { shmem_putmem_nbi 0..1 put(to=1, bytes=64, id=7) work 1..10 shmem_barrier_all 10..40 barrier complete(7, kind=remote)@38 }
             pe 1: main 0..50 { work 0..12 shmem_barrier_all 12..40 barrier }",
        );
        let at = |pe: u32| -> Value {
            let answer = answer(&runs, "runs/0/at", &format!("pe={pe}&time=20000000")).expect("it is answered");
            serde_json::from_slice(&answer).expect("it is JSON")
        };
        let told = |pe: u32| -> Vec<(String, i64, i64)> {
            let at = at(pe);
            let waits = at["waits"].as_array().expect("a list");
            let ms = |value: &Value| value.as_i64().expect("nanoseconds") / 1_000_000;
            waits
                .iter()
                .map(|it| (it["pattern"].as_str().unwrap_or("").to_owned(), ms(&it["from"]), ms(&it["to"])))
                .collect()
        };
        assert_eq!(told(0), [("wait_at_barrier".to_owned(), 10, 12), ("competing_put_get".to_owned(), 12, 38)]);
        assert_eq!(told(1), []);
    }

    #[test]
    fn a_file_that_the_archive_does_not_name_is_not_looked_for() {
        for file in ["m.c", "/etc/passwd", "../../etc/passwd", ""] {
            let refused = answer(&runs("pe 0: main 0..50"), "runs/0/source", &format!("file={file}"));
            assert!(refused.is_err_and(|error| error.message.contains("names no such file")), "{file}");
        }
    }

    #[test]
    fn an_empty_run_is_answered() {
        for (path, bytes) in [&runs(""), &runs("pe 0: main 5..5")].into_iter().flat_map(answers_or_errors) {
            assert!(serde_json::from_slice::<Value>(&bytes).is_ok(), "{path}");
        }
    }

    /// The same, where some have no answer.
    fn answers_or_errors(runs: &Runs) -> Vec<(&'static str, Vec<u8>)> {
        let plain = ENDPOINTS
            .iter()
            .filter(|endpoint| !["at", "beside", "counters", "find", "next", "source"].contains(&endpoint.path));
        let plain = plain.filter(|endpoint| !endpoint.path.contains('*'));
        let answer = |path| {
            answer(runs, &format!("runs/0/{path}"), "")
                .map_or_else(|error| panic!("{path}: {error:?}"), |it| (path, it))
        };
        plain.map(|endpoint| answer(endpoint.path)).collect()
    }

    #[test]
    fn answers_do_not_grow_with_the_archive() {
        let mut text = String::new();
        for pe in 0..700 {
            let _ = write!(text, "pe {pe}: main 0..9000 {{ ");
            for n in 0..30 {
                let name = (pe * 31 + n * 7) % 1200;
                let begin = n * 200 + pe % 100;
                let _ = write!(
                    text,
                    "f{name} {begin}..{} metric(m={n}) MPI_Barrier {}..{} barrier ",
                    begin + 50,
                    begin + 50,
                    n * 200 + 190
                );
            }
            text.push_str("}\n");
        }
        let runs = runs(&text);
        for (path, bytes) in answers(&runs) {
            assert!(bytes.len() < 6 << 20, "{path}: {} bytes", bytes.len());
        }
        let all = answer(&runs, "runs/0/timeline", "rows=512&columns=4096").expect("it is answered");
        assert!(all.len() < 6 << 20, "{} bytes", all.len());
    }
}
