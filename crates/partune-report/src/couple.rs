//! What kernels do to each other: text and JSON of `partune couple`.

use std::fmt::Write;

use partune_couple::judge::{Fault, Problem};
use partune_couple::outcome::{ChainRow, Configured, LengthRow, PredictionRow, Unpredicted};
use partune_couple::{Interaction, Measured, Outcome};
use partune_diag::{fixed, seconds};
use schemars::JsonSchema;
use serde::Serialize;

use crate::names::{bytes, percent};
use crate::runs::{plural, pretty, schema_of, table};
use crate::style::{Style, Tone};

/// What `partune couple --json` prints. All seconds are of the slowest rank.
#[derive(Serialize, JsonSchema)]
struct CoupleDocument<'a> {
    /// Version of this document.
    partune: u32,
    /// Kernels of one turn, in their order.
    #[serde(rename = "loop")]
    order: &'a [String],
    /// What cannot be right, and is not counted on.
    problems: Vec<ProblemEntry<'a>>,
    configurations: Vec<ConfigurationEntry<'a>>,
    chains: Vec<ChainEntry<'a>>,
    /// Of what was measured, then of what was not.
    predictions: Vec<PredictionEntry>,
    /// What the plan wants predicted, and is not.
    unpredicted: Vec<UnpredictedEntry>,
    lengths: Vec<LengthEntry<'a>>,
    /// The length of chains that predicts best what was left out, by configurations that all lengths have; of one such, what was measured.
    best_k: Option<usize>,
    /// Seconds of kernels alone, over size n and PEs P.
    laws: Vec<LawEntry<'a>>,
    /// Why there are none, and nothing is predicted that was not measured.
    no_laws: Option<&'static str>,
}

#[derive(Serialize, JsonSchema)]
struct ProblemEntry<'a> {
    size: f64,
    pes: u32,
    /// Empty: the loop with all its turns.
    kernels: &'a [String],
    fault: &'static str,
    message: String,
    remedy: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct ConfigurationEntry<'a> {
    size: f64,
    pes: u32,
    launches: usize,
    iterations: u64,
    once_s: f64,
    state_bytes: f64,
    actual_s: f64,
    actual_sigma_s: f64,
    /// By how much a launch was faster or slower altogether than they mostly are, which is taken out.
    launches_differ: f64,
    /// The share of measurements that another program took a part of: of the loop, and of kernels and chains.
    loop_disturbed: f64,
    chains_disturbed: f64,
    /// How kernels and chains were executed: `in_a_row`, each on what it left; or `one_by_one`, each time from the state that they begin with in the loop, since some
    /// do not leave finite numbers in a row.
    executed: &'static str,
    kernels: Vec<KernelEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct KernelEntry<'a> {
    kernel: &'a str,
    /// Of one execution alone.
    alone_s: f64,
    sigma_s: f64,
    /// What that is multiplied by in chains of the best length; null if they have faults.
    coefficient: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct ChainEntry<'a> {
    kernels: &'a [String],
    k: usize,
    size: f64,
    pes: u32,
    coupling: f64,
    sigma: f64,
    interaction: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct PredictionEntry {
    k: usize,
    size: f64,
    pes: u32,
    predicted_s: f64,
    /// Two standard deviations off: of what was measured by its own measurements; of what was not, by all that its laws and couplings leave open.
    low_s: f64,
    high_s: f64,
    summation_s: f64,
    /// Null of what was not measured.
    actual_s: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct UnpredictedEntry {
    size: f64,
    pes: u32,
    /// By chains of this length; null: by none.
    k: Option<usize>,
    why: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct LengthEntry<'a> {
    k: usize,
    /// Mean relative errors over what was measured.
    mean_error: f64,
    summation_mean_error: f64,
    /// With couplings of all other configurations; null of fewer than two.
    couplings_left_out_mean_error: Option<f64>,
    /// With kernels and couplings of all others; null of fewer than four.
    left_out: Option<LeftOutEntry>,
    /// Chains whose coupling changes suddenly.
    changes: Vec<ChangeEntry<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct LeftOutEntry {
    mean_error: f64,
    worst_error: f64,
    summation_mean_error: f64,
    /// How many of the actual times are within the intervals, and of how many.
    within: usize,
    of: usize,
}

#[derive(Serialize, JsonSchema)]
struct ChangeEntry<'a> {
    kernels: &'a [String],
    /// Bytes of state of a rank, or where there is none size by PEs, from which on.
    from: &'a [f64],
}

#[derive(Serialize, JsonSchema)]
struct LawEntry<'a> {
    kernel: &'a str,
    seconds: &'a str,
}

