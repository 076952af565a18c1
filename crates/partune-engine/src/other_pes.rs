//! What a program would take on another number of PEs: from its runs on several.

use std::collections::BTreeMap;

use partune_analysis::{Crowded, Law, PlaceName, Predicted, RunPlaces, Waits, predict, repeats, run_seconds};
use partune_diag::{Code, Quality};
use partune_machine::Machine;

use crate::session::{Opened, Request, matched};
use crate::what_if::{Saving, WhyRefused};
use crate::{Progress, operations, timed};

/// Runs of a program, of which each says what its number of PEs makes of it. Memory: the sums of places of each run; no run is kept.
#[derive(Clone, Debug, Default)]
pub struct PesRuns(Vec<PesRun>);

#[derive(Clone, Debug)]
struct PesRun {
    archive: String,
    run_s: f64,
    /// What its places took, or why that is not known.
    places: Result<RunPlaces, Unpredictable>,
}

/// A program on another number of PEs. Times are seconds of wall-clock time between the end of start-up and the begin of shut-down.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherPes {
    pub pes: u32,
    /// By number of PEs; of several on one number, the one with the median time.
    pub runs: Vec<PesPoint>,
    /// Position of the recorded run that the prediction is held against: on that number of PEs, else on the nearest one.
    pub base: usize,
    pub saving: Saving,
    /// What is predicted takes at least, and at most.
    pub low_s: f64,
    pub high_s: f64,
    /// No two other numbers of PEs were recorded, so what is told is the recorded run.
    pub is_recorded: bool,
    /// What the first PE does alone is longer than what all others wait for.
    pub by_first_pe: bool,
    /// What the prediction is the sum of, longest first.
    pub rows: Vec<PesRow>,
    pub refused: Option<WhyRefused>,
}

/// The runs on one number of PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct PesPoint {
    pub archive: String,
    pub pes: usize,
    /// How many there are.
    pub repeats: usize,
    pub run_s: f64,
    /// What the laws say of it; none if it has no part in them.
    pub fitted_s: Option<f64>,
}

/// A place over the numbers of PEs.
#[derive(Clone, Debug, PartialEq)]
pub struct PesRow {
    pub place: PlaceName,
    /// For each of the runs; none if it has no part in the laws.
    pub seconds: Vec<Option<f64>>,
    pub predicted_s: f64,
    pub low_s: f64,
    pub high_s: f64,
    pub law: Law,
}

/// Why runs do not tell of another number of PEs.
#[derive(Clone, Debug, PartialEq)]
pub enum Unpredictable {
    /// It is asked for together with other changes.
    Together,
    /// All runs have one number of PEs.
    OneCount {
        pes: usize,
    },
    /// It is so many times as many as the most that were recorded, or so many times fewer than the fewest.
    Far {
        times: f64,
        recorded: usize,
    },
    /// So small a share of the time of this run is at places that the run on most PEs has too.
    LittleInCommon {
        archive: String,
        share: f64,
    },
    /// Work waited for processors, of which its node has too few, for this share of its time.
    Crowded {
        archive: String,
        pes: usize,
        processors: u64,
        share: f64,
    },
    Profile {
        archive: String,
    },
    /// What was noticed about a run: it ended early, or is not known as a whole.
    Incomplete {
        archive: String,
        message: String,
    },
    /// Processes and their threads both change with the number of PEs.
    Layout,
    /// So many PEs would not be processes of so many threads each, or these threads of so many processes.
    Uneven {
        of: usize,
    },
    /// What it may be is wider than what it is.
    Wide {
        predicted_s: f64,
        low_s: f64,
        high_s: f64,
    },
    /// No law meets what was measured.
    NoLaw,
}

/// From so many times the recorded PEs on nothing is said.
const FAR: f64 = 8.0;
/// Runs that have less of their time in common are of different programs.
const COMMON: f64 = 0.5;
/// From this share on that work waits for processors, what was measured is the scheduler.
const CROWDED: f64 = 0.1;

