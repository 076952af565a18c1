//! The report: the pages and their answers in one file, for a colleague who has no partune.
//!
//! It loads nothing. What the pages ask when nobody zooms or searches is answered before and written into the file; without scripts the
//! file shows the text of `partune analyze`. Its size is bounded, whatever the archive's: each answer has a share of it, and is asked for
//! with fewer rows until it fits. Names come from archives, so they are hostile: in JSON every `<` is written as `\u003c`, text is escaped,
//! and the file's own policy, made where the pages are built, lets nothing run but the script of the pages.

use partune_report::{Style, TextOptions, names};
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::api::short_answer;
use crate::assets::Assets;
use crate::runs::Runs;

/// Bytes of a report.
const MOST: usize = 1_000_000;
/// Of these, for the text.
const TEXT: usize = 50_000;
/// Rows of lists, at first; halved until an answer fits.
const ROWS: usize = 512;
/// Findings of the text.
const FINDINGS: usize = 10;

/// What the views ask at first: below `runs/0/`, the parameters that only say how much is wanted, without which the pages know an answer, and
/// what it may take of the room that is left, in parts of what it and those after it may take.
const QUESTIONS: &[(&str, &str, usize)] = &[
    ("kinds", "", 1),
    ("pes", "", 3),
    ("summary", "", 5),
    ("findings", "", 12),
    ("metrics", "", 1),
    ("thresholds", "", 1),
    ("environment", "", 4),
    ("profile", "", 7),
    ("tree", "depth=24", 7),
    ("measured?of=time", "rows=64", 3),
    ("measured?of=waiting", "rows=64", 2),
    ("measured?of=visits", "rows=64", 2),
    ("measured?of=bytes", "rows=64", 2),
    ("flame", "levels=32", 5),
    ("flame?stacking=callers", "levels=32", 4),
    ("matrix?by=bytes", "rows=64", 3),
    ("matrix?by=count", "rows=64", 3),
    ("matrix?by=seconds", "rows=64", 3),
    ("array", "rows=64&columns=128", 2),
    ("balance", "rows=64", 8),
    ("figures", "", 15),
    ("timeline", "rows=64", 35),
];
/// Those on metrics come after these, then those on what the pairs of the matrices that have most gave: at most so many, and their share.
const METRICS: (usize, usize) = (16, 15);
const PAIRS: (usize, usize) = (24, 10);
/// Then those of files with their text, where text may be shown at all: as many, and this share.
const FILES: (usize, usize) = (24, 20);
/// The share of the details of all findings.
const DETAILS: usize = 30;

/// The page where the pages were not built.
const PLAIN: &str = "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
    <p>The pages are not in this build of partune: run make ui in its sources and build it again.</p>\n\
    <pre>{text}</pre>\n<script type=\"application/json\" id=\"answers\">{answers}</script>\n</html>\n";

/// The report on a run that is open: one file of HTML below 1 MB.
pub fn report(runs: &Runs) -> String {
    let (name, text) = summary(runs);
    let fixed = page(&name, &text, "").len();
    page(&name, &text, &answers(runs, MOST.saturating_sub(fixed)))
}

/// The pages in one file: a title, what is shown without scripts, both escaped, and answers as JSON without `<`.
pub(crate) fn page(title: &str, text: &str, answers: &str) -> String {
    let assets = Assets::built();
    let asset = |name: &str| assets.get(name).map(String::from_utf8_lossy).unwrap_or_default();
    let page = assets.get("report.html").map_or(PLAIN.into(), String::from_utf8_lossy);
    let [script, style] = ["partune.js", "partune.css"].map(asset);
    let parts: [(&str, &str); 5] =
        [("title", title), ("style", &style), ("text", text), ("answers", answers), ("script", &script)];
    filled(&page, &parts)
}

/// A page with `{…}` replaced, in this order and each once: what is filled in is not looked at.
fn filled(page: &str, parts: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(MOST);
    let mut rest = page;
    for (name, part) in parts {
        if let Some((before, after)) = rest.split_once(&format!("{{{name}}}")) {
            out.push_str(before);
            out.push_str(part);
            rest = after;
        }
    }
    out + rest
}

/// The name of the run, and what `analyze` says of it; escaped.
fn summary(runs: &Runs) -> (String, String) {
    let Ok(run) = runs.ready("0") else { return Default::default() };
    let options = TextOptions { findings: Some(FINDINGS), table_rows: 0, style: Style::PLAIN };
    let text = partune_report::text(&run.diagnosis, &run.path.to_string_lossy(), options);
    let kept = names::clip(&run.name, 120);
    (escaped(&kept, TEXT), escaped(&text, TEXT))
}

/// Text as HTML: its begin, as far as so many bytes reach.
pub(crate) fn escaped(text: &str, most: usize) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            letter => out.push(letter),
        }
        if out.len() > most {
            out.push_str(" …");
            break;
        }
    }
    out
}

