//! The history of a program: what its revisions took, figure by figure and finding by finding, each beside the one before, in one page.
//!
//! A revision is told from the one before by what `compare` tells: its repeats against those, so noise alone makes no mark.

use std::fmt::Write as _;

use partune_base::CallPathId;
use partune_engine::{
    CompareError, Comparison, Diagnosis, FindingRow, FindingSums, Interval, Pattern, Run, Unit, Verdict, repeats,
};
use partune_report::{names, plural, words};
use serde::Serialize;

use crate::report::{escaped, page};
use crate::text;

/// Figures and findings that are shown, those that lose most in any revision.
const FINDINGS: usize = 60;

/// What is measured of a run as a whole: a report has the time from its first event to its last.
const RUN_TIME: &str = "Run time without start-up and shut-down";

/// Revisions as they are added, oldest first.
#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct History {
    revisions: Vec<Revision>,
    figures: Vec<Figure>,
    findings: Vec<Finding>,
    /// How many findings are not shown.
    omitted: usize,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Revision {
    name: String,
    /// The report on its median run, in the same folder.
    report: String,
    runs: usize,
    pes: usize,
    began_ms: Option<u64>,
}

/// A figure over revisions: the medians of repeats, and where they lie. The first is the run time.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Figure {
    section: &'static str,
    name: &'static str,
    label: String,
    unit: Measured,
    values: Vec<Option<Value>>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(clippy::struct_field_names, reason = "keys of the answer")]
struct Value {
    value: f64,
    low: f64,
    high: f64,
    /// Beyond noise, against the revision before; none where it is not, or where it cannot be told.
    changed: Option<Changed>,
}

#[derive(Clone, Copy, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Measured {
    Seconds,
    Bytes,
    Count,
    Share,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(Debug, schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
enum Changed {
    More,
    Less,
    New,
    Gone,
}

/// A finding over revisions, of the run that stands for each; in none of those that have it not.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finding {
    title: String,
    place: String,
    seconds: Vec<Option<f64>>,
    changed: Vec<Option<Changed>>,
    /// Where it is in the last revision that has it, by which the next one finds it.
    #[serde(skip)]
    key: Key,
}

/// A pattern and a place, told apart by what is shown of them: what is done and in which function, and the file.
type Key = (Pattern, String, String);

impl History {
    /// Adds a revision: its runs, first the one that stands for them, beside those of the revision that was added last. `report` is the name of its report.
    pub fn add(
        &mut self,
        (name, report): (&str, &str),
        runs: &[Diagnosis],
        before: Option<&[Diagnosis]>,
    ) -> Result<(), CompareError> {
        // The first is beside itself, which tells its values.
        let sets: [Vec<&Diagnosis>; 2] = [before.unwrap_or(runs), runs].map(|runs| runs.iter().collect());
        let comparison = partune_engine::compare_sets(&sets)?;
        let (first, number) = (&sets[1][0].run, self.revisions.len());
        self.revisions.push(Revision {
            name: text::name(name),
            report: report.to_owned(),
            runs: runs.len(),
            pes: first.counts().pes,
            began_ms: first.provenance().began.map(|ns| ns / 1_000_000),
        });
        self.add_figures(number, &comparison, before.is_some());
        self.add_findings(number, &comparison, [sets[0][0], sets[1][0]], before.is_some());
        Ok(())
    }

    /// All of it as one page, with the pages of `ui/`; without scripts it shows run times as text.
    pub fn page(mut self, title: &str) -> String {
        let last = self.revisions.len();
        for figure in &mut self.figures {
            figure.values.resize_with(last, || None);
        }
        for finding in &mut self.findings {
            finding.seconds.resize(last, None);
            finding.changed.resize(last, None);
        }
        let most = |it: &Finding| it.seconds.iter().flatten().copied().fold(0.0, f64::max);
        self.findings.sort_by(|one, other| most(other).total_cmp(&most(one)).then_with(|| one.key.cmp(&other.key)));
        self.omitted = self.findings.len().saturating_sub(FINDINGS);
        self.findings.truncate(FINDINGS);
        let mut text = String::new();
        let times = self.figures.first().map(|it| it.values.as_slice()).unwrap_or_default();
        for (revision, time) in self.revisions.iter().zip(times) {
            let told = time.as_ref().map_or_else(|| "–".to_owned(), |it| partune_diag::seconds(it.value));
            let _ = writeln!(
                text,
                "{}: {} {told} ({})",
                revision.name,
                RUN_TIME.to_lowercase(),
                plural(revision.runs, "run", "runs")
            );
        }
        let answers = serde_json::to_string(&self).unwrap_or_default().replace('<', "\\u003c");
        page(&escaped(title, 1000), &escaped(&text, 50_000), &format!("{{\"runs\":[],\"history\":{answers}}}"))
    }

