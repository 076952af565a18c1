//! What changes do to a run, put together: factors of work, what becomes of operations, another network.

use partune_base::{CallPathId, Id, PeId, Table, Time};
use partune_trace::{Trace, VisitIx};

use crate::change::Algorithm;

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Treatment {
    /// It stays as it is.
    #[default]
    Stays,
    /// It is not done at all.
    Goes,
    /// It is only started; what it needs is awaited when the PE next does something with others.
    Starts,
    /// What was started elsewhere is awaited: takes no time of its own.
    Awaits,
    /// So many in a row are one.
    Combines(u32),
    /// It is done with the collective right before it, if there is one.
    Merges,
    /// It is done later: here it takes no time, and only what it gives is given.
    Moves,
    /// Signals between pairs in its place: no time of its own but for giving them, and the latency of the network.
    Signals(u32),
    /// One of so many equal pieces of it.
    Piece(u32),
    /// What it moves, moves with another one: only its bytes cost time, and what it gives is given by the other one.
    Joins,
}

/// Work on some call paths, shared out anew in each block.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// By path; one more for what is outside of all.
    pub(crate) paths: Vec<bool>,
    /// By block: what it is multiplied with.
    pub(crate) factors: Table<PeId, Vec<f64>>,
    /// By lot and block: when some of it was begun by whoever did it, in order, and ticks.
    pub(crate) moments: Vec<Vec<Vec<Moment>>>,
    /// The lot that a PE does a part of.
    pub(crate) lot: Table<PeId, usize>,
    /// By block: the part of these ticks that a PE does at these moments, on top of what it did.
    pub(crate) parts: Table<PeId, Vec<f64>>,
    /// Nobody knows when who was in which block: all of the run is one for `moments` and `parts`.
    pub(crate) is_whole: bool,
}

/// When work was begun, and its ticks.
pub(crate) type Moment = (Time, f64);

/// Ticks of a run in each of which there is one moment at most: in about 4,096 all its work is shared out.
pub(crate) fn grain(trace: &Trace) -> i64 {
    trace.duration().0 / 4096
}

/// Adds what is later than all before to the last moment if that is of the same `grain` ticks, else as one of its own. All that is of one moment is begun when
/// the last of it was: nobody does it before something that it comes after.
pub(crate) fn add(moments: &mut Vec<Moment>, moment: Moment, grain: i64) {
    let part = |time: Time| time.0.div_euclid(grain.max(1));
    match moments.last_mut() {
        Some(last) if part(moment.0) == part(last.0) => *last = (moment.0, last.1 + moment.1),
        _ => moments.push(moment),
    }
}

impl Shares {
    /// Ticks that a PE does in a block from the next moment on until a time.
    pub(crate) fn share(&self, pe: PeId, block: usize, next: &mut usize, until: Time) -> f64 {
        let block = if self.is_whole { 0 } else { block };
        let part = self.parts[pe].get(block).copied().unwrap_or(0.0);
        let of_block = self.moments.get(self.lot[pe]).and_then(|lot| lot.get(block));
        let moments = of_block.and_then(|moments| moments.get(*next..)).unwrap_or_default();
        let moments = &moments[..moments.partition_point(|moment| moment.0 <= until)];
        *next += moments.len();
        part * moments.iter().map(|moment| moment.1).sum::<f64>()
    }
}

/// A quantity of the network, relative to what it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Quantity {
    Times(f64),
    /// Seconds, or bytes a second.
    Is(f64),
}

impl Quantity {
    pub(crate) fn of(self, was: f64) -> f64 {
        match self {
            Quantity::Times(factor) => was * factor,
            Quantity::Is(value) => value,
        }
    }
}

/// All that changes do.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    of_path: Vec<f64>,
    of_pe: Vec<f64>,
    pub(crate) shares: Vec<Shares>,
    treatments: Vec<Treatment>,
    /// By path: the time of operations.
    costs: Vec<f64>,
    /// By path: how collectives are done.
    algorithms: Vec<Option<Algorithm>>,
    pub(crate) latency: Quantity,
    pub(crate) bandwidth: Quantity,
    /// A PE left all its work to the others.
    pub(crate) has_dedicated: bool,
    /// Messages of fewer bytes do not wait for their receive.
    pub(crate) eager: u64,
    /// Operations that are done later, in order, and after when.
    pub(crate) delays: Table<PeId, Vec<(VisitIx, Time)>>,
    /// By path: barriers that become signals between pairs.
    pub(crate) pairs: Vec<bool>,
    /// By path: how many pieces messages are sent in; 1 for those that stay whole.
    pub(crate) pieces: Vec<u32>,
    /// Where processes are, if elsewhere.
    pub(crate) nodes: Option<Table<PeId, u32>>,
}