impl PesRuns {
    /// Adds a run, and leaves its archive. Linear in visits.
    pub fn add(&mut self, archive: &str, opened: Opened, progress: &dyn Progress) {
        let Opened { mut trace, operations } = opened;
        let archive = archive.to_owned();
        let run_s = run_seconds(&trace);
        if trace.profile().is_some() {
            let places = Err(Unpredictable::Profile { archive: archive.clone() });
            return self.0.push(PesRun { archive, run_s, places });
        }
        let operations = operations::chosen(&partune_operations::Operations::default(), operations, &mut trace);
        let (trace, index, _) = matched(operations.assign(trace), &Request::default(), progress);
        let mut quality = trace.quality().clone();
        quality.merge(index.quality.clone());
        let crowded = Crowded::of(&trace).filter(|it| it.share > CROWDED);
        let places = if let Some(message) = incomplete(&quality) {
            Err(Unpredictable::Incomplete { archive: archive.clone(), message })
        } else if let Some(Crowded { pes, processors, share }) = crowded {
            Err(Unpredictable::Crowded { archive: archive.clone(), pes, processors, share })
        } else {
            let find = || RunPlaces::of(&trace, &index, &Waits::find(&trace, &index));
            Ok(timed(progress, "places", find))
        };
        self.0.push(PesRun { archive, run_s, places });
    }

    /// What the program takes on so many PEs. `alone`: no other change is asked for.
    pub fn predict(&self, pes: u32, alone: bool, machine: Option<&Machine>) -> OtherPes {
        let mut of_count: BTreeMap<usize, Vec<(&PesRun, &RunPlaces)>> = BTreeMap::new();
        let known = self.0.iter().filter_map(|run| Some((run, run.places.as_ref().ok()?)));
        known.for_each(|run| of_count.entry(run.1.pes).or_default().push(run));
        let points: Vec<Point<'_>> = of_count.values().filter_map(|runs| Point::of(runs)).collect();
        let nearest = |point: &&Point<'_>| (point.places.pes as f64 / f64::from(pes)).ln().abs();
        let base = points.iter().min_by(|a, b| nearest(a).total_cmp(&nearest(b)));
        let base = base.and_then(|base| points.iter().position(|point| std::ptr::eq(point, base))).unwrap_or(0);
        let run_s = points.get(base).map_or_else(|| self.0.first().map_or(0.0, |run| run.run_s), |base| base.run_s);
        let mut said = OtherPes {
            pes,
            runs: points.iter().map(Point::told).collect(),
            base,
            saving: Saving { predicted_run_s: run_s, saves_s: 0.0, saves_low_s: 0.0, saves_high_s: 0.0 },
            low_s: run_s,
            high_s: run_s,
            is_recorded: false,
            by_first_pe: false,
            rows: Vec::new(),
            refused: None,
        };
        match self.laws(&points, pes, alone, machine) {
            Err(why) => said.refused = Some(WhyRefused::Pes(why)),
            Ok(None) => said.is_recorded = true,
            Ok(Some(predicted)) => said.take(predicted, &points, run_s),
        }
        said
    }