    fn add_figures(&mut self, number: usize, comparison: &Comparison, is_told: bool) {
        let Some(run) = comparison.runs.last() else { return };
        let beyond = |it: Option<Interval>, same: f64| {
            let it = it.filter(|it| is_told && it.is_known())?;
            if it.is_above(same) { Some(Changed::More) } else { it.is_below(same).then_some(Changed::Less) }
        };
        // Of single runs the spread over visits tells.
        let of_run = beyond(run.slower, 1.0).or(match run.change.verdict {
            Verdict::Grown if is_told => Some(Changed::More),
            Verdict::Shrunk if is_told => Some(Changed::Less),
            _ => None,
        });
        self.figure(number, ("run", "run", Unit::Seconds), &run.repeats, of_run);
        // The run time has its row.
        for figure in comparison.figures.iter().filter(|it| it.name != "run_seconds") {
            let [before, own] = figure.repeats.as_slice() else { continue };
            let changed = beyond(repeats::difference(before, own), 0.0);
            self.figure(number, (figure.section, figure.name, figure.unit), own, changed);
        }
    }

    fn figure(
        &mut self,
        number: usize,
        (section, name, unit): (&'static str, &'static str, Unit),
        own: &[f64],
        changed: Option<Changed>,
    ) {
        let Some(of) = repeats::median(own) else { return };
        let known = self.figures.iter().position(|it| (it.section, it.name) == (section, name));
        let at = known.unwrap_or_else(|| {
            let label = match section {
                "run" => RUN_TIME.to_owned(),
                "gaps" => format!("{name}: {}", words::gap(name).0),
                _ => Some(words::factor(name).0).filter(|it| !it.is_empty()).map_or_else(|| plain(name), str::to_owned),
            };
            let unit = match unit {
                Unit::Seconds => Measured::Seconds,
                Unit::Bytes => Measured::Bytes,
                Unit::Count => Measured::Count,
                Unit::Ratio => Measured::Share,
            };
            self.figures.push(Figure { section, name, label, unit, values: Vec::new() });
            self.figures.len() - 1
        });
        let values = &mut self.figures[at].values;
        values.resize_with(number, || None);
        values.push(Some(Value { value: of.estimate, low: of.low, high: of.high, changed }));
    }

    fn add_findings(&mut self, number: usize, comparison: &Comparison, runs: [&Diagnosis; 2], is_told: bool) {
        let mut places = Vec::new();
        for row in &comparison.findings {
            let [before, own] = row.sums.as_slice() else { continue };
            let key = |sums: &Option<FindingSums>, of: &Diagnosis| Some(key(&of.run, row.pattern, sums.as_ref()?.path));
            places.push((row, (*before, key(before, runs[0])), (*own, key(own, runs[1]))));
        }
        // A finding is where the comparison found it before, whatever its file is called now; the others are looked for when all these have moved.
        let (known, new): (Vec<_>, Vec<_>) = places.into_iter().partition(|(_, before, _)| before.1.is_some());
        let mut moved = Vec::new();
        for (row, (before, was), (own, is)) in known {
            let Some(was) = was else { continue };
            let (of, run) = own.map_or((before, runs[0]), |own| (Some(own), runs[1]));
            let at = self.finding_at(row, was, (of, run));
            self.add_finding(at, number, own, changed(row).filter(|_| is_told));
            moved.extend(is.map(|is| (at, is, place(run, row, of))));
        }
        for (at, key, place) in moved {
            (self.findings[at].key, self.findings[at].place) = (key, place);
        }
        for (row, _, (own, is)) in new {
            let Some(is) = is else { continue };
            let known = self.renamed(&is, &runs[1].run);
            let at = known.unwrap_or_else(|| self.finding_at(row, is.clone(), (own, runs[1])));
            (self.findings[at].key, self.findings[at].place) = (is, place(runs[1], row, own));
            self.add_finding(at, number, own, changed(row).filter(|_| is_told));
        }
    }

    /// The position of the finding with a key, or of a new one.
    fn finding_at(&mut self, row: &FindingRow, key: Key, (sums, of): (Option<FindingSums>, &Diagnosis)) -> usize {
        self.findings.iter().position(|it| it.key == key).unwrap_or_else(|| {
            let (title, place) = (words::title(row.pattern), place(of, row, sums));
            self.findings.push(Finding { title, place, seconds: Vec::new(), changed: Vec::new(), key });
            self.findings.len() - 1
        })
    }

