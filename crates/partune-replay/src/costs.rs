//! What operations cost: of their own, and from the moment on at which what they waited for was there.
//!
//! Operations of one call path that move about as much with as many others are a class. A class's cost is fitted to those of them that began in the
//! first half of the run; the second half then tells how well that holds. A machine that was measured says instead what messages and
//! collectives take. Costs of a class split into a part of latency and one of bandwidth by the LogGP model
//! `n·L + m·s·G`, with n rounds and m times the bytes for the shape of the operation, so that another network can be asked for.

use partune_base::Time;
use partune_machine::{Link, Machine, Scope};
use partune_trace::{Role, Trace};

use crate::change::Algorithm;
use crate::classes::{ClassKey, Classes, RECORDED};
use crate::effects::{Effects, Quantity, Treatment};
use crate::program::{Operation, Program};

/// Ticks that operations of one class take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// Of its own, when it need not wait.
    pub(crate) own: f64,
    /// From the gift that it waited for to its end.
    pub(crate) flight: f64,
}

/// Which of what was measured of a class counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// A quarter of its operations took less.
    Low,
    Typical,
    /// A quarter took more.
    High,
}

pub(crate) const LEVELS: usize = 3;

/// The costs of all classes.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    classes: Classes,
    /// By [`Level`].
    levels: [Vec<Cost>; LEVELS],
    /// How messages travel here, by the fit or by the machine: within a node, and between nodes.
    links: [Travel; 2],
    /// Whether that is known of each, or taken from the other one.
    known: [bool; 2],
    /// Operations whose class was not there in the first half, so that the second one said what it costs.
    pub(crate) late: u64,
}

/// Ticks of a message: latency, and for each byte.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Travel {
    latency: f64,
    per_byte: f64,
}

/// What was measured of a class, in one half of the run.
#[derive(Clone, Default)]
struct Samples {
    own: Vec<i64>,
    flight: Vec<i64>,
}

impl Costs {
    /// Linear in operations, but for sorting what was measured of each class.
    pub(crate) fn fit(
        trace: &Trace,
        program: &Program,
        classes: Classes,
        middle: Time,
        machine: Option<&Machine>,
    ) -> Costs {
        let count = classes.keys.len();
        let mut halves = [vec![Samples::default(); count], vec![Samples::default(); count]];
        for (pe, operations) in program.operations.iter_ids() {
            let enters = &trace.streams()[pe].visits.enter;
            for it in operations.iter().filter(|it| it.class != RECORDED && it.treatment != Treatment::Awaits) {
                let half = usize::from(enters[it.visit.index()] >= middle);
                let samples = &mut halves[half][it.class as usize];
                if it.waited { &mut samples.flight } else { &mut samples.own }.push(it.measured);
            }
        }
        let [mut first, mut second] = halves;
        let mut late = 0;
        let mut found = |select: fn(&mut Samples) -> &mut Vec<i64>| -> Vec<Option<[f64; LEVELS]>> {
            let of_class = |(first, second): (&mut Samples, &mut Samples)| {
                let (first, second) = (select(first), select(second));
                if first.len() < ENOUGH {
                    late += second.len() as u64;
                    first.append(second);
                }
                typical(first)
            };
            first.iter_mut().zip(&mut second).map(of_class).collect()
        };
        let own = found(|samples| &mut samples.own);
        let flight = found(|samples| &mut samples.flight);
        let (links, known) = links(trace, &classes, &flight);
        let mut costs = Costs { classes, levels: [const { Vec::new() }; LEVELS], links, known, late };
        costs.levels = [Level::Low, Level::Typical, Level::High].map(|level| {
            let at = |of: &Option<[f64; LEVELS]>| of.map(|of| of[level as usize]);
            let of_class = |(class, (own, flight))| {
                let formula = costs.formula(trace, class, costs.link(class), None);
                // Who always waited, or never did, is not known to take longer or shorter than by the fit of all messages.
                let flight = at(flight).unwrap_or_else(|| at(own).map_or(formula, |own| own.min(formula)));
                Cost { own: at(own).unwrap_or_else(|| flight.min(formula)), flight }
            };
            own.iter().zip(&flight).enumerate().map(of_class).collect()
        });
        if let Some(machine) = machine {
            costs.measured(trace, machine);
        }
        costs
    }

