//! Hints by the names of a run.

use partune_analysis::ObjectRun;
use partune_base::{RegionId, Span};
use partune_hints::{Aligned, Combine, Count, Datum, Evidence, File, Phases, Pipeline, Place, Priority, Urgency};
use partune_objects::deduce::{Deduced, Hint, Judged, Layout};
use partune_objects::graph::ArrayId;
use partune_objects::interaction::Interaction;
use partune_objects::locality::{self, locality};
use partune_objects::phases::Kind;
use partune_objects::tree::{Shape, Strategy, Tree};
use partune_trace::Trace;

use super::{Entry, TriedHint};
use crate::what_if::Saving;

pub(super) struct Names<'a> {
    pub(super) trace: &'a Trace,
    pub(super) run: &'a ObjectRun,
}

impl Names<'_> {
    fn array(&self, array: ArrayId) -> String {
        self.run.classes.get(array).map_or_else(String::new, |class| self.trace.strings().get(*class).to_owned())
    }

    /// Methods and types of messages are regions.
    fn method(&self, region: u32) -> String {
        let region = self.trace.regions().get(RegionId(region));
        region.map_or_else(String::new, |region| self.trace.strings().get(region.name).to_owned())
    }

    fn microseconds(&self, ticks: f64) -> f64 {
        (self.trace.clock().seconds(Span(ticks as i64)) * 1e9).round() / 1e3
    }

    pub(super) fn entry(&self, judged: &Judged, saving: &Saving) -> Entry {
        let evidence = evidence(judged, saving);
        match &judged.hint {
            Hint::Place { array, layout, aligned, least_per_pe } => {
                let graph = &self.run.graph;
                let name = self.array(*array);
                let extents = graph.extents(*array);
                let mut place = match layout {
                    Layout::Map(map) => Place::new(name, map, extents.len()),
                    Layout::Table(table) => Place::table(name, table.clone(), extents, graph.pes()),
                };
                let found = locality(graph, &Interaction::new(graph), *array, &locality::Options::default());
                place.locality = Some(found.class.name().to_owned());
                let aligned = aligned.iter().map(|it| Aligned { array: self.array(it.array), dims: it.dims.clone() });
                place.aligned_with = aligned.collect();
                place.least_per_pe = (*least_per_pe > 0.0).then_some(rounded(*least_per_pe));
                let objects = graph.objects().iter().filter(|object| object.array == *array).count();
                // Of fewer nothing is known where PEs share processors. A table serves no other numbers anyway.
                place.least_per_pe_shared =
                    matches!(layout, Layout::Map(_)).then(|| rounded(objects as f64 / f64::from(graph.pes().max(1))));
                place.evidence = evidence;
                Entry::Place(place)
            }
            Hint::Tree { array, shape } => {
                let tree = Tree::new(&self.run.graph, *array);
                let roots = if tree.roots().len() > 1 { tree.ratios(tree.roots()) } else { Vec::new() };
                Entry::Tree(spread(self.array(*array), shape, roots, evidence))
            }
            Hint::Objects { array, line } => {
                let of = Urgency::Object {
                    array: self.array(*array),
                    linear: line.slopes.iter().map(|&slope| rounded(slope)).collect(),
                    offset: rounded(line.offset),
                    r2: rounded(line.r2),
                };
                Entry::Priority(vec![Priority { of, evidence }])
            }
            Hint::Messages { levels } => {
                let priority = |it: &partune_objects::priority::Level| {
                    let message = self.method(it.message_type.0);
                    let mut evidence = evidence.clone();
                    evidence.push(("score".to_owned(), Datum::Float(rounded(it.score))));
                    Priority { of: Urgency::Message { message, level: it.level }, evidence }
                };
                Entry::Priority(levels.iter().map(priority).collect())
            }
            Hint::Pipeline(it) => {
                let method = self.method(it.message_type.0);
                Entry::Pipeline(Pipeline {
                    message: method.clone(),
                    method,
                    degree: it.degree.pieces,
                    parameter: None,
                    evidence,
                })
            }
            Hint::Combine { combining, single } => Entry::Combine(Combine {
                message: self.method(combining.message_type.0),
                dest: if *single { "single" } else { "array" }.to_owned(),
                count: Count::Local,
                timeout_us: self.microseconds(combining.timeout as f64),
                evidence,
            }),
        }
    }

    /// What is kept.
    pub(super) fn file(&self, program: &str, deduced: &Deduced, tried: &[TriedHint]) -> File {
        let graph = &self.run.graph;
        let count = |name: &str, count: usize| (name.to_owned(), Datum::Integer(count as i64));
        let [objects, executions] = self.run.counts();
        let run = vec![count("pes", graph.pes() as usize), count("objects", objects), count("executions", executions)];
        let phases = deduced.phases.as_ref().map(|found| {
            let (kind, method) = match found.kind {
                Kind::Synchronous => ("synchronous", None),
                Kind::Initiation { method, .. } => ("initiation", Some(self.method(method.0))),
                Kind::Loose => ("loose", None),
            };
            Phases { kind: kind.to_owned(), method, varying: deduced.varying }
        });
        let mut file = File { program: program.to_owned(), run, phases, ..File::default() };
        for it in tried.iter().filter(|it| it.kept) {
            match it.entry.clone() {
                Entry::Place(entry) => file.place.push(entry),
                Entry::Tree(entry) => file.tree.push(entry),
                Entry::Priority(entries) => file.priority.extend(entries),
                Entry::Pipeline(entry) => file.pipeline.push(entry),
                Entry::Combine(entry) => file.combine.push(entry),
            }
        }
        file
    }
}

fn spread(array: String, shape: &Shape, roots: Vec<f64>, evidence: Evidence) -> partune_hints::Tree {
    let (kind, branch, ratios, strategy) = match shape {
        Shape::Uniform { branch } => {
            let share = 1.0 / f64::from((*branch).max(1));
            ("uniform", Some(*branch), vec![rounded(share); *branch as usize], None)
        }
        Shape::UniformBranch { ratios } => {
            let ratios: Vec<f64> = ratios.iter().map(|&share| rounded(share)).collect();
            ("uniform_branch", Some(ratios.len() as u32), ratios, None)
        }
        Shape::UniformLoad { .. } => ("uniform_load", None, vec![], None),
        Shape::Irregular(strategy) => {
            let name = match strategy {
                Strategy::RoundRobin => "round_robin",
                Strategy::Neighbours => "neighbours",
                Strategy::Hierarchy => "hierarchy",
                Strategy::Manager => "manager",
            };
            ("irregular", None, vec![], Some(name.to_owned()))
        }
    };
    let roots = roots.into_iter().map(rounded).collect();
    partune_hints::Tree { array, kind: kind.to_owned(), branch, ratios, roots, strategy, evidence }
}

/// A millionth is far below what anything here tells apart.
fn rounded(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}

fn evidence(judged: &Judged, saving: &Saving) -> Evidence {
    let seconds =
        [("predicted_saves_s", saving.saves_s), ("low_s", saving.saves_low_s), ("high_s", saving.saves_high_s)];
    let seconds = seconds.map(|(name, seconds)| (name.to_owned(), Datum::Float((seconds * 1e9).round() / 1e9)));
    let counts = judged.evidence.iter().map(|&(name, value)| {
        let is_whole = value.fract() == 0.0 && value.abs() < 1e15;
        (name.to_owned(), if is_whole { Datum::Integer(value as i64) } else { Datum::Float(rounded(value)) })
    });
    counts.chain(seconds).collect()
}