    /// The position of the finding that an earlier revision has at this place in another file, if there is one: for where the revision before has none.
    /// As for a comparison, the file decides where the run has the place in several.
    fn renamed(&self, key: &Key, run: &Run) -> Option<usize> {
        let is_alike = |it: &Key| (it.0, &it.1) == (key.0, &key.1);
        let mut alike = self.findings.iter().enumerate().filter(|(_, it)| is_alike(&it.key));
        let (at, _) = alike.next().filter(|_| alike.next().is_none())?;
        let is_elsewhere = |it: Key| is_alike(&it) && it.2 != key.2;
        let mut places = run.paths().map(|path| self::key(run, key.0, path));
        (!places.any(is_elsewhere)).then_some(at)
    }

    fn add_finding(&mut self, at: usize, number: usize, own: Option<FindingSums>, changed: Option<Changed>) {
        let finding = &mut self.findings[at];
        // Rows that are told apart by more than what is shown here are one; the larger difference is told, which comes first.
        if let Some(sum) = finding.seconds.get_mut(number) {
            *sum = own.map_or(*sum, |it| Some(it.seconds + sum.unwrap_or(0.0)));
            return;
        }
        finding.seconds.resize(number, None);
        finding.changed.resize(number, None);
        finding.seconds.push(own.map(|it| it.seconds));
        finding.changed.push(changed);
    }
}

/// The name of a figure that has no words: `useful_seconds` is the useful time.
fn plain(name: &str) -> String {
    let name = name.strip_suffix("_seconds").map_or_else(|| name.to_owned(), |of| format!("{of} time"));
    words::capital(&name.replace('_', " "))
}

fn key(run: &Run, pattern: Pattern, path: CallPathId) -> Key {
    let at = run.location(path);
    let file = at.file.rsplit(['/', '\\']).next().unwrap_or_default();
    (pattern, format!("{} {}", text::construct(run, path), at.function), file.to_owned())
}

/// Where a finding is, as its run says it.
fn place(of: &Diagnosis, row: &FindingRow, sums: Option<FindingSums>) -> String {
    let path = sums.map_or(CallPathId::NONE, |it| it.path);
    names::spot_at(of, row.pattern, path).map_or_else(|| text::place(&of.run, path), |it| text::name(&it))
}

