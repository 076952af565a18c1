//! Where the time of a run went: by process, by resource, and along the chain that decided the makespan.
//!
//! For the command line. Numbers are exact where the makespan is; then those of a process add up to its time, and those of the chain to the
//! makespan, exactly. With doubles they do up to rounding.

use std::collections::BTreeMap;

use partune_expr::Number;

use super::accounts::{Accounts, Row};
use super::machine::NONE;
use super::program::{Label, LabelName, Program};
use super::resources::Servers;
use super::time::Clock;

/// What one process did: the program outside of parallel terms, or a branch of an outermost parallel term with all that happens inside
/// it. Branches that a loop starts again are one process.
#[derive(Clone, Debug, PartialEq)]
pub struct ProcessTime {
    /// `program`, `i = 3`, `branch 2`, or `others` for those beyond 10,000; with several outermost parallel terms their number comes first.
    pub name: String,
    /// How often it was started.
    pub starts: u64,
    /// Of all strands: from the start of each to the end of its parallel term, less the time in which it waits for strands it started.
    /// `busy`, `waiting` and `par_end` add up to it.
    pub time: Number,
    /// In uses and delays.
    pub busy: Number,
    /// In queues.
    pub waiting: Number,
    /// From the end of branches to the end of their parallel terms.
    pub par_end: Number,
}

/// What waited for one queue of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceTime {
    /// With its index, as `l[3]`.
    pub name: String,
    /// Time that processes waited for it, summed.
    pub waiting: Number,
    /// Uses that waited.
    pub waits: u64,
    /// Most uses that waited at once.
    pub max_queue: u64,
}

/// A part of the critical chain: uses or delays of one process at one resource.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainPart {
    /// A position in [`Breakdown::processes`].
    pub process: usize,
    /// A position in [`Breakdown::resources`]; none for delays.
    pub resource: Option<usize>,
    pub time: Number,
    pub uses: u64,
    /// The part of `time` in uses that began when the use before them on the chain gave the server back: the queue decided, not the
    /// process.
    pub queued_time: Number,
    pub queued_uses: u64,
}

/// Where the time went.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    /// The program first, then in the order in which they were started first.
    pub processes: Vec<ProcessTime>,
    /// Those that were used, in the order of the model.
    pub resources: Vec<ResourceTime>,
    /// Backwards from the end: the use or delay that ended when the process went on, of the last branch where it waited for branches, of
    /// whoever gave back the server where it waited for that. Summed by process and resource, in the order of both, delays first; the times add up to
    /// the makespan.
    pub chain: Vec<ChainPart>,
    /// Links of chains that were kept at once: what bounds the memory.
    pub links: usize,
}

/// The breakdown of a run that ended.
pub(super) fn breakdown<C: Clock>(
    accounts: &mut Accounts<'_, C>,
    program: &Program,
    servers: &Servers<C::Time>,
    clock: &C,
    now: C::Time,
) -> Breakdown {
    let end = accounts.close(now);
    let mut forks: Vec<_> =
        accounts.rows.iter().filter_map(|row| label(program, row)).map(|label| label.fork).collect();
    forks.sort_unstable();
    forks.dedup();
    let processes = accounts.rows.iter().enumerate().map(|(position, row)| ProcessTime {
        name: if position == 0 { "program".to_owned() } else { name(program, row, &forks) },
        starts: row.starts,
        time: clock.number(row.time),
        busy: clock.number(row.busy),
        waiting: clock.number(row.waiting),
        par_end: clock.number(row.par_end),
    });
    let mut positions = BTreeMap::new();
    let mut resources = Vec::new();
    for counted in servers.counted(clock) {
        let Some(waits) = accounts.waits.get(counted.position as usize) else { continue };
        positions.insert(counted.position, resources.len());
        resources.push(ResourceTime {
            name: servers.name(counted.position).0,
            waiting: clock.number(waits.time),
            waits: waits.count,
            max_queue: counted.most,
        });
    }
    let mut parts: BTreeMap<(u32, Option<usize>), [_; 2]> = BTreeMap::new();
    for (key, amount) in accounts.chains.sums(end) {
        let resource = if key.resource == NONE { None } else { positions.get(&key.resource).copied() };
        parts.entry((key.row, resource)).or_default()[usize::from(key.handed)] = amount;
    }
    let chain = parts.into_iter().map(|((row, resource), [own, handed])| ChainPart {
        process: row as usize,
        resource,
        time: clock.number(clock.plus(own.time, handed.time)),
        uses: own.count + handed.count,
        queued_time: clock.number(handed.time),
        queued_uses: handed.count,
    });
    let chain = chain.collect();
    Breakdown { processes: processes.collect(), resources, chain, links: accounts.chains.most }
}

fn label<'p, C: Clock>(program: &'p Program, row: &Row<C>) -> Option<&'p Label> {
    row.branch.and_then(|(at, _)| program.labels.get(&at))
}

/// The name of a branch, with the number of its parallel term if there are several.
fn name<C: Clock>(program: &Program, row: &Row<C>, forks: &[u32]) -> String {
    let (Some(label), Some((_, index))) = (label(program, row), row.branch) else { return "others".to_owned() };
    let own = match &label.name {
        LabelName::Index(variable) => format!("{variable} = {index}"),
        LabelName::Position(position, None) => format!("branch {position}"),
        LabelName::Position(position, Some(process)) => format!("branch {position}: {process}"),
    };
    match forks.binary_search(&label.fork) {
        Ok(at) if forks.len() > 1 => format!("par {}, {own}", at + 1),
        _ => own,
    }
}
