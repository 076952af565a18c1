//! What every turn of a loop does: its instructions as uses of ports, and who needs whose result.

use std::collections::BTreeMap;

use crate::class::Class;
use crate::core::{Core, Fuses, Ports, Work};
use crate::instruction::{Flow, Fusible, Instruction, Register};
use crate::streams::Streams;

/// A use of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    pub ports: Ports,
    pub cycles: u32,
}

impl Use {
    /// For an operand of so many bytes.
    pub fn of(work: &Work, bytes: u32) -> Use {
        Use { ports: work.ports_of(bytes), cycles: work.cycles_of(bytes) }
    }
}

/// An instruction as a core does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Whether it takes a place where instructions are renamed: not where it became one with that before it.
    pub is_issued: bool,
    pub load: Vec<Use>,
    /// Cycles from where its address is known to where its operand is; 0 without a load.
    pub load_latency: u32,
    pub work: Option<Use>,
    /// Cycles from where all operands are known to where the result is, and to where work of the same class can use it.
    pub latency: u32,
    pub chained: u32,
    pub class: Class,
    pub store: Vec<Use>,
}

/// That an instruction needs what another one made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Positions in the body.
    pub from: usize,
    pub to: usize,
    /// Turns between them.
    pub distance: u32,
    /// What is needed.
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An operand.
    Value,
    /// A part of an address that is loaded from.
    Address,
    /// Bytes in memory.
    Memory,
}

/// What every turn of a loop does.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    pub code: Vec<&'a Instruction>,
    pub steps: Vec<Step>,
    pub needs: Vec<Need>,
    /// Cycles from a store to a load that takes its bytes.
    pub forward: u32,
    /// Positions of instructions that the core's table does not know.
    pub unknown: Vec<usize>,
}

impl<'a> Body<'a> {
    /// Of the instructions that every turn runs, in their order.
    pub fn new(code: Vec<&'a Instruction>, streams: &Streams, core: &Core) -> Body<'a> {
        let fused = |at: usize| code.get(at + 1).is_some_and(|next| becomes_one(code[at], next, core));
        let is_second = |at: usize| at > 0 && fused(at - 1);
        let steps = (0..code.len()).map(|at| step(code[at], fused(at), is_second(at), core)).collect();
        let is_unknown = |at: &usize| {
            code[*at].class == Class::Unknown
                || code[*at].class != Class::Nothing
                    && code[*at].class != Class::Call
                    && core.work(code[*at].class).is_none()
        };
        let unknown = (0..code.len()).filter(is_unknown).collect();
        let mut needs = of_registers(&code);
        needs.extend(of_memory(streams));
        Body { code, steps, needs, forward: core.forward, unknown }
    }

    /// Instructions that are renamed in a turn.
    pub fn issued(&self) -> usize {
        self.steps.iter().filter(|step| step.is_issued).count()
    }

    /// All uses of ports in a turn.
    pub fn uses(&self) -> impl Iterator<Item = Use> + '_ {
        self.steps.iter().flat_map(|step| step.load.iter().chain(&step.work).chain(&step.store).copied())
    }

    /// Cycles from the begin of one instruction's work to where what another one needs of it is there.
    pub fn latency(&self, need: &Need) -> u32 {
        let (from, to) = (&self.steps[need.from], &self.steps[need.to]);
        match need.what {
            What::Value if from.class == to.class => from.chained,
            What::Value | What::Address => from.latency,
            What::Memory => self.forward,
        }
    }

    /// Cycles from the begin of one instruction's work to where the other one's can begin: with the load, where its address is needed.
    pub fn cost(&self, need: &Need) -> u32 {
        let load = if need.what == What::Address { self.steps[need.to].load_latency } else { 0 };
        self.latency(need) + load
    }
}

fn becomes_one(first: &Instruction, branch: &Instruction, core: &Core) -> bool {
    let is_conditional = matches!(branch.flow, Flow::Jump { is_conditional: true, .. });
    let may = match (first.fuses, core.fuses) {
        (Fusible::Never, _) | (Fusible::Arithmetic, Fuses::Comparisons) => false,
        (Fusible::Comparison, _) | (Fusible::Arithmetic, Fuses::Arithmetic) => true,
    };
    may && is_conditional && first.end() == branch.address && first.store.is_none()
}

fn step(instruction: &Instruction, is_fused: bool, is_second: bool, core: &Core) -> Step {
    let bytes = instruction.bytes;
    let of = |work: &Work| Use::of(work, bytes);
    let is_vector = instruction.element > 0 || bytes > 8;
    let access = |all: &[Work]| all.iter().map(of).collect::<Vec<_>>();
    let load = core.load.of(is_vector);
    let class = if is_fused { Class::Branch } else { instruction.class };
    let work = core.work(class).filter(|_| !is_second);
    Step {
        is_issued: !is_second,
        load: if instruction.load.is_some() { access(load) } else { Vec::new() },
        load_latency: if instruction.load.is_some() { load.iter().map(|it| it.latency).max().unwrap_or(0) } else { 0 },
        work: work.map(of),
        latency: work.map_or(0, |work| work.latency),
        chained: work.map_or(0, |work| work.chained_of(bytes)),
        class,
        store: if instruction.store.is_some() { access(core.store.of(is_vector)) } else { Vec::new() },
    }
}

/// Who reads what whom wrote last: in the same turn, else in the one before.
fn of_registers(code: &[&Instruction]) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut last: BTreeMap<Register, usize> = BTreeMap::new();
    // The second time every register has its writer, if it has one.
    for distance in [1, 0] {
        for (to, instruction) in code.iter().enumerate() {
            if distance == 0 {
                let values = instruction.reads.iter().map(|register| (register, What::Value));
                let addresses = instruction.addresses.iter().filter(|_| instruction.load.is_some());
                for (register, what) in values.chain(addresses.map(|register| (register, What::Address))) {
                    if let Some(from) = last.get(register) {
                        needs.push(Need { from: *from, to, distance: u32::from(*from >= to), what });
                    }
                }
            }
            instruction.writes.iter().for_each(|register| _ = last.insert(*register, to));
        }
    }
    needs
}

/// Which loads take what a store wrote in this turn or an earlier one, where both are known to step through memory alike.
fn of_memory(streams: &Streams) -> Vec<Need> {
    let mut needs = Vec::new();
    for load in &streams.loads {
        let takes = streams.stores.iter().filter_map(|store| {
            let distance = load.turns_after(store)?;
            // In the same turn the store must come first.
            (distance > 0 || store.at < load.at).then_some((distance, store.at))
        });
        // The last one that wrote there.
        if let Some((distance, from)) = takes.min_by_key(|(distance, at)| (*distance, std::cmp::Reverse(*at))) {
            needs.push(Need { from, to: load.at, distance, what: What::Memory });
        }
    }
    needs
}