fn changed(row: &FindingRow) -> Option<Changed> {
    match row.changes.first()?.verdict {
        Verdict::Grown => Some(Changed::More),
        Verdict::Shrunk => Some(Changed::Less),
        Verdict::Added => Some(Changed::New),
        Verdict::Gone => Some(Changed::Gone),
        Verdict::Same | Verdict::TooSmall | Verdict::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use partune_base::{PeId, Span};
    use partune_engine::{Ranked, Request};

    use super::*;

    /// A run in whose file PE 1 is late by so much, with what else is found.
    fn run(file: &str, late: u32, more: &dyn Fn(&mut Diagnosis)) -> Diagnosis {
        let (sent, end) = (100 + late, 200 + late);
        let text = format!(
            "resolution 1000
             pe 0: main@{file}:1 0..{end} {{ MPI_Recv^{file}:3 10..{sent} recv(from=1, bytes=8) }}
             pe 1: main@{file}:1 0..{end} {{ work@{file}:9 0..{late} MPI_Send^{file}:4 {late}..{sent} send(to=0, bytes=8) }}"
        );
        let mut diagnosis = partune_engine::analyze(partune_testkit::trace(&text), &Request::default(), &());
        more(&mut diagnosis);
        diagnosis
    }

    fn history(revisions: &[Diagnosis]) -> History {
        let mut history = History::default();
        for (at, own) in revisions.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| std::slice::from_ref(&revisions[before]));
            history.add(("r", "r.html"), std::slice::from_ref(own), before).expect("they can be compared");
        }
        history
    }

    #[test]
    fn a_finding_whose_file_is_called_otherwise_is_itself() {
        let nothing: &dyn Fn(&mut Diagnosis) = &|_| ();
        let told = |files: [&str; 3]| {
            let late = [400, 900, 400];
            let runs: Vec<Diagnosis> = files.iter().zip(late).map(|(file, late)| run(file, late, nothing)).collect();
            let rows = history(&runs).findings;
            let known = |it: &Finding| it.seconds.iter().flatten().count();
            let row = |it: &Finding| (it.title.clone(), known(it), it.changed.iter().flatten().count());
            (rows.iter().map(row).collect::<Vec<_>>(), rows.iter().map(|it| it.place.clone()).collect::<Vec<_>>())
        };
        let (same, moved) = (told(["a.c", "a.c", "a.c"]), told(["a.c", "b.c", "c.c"]));
        assert!(same.0.iter().any(|it| it.0 == "Late sender" && it.1 == 3), "{same:?}");
        assert_eq!(moved.0, same.0);
        let last: Vec<String> = same.1.iter().map(|place| place.replace("a.c", "c.c")).collect();
        assert_eq!(moved.1, last, "where it is in the last revision");
    }

    /// The late senders of a history: where each is in the last revision that has it, its marks, and in how many revisions it is.
    fn late_senders(revisions: &[Diagnosis]) -> Vec<(String, Vec<Option<Changed>>, usize)> {
        let rows = history(revisions).findings.into_iter().filter(|it| it.key.0 == Pattern::LateSender);
        rows.map(|it| (it.place, it.changed, it.seconds.iter().flatten().count())).collect()
    }

    #[test]
    fn a_finding_whose_file_is_called_otherwise_after_a_revision_without_it_is_itself() {
        let nothing: &dyn Fn(&mut Diagnosis) = &|_| ();
        let marks = vec![None, Some(Changed::Gone), None, Some(Changed::New)];
        for files in [
            ["a.c"; 4],
            ["a.c", "a.c", "a.c", "b.c"],
            ["a.c", "b.c", "b.c", "c.c"],
            ["x/a.c", "y/a.c", "y/a.c", "z/a.c"],
        ] {
            let late = [400, 5, 5, 400];
            let runs: Vec<Diagnosis> = files.iter().zip(late).map(|(file, late)| run(file, late, nothing)).collect();
            let file = files[3].rsplit('/').next().unwrap();
            assert_eq!(late_senders(&runs), [(format!("MPI_Recv in main ({file}:3)"), marks.clone(), 2)], "{files:?}");
        }
    }

    #[test]
    fn findings_of_one_name_in_two_files_of_a_run_are_two() {
        // One function in two files, of which the one waits for so long, and then the other.
        let run = |[one, other]: [u32; 2]| {
            let (first, begin) = (100 + one, 200 + one);
            let (second, end) = (begin + other + 100, begin + other + 200);
            let text = format!(
                "resolution 1000
                 pe 0: main@m.c:1 0..{end} {{ get@a.c:3 0..{first} {{ MPI_Recv^a.c:4 10..{first} recv(from=1, bytes=8) }}
                     get@b.c:3 {begin}..{second} {{ MPI_Recv^b.c:4 {begin}..{second} recv(from=1, bytes=8) }} }}
                 pe 1: main@m.c:1 0..{end} {{ MPI_Send^m.c:4 {one}..{first} send(to=0, bytes=8)
                     MPI_Send^m.c:5 {}..{second} send(to=0, bytes=8) }}",
                begin + other
            );
            partune_engine::analyze(partune_testkit::trace(&text), &Request::default(), &())
        };
        let found = late_senders(&[run([400, 0]), run([0, 0]), run([0, 400])]);
        let places: Vec<(&str, usize)> = found.iter().map(|it| (it.0.as_str(), it.2)).collect();
        assert_eq!(places, [("MPI_Recv in get (a.c:4)", 1), ("MPI_Recv in get (b.c:4)", 1)]);
    }

    #[test]
    fn findings_are_where_their_run_says() {
        let waits: &dyn Fn(&mut Diagnosis) = &|diagnosis| {
            let (pattern, path, pes) = (Pattern::WaitForProcessor, CallPathId::NONE, vec![(PeId(0), Span(100))]);
            let other = diagnosis.findings[0].finding.clone();
            let finding = partune_engine::Finding { pattern, path, pes, time: Span(100), paths: Vec::new(), ..other };
            diagnosis.findings.push(Ranked { finding, fraction: 0.1 });
        };
        let history = history(&[run("a.c", 400, waits), run("a.c", 400, waits)]);
        let found: Vec<_> = history.findings.iter().filter(|it| it.key.0 == Pattern::WaitForProcessor).collect();
        assert!(found.len() == 1 && found[0].place.starts_with("processors"), "{}", found[0].place);
        assert!(!history.findings.iter().any(|it| it.place == names::OUTSIDE));
    }
}