    /// Takes what a machine says in place of the fit.
    fn measured(&mut self, trace: &Trace, machine: &Machine) {
        let ticks = trace.clock().ticks_per_second() as f64;
        for (remote, scope) in [(0, Scope::Node), (1, Scope::Network)] {
            if let Some(link) = machine.link(scope) {
                let Link { latency_s, bandwidth, .. } = *link;
                self.links[remote] = Travel { latency: latency_s * ticks, per_byte: ticks / bandwidth };
                // One of another scope stands in for it, and says nothing of messages that the run does not have.
                self.known[remote] |= link.scope == scope;
            }
        }
        let formulas: Vec<f64> =
            (0..self.classes.keys.len()).map(|class| self.formula(trace, class, self.link(class), None)).collect();
        let mut set = |class: usize, cost: Cost| self.levels.iter_mut().for_each(|costs| costs[class] = cost);
        for (class, &key) in self.classes.keys.iter().enumerate() {
            let role = role(trace, key);
            let bytes = self.classes.bytes[class] as u64;
            let scope = if key.remote { Scope::Network } else { Scope::Node };
            let pes = 1 << u32::from(key.partners.max(1) - 1);
            if role.is_collective() {
                let known = machine.baselines_of(paradigm(trace, key), role.name()).seconds(bytes, pes);
                // What was not measured is what messages make of it.
                let by_messages = machine.link(scope).filter(|_| moves(role)).map(|_| formulas[class]);
                if let Some(all) = known.map(|seconds| seconds * ticks).or(by_messages) {
                    set(class, Cost { own: all, flight: all });
                }
            } else if let Some(link) = machine.link(scope) {
                let (overhead, flight) = (link.overhead_s * ticks, link.transfer(bytes) * ticks);
                match role {
                    Role::Send | Role::Recv | Role::SendRecv | Role::Probe => {
                        set(class, Cost { own: overhead, flight });
                    }
                    // Where nothing comes, what was sent had left.
                    Role::CommSync if bytes > 0 => set(class, Cost { own: overhead, flight }),
                    Role::Put | Role::Get | Role::Atomic => set(class, Cost { own: flight, flight }),
                    _ => {}
                }
            }
        }
    }

    /// Whether it is known how messages travel within a node, or between nodes.
    pub(crate) fn knows(&self, remote: bool) -> bool {
        self.known[usize::from(remote)]
    }

    /// How messages of a class travel in the run.
    fn link(&self, class: usize) -> Travel {
        self.links[usize::from(self.classes.keys[class].remote)]
    }

    /// What the model of messages says of a class, if they travel like this.
    fn formula(&self, trace: &Trace, class: usize, link: Travel, algorithm: Option<Algorithm>) -> f64 {
        let key = self.classes.keys[class];
        let usual = role(trace, key).shape(pes(key));
        let (rounds, times) = algorithm.map_or(usual, |algorithm| by(algorithm, usual, pes(key)));
        rounds * link.latency + times * self.classes.bytes[class] * link.per_byte
    }

