//! A program on another number of PEs: text and JSON of `partune whatif` with several runs.

use partune_diag::{seconds, three_digits};
use partune_engine::{Followed, Law, OtherPes, PesPoint, PesRow, PlaceName, Term, Unpredictable};
use schemars::JsonSchema;
use serde::Serialize;

use super::place::{plural, table};
use crate::names::percent;
use crate::style::{Style, Tone};
use crate::what_if::{reason, saved, verdict};

/// What is said of another number of PEs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct OtherPesEntry<'a> {
    pes: u32,
    /// `predicted_run_s` at least, and at most.
    predicted_low_s: f64,
    predicted_high_s: f64,
    /// No runs on two other numbers of PEs were given, so `predicted_run_s` is what was recorded on this one.
    is_recorded: bool,
    /// What the first PE does alone will be longer than the chain of work that the recorded runs waited for; `places` are of that PE then.
    by_first_pe: bool,
    /// By number of PEs.
    runs: Vec<RunEntry<'a>>,
    /// What `predicted_run_s` is the sum of, longest first.
    places: Vec<PlaceEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct RunEntry<'a> {
    /// Of several on this number of PEs, the one with the median time.
    archive: &'a str,
    pes: usize,
    /// Runs on this number of PEs.
    runs: usize,
    run_s: f64,
    /// What the laws make of it; null if it has no part in them.
    fitted_s: Option<f64>,
}

/// A place on the critical path.
#[derive(Serialize, JsonSchema)]
struct PlaceEntry<'a> {
    /// The function, or the operation; empty for code outside of all recorded functions, and for all places that are too small to be told each.
    construct: &'a str,
    /// The function around it; empty if unknown.
    function: &'a str,
    /// Work, and no operation.
    is_work: bool,
    /// All places that are less than 1 % of every run.
    is_rest: bool,
    /// Seconds on the path of each of `runs`; null where it has no part in the law.
    seconds: Vec<Option<f64>>,
    predicted_s: f64,
    low_s: f64,
    high_s: f64,
    /// The sum of these.
    law: Vec<TermEntry>,
}

/// A term of a law: `seconds` times `pes ^ exponent`, times the logarithm of `pes` to base 2 where `log` is true; or for each of what is counted.
#[derive(Serialize, JsonSchema)]
struct TermEntry {
    seconds: f64,
    per: Per,
    exponent: f64,
    log: bool,
}

/// What a term counts.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Per {
    /// A power of the number of PEs.
    Pes,
    /// Visits on the path.
    Visit,
    /// Rounds of operations.
    Round,
    /// Bytes that pass.
    Byte,
    /// Seconds that the machine description says.
    Machine,
}

impl<'a> OtherPesEntry<'a> {
    pub(crate) fn of(said: &'a OtherPes) -> OtherPesEntry<'a> {
        let run = |run: &'a PesPoint| RunEntry {
            archive: &run.archive,
            pes: run.pes,
            runs: run.repeats,
            run_s: run.run_s,
            fitted_s: run.fitted_s,
        };
        let place = |row: &'a PesRow| PlaceEntry {
            construct: &row.place.construct,
            function: &row.place.function,
            is_work: row.place.is_work,
            is_rest: row.place.is_rest,
            seconds: row.seconds.clone(),
            predicted_s: row.predicted_s,
            low_s: row.low_s,
            high_s: row.high_s,
            law: row.law.0.iter().map(TermEntry::of).collect(),
        };
        OtherPesEntry {
            pes: said.pes,
            predicted_low_s: said.low_s,
            predicted_high_s: said.high_s,
            is_recorded: said.is_recorded,
            by_first_pe: said.by_first_pe,
            runs: said.runs.iter().map(run).collect(),
            places: said.rows.iter().map(place).collect(),
        }
    }
}

impl TermEntry {
    fn of((seconds, term): &(f64, Term)) -> TermEntry {
        let (per, exponent, log) = match term {
            Term::Power { sixths, log } => (Per::Pes, f64::from(*sixths) / 6.0, *log),
            Term::Visits => (Per::Visit, 0.0, false),
            Term::Rounds => (Per::Round, 0.0, false),
            Term::Volume => (Per::Byte, 0.0, false),
            Term::Machine => (Per::Machine, 0.0, false),
        };
        TermEntry { seconds: *seconds, per, exponent, log }
    }
}

