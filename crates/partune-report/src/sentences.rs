//! What is said in plain words: how much of a run is useful, and what a finding loses. For documents, and for who serves them.

use partune_engine::{Diagnosis, Ranked};

use crate::{names, words};

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Plain(String),
    /// A name from the program.
    Code(String),
}

impl Piece {
    /// Without what it is.
    pub fn text(&self) -> &str {
        match self {
            Piece::Plain(text) | Piece::Code(text) => text,
        }
    }
}

fn plain(text: impl Into<String>) -> Piece {
    Piece::Plain(text.into())
}

/// How much is useful, and which factor is lowest; empty where efficiency is not known.
pub fn verdict(diagnosis: &Diagnosis) -> Vec<Vec<Piece>> {
    let Some(efficiency) = diagnosis.efficiency() else { return Vec::new() };
    let Some(parallel) = efficiency.parallel else { return Vec::new() };
    let balance = ("load_balance", efficiency.load_balance);
    let known = [balance, ("serialization", efficiency.serialization), ("transfer", efficiency.transfer)];
    let split = known.iter().all(|(_, value)| value.is_some());
    let fallback = [balance, ("communication", efficiency.communication)];
    let factors: &[(&str, Option<f64>)] = if split { &known } else { &fallback };
    let lowest = factors.iter().filter_map(|(name, value)| Some((*name, (*value)?))).min_by(|a, b| a.1.total_cmp(&b.1));
    let mut sentences = vec![vec![plain(names::percent(parallel)), plain(" of the PEs' time is useful work.")]];
    sentences.push(match lowest {
        Some((name, value)) if value < 0.95 => {
            let loss = match name {
                "load_balance" => "uneven work",
                "serialization" => "waiting for others that have as much to do in all",
                "transfer" => "moving data and library calls",
                _ => "communication",
            };
            let factor = words::factor(name).0.to_lowercase();
            vec![plain("Most is lost by "), plain(loss), plain(format!(": {factor} is {}.", names::percent(value)))]
        }
        _ => vec![plain("No single kind of loss stands out.")],
    });
    let run = efficiency.run_seconds.unwrap_or(0.0);
    let all = diagnosis.run.clock().seconds(diagnosis.run.duration());
    if let Some(piece) = words::piece(&diagnosis.run) {
        sentences.push(vec![plain(format!("This is a piece of the run, {piece}."))]);
    }
    if run > 0.0 && run < all * 0.95 {
        sentences.push(vec![plain(format!(
            "These figures are of the {} between start-up and shut-down; {} took {}.",
            names::seconds(run),
            if diagnosis.run.piece().is_some() { "the piece" } else { "the whole run" },
            names::seconds(all)
        ))]);
    }
    sentences
}

/// What share of the run a finding loses, and what outside of it: `12.0 % of the run, and 3.00 s outside of it`.
fn share(diagnosis: &Diagnosis, ranked: &Ranked) -> String {
    let of_run = format!("{} of the run", names::percent(ranked.fraction));
    let outside = ranked.finding.outside;
    if !outside.is_positive() {
        return of_run;
    }
    format!("{of_run}, and {} outside of it", names::seconds(diagnosis.run.seconds(outside)))
}

/// A finding in plain words: who loses how much where, and who makes it.
pub fn loss(diagnosis: &Diagnosis, ranked: &Ranked) -> Vec<Piece> {
    let run = &diagnosis.run;
    let finding = &ranked.finding;
    let seconds = |span| names::seconds(run.seconds(span));
    let who = match finding.pes.as_slice() {
        [] => "The run loses".to_owned(),
        [(one, _)] => format!("PE {} loses", names::pe(run, *one)),
        [one, two] => {
            let (first, second) = if two.1 > one.1 { (two, one) } else { (one, two) };
            format!("PEs {} and {} lose", names::pe(run, first.0), names::pe(run, second.0))
        }
        more => format!("{} PEs lose", more.len()),
    };
    let mut pieces = vec![
        plain(format!("{who} ")),
        plain(seconds(finding.time)),
        plain(format!(" ({}) in ", share(diagnosis, ranked))),
        Piece::Code(names::spot(run, finding)),
        plain(". "),
        plain(words::meaning(finding.pattern)),
    ];
    if let Some(cause) = finding.causes.first().filter(|cause| cause.pe.is_some()) {
        pieces.extend([
            plain(format!(" The one that makes it most is PE {} in ", names::pe(run, cause.pe))),
            Piece::Code(names::cause(run, finding.pattern, cause)),
            plain(format!(" ({}).", seconds(cause.time))),
        ]);
    }
    pieces
}