/// The document of `--json`.
pub fn couple_document(outcome: &Outcome) -> String {
    pretty(&CoupleDocument {
        partune: 1,
        order: &outcome.order,
        problems: outcome.problems.iter().map(problem).collect(),
        configurations: outcome.configurations.iter().map(configuration).collect(),
        chains: outcome.chains.iter().map(chain).collect(),
        predictions: outcome.predictions.iter().map(prediction).collect(),
        lengths: outcome.lengths.iter().map(length).collect(),
        best_k: outcome.best,
        laws: outcome.laws.iter().map(|(kernel, seconds)| LawEntry { kernel, seconds }).collect(),
        no_laws: outcome.no_laws,
        unpredicted: outcome.unpredicted.iter().map(unpredicted).collect(),
    })
}

/// The JSON schema of the document.
pub fn couple_schema() -> String {
    schema_of::<CoupleDocument<'_>>()
}

fn problem(it: &Problem) -> ProblemEntry<'_> {
    let Told { name, message, remedy } = told(it);
    ProblemEntry { size: it.size, pes: it.pes, kernels: &it.chain, fault: name, message, remedy }
}

fn configuration(it: &Configured) -> ConfigurationEntry<'_> {
    let kernel = |(kernel, alone): &'_ (String, Measured)| {
        let by = it.coefficients.iter().find(|(name, _)| name == kernel).map(|(_, by)| by.value);
        (alone.value, alone.deviation, by)
    };
    let entries = it.alone.iter().map(|pair| {
        let (alone_s, sigma_s, coefficient) = kernel(pair);
        KernelEntry { kernel: &pair.0, alone_s, sigma_s, coefficient }
    });
    ConfigurationEntry {
        size: it.size,
        pes: it.pes,
        launches: it.launches,
        iterations: it.iterations,
        once_s: it.once_s,
        state_bytes: it.state_bytes,
        actual_s: it.actual.value,
        actual_sigma_s: it.actual.deviation,
        launches_differ: it.launches_differ,
        loop_disturbed: it.loop_disturbed,
        chains_disturbed: it.chains_disturbed,
        executed: if it.one_by_one { "one_by_one" } else { "in_a_row" },
        kernels: entries.collect(),
    }
}

fn chain(it: &ChainRow) -> ChainEntry<'_> {
    ChainEntry {
        kernels: &it.kernels,
        k: it.kernels.len(),
        size: it.size,
        pes: it.pes,
        coupling: it.coupling.value,
        sigma: it.coupling.deviation,
        interaction: match it.interaction {
            Interaction::None => "none",
            Interaction::Constructive => "constructive",
            Interaction::Destructive => "destructive",
        },
    }
}

fn prediction(it: &PredictionRow) -> PredictionEntry {
    let (low_s, high_s) = it.interval();
    PredictionEntry {
        k: it.k,
        size: it.size,
        pes: it.pes,
        predicted_s: it.predicted.value,
        low_s,
        high_s,
        summation_s: it.summation,
        actual_s: it.actual.map(|actual| actual.value),
    }
}

fn unpredicted(Unpredicted { size, pes, k, why }: &Unpredicted) -> UnpredictedEntry {
    UnpredictedEntry { size: *size, pes: *pes, k: *k, why }
}

fn length(it: &LengthRow) -> LengthEntry<'_> {
    LengthEntry {
        k: it.k,
        mean_error: it.error,
        summation_mean_error: it.summation_error,
        couplings_left_out_mean_error: it.couplings_left_out,
        left_out: it.left_out.as_ref().map(|it| LeftOutEntry {
            mean_error: it.mean,
            worst_error: it.worst,
            summation_mean_error: it.summation,
            within: it.within,
            of: it.of,
        }),
        changes: it.changes.iter().map(|it| ChangeEntry { kernels: &it.kernels, from: &it.from }).collect(),
    }
}

/// A fault in words.
struct Told {
    name: &'static str,
    message: String,
    remedy: &'static str,
}