/// For the terminal. `changes`: all that were asked for; `rows`: how many places are told.
pub fn other_pes_text(said: &OtherPes, changes: &[String], rows: usize, style: Style) -> String {
    let mut out = String::new();
    let mut row = |tone: Tone, label: &str, text: &str| {
        style.wrapped(&mut out, (tone, &format!("  {label:<11}")), text);
    };
    let run = |run: &PesPoint| {
        let several = if run.repeats > 1 { format!(" (median of {})", run.repeats) } else { String::new() };
        format!("{} on {}{several}", seconds(run.run_s), pes(run.pes))
    };
    let runs: Vec<String> = said.runs.iter().map(run).collect();
    if !runs.is_empty() {
        row(Tone::Plain, "runs", &runs.join(", "));
    }
    if let Some(why) = &said.refused {
        for change in changes {
            row(Tone::Warning, "refused", &format!("{change}: {}", reason(why)));
        }
        return out;
    }
    let fitted = said.runs.iter().filter_map(|run| Some(Followed { run_s: run.run_s, replayed_s: run.fitted_s? }));
    if let Some(worst) = fitted.max_by(|a, b| a.off().total_cmp(&b.off())) {
        let off = percent(worst.off());
        row(Tone::Plain, "laws", &format!("nowhere more than {off} off the runs that they are from"));
        if worst.is_doubtful() {
            let text = "no law meets these runs well, so what is predicted is worth no more than its order of size";
            row(Tone::Warning, "warning", text);
        }
    }
    for change in changes {
        row(Tone::Strong, "change", change);
    }
    let Some(base) = said.run() else { return out };
    if said.is_recorded {
        row(Tone::Strong, "recorded", &seconds(said.saving.predicted_run_s));
        let note = "there are no runs on two other numbers of PEs that could predict it";
        row(Tone::Plain, "note", note);
        return out;
    }
    let range = format!("{} to {}", seconds(said.low_s), seconds(said.high_s));
    row(Tone::Strong, "predicted", &format!("{} ({range})", seconds(said.saving.predicted_run_s)));
    if base.pes == said.pes as usize {
        let off = said.saving.predicted_run_s / base.run_s.max(f64::MIN_POSITIVE) - 1.0;
        let sign = if off < 0.0 { "less" } else { "more" };
        let text = format!("{}; predicted without it, {} {sign}", seconds(base.run_s), percent(off.abs()));
        row(Tone::Plain, "recorded", &text);
    } else {
        let (word, tone) = verdict(&said.saving);
        row(tone, word, &format!("{} on {}", saved(&said.saving, base.run_s), pes(base.pes)));
    }
    if said.by_first_pe {
        let note = "what the first PE does alone becomes longer than what the recorded runs waited for; the places are its own";
        row(Tone::Plain, "note", note);
    }
    out.push('\n');
    places(&mut out, said, rows);
    out
}

fn places(out: &mut String, said: &OtherPes, rows: usize) {
    let mut heading = vec!["what is waited for".to_owned()];
    heading.extend(said.runs.iter().map(|run| pes(run.pes)));
    heading.extend([
        format!("on {}", pes(said.pes as usize)),
        "at least".to_owned(),
        "at most".to_owned(),
        "law, of P PEs".to_owned(),
    ]);
    let row = |row: &PesRow| {
        let mut cells = vec![name(&row.place)];
        cells.extend(row.seconds.iter().map(|it| it.map_or("–".to_owned(), seconds)));
        cells.extend([row.predicted_s, row.low_s, row.high_s].map(seconds));
        cells.push(law(&row.law));
        cells
    };
    let table_rows: Vec<Vec<String>> = std::iter::once(heading).chain(said.rows.iter().take(rows).map(row)).collect();
    table(out, &table_rows);
}

fn pes(count: usize) -> String {
    plural(count, "PE", "PEs")
}