    /// Under effects: own time, and time from the gift on, of each operation of a PE.
    pub(crate) fn of(&self, trace: &Trace, effects: &Effects) -> CostTable {
        let ticks = trace.clock().ticks_per_second() as f64;
        let changed = self.links.map(|link| Travel {
            latency: match effects.latency {
                Quantity::Times(factor) => link.latency * factor,
                Quantity::Is(seconds) => seconds * ticks,
            },
            per_byte: if link.per_byte > 0.0 {
                ticks / effects.bandwidth.of(ticks / link.per_byte)
            } else {
                match effects.bandwidth {
                    Quantity::Is(rate) => ticks / rate,
                    Quantity::Times(_) => 0.0,
                }
            },
        });
        let of_class = |class: usize, key: &ClassKey, remote: bool| {
            let role = role(trace, *key);
            let algorithm = effects.algorithm(key.path);
            let link = changed[usize::from(remote)];
            let is_changed = effects.changes_network() || algorithm.is_some() || remote != key.remote;
            let ratio = if is_changed && moves(role) {
                let was = self.formula(trace, class, self.link(class), None);
                let is = self.formula(trace, class, link, algorithm);
                if was > 0.0 { is / was } else { 1.0 }
            } else {
                1.0
            };
            let factor = ratio * effects.cost(key.path);
            let (_, times) = role.shape(pes(*key));
            let of_bytes = times * self.classes.bytes[class] * link.per_byte;
            let ticks =
                |of: &dyn Fn(&Cost) -> f64| [0, 1, 2].map(|level| of(&self.levels[level][class]).round() as i64);
            Ticks {
                own: ticks(&|cost| cost.own * factor),
                flight: ticks(&|cost| cost.flight * factor),
                bytes: ticks(&|cost| of_bytes.min(cost.own * factor)),
                flown: ticks(&|cost| of_bytes.min(cost.flight * factor)),
                latency: link.latency.round() as i64,
            }
        };
        let both = |(class, key)| [of_class(class, key, false), of_class(class, key, true)];
        CostTable(self.classes.keys.iter().enumerate().map(both).collect())
    }
}

/// What an operation takes, by [`Level`].
#[derive(Clone, Copy)]
struct Ticks {
    own: [i64; LEVELS],
    /// From a gift on.
    flight: [i64; LEVELS],
    /// The part of its own that is for its bytes.
    bytes: [i64; LEVELS],
    /// The same of its flight.
    flown: [i64; LEVELS],
    /// Of a message of no bytes between those that take part.
    latency: i64,
}

/// By class: with all partners on its node, and with some on another one.
pub(crate) struct CostTable(Vec<[Ticks; 2]>);

impl CostTable {
    /// Ticks of an operation: its own, and those from a gift on. `factor`: of its call path, where it keeps what was recorded.
    #[inline]
    pub(crate) fn of(&self, operation: &Operation, factor: impl FnOnce() -> f64) -> ([i64; LEVELS], [i64; LEVELS]) {
        const NONE: [i64; LEVELS] = [0; LEVELS];
        let recorded = || {
            let ticks = [(operation.measured as f64 * factor()).round() as i64; LEVELS];
            // Who waited there takes as long if it comes last now, and has nobody to wait for.
            let (flight, bytes) = if operation.waited { (ticks, NONE) } else { (NONE, ticks) };
            Ticks { own: ticks, flight, bytes, flown: NONE, latency: 0 }
        };
        let known = self.0.get(operation.class as usize);
        let ticks = known.map_or_else(recorded, |of_class| of_class[usize::from(operation.remote)]);
        // Of a piece: all but the bytes that are in the other ones.
        let piece = |all: [i64; LEVELS], bytes: [i64; LEVELS], count: u32| {
            std::array::from_fn(|level| all[level] - bytes[level] + bytes[level] / i64::from(count.max(1)))
        };
        match operation.treatment {
            Treatment::Goes | Treatment::Moves => (NONE, NONE),
            // LogGP's o is at most half of what latency is here.
            Treatment::Signals(count) => ([i64::from(count) * ticks.latency / 2; LEVELS], [ticks.latency; LEVELS]),
            Treatment::Piece(count) => (piece(ticks.own, ticks.bytes, count), piece(ticks.flight, ticks.flown, count)),
            Treatment::Awaits => (NONE, ticks.flight),
            Treatment::Joins => (ticks.bytes, NONE),
            Treatment::Stays | Treatment::Starts | Treatment::Combines(_) | Treatment::Merges => {
                (ticks.own, ticks.flight)
            }
        }
    }
}

fn role(trace: &Trace, key: ClassKey) -> Role {
    trace.regions()[trace.paths().region(key.path)].role
}

fn paradigm(trace: &Trace, key: ClassKey) -> &str {
    trace.strings().get(trace.regions()[trace.paths().region(key.path)].paradigm)
}

/// Whether what it costs is the network's.
fn moves(role: Role) -> bool {
    role.activity() == partune_trace::Activity::Communication || role == Role::GroupSync
}

