//! `selection`: what some PEs did in a part of the run, in numbers.

use partune_base::{RegionId, Span, Time};
use partune_engine::{Content, Fold, Kind, Lasting, Moving, Times};
use partune_report::words;
use serde::Serialize;

use super::Ask;
use super::rows::{Rows, by_row, chosen};
use super::timeline::interval;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Functions that are listed, and rows of PEs.
const FUNCTIONS: usize = 200;
const ROWS: usize = 512;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Selection {
    from: i64,
    to: i64,
    pes: usize,
    /// Where it lies in the whole run, as `--from` and `--to` take it.
    begin_s: f64,
    end_s: f64,
    /// Of all PEs together.
    kinds: ByKind,
    /// What each row of PEs did with its time, a list a kind.
    rows: Rows,
    seconds: Vec<Vec<f64>>,
    functions: Functions,
    functions_omitted: usize,
    waits: Waits,
    /// In start-up, shut-down and the like, of which no finding is made.
    management_wait_s: f64,
    moved: Moved,
    /// Of the visits of the region that is asked for, or of all.
    durations: Durations,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ByKind {
    kind: Vec<usize>,
    seconds: Vec<f64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Functions {
    /// None for the code outside of all.
    region: Vec<Option<u32>>,
    name: Vec<String>,
    kind: Vec<usize>,
    visits: Vec<u64>,
    pes: Vec<u32>,
    inclusive_s: Vec<f64>,
    exclusive_s: Vec<f64>,
    most_s: Vec<f64>,
    most_pe: Vec<Option<u32>>,
    waiting_s: Vec<f64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Waits {
    pattern: Vec<&'static str>,
    title: Vec<String>,
    count: Vec<u64>,
    seconds: Vec<f64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Moved {
    #[cfg_attr(test, schemars(extend("items" = moving_names())))]
    what: Vec<&'static str>,
    count: Vec<u64>,
    bytes: Vec<u64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Durations {
    from: Vec<i64>,
    to: Vec<i64>,
    count: Vec<u64>,
}

#[cfg(test)]
fn moving_names() -> serde_json::Value {
    serde_json::json!({ "enum": Moving::ALL.map(Moving::name) })
}

pub(super) fn selection(run: &Run, ask: &Ask<'_>) -> Result<Selection, Error> {
    run.needs_events()?;
    let recorded = run.recorded();
    let (begin, end) = interval(run, &ask.query)?;
    let (pes, _) = chosen(run, &ask.query)?;
    let rows = ask.query.number("rows", 1..=ROWS)?.unwrap_or(64).min(ask.most);
    let region = ask.query.number("region", 0..=u32::MAX)?.map(RegionId);
    if let Some(region) = region.filter(|region| recorded.region(*region).is_none()) {
        return Err(Error::question(format!("there is no region {}", region.0), "runs/R/profile lists them"));
    }
    let selected = recorded.selected(&pes, (begin, end), region);
    let (times, content) = (&selected.times, &selected.content);
    let fold = Fold::new(pes, rows);
    let total = |pes: &[Times], kind: Kind| Span(pes.iter().map(|times| times[kind as usize]).sum());
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| total(times, *kind).is_positive()).collect();
    let waited: Span = content.waits.iter().map(|it| it.time).sum();
    let listed = FUNCTIONS.min(ask.most);
    let (from, to) = (run.ns(begin), run.ns(end));
    let clock = Nanoseconds::new(run, (begin, end), (from, to));
    Ok(Selection {
        from,
        to,
        pes: fold.pes().len(),
        begin_s: recorded.since_origin(begin),
        end_s: recorded.since_origin(end),
        seconds: kinds
            .iter()
            .map(|kind| by_row(&fold, times).map(|row| clock.seconds(total(row, *kind))).collect())
            .collect(),
        kinds: ByKind {
            kind: kinds.iter().map(|kind| *kind as usize).collect(),
            seconds: kinds.iter().map(|kind| clock.seconds(total(times, *kind))).collect(),
        },
        rows: Rows::new(run, &fold),
        functions: functions(run, content, listed, &clock),
        functions_omitted: content.functions.len().saturating_sub(listed),
        waits: waits(content, &clock),
        management_wait_s: clock.seconds((total(times, Kind::Wait) - waited).clamp_positive()),
        moved: moved(content),
        durations: Durations::new(&content.durations),
    })
}

/// Spans in seconds of a part whose ends are whole nanoseconds. The ticks in it need not be: of a finer clock, those of a few nanoseconds may be
/// longer or shorter than these.
struct Nanoseconds<'a> {
    run: &'a Run,
    scale: f64,
}

impl Nanoseconds<'_> {
    fn new(run: &Run, (begin, end): (Time, Time), (from, to): (i64, i64)) -> Nanoseconds<'_> {
        let ticks = run.seconds(end.since(begin));
        // The whole run is as long as its ticks.
        let is_whole = begin == run.recorded().begin() && end == run.recorded().end();
        let scale = if is_whole || ticks == 0.0 { 1.0 } else { (to - from) as f64 / 1e9 / ticks };
        Nanoseconds { run, scale }
    }

    fn seconds(&self, span: Span) -> f64 {
        self.run.seconds(span) * self.scale
    }
}

fn functions(run: &Run, content: &Content, most: usize, clock: &Nanoseconds<'_>) -> Functions {
    let recorded = run.recorded();
    let mut columns = Functions::default();
    for row in content.functions.iter().take(most) {
        let kind = recorded.region(row.region).map_or(Kind::Computation, |it| it.kind());
        columns.region.push(row.region.some().map(|region| region.0));
        columns.name.push(text::region(recorded, row.region));
        columns.kind.push(kind as usize);
        columns.visits.push(row.visits);
        columns.pes.push(row.pes);
        columns.inclusive_s.push(clock.seconds(row.inclusive));
        columns.exclusive_s.push(clock.seconds(row.exclusive));
        columns.most_s.push(clock.seconds(row.most));
        columns.most_pe.push(run.number(row.most_pe));
        columns.waiting_s.push(clock.seconds(row.waiting));
    }
    columns
}

fn waits(content: &Content, clock: &Nanoseconds<'_>) -> Waits {
    let mut columns = Waits::default();
    for row in &content.waits {
        columns.pattern.push(row.pattern.name());
        columns.title.push(words::title(row.pattern));
        columns.count.push(row.count);
        columns.seconds.push(clock.seconds(row.time));
    }
    columns
}

fn moved(content: &Content) -> Moved {
    let mut columns = Moved::default();
    for moving in Moving::ALL {
        let sum = content.moved[moving as usize];
        if sum.rows > 0 {
            columns.what.push(moving.name());
            columns.count.push(sum.rows);
            columns.bytes.push(sum.value);
        }
    }
    columns
}

impl Durations {
    pub(super) fn new(classes: &[Lasting]) -> Durations {
        let mut columns = Durations::default();
        for class in classes {
            columns.from.push(class.from);
            columns.to.push(class.to);
            columns.count.push(class.count);
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;

    use partune_engine::{Diagnosis, Request};
    use serde_json::Value;

    use crate::runs::Runs;

    /// Two ranks that hand something on 3,000 times, the second one always late, with a barrier each time: several blocks of visits.
    const LONG: &str = "
        pe 0: main 0..150000 { repeat 3000 every 50 { work 1..5 MPI_Send 5..9 send(to=1, bytes=8) MPI_Barrier 20..45 barrier } }
        pe 1: main 0..150000 { repeat 3000 every 50 { MPI_Recv 2..12 recv(from=0, bytes=8) work 12..38 { inner 20..25 } MPI_Barrier 40..45 barrier } }";

    /// What every answer is compared with: a walk over all visits, waits and messages.
    #[derive(Debug, Default, PartialEq)]
    struct Walked {
        /// By name: inclusive and exclusive ticks, visits.
        functions: BTreeMap<String, (i64, i64, u64)>,
        /// By pattern: how many, and ticks.
        waits: BTreeMap<String, (u64, i64)>,
        sent: (u64, u64),
        received: (u64, u64),
        /// By least duration.
        durations: BTreeMap<i64, u64>,
    }

    fn walked(diagnosis: &Diagnosis, pes: &[usize], from: i64, to: i64) -> Walked {
        let run = &diagnosis.run;
        let last = run.end().0 <= to;
        let clipped = |begin: i64, end: i64| (end.min(to) - begin.max(from)).max(0);
        let classes: Vec<i64> =
            std::iter::once(0).chain((0..12).flat_map(|it| [1, 2, 5].map(|step| step * 10i64.pow(it)))).collect();
        let mut found = Walked::default();
        for pe in pes.iter().map(|number| run.active_pes()[*number]) {
            // Those around a visit are open when it begins.
            let mut open: Vec<(i64, String)> = Vec::new();
            for visit in run.visits(pe) {
                let (enter, exit) = (visit.enter.0, visit.exit.0);
                open.retain(|(end, _)| *end > enter);
                let (name, ticks) = (run.region_at(visit.path).name.to_owned(), clipped(enter, exit));
                if (enter < to || last) && (exit > from || enter >= from) {
                    if let Some((_, outer)) = open.last() {
                        found.functions.get_mut(outer).expect("it is around").1 -= ticks;
                    }
                    let row = found.functions.entry(name.clone()).or_default();
                    *row = (row.0 + ticks, row.1 + ticks, row.2 + 1);
                    let class = classes.partition_point(|least| *least <= exit - enter) - 1;
                    *found.durations.entry(classes[class]).or_default() += 1;
                }
                open.push((exit, name));
            }
            for wait in run.waits(pe).filter(|wait| wait.end.0 > from && wait.begin.0 < to) {
                let row = found.waits.entry(wait.pattern.name().to_owned()).or_default();
                *row = (row.0 + 1, row.1 + clipped(wait.begin.0, wait.end.0));
            }
            let is_in = |time: i64| time >= from && (time < to || last);
            for message in run.messages() {
                if message.from == pe && is_in(message.begin.0) {
                    found.sent = (found.sent.0 + 1, found.sent.1 + message.bytes);
                }
                if message.to == pe && is_in(message.end.0) {
                    found.received = (found.received.0 + 1, found.received.1 + message.bytes);
                }
            }
        }
        found
    }

    /// The same from an answer; its seconds are ticks of a clock of nanoseconds.
    fn told(answer: &Value) -> Walked {
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let number = |value: &Value| value.as_u64().expect("a number");
        let ticks = |value: &Value| (value.as_f64().expect("seconds") * 1e9).round() as i64;
        let rows = |table: &Value, key: &str| (0..list(&table[key]).len()).collect::<Vec<usize>>();
        let (functions, waits, moved) = (&answer["functions"], &answer["waits"], &answer["moved"]);
        let mut found = Walked::default();
        for at in rows(functions, "name") {
            let row = (
                ticks(&functions["inclusive_s"][at]),
                ticks(&functions["exclusive_s"][at]),
                number(&functions["visits"][at]),
            );
            found.functions.insert(text(&functions["name"][at]), row);
        }
        for at in rows(waits, "pattern") {
            found
                .waits
                .insert(text(&waits["pattern"][at]), (number(&waits["count"][at]), ticks(&waits["seconds"][at])));
        }
        for at in rows(moved, "what") {
            let row = (number(&moved["count"][at]), number(&moved["bytes"][at]));
            match moved["what"][at].as_str() {
                Some("sent") => found.sent = row,
                Some("received") => found.received = row,
                _ => {}
            }
        }
        let durations = &answer["durations"];
        for at in rows(durations, "from") {
            let count = number(&durations["count"][at]);
            if count > 0 {
                found.durations.insert(durations["from"][at].as_i64().expect("ns"), count);
            }
        }
        found
    }

    fn asked(runs: &Runs, query: &str) -> Value {
        let answer = crate::answer(runs, "runs/0/selection", query).expect("it is answered");
        serde_json::from_slice(&answer).expect("it is JSON")
    }

    #[test]
    fn numbers_are_those_of_a_walk_over_everything() {
        let diagnosis = || partune_engine::analyze(partune_testkit::trace(LONG), &Request::default(), &());
        let (plain, runs) = (diagnosis(), Runs::of(Path::new("long"), diagnosis()));
        for (from, to) in
            [(0, 150_000), (3, 4), (17, 100_020), (60_000, 60_050), (149_999, 150_000), (12_345, 149_000), (45, 46)]
        {
            for (pes, only) in [(&[0, 1][..], "0-1"), (&[1], "1"), (&[0], "0")] {
                let answer = asked(&runs, &format!("from={from}&to={to}&only={only}"));
                assert_eq!(told(&answer), walked(&plain, pes, from, to), "{from} to {to} on {only}");
                // All kinds but waiting make up all time, and those of the rows are those of all.
                let kinds: Vec<u64> =
                    answer["kinds"]["kind"].as_array().expect("a list").iter().filter_map(Value::as_u64).collect();
                let mut whole = 0.0;
                for (at, kind) in kinds.iter().enumerate() {
                    let seconds = answer["kinds"]["seconds"][at].as_f64().expect("seconds");
                    let rows: f64 =
                        answer["seconds"][at].as_array().expect("a list").iter().filter_map(Value::as_f64).sum();
                    assert!((rows - seconds).abs() < 1e-12);
                    whole += if *kind == 11 { 0.0 } else { seconds };
                }
                assert!((whole * 1e9 - ((to - from) * pes.len() as i64) as f64).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn kinds_make_up_a_part_of_any_clock() {
        // Of these clocks, a nanosecond holds two or three ticks, one tick, or mostly none.
        for per_second in [2_700_000_000u64, 1_000_000_000, 400_000_000] {
            let text = format!(
                "resolution {per_second}
                 pe 0: main 0..900 {{ work 0..10 MPI_Barrier 10..900 barrier }}
                 pe 1: main 0..900 {{ work 0..200 MPI_Barrier 200..900 barrier }}"
            );
            let diagnosis = partune_engine::analyze(partune_testkit::trace(&text), &Request::default(), &());
            let runs = Runs::of(Path::new("clock"), diagnosis);
            for (from, to) in [(100, 101), (100, 102), (101, 104), (40, 150)] {
                let answer = asked(&runs, &format!("from={from}&to={to}"));
                let length = answer["to"].as_i64().zip(answer["from"].as_i64()).map(|(to, from)| to - from);
                let kinds = answer["kinds"]["kind"].as_array().expect("a list").iter();
                let seconds = answer["kinds"]["seconds"].as_array().expect("a list").iter();
                let all: f64 = kinds.zip(seconds).filter(|it| *it.0 != 11).filter_map(|it| it.1.as_f64()).sum();
                let expected = 2.0 * length.expect("they are numbers") as f64;
                assert!((all * 1e9 - expected).abs() < 1e-9, "{from} to {to} of {per_second}: {all}");
            }
        }
    }

    #[test]
    fn parts_in_collectives_are_where_they_begin() {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(LONG), &Request::default(), &());
        let runs = Runs::of(Path::new("long"), diagnosis);
        // PE 0 comes at 20, PE 1 at 40, and both go at 45; all of it again every 50.
        for (from, to, parts) in
            [(0, 20, 0), (20, 21, 1), (21, 40, 0), (40, 41, 1), (41, 50, 0), (20, 50 * 2_000 + 20, 4_000)]
        {
            let answer = asked(&runs, &format!("from={from}&to={to}"));
            let moved = &answer["moved"];
            let what = moved["what"].as_array().expect("a list");
            let count = what.iter().position(|it| it == "collective").map_or(0.into(), |at| moved["count"][at].clone());
            assert_eq!(count, parts, "{from} to {to}");
        }
    }

    #[test]
    fn durations_are_of_the_region_that_is_asked_for() {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(LONG), &Request::default(), &());
        let inner = diagnosis.run.regions().find(|region| region.name == "inner").expect("it is there").id.0;
        let runs = Runs::of(Path::new("long"), diagnosis);
        let answer = asked(&runs, &format!("from=0&to=500&region={inner}"));
        assert_eq!(answer["durations"].to_string(), r#"{"count":[10],"from":[5],"to":[10]}"#);
        let none = asked(&runs, &format!("from=0&to=500&only=0&region={inner}"));
        assert_eq!(none["durations"]["count"].as_array().map(Vec::len), Some(0));
        for wrong in
            ["only=", "only=0,0", "only=2", "only=1-0", "only=0-", "only=a", "region=99", "from=5&to=5", "first=3"]
        {
            assert!(crate::answer(&runs, "runs/0/selection", wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_whole_run_is_its_profile() {
        let diagnosis = partune_engine::analyze(partune_testkit::trace(LONG), &Request::default(), &());
        let runs = Runs::of(Path::new("long"), diagnosis);
        let profile: Value =
            serde_json::from_slice(&crate::answer(&runs, "runs/0/profile", "").expect("it is answered")).expect("JSON");
        let selection = asked(&runs, "");
        for key in ["region", "name", "visits", "pes", "inclusive_s", "exclusive_s", "most_s", "most_pe"] {
            assert_eq!(selection["functions"][key], profile["regions"][key], "{key}");
        }
    }
}