fn name(place: &PlaceName) -> String {
    match (place.is_rest, place.is_work, place.construct.as_str(), place.function.as_str()) {
        (true, true, ..) => "other work".to_owned(),
        (true, false, ..) => "other operations".to_owned(),
        (_, _, "", _) => "code outside of recorded functions".to_owned(),
        (_, true, construct, _) | (_, _, construct, "") => construct.to_owned(),
        (_, false, construct, function) => format!("{construct} in {function}"),
    }
}

/// `480 ms + 3.84 s / P`.
fn law(law: &Law) -> String {
    let term = |(value, term): &(f64, Term)| {
        let amount = seconds(value.abs());
        let text = match term {
            Term::Power { sixths, log } => {
                let log = if *log { " · log₂ P" } else { "" };
                match sixths {
                    0 => format!("{amount}{log}"),
                    6 => format!("{amount} · P{log}"),
                    -6 => format!("{amount}{log} / P"),
                    sixths if sixths % 3 == 0 => format!("{amount} · P^({}/2){log}", sixths / 3),
                    sixths => format!("{amount} · P^({}/3){log}", sixths / 2),
                }
            }
            Term::Visits => format!("{amount} a visit"),
            Term::Rounds => format!("{amount} a round"),
            Term::Volume => format!("{amount} a byte"),
            Term::Machine => format!("{} × the machine's", three_digits(value.abs())),
        };
        (*value < 0.0, text)
    };
    let mut out = String::new();
    // What takes time away comes last.
    let (more, less): (Vec<_>, Vec<_>) = law.0.iter().map(term).partition(|term| !term.0);
    for (at, (is_less, text)) in more.into_iter().chain(less).enumerate() {
        let sign = match (at, is_less) {
            (0, _) => "",
            (_, true) => " − ",
            (_, false) => " + ",
        };
        out.push_str(sign);
        out.push_str(&text);
    }
    out
}

/// Why nothing is said, in words, and what helps.
pub(crate) fn unpredictable(why: &Unpredictable) -> String {
    match why {
        Unpredictable::Together => {
            "it cannot be made together with other changes, which would change what the runs tell of numbers of PEs: ask for it alone".to_owned()
        }
        Unpredictable::OneCount { pes: count } => {
            format!("all runs have {}: give runs of the program on two numbers of PEs or more", pes(*count))
        }
        Unpredictable::Far { times, recorded } => format!(
            "it is {} times as far as was recorded, on {}, and nobody knows what sets in on the way: record a run that is nearer",
            three_digits(*times),
            pes(*recorded)
        ),
        Unpredictable::LittleInCommon { archive, share } => format!(
            "of the time of {archive} only {} is at places that it shares with the run on most PEs: they seem to be runs of different programs, so give \
             runs of one",
            percent(*share)
        ),
        Unpredictable::Crowded { archive, pes: count, processors, share } => format!(
            "in {archive} {} share {} of a node, and work waited for one for {} of its time, so that laws would be of the scheduler: \
             leave it out, or record where every PE has a processor",
            pes(*count),
            plural(*processors as usize, "processor", "processors"),
            percent(*share)
        ),
        Unpredictable::Profile { archive } => {
            format!("{archive} is a profile, sums without events: record without --profile")
        }
        Unpredictable::Incomplete { archive, message } => {
            format!("{archive} is not known as a whole ({message}): record it again")
        }
        Unpredictable::Layout => {
            "the processes of the runs differ in number, and so do their threads: give runs in which only one of both changes".to_owned()
        }
        Unpredictable::Uneven { of } => {
            format!("the runs have PEs by {of}, and this is no multiple of it: ask for one")
        }
        Unpredictable::Wide { predicted_s, low_s, high_s } => format!(
            "the runs do not tell it: {}, but {} to {} would be as likely; record it on more numbers of PEs, or nearer ones, or several times each",
            seconds(*predicted_s),
            seconds(*low_s),
            seconds(*high_s)
        ),
        Unpredictable::NoLaw => "no law over the number of PEs meets what was recorded: record it on more numbers of PEs".to_owned(),
    }
}