/// How many PEs take part: the least of the class.
fn pes(key: ClassKey) -> f64 {
    f64::from(1_u32 << u32::from(key.partners.saturating_sub(1)).min(30)).max(2.0)
}

/// The same of a collective by another algorithm.
fn by(algorithm: Algorithm, (_, times): (f64, f64), pes: f64) -> (f64, f64) {
    let rounds = pes.log2().max(1.0);
    let moves = f64::from(u8::from(times > 0.0));
    match algorithm {
        Algorithm::Linear => (pes - 1.0, moves * (pes - 1.0)),
        Algorithm::Binomial | Algorithm::RecursiveDoubling => (rounds, moves * rounds),
        Algorithm::Ring => (2.0 * (pes - 1.0), moves * 2.0 * (pes - 1.0) / pes),
        Algorithm::Pairwise => (pes - 1.0, moves * (pes - 1.0) / pes),
    }
}

/// Latency and time a byte of messages: a line through what receives took that waited, by the median of slopes; where there are none, through a
/// round of collectives. Equal for both scopes where only one was seen.
fn links(trace: &Trace, classes: &Classes, flights: &[Option<[f64; LEVELS]>]) -> ([Travel; 2], [bool; 2]) {
    let is_message = |key: ClassKey| matches!(role(trace, key), Role::Recv | Role::CommSync | Role::SendRecv);
    let is_collective = |key: ClassKey| role(trace, key).is_collective() && moves(role(trace, key));
    let fit = |remote: bool, counts: &dyn Fn(ClassKey) -> bool| {
        let points: Vec<(f64, f64)> = classes
            .keys
            .iter()
            .zip(&classes.bytes)
            .zip(flights)
            .filter(|((key, _), _)| key.remote == remote && counts(**key))
            .filter_map(|((key, bytes), flight)| {
                let (rounds, times) = role(trace, *key).shape(pes(*key));
                Some((*bytes * times / rounds, (*flight)?[Level::Typical as usize] / rounds))
            })
            .collect();
        line(points)
    };
    let known = |remote| fit(remote, &is_message).or_else(|| fit(remote, &is_collective));
    let (node, network) = (known(false), known(true));
    let any = node.or(network).unwrap_or_default();
    ([node.unwrap_or(any), network.unwrap_or(any)], [node.is_some(), network.is_some()])
}

fn line(mut points: Vec<(f64, f64)>) -> Option<Travel> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let least = points.iter().map(|point| point.1).reduce(f64::min)?;
    // Many classes have the same sizes: at most so many of them are looked at.
    let every = points.len().div_ceil(512);
    let few: Vec<(f64, f64)> = points.iter().copied().step_by(every).collect();
    let mut slopes: Vec<f64> = Vec::new();
    for (at, low) in few.iter().enumerate() {
        slopes
            .extend(few[at + 1..].iter().filter(|high| high.0 > low.0).map(|high| (high.1 - low.1) / (high.0 - low.0)));
    }
    slopes.sort_by(f64::total_cmp);
    let per_byte = slopes.get(slopes.len() / 2).copied().unwrap_or(0.0).max(0.0);
    let mut rests: Vec<f64> = points.iter().map(|point| point.1 - per_byte * point.0).collect();
    rests.sort_by(f64::total_cmp);
    Some(Travel { latency: rests[rests.len() / 2].max(least.min(1.0)), per_byte })
}

/// So many operations of the first half say what a class costs; with fewer the second half has to help.
const ENOUGH: usize = 4;

/// What a class takes: the mean without the hundredth that is farthest up, which is what disturbed the run. It is the mean that adds up to what
/// all of them took. Beside it where the quarters begin, by [`Level`].
fn typical(samples: &mut [i64]) -> Option<[f64; LEVELS]> {
    samples.sort_unstable();
    let kept = samples.len() - samples.len() / 100;
    let sum: i128 = samples[..kept].iter().map(|it| i128::from(*it)).sum();
    let mean = (kept > 0).then(|| sum as f64 / kept as f64)?;
    let quarter = samples.len() / 4;
    let (low, high) = (samples[quarter] as f64, samples[samples.len() - 1 - quarter] as f64);
    Some([low.min(mean), mean, high.max(mean)])
}