fn told(it: &Problem) -> Told {
    let who = match &it.chain[..] {
        [] => "the loop".to_owned(),
        [kernel] => format!("{kernel} alone"),
        chain => format!("the chain {}", chain.join(" ")),
    };
    let rerun = "a kernel has to stand being executed again and again on what it left: let it compute from data that it does not change, or make one kernel of it \
                 and of what undoes its effect";
    let (name, message, remedy) = match it.fault {
        Fault::NotFinite { values, executions } => (
            "not_finite",
            format!(
                "{who} leaves {values} values that are no finite numbers after {}",
                plural(executions as usize, "execution", "executions")
            ),
            rerun,
        ),
        Fault::Subnormal { share, executions } => {
            let share = percent(share);
            (
                "subnormal",
                format!(
                    "{who} makes {share} of the state subnormal in {}, and computing with such numbers is slow",
                    plural(executions as usize, "execution", "executions")
                ),
                rerun,
            )
        }
        Fault::HiddenState { differs } => (
            "hidden_state",
            format!(
                "{who} leaves another state after many executions, off by {}, though it began with the same one",
                percent(differs)
            ),
            "name all that kernels change with partune_couple_doubles, _floats and _bytes; a kernel that draws random numbers cannot be compared with itself",
        ),
        Fault::Drift { halves } => (
            "drift",
            format!("{who} takes {} of what it took before, the longer it is executed", percent(halves)),
            rerun,
        ),
        Fault::TooShort { seconds: value, least } => (
            "too_short",
            format!("{who} takes {}, and nothing below {} can be told from calling it", seconds(value), seconds(least)),
            "make one kernel of it and of its neighbour",
        ),
        Fault::Noise { share } => (
            "noise",
            format!("{who} was disturbed so much that it is known to {} only", percent(share)),
            "measure where nothing else runs, or raise budget_s or launches in the plan",
        ),
        Fault::TwoWays => (
            "two_ways",
            format!(
                "{who} was executed in a row by some launches and one by one by others, which is not to be compared"
            ),
            "remove the results of this size and PEs, and measure again",
        ),
        Fault::Few { rounds } => (
            "few_rounds",
            format!("{who} was measured {}, which says nothing of errors", plural(rounds, "time", "times")),
            "raise budget_s or launches in the plan",
        ),
        Fault::Missing => {
            ("missing", format!("{who} was not measured"), "remove the results of this size and PEs, and measure again")
        }
    };
    Told { name, message, remedy }
}

/// For the terminal.
pub fn couple_text(outcome: &Outcome, style: Style) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", style.paint(Tone::Strong, "loop"), outcome.order.join(" "));
    for it in &outcome.problems {
        let Told { message, remedy, .. } = told(it);
        let text = format!("size {} on {}: {message}; it is not counted on", it.size, on(it.pes));
        style.wrapped(&mut out, (Tone::Warning, "warning: "), &text);
        style.wrapped(&mut out, (Tone::Plain, "  remedy: "), remedy);
    }
    for it in &outcome.configurations {
        configuration_text(&mut out, outcome, it, style);
    }
    lengths_text(&mut out, outcome, style);
    elsewhere_text(&mut out, outcome, style);
    if let Some(why) = outcome.no_laws {
        style.wrapped(&mut out, (Tone::Plain, "note: "), &format!("nothing is predicted that was not measured: {why}"));
    }
    for Unpredicted { size, pes, k, why } in &outcome.unpredicted {
        let by = k.map(|k| format!(" by chains of {k}")).unwrap_or_default();
        let text = format!("size {size} on {} is not predicted{by}: {why}", on(*pes));
        style.wrapped(&mut out, (Tone::Plain, "note: "), &text);
    }
    out
}

fn on(pes: u32) -> String {
    plural(pes as usize, "PE", "PEs")
}

/// `0.913 ± 0.004`.
fn with_error(it: Measured) -> String {
    format!("{} ± {}", fixed(it.value, 3), fixed(it.deviation, 3))
}

fn share(it: Measured) -> String {
    format!("{} ± {}", seconds(it.value), percent(it.deviation / it.value))
}

/// How far off a prediction is, with its sign.
fn off(predicted: f64, actual: f64) -> String {
    format!("{:+.1} %", 100.0 * (predicted / actual - 1.0))
}