impl Effects {
    /// Nothing is changed.
    pub(crate) fn none(trace: &Trace) -> Effects {
        let paths = trace.paths().len();
        Effects {
            of_path: vec![1.0; paths],
            of_pe: vec![1.0; trace.pes().len()],
            shares: Vec::new(),
            treatments: vec![Treatment::Stays; paths],
            costs: vec![1.0; paths],
            algorithms: vec![None; paths],
            latency: Quantity::Times(1.0),
            bandwidth: Quantity::Times(1.0),
            has_dedicated: false,
            eager: 0,
            delays: Table::filled(trace.pes().len(), Vec::new()),
            pairs: vec![false; paths],
            pieces: vec![1; paths],
            nodes: None,
        }
    }

    pub(crate) fn scale_paths(&mut self, paths: &[bool], factor: f64) {
        let chosen = |of: &mut Vec<f64>| {
            of.iter_mut().zip(paths).filter(|(_, is)| **is).for_each(|(it, _)| *it *= factor);
        };
        chosen(&mut self.of_path);
        chosen(&mut self.costs);
    }

    pub(crate) fn scale_pe(&mut self, pe: PeId, factor: f64) {
        if let Some(of) = self.of_pe.get_mut(pe.index()) {
            *of *= factor;
        }
    }

    pub(crate) fn treat(&mut self, paths: &[bool], treatment: Treatment) {
        self.treatments.iter_mut().zip(paths).filter(|(_, is)| **is).for_each(|(it, _)| *it = treatment);
    }

    pub(crate) fn choose(&mut self, paths: &[bool], algorithm: Algorithm) {
        self.algorithms.iter_mut().zip(paths).filter(|(_, is)| **is).for_each(|(it, _)| *it = Some(algorithm));
    }

    /// How the collectives on a path are done, if not as in the run.
    pub(crate) fn algorithm(&self, path: CallPathId) -> Option<Algorithm> {
        self.algorithms.get(path.index()).copied().flatten()
    }

    /// What work of a PE on a path is multiplied with in a block; none: work that is not shared out.
    pub(crate) fn work(&self, pe: PeId, path: CallPathId, block: Option<usize>) -> f64 {
        let of_pe = self.of_pe.get(pe.index()).copied().unwrap_or(1.0);
        let at = path.some().map_or(self.of_path.len(), Id::index);
        let of_path = self.of_path.get(at).copied().unwrap_or(1.0);
        let shared = self.shares.iter().filter(|shares| shares.paths.get(at) == Some(&true));
        let factor = |shares: &Shares| shares.factors[pe].get(block?).copied();
        let shared: f64 = shared.map(|shares| factor(shares).unwrap_or(1.0)).product();
        of_pe * of_path * shared
    }

    /// Whether what a PE does is changed, and not only what it costs.
    pub(crate) fn change(&self, pe: PeId) -> bool {
        let scales = |factor: &f64| (factor - 1.0).abs() > 0.0;
        self.of_pe.get(pe.index()).is_some_and(scales)
            || self.of_path.iter().any(scales)
            || !self.shares.is_empty()
            || !self.delays[pe].is_empty()
            || self.changes_ties()
    }

    /// Whether other ties are given.
    pub(crate) fn changes_ties(&self) -> bool {
        self.eager > 0 || self.treatments.iter().any(|it| *it != Treatment::Stays)
    }

    pub(crate) fn treatment(&self, path: CallPathId) -> Treatment {
        self.treatments.get(path.index()).copied().unwrap_or_default()
    }

    pub(crate) fn cost(&self, path: CallPathId) -> f64 {
        self.costs.get(path.index()).copied().unwrap_or(1.0)
    }

    /// Whether something is done later than where it is called.
    pub(crate) fn defers(&self) -> bool {
        self.treatments.iter().any(|it| matches!(it, Treatment::Starts | Treatment::Combines(_)))
    }

    pub(crate) fn changes_network(&self) -> bool {
        (self.latency, self.bandwidth) != (Quantity::Times(1.0), Quantity::Times(1.0))
    }
}