    /// The prediction; none if only recorded runs can tell.
    fn laws(
        &self,
        points: &[Point<'_>],
        pes: u32,
        alone: bool,
        machine: Option<&Machine>,
    ) -> Result<Option<Predicted>, Unpredictable> {
        if !alone {
            return Err(Unpredictable::Together);
        }
        if let Some(why) = self.0.iter().find_map(|run| run.places.as_ref().err()) {
            return Err(why.clone());
        }
        let (Some(first), Some(last)) = (points.first(), points.last()) else { return Err(Unpredictable::NoLaw) };
        let (few, many) = (first.places.pes, last.places.pes);
        if few == many {
            return Err(Unpredictable::OneCount { pes: many });
        }
        let all_equal = |of: fn(&RunPlaces) -> usize| points.iter().all(|point| of(point.places) == of(first.places));
        let threads = |run: &RunPlaces| run.pes / run.processes.max(1);
        let is_even = points.iter().all(|point| point.places.pes.is_multiple_of(point.places.processes.max(1)));
        let of = match (all_equal(|run| run.processes), is_even && all_equal(threads)) {
            (true, _) => first.places.processes,
            (_, true) => threads(first.places),
            _ => return Err(Unpredictable::Layout),
        };
        if !(pes as usize).is_multiple_of(of.max(1)) {
            return Err(Unpredictable::Uneven { of });
        }
        for point in points {
            let share = point.places.common(last.places).min(last.places.common(point.places));
            if share < COMMON {
                return Err(Unpredictable::LittleInCommon { archive: point.archive.to_owned(), share });
            }
        }
        let asked = f64::from(pes);
        for (times, recorded) in [(asked / many as f64, many), (few as f64 / asked, few)] {
            if times > FAR {
                return Err(Unpredictable::Far { times, recorded });
            }
        }
        let others: Vec<(&RunPlaces, f64)> =
            points.iter().filter(|it| it.places.pes != pes as usize).map(|it| (it.places, it.noise)).collect();
        if others.len() < 2 {
            return Ok(None);
        }
        let predicted = predict(&others, pes, machine).ok_or(Unpredictable::NoLaw)?;
        let Predicted { seconds, low, high, .. } = predicted;
        if high - low > seconds {
            return Err(Unpredictable::Wide { predicted_s: seconds, low_s: low, high_s: high });
        }
        Ok(Some(predicted))
    }
}

/// The runs on one number of PEs, by the one with the median time.
struct Point<'a> {
    archive: &'a str,
    places: &'a RunPlaces,
    run_s: f64,
    repeats: usize,
    /// Standard deviation of their times, as a share.
    noise: f64,
}

impl<'a> Point<'a> {
    fn of(runs: &[(&'a PesRun, &'a RunPlaces)]) -> Option<Point<'a>> {
        let times: Vec<f64> = runs.iter().map(|(run, _)| run.run_s).collect();
        let (run, places) = runs[repeats::middle(&times)?];
        let noise = repeats::mean_and_deviation(&times).filter(|(mean, _)| *mean > 0.0);
        let noise = noise.map_or(0.0, |(mean, deviation)| deviation / mean);
        Some(Point { archive: &run.archive, places, run_s: run.run_s, repeats: runs.len(), noise })
    }

    fn told(&self) -> PesPoint {
        PesPoint {
            archive: self.archive.to_owned(),
            pes: self.places.pes,
            repeats: self.repeats,
            run_s: self.run_s,
            fitted_s: None,
        }
    }
}

impl OtherPes {
    /// The recorded run that the prediction is held against.
    pub fn run(&self) -> Option<&PesPoint> {
        self.runs.get(self.base)
    }

    /// Takes a prediction from the points on other numbers of PEs.
    fn take(&mut self, predicted: Predicted, points: &[Point<'_>], run_s: f64) {
        let mut next = 0..;
        let mut position = |point: &Point<'_>| (point.places.pes != self.pes as usize).then(|| next.next()).flatten();
        let at: Vec<Option<usize>> = points.iter().map(&mut position).collect();
        for (point, at) in self.runs.iter_mut().zip(&at) {
            point.fitted_s = at.map(|at| predicted.fitted[at]);
        }
        let Predicted { seconds, low, high, by_first_pe, rows, .. } = predicted;
        self.saving = Saving {
            predicted_run_s: seconds,
            saves_s: run_s - seconds,
            saves_low_s: run_s - high,
            saves_high_s: run_s - low,
        };
        (self.low_s, self.high_s, self.by_first_pe) = (low, high, by_first_pe);
        let row = |row: partune_analysis::PredictedRow| PesRow {
            seconds: at.iter().map(|at| at.map(|at| row.seconds[at])).collect(),
            place: row.place,
            predicted_s: row.fitted.there,
            low_s: row.fitted.low,
            high_s: row.fitted.high,
            law: row.fitted.law,
        };
        self.rows = rows.into_iter().map(row).collect();
    }
}

/// What keeps a run from being known as a whole.
fn incomplete(quality: &Quality) -> Option<String> {
    const MISSES: [Code; 6] = [
        Code::EndedEarly,
        Code::LostEvents,
        Code::MissingProcesses,
        Code::RecorderPaused,
        Code::ClocksNotAligned,
        Code::SeparateJobs,
    ];
    let entries = quality.entries();
    MISSES.iter().find_map(|code| entries.iter().find(|it| it.code == *code)).map(|it| it.message.clone())
}