fn configuration_text(out: &mut String, outcome: &Outcome, it: &Configured, style: Style) {
    let state =
        if it.state_bytes > 0.0 { format!(", {} of state a rank", bytes(it.state_bytes)) } else { String::new() };
    let turns = plural(it.iterations as usize, "turn", "turns");
    let head = format!("size {} on {}", it.size, on(it.pes));
    let launches = plural(it.launches, "launch", "launches");
    let _ = writeln!(out, "\n{}: {} in {turns}{state}, {launches}", style.paint(Tone::Strong, &head), share(it.actual));
    let is_here = |size: f64, pes: u32| size.total_cmp(&it.size).is_eq() && pes == it.pes;
    let mut rows = vec![["kernel", "alone", "multiplied by"].map(str::to_owned).to_vec()];
    for (kernel, alone) in &it.alone {
        let by = it.coefficients.iter().find(|(name, _)| name == kernel).map(|(_, by)| with_error(*by));
        rows.push(vec![kernel.clone(), share(*alone), by.unwrap_or_default()]);
    }
    table(out, &rows);
    let mut rows = vec![["chain", "coupling", "together"].map(str::to_owned).to_vec()];
    for chain in outcome.chains.iter().filter(|row| is_here(row.size, row.pes)) {
        let word = match chain.interaction {
            Interaction::None => "as alone",
            Interaction::Constructive => "faster",
            Interaction::Destructive => "slower",
        };
        rows.push(vec![chain.kernels.join(" "), with_error(chain.coupling), word.to_owned()]);
    }
    table(out, &rows);
    let mut rows = vec![["predicted by", "seconds", "off"].map(str::to_owned).to_vec()];
    let mut own =
        outcome.predictions.iter().filter(|row| is_here(row.size, row.pes) && row.actual.is_some()).peekable();
    if let Some(first) = own.peek() {
        rows.push(vec![
            "the sum of kernels".to_owned(),
            seconds(first.summation),
            off(first.summation, it.actual.value),
        ]);
    }
    for row in own {
        let by = format!("chains of {}", row.k);
        rows.push(vec![by, share(row.predicted), off(row.predicted.value, it.actual.value)]);
    }
    table(out, &rows);
    if it.one_by_one {
        let text = "kernels and chains were executed one by one, each time from the state that they begin with in the loop: executed again on what they left, some of them \
                    do not leave finite numbers";
        style.wrapped(out, (Tone::Plain, "  note: "), text);
    }
    if it.launches_differ > SLOWER {
        let differ = percent(it.launches_differ);
        let text = format!(
            "launches were up to {differ} faster or slower altogether than they mostly are, which is taken out"
        );
        style.wrapped(out, (Tone::Warning, "  note: "), &text);
    }
    if it.launches == 1 {
        let text = "one launch: what ± says is the spread within it. The next launch may differ by much more, and couplings with it; 3 or more (`launches`) tell";
        style.wrapped(out, (Tone::Warning, "  note: "), text);
    }
    if it.loop_disturbed.max(it.chains_disturbed) > MUCH {
        let [whole, chains] = [it.loop_disturbed, it.chains_disturbed].map(percent);
        let text = format!(
            "other programs took a part of {whole} of the measurements of the loop, and of {chains} of those of kernels and chains, which take longer by that"
        );
        style.wrapped(out, (Tone::Warning, "  note: "), &text);
    }
}

/// More disturbed measurements than this are told, and launches that differ more.
const MUCH: f64 = 0.3;
const SLOWER: f64 = 0.1;

fn lengths_text(out: &mut String, outcome: &Outcome, style: Style) {
    if outcome.lengths.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, "mean errors"));
    let heads = [
        "chains of",
        "measured",
        "by the sum",
        "couplings left out",
        "all left out",
        "by the sum",
        "within the interval",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for it in &outcome.lengths {
        let (mut all, mut summed, mut within) = Default::default();
        if let Some(it) = &it.left_out {
            (all, summed) = (percent(it.mean), percent(it.summation));
            within = format!("{} of {}", it.within, it.of);
        }
        let couplings = it.couplings_left_out.map(percent).unwrap_or_default();
        let best = if outcome.best == Some(it.k) { " (best)" } else { "" };
        let length = format!("{}{best}", it.k);
        rows.push(vec![length, percent(it.error), percent(it.summation_error), couplings, all, summed, within]);
    }
    table(out, &rows);
    for (k, change) in outcome.lengths.iter().flat_map(|it| it.changes.iter().map(move |change| (it.k, change))) {
        let has_state = outcome.configurations.iter().any(|it| it.state_bytes > 0.0);
        let told = |from: &f64| if has_state { bytes(*from) } else { fixed(*from, 4) };
        let from: Vec<String> = change.from.iter().map(told).collect();
        let text = format!(
            "the coupling of {} (chains of {k}) changes from {} {} on",
            change.kernels.join(" "),
            if has_state { "a state of" } else { "size by PEs of" },
            from.join(" and ")
        );
        style.wrapped(out, (Tone::Plain, "  "), &text);
    }
}

fn elsewhere_text(out: &mut String, outcome: &Outcome, style: Style) {
    if !outcome.laws.is_empty() {
        let _ = writeln!(out, "\n{}", style.paint(Tone::Strong, "seconds of kernels alone, of size n on P PEs"));
        table(out, &outcome.laws.iter().map(|(kernel, law)| vec![kernel.clone(), law.clone()]).collect::<Vec<_>>());
    }
    let mut rows =
        vec![["not measured", "chains of", "predicted", "from", "to", "by the sum"].map(str::to_owned).to_vec()];
    for row in outcome.predictions.iter().filter(|row| row.actual.is_none()) {
        let (low, high) = row.interval();
        let place = format!("size {} on {}", row.size, on(row.pes));
        let values = [row.predicted.value, low, high, row.summation].map(seconds);
        rows.push([place, row.k.to_string()].into_iter().chain(values).collect());
    }
    if rows.len() > 1 {
        out.push('\n');
        table(out, &rows);
    }
}
