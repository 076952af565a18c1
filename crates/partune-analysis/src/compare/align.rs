//! Which places of several runs are the same place: call paths and regions matched by names, never by lines.
//!
//! Revisions shift lines, so a line only orders the calls of one name from one parent: if every run that has the name there has it as
//! often, the first call is the first, and so on; if not, which is which cannot be known, and they are one place. The file decides only
//! where one run has the name in several files: a function that moved is still the function.

use std::collections::{BTreeMap, VecDeque};

use partune_base::{CallPathId, Id, RegionId, StringId, Strings, Table};
use partune_trace::{RegionKind, Trace};

/// What makes two regions the same but for the file: construct or name, paradigm, and what the user marked it as.
type Name = (StringId, StringId, RegionKind);

/// No row.
const NO_ROW: u32 = u32::MAX;

/// Rows of a comparison: what they are in each run, and the row of each call path of each run.
pub(crate) struct Rows<I> {
    /// For each row and run the ids; none if the run has no such place.
    pub(crate) ids: Vec<Vec<Vec<I>>>,
    /// For each run the row of each call path.
    pub(crate) of_path: Vec<Table<CallPathId, u32>>,
}

/// The names of all runs' regions, in one set of strings.
pub(crate) struct Names {
    /// For each run and region its name and file; files without folders, since builds have their own.
    of_region: Vec<Table<RegionId, (Name, StringId)>>,
}

impl Names {
    pub(crate) fn new(traces: &[&Trace]) -> Names {
        let mut strings = Strings::default();
        let mut of_trace = |trace: &&Trace| {
            let text = |id| trace.strings().get(id);
            let key = |region: &partune_trace::Region| {
                let name = strings.intern(without_line(text(region.construct)));
                let paradigm = strings.intern(text(region.paradigm));
                let file = strings.intern(text(region.file).rsplit(['/', '\\']).next().unwrap_or_default());
                ((name, paradigm, region.kind), file)
            };
            trace.regions().iter().map(key).collect()
        };
        Names { of_region: traces.iter().map(&mut of_trace).collect() }
    }
}

/// A name without the place that some producers write into it: `!$omp for @cg.c:120`.
pub(crate) fn without_line(name: &str) -> &str {
    let is_place = |place: &str| place.rsplit(':').next().is_some_and(|line| line.parse::<u32>().is_ok());
    match name.split_once(" @") {
        Some((name, place)) if place.contains(':') && is_place(place) => name,
        _ => name,
    }
}

/// Same call paths: the same names from the root on. Linear in call paths but for sorting the calls of one parent.
pub(crate) fn call_paths(traces: &[&Trace], names: &Names) -> Rows<CallPathId> {
    let children: Vec<Vec<Vec<CallPathId>>> = traces.iter().map(|trace| children(trace)).collect();
    let mut rows = Rows {
        ids: Vec::new(),
        of_path: traces.iter().map(|trace| Table::filled(trace.paths().len(), NO_ROW)).collect(),
    };
    let roots = children.iter().map(|children| children.last().cloned().unwrap_or_default()).collect();
    let mut queue: VecDeque<Vec<Vec<CallPathId>>> = VecDeque::from([roots]);
    while let Some(candidates) = queue.pop_front() {
        let name = |run: usize, path: &CallPathId| names.of_region[run][traces[run].paths().region(*path)];
        for place in same_names(&candidates, name) {
            for ids in in_order(traces, place) {
                let below = ids.iter().zip(&children);
                let below: Vec<Vec<CallPathId>> = below
                    .map(|(ids, children)| ids.iter().flat_map(|id| children[id.index()].iter().copied()).collect())
                    .collect();
                if below.iter().any(|ids| !ids.is_empty()) {
                    queue.push_back(below);
                }
                rows.push(ids, |path| vec![path]);
            }
        }
    }
    rows
}

