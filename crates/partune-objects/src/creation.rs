//! Where and when the objects of an array are created.

use partune_base::Table;

use crate::graph::{ArrayId, EventGraph, ExecutionId, Kind, Object, ObjectId};

/// Thresholds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Share of the objects that one PE creates, from which creation is centralised.
    pub centralised: f64,
    /// A gap between bursts is longer than so many median gaps,
    pub gaps: f64,
    /// and than this share of the run.
    pub gap: f64,
    /// A single burst that ends within this share of the run is creation once.
    pub once: f64,
    /// Bursts that together take at most this share of the run are bursts.
    pub bursty: f64,
}

impl Default for Options {
    fn default() -> Options {
        Options { centralised: 0.9, gaps: 5.0, gap: 0.01, once: 0.05, bursty: 0.3 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// At the begin of the run.
    Once,
    Bursty,
    Continuous,
}

/// How an array came to be, and by what that was decided.
#[derive(Clone, Debug, PartialEq)]
pub struct Creation {
    pub centralised: bool,
    pub times: Times,
    /// Objects whose creator is known.
    pub known: u64,
    /// Most objects that one PE created.
    pub most: u64,
    /// First and last tick of each burst.
    pub bursts: Vec<(i64, i64)>,
    /// Ticks of the run.
    pub run: i64,
}

/// None where it is known of no object who created it. When an object was created is when its creation message was sent, or else when the
/// execution began that created it. O(E + n log n).
pub fn creation(graph: &EventGraph, array: ArrayId, options: &Options) -> Option<Creation> {
    let (executions, created) = (graph.executions(), times(graph));
    let of_array = graph.objects().iter_ids().filter(|(_, object)| object.array == array);
    let known = of_array.filter(|(_, object)| object.creator != ExecutionId::NONE);
    let mut found: Vec<(u32, i64)> = known.map(|(id, object)| (executions.pe[object.creator].0, created[id])).collect();
    found.sort_unstable();
    let most = found.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max()? as u64;
    let mut times: Vec<i64> = found.iter().map(|it| it.1).collect();
    times.sort_unstable();
    let (begin, end) = graph.span();
    let run = end - begin;
    let bursts = bursts(&times, run, options);
    let taken: i64 = bursts.iter().map(|(first, last)| last - first).sum();
    let share = |part: i64, share: f64| part as f64 <= share * run as f64;
    let times = match bursts.as_slice() {
        [(_, last)] if share(last - begin, options.once) => Times::Once,
        _ if share(taken, options.bursty) => Times::Bursty,
        _ => Times::Continuous,
    };
    let known = found.len() as u64;
    Some(Creation { centralised: most as f64 >= options.centralised * known as f64, times, known, most, bursts, run })
}

/// When each object was created, where that is known.
pub(crate) fn times(graph: &EventGraph) -> Table<ObjectId, i64> {
    let (executions, messages) = (graph.executions(), graph.messages());
    let begin = |object: &Object| executions.begin.get(object.creator).copied().unwrap_or_default();
    let mut created: Table<ObjectId, i64> = graph.objects().iter().map(begin).collect();
    let mut seen = Table::filled(created.len(), false);
    for id in messages.kind.ids().filter(|&id| messages.kind[id] == Kind::Creation) {
        let object = executions.object[messages.destination[id]];
        if graph.objects()[object].creator == messages.source[id] && !seen[object] {
            seen[object] = true;
            created[object] = messages.sent[id];
        }
    }
    created
}

/// Sorted times, split where nothing is created for long.
fn bursts(times: &[i64], run: i64, options: &Options) -> Vec<(i64, i64)> {
    let mut gaps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    let median = gaps.get(gaps.len() / 2).copied().unwrap_or(0);
    let long = (options.gaps * median as f64).max(options.gap * run as f64);
    let near = |a: &i64, b: &i64| (b - a) as f64 <= long;
    times.chunk_by(near).map(|burst| (burst[0], burst[burst.len() - 1])).collect()
}