/// The answers by their paths, as a document of JSON of at most so many bytes.
fn answers(runs: &Runs, most: usize) -> String {
    let mut map = Map { text: String::from("{"), most: most.saturating_sub(2) };
    let shares = || QUESTIONS.iter().map(|it| it.2);
    let shows_text = !runs.sources().is_empty();
    let files = if shows_text { FILES.1 } else { 0 };
    let mut parts: usize = shares().sum::<usize>() + METRICS.1 + PAIRS.1 + files + DETAILS;
    map.fit(runs, "runs", "runs", "", map.left());
    let (mut ids, mut metrics, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for (path, query, share) in QUESTIONS {
        let room = map.left() * share / parts;
        parts -= share;
        let Some(answer) = map.ask(runs, path, query, room) else { continue };
        match path.split('?').next() {
            Some("findings") => ids = finding_ids(&answer),
            Some("metrics") => metrics = of_metrics(&answer),
            Some("matrix") => pairs.extend(of_pairs(&answer)),
            _ => {}
        }
    }
    for ((most, share), wanted) in [(METRICS, metrics), (PAIRS, pairs)] {
        map.ask_each(runs, wanted, most, map.left() * share / parts);
        parts -= share;
    }
    if shows_text {
        let room = map.left() * FILES.1 / parts;
        let list = map.ask(runs, "sources", "", room / 4);
        let files = list.iter().flat_map(|answer| file_names(answer));
        let wanted = files.map(|file| (format!("source?file={}", encoded(&file)), String::new()));
        map.ask_each(runs, wanted.collect(), FILES.0, room);
    }
    for (done, id) in ids.iter().enumerate() {
        // The first may take more of it: they cost most.
        let share = map.left() / (ids.len() - done).min(10);
        if map.ask(runs, &format!("findings/{id}"), "", share).is_none() {
            break;
        }
    }
    map.text + "}"
}

fn finding_ids(answer: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(answer).unwrap_or_default();
    let rows = list["findings"].as_array().into_iter().flatten();
    rows.filter_map(|row| Some(row["id"].as_str()?.to_owned())).collect()
}

/// What is asked of each metric that the answer lists: how it is over time, as the timeline shows it first, and what call paths have of it.
fn of_metrics(answer: &str) -> Vec<(String, String)> {
    let list: Value = serde_json::from_str(answer).unwrap_or_default();
    let counts = list["counts"].as_array().into_iter().flatten();
    let asked = counts.enumerate().flat_map(|(metric, counts)| {
        let counts = counts.as_bool().unwrap_or_default();
        let reading = if counts { "rate" } else { "level" };
        let over_time = (format!("counters?metric={metric}&as={reading}"), "rows=16".into());
        let by_path = (format!("measured?of=counter&metric={metric}"), "rows=64".into());
        [Some(over_time), counts.then_some(by_path)].into_iter().flatten()
    });
    asked.collect()
}

/// What is asked of the pairs that have most by the measure of a matrix: what one gave the other, as the matrix opens it.
fn of_pairs(answer: &str) -> Vec<(String, String)> {
    let matrix: Value = serde_json::from_str(answer).unwrap_or_default();
    let pes = |row: usize| {
        let (first, count) = (matrix["rows"]["first"][row].as_u64()?, matrix["rows"]["count"][row].as_u64()?);
        Some(if count == 1 { first.to_string() } else { format!("{first}-{}", first + count - 1) })
    };
    let rows = matrix["cells"].as_array().into_iter().flatten().enumerate();
    let mut cells: Vec<(f64, usize, usize)> = rows
        .flat_map(|(from, row)| {
            row.as_array().into_iter().flatten().enumerate().map(move |(to, cell)| (cell, from, to))
        })
        .filter_map(|(cell, from, to)| Some((cell.as_f64().filter(|value| *value > 0.0)?, from, to)))
        .collect();
    cells.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let asked = |(_, from, to): &(f64, usize, usize)| {
        Some((format!("transfers?givers={}&getters={}&order=slowest", pes(*from)?, pes(*to)?), String::new()))
    };
    cells.iter().take(PAIRS.0).filter_map(asked).collect()
}

/// The files of the answer that lists them.
fn file_names(answer: &str) -> Vec<String> {
    let list: Value = serde_json::from_str(answer).unwrap_or_default();
    let rows = list["files"]["file"].as_array().into_iter().flatten();
    rows.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

/// A value of a parameter, as the pages write it.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Answers as they are collected.
struct Map {
    text: String,
    most: usize,
}

impl Map {
    fn left(&self) -> usize {
        self.most.saturating_sub(self.text.len())
    }

    /// Asks a question below `runs/0/` as the pages ask it, with what only says how much is wanted.
    fn ask(&mut self, runs: &Runs, known: &str, limits: &str, share: usize) -> Option<String> {
        let (path, query) = known.split_once('?').unwrap_or((known, ""));
        let query = [query, limits].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join("&");
        self.fit(runs, &format!("runs/0/{known}"), &format!("runs/0/{path}"), &query, share)
    }

    /// Asks the first of several questions, each once: any may take a quarter of what is left of their share.
    fn ask_each(&mut self, runs: &Runs, mut wanted: Vec<(String, String)>, most: usize, share: usize) {
        let mut asked = FxHashSet::default();
        wanted.retain(|(known, _)| asked.insert(known.clone()));
        let before = self.text.len();
        for (known, limits) in wanted.into_iter().take(most) {
            let left = share.saturating_sub(self.text.len() - before);
            self.ask(runs, &known, &limits, left / 4);
        }
    }

    /// Adds an answer with as many rows as fit into a share; none where the question has no answer or does not fit.
    fn fit(&mut self, runs: &Runs, known: &str, path: &str, query: &str, share: usize) -> Option<String> {
        let mut rows = ROWS;
        while rows > 0 {
            let answer = String::from_utf8(short_answer(runs, path, query, rows).ok()?).ok()?;
            // No other text of JSON has this sign, so it can be written in the other way everywhere.
            let entry = format!("\"{known}\":{}", answer.replace('<', "\\u003c"));
            if entry.len() < share.min(self.left()) {
                if self.text.len() > 1 {
                    self.text.push(',');
                }
                self.text.push_str(&entry);
                return Some(answer);
            }
            rows /= 2;
        }
        None
    }
}