/// Same regions, whoever calls them.
pub(crate) fn regions(traces: &[&Trace], names: &Names) -> Rows<RegionId> {
    let all: Vec<Vec<RegionId>> = traces.iter().map(|trace| trace.regions().ids().collect()).collect();
    let ids = same_names(&all, |run, region| names.of_region[run][*region]);
    let mut of_region: Vec<Table<RegionId, u32>> =
        traces.iter().map(|trace| Table::filled(trace.regions().len(), NO_ROW)).collect();
    for (row, ids) in ids.iter().enumerate() {
        for (run, id) in ids.iter().enumerate().flat_map(|(run, ids)| ids.iter().map(move |id| (run, *id))) {
            of_region[run][id] = row as u32;
        }
    }
    let of_path = traces.iter().zip(&of_region);
    let of_path = of_path
        .map(|(trace, rows)| trace.paths().ids().map(|path| rows[trace.paths().region(path)]).collect())
        .collect();
    Rows { ids, of_path }
}

impl<I: Copy> Rows<I> {
    fn push(&mut self, ids: Vec<Vec<I>>, paths: impl Fn(I) -> Vec<CallPathId>) {
        let row = self.ids.len() as u32;
        for (run, ids) in ids.iter().enumerate() {
            for path in ids.iter().flat_map(|id| paths(*id)) {
                self.of_path[run][path] = row;
            }
        }
        self.ids.push(ids);
    }

    /// The row of a call path of a run.
    pub(crate) fn row(&self, run: usize, path: CallPathId) -> Option<usize> {
        self.of_path[run].get(path).filter(|row| **row != NO_ROW).map(|row| *row as usize)
    }
}

/// For each path its children in order of id; the last entry has the roots.
fn children(trace: &Trace) -> Vec<Vec<CallPathId>> {
    let count = trace.paths().len();
    let mut children = vec![Vec::new(); count + 1];
    for path in trace.paths().ids() {
        let parent = trace.paths().parent(path).some().map_or(count, Id::index);
        children[parent].push(path);
    }
    children
}

/// Candidates of all runs with the same name; by file where a run has the name in several.
fn same_names<I: Copy>(candidates: &[Vec<I>], name: impl Fn(usize, &I) -> (Name, StringId)) -> Vec<Vec<Vec<I>>> {
    let mut by_name: BTreeMap<Name, BTreeMap<StringId, Vec<Vec<I>>>> = BTreeMap::new();
    for (run, ids) in candidates.iter().enumerate() {
        for id in ids {
            let (name, file) = name(run, id);
            let runs =
                by_name.entry(name).or_default().entry(file).or_insert_with(|| vec![Vec::new(); candidates.len()]);
            runs[run].push(*id);
        }
    }
    let mut same = Vec::new();
    for files in by_name.into_values() {
        let in_several = |run: usize| files.values().filter(|runs| !runs[run].is_empty()).count() > 1;
        if (0..candidates.len()).any(in_several) {
            same.extend(files.into_values());
            continue;
        }
        let of_run = |run: usize| files.values().flat_map(|runs| runs[run].iter().copied()).collect();
        same.push((0..candidates.len()).map(of_run).collect());
    }
    same
}

/// Calls of one name from one place: one row each in the order of their lines, if all runs that have any have as many; else one row.
fn in_order(traces: &[&Trace], mut place: Vec<Vec<CallPathId>>) -> Vec<Vec<Vec<CallPathId>>> {
    let mut counts = place.iter().map(Vec::len).filter(|count| *count > 0);
    let count = counts.next().unwrap_or(0);
    if count < 2 || counts.any(|other| other != count) {
        return vec![place];
    }
    for (trace, ids) in traces.iter().zip(&mut place) {
        let paths = trace.paths();
        ids.sort_by_key(|path| (paths.site(*path).line, trace.regions()[paths.region(*path)].line, *path));
    }
    let nth = |nth: usize| place.iter().map(|ids| ids.get(nth).copied().into_iter().collect()).collect();
    (0..count).map(nth).collect()
}
