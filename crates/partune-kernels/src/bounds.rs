//! The bounds of a loop, from the core's peak to its schedule, and what lies between them.

use std::collections::BTreeMap;

use crate::body::{Body, Use};
use crate::chain::{self, Chain};
use crate::class::Class;
use crate::core::{self, Core, Ports};
use crate::flow::{self, Block};
use crate::instruction::{Instruction, Memory, Register};
use crate::ports;
use crate::schedule;
use crate::streams::Streams;
use crate::turns::turns;

/// Bounds of a loop in cycles of the core, each for one turn of the source's loop, all data in the first cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// The floating-point operations at the core's peak.
    pub m: f64,
    /// What is essential, on the unit that needs longest for it: operations in full vectors, multiplications with additions at once, each
    /// element of memory once.
    pub ma: f64,
    /// What was compiled, on the ports and through the stage where instructions are renamed.
    pub mac: f64,
    /// The same in an order that results allow; none where the loop is too large, or what it calls is not known.
    pub macs: Option<f64>,
}

/// An innermost loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Addresses of the first and the last instruction of each piece of its code, in order: what hardly ever runs often lies behind the rest of the function, with
    /// other loops in between.
    pub pieces: Vec<(u64, u64)>,
    /// None where it calls something, or nothing in it is known: such a loop's time is not its own.
    pub bounds: Option<Bounds>,
    /// Turns of the source's loop in one of the machine's: unrolling by vectors. Where nothing tells them, all that is for one turn of the source's loop is for one
    /// of the machine's.
    pub known_turns: Option<u32>,
    /// Instructions that every turn runs, and others, of which no bound knows.
    pub instructions: usize,
    pub conditional: usize,
    /// Whether those others access memory, or change registers that addresses are made of.
    pub strays: bool,
    /// How every turn steps through memory.
    pub streams: Streams,
    /// What a turn of the machine's loop asks of ports, and what a line that comes to the first cache does: as a load of half of it.
    pub uses: Vec<Use>,
    pub line: Vec<Use>,
    /// Of a turn of the source's loop.
    pub flops: f64,
    /// Bytes of an element that it computes with, 0 if it computes with none; elements in the core's widest vector, and in those that it uses.
    pub element: u32,
    pub lanes: u32,
    pub used_lanes: u32,
    /// The ports that bind MAC; none where it is the rate of instructions.
    pub busy: Ports,
    /// The chain from turn to turn, with its cycles for one of the source's.
    pub chain: Option<Chain>,
    /// Addresses of instructions: those of the chain, and those that no table knows.
    pub chained: Vec<u64>,
    pub unknown: Vec<u64>,
    /// Loads in a turn of the machine's loop, and bytes of them that are different, by turn of the source's.
    pub loads: usize,
    pub loaded: f64,
    pub stored: f64,
    pub calls: bool,
    /// Whether there is a way out of it.
    pub has_exit: bool,
}

impl Kernel {
    /// Whether an instruction at an address is of it.
    pub fn has(&self, address: u64) -> bool {
        self.pieces.iter().any(|(first, last)| (*first..=*last).contains(&address))
    }

    /// Turns of the source's loop in one of the machine's; 1 where they are not known.
    pub fn turns(&self) -> u32 {
        self.known_turns.unwrap_or(1)
    }

    /// Makes a turn of the machine's loop so many of the source's.
    pub fn set_turns(&mut self, turns: u32) {
        let by = f64::from(self.turns()) / f64::from(turns.max(1));
        self.known_turns = Some(turns.max(1));
        let chain = self.chain.iter_mut().map(|it| &mut it.cycles);
        let bounds =
            self.bounds.iter_mut().flat_map(|it| [&mut it.m, &mut it.ma, &mut it.mac].into_iter().chain(&mut it.macs));
        for value in chain.chain(bounds).chain([&mut self.flops, &mut self.loaded, &mut self.stored]) {
            *value *= by;
        }
    }
}

/// The innermost loops of a function, in order of address. Cost: a few passes over its code, and for each loop the simulation of some
/// hundred turns.
pub fn kernels(code: &[Instruction], core: &Core) -> Vec<Kernel> {
    kernels_with_data(code, &|_, _| None, core)
}

/// The same, where constants of the program can be read by their address and size.
pub fn kernels_with_data<'d>(
    code: &[Instruction],
    data: &dyn Fn(u64, u64) -> Option<&'d [u8]>,
    core: &Core,
) -> Vec<Kernel> {
    let blocks = flow::blocks(code);
    let before = flow::predecessors(&blocks);
    let innermost = flow::loops(&blocks, &before).into_iter().filter(|it| it.is_innermost);
    innermost.map(|it| kernel(code, data, (&blocks, &before), &it, core)).collect()
}

fn kernel<'d>(
    code: &[Instruction],
    data: &dyn Fn(u64, u64) -> Option<&'d [u8]>,
    (blocks, before): (&[Block], &[Vec<usize>]),
    of: &flow::Loop,
    core: &Core,
) -> Kernel {
    let always = flow::every_turn(blocks, of);
    let instructions = |block: &usize| &code[blocks[*block].first..blocks[*block].end];
    let all: usize = of.blocks.iter().map(|block| instructions(block).len()).sum();
    let body: Vec<&Instruction> = always.iter().flat_map(instructions).collect();
    let element = element(&body);
    let before: Vec<&Instruction> = flow::before(before, of).iter().flat_map(instructions).collect();
    let streams = Streams::new(&before, &body);
    let turns = turns(&streams, &before, &body, if element == 0 { narrowest(&body) } else { element }, data);
    let per = f64::from(turns.unwrap_or(1));
    let calls = of.blocks.iter().flat_map(instructions).any(|it| it.class == Class::Call);
    let (loaded, stored) = streams.distinct();
    let flops: u32 = body.iter().map(|it| it.flops()).sum();
    let used = body.iter().filter(|it| it.flops() > 0).map(|it| it.lanes).max().unwrap_or(0);
    let memory = |it: &Instruction| [it.load, it.store].into_iter().flatten();
    let is_address = |register: &Register| {
        let of = |it: Memory| it.base == Some(*register) || it.index == Some(*register);
        body.iter().any(|it| memory(it).any(of))
    };
    let is_stray = |it: &Instruction| memory(it).next().is_some() || it.writes.iter().any(is_address);
    let others = of.blocks.iter().filter(|block| !always.contains(block)).flat_map(instructions);
    let strays = others.into_iter().any(is_stray);
    let (instructions, loads) = (body.len(), body.iter().filter(|it| it.load.is_some()).count());
    let mut essential = Essential { loaded, stored, ..Essential::default() };
    body.iter().for_each(|it| essential.add(it.class, f64::from(it.lanes)));
    let body = Body::new(body, &streams, core);
    let work = body.uses().map(|it| (it.ports, f64::from(it.cycles)));
    let busy = ports::bound(work);
    let issue = body.issued() as f64 / f64::from(core.issue);
    let chain = chain::longest(&body);
    let bounds = (!calls && instructions > 0).then(|| {
        let m = if flops > 0 { f64::from(flops) / core.peak_flops(element) } else { 0.0 };
        let ma = essential.cycles(core, element).max(m);
        let mac = busy.cycles.max(issue).max(ma);
        let macs = schedule::cycles(&body, core).map(|cycles| {
            let chain = chain.as_ref().map_or(0.0, |chain| chain.cycles);
            cycles.max(mac).max(chain) / per
        });
        Bounds { m: m / per, ma: ma / per, mac: mac / per, macs }
    });
    let address = |at: &usize| body.code[*at].address;
    Kernel {
        pieces: pieces(code, of.blocks.iter().map(|block| &blocks[*block])),
        bounds,
        known_turns: turns,
        instructions,
        conditional: all - instructions,
        strays,
        flops: f64::from(flops) / per,
        element,
        lanes: core.vector.checked_div(element).unwrap_or(0),
        used_lanes: used,
        busy: if busy.cycles >= issue { busy.ports } else { 0 },
        chained: chain.iter().flat_map(|chain| chain.instructions.iter().map(address)).collect(),
        chain: chain.map(|chain| Chain { cycles: chain.cycles / per, ..chain }),
        unknown: body.unknown.iter().map(address).collect(),
        loads,
        loaded: loaded as f64 / per,
        stored: stored as f64 / per,
        calls,
        has_exit: of.has_exit,
        streams,
        uses: body.uses().collect(),
        line: core.load.vector.iter().map(|work| Use::of(work, core::WIDTHS[1])).collect(),
    }
}

/// Addresses of the first and the last instruction of each run of blocks that are in order of address.
fn pieces<'b>(code: &[Instruction], blocks: impl Iterator<Item = &'b Block>) -> Vec<(u64, u64)> {
    let mut pieces: Vec<(usize, usize)> = Vec::new();
    for block in blocks {
        match pieces.last_mut() {
            Some((_, end)) if *end == block.first => *end = block.end,
            _ => pieces.push((block.first, block.end)),
        }
    }
    pieces.into_iter().map(|(first, end)| (code[first].address, code[end - 1].address)).collect()
}

/// Bytes of the element that most operations on floating-point numbers are of; 0 without any.
fn element(body: &[&Instruction]) -> u32 {
    let operations = |element: u32| body.iter().filter(|it| it.element == element && it.class.is_floating()).count();
    let (double, single) = (operations(8), operations(4));
    match (double, single) {
        (0, 0) => 0,
        _ if double >= single => 8,
        _ => 4,
    }
}

/// Bytes of the narrowest integers that operations on vectors are of; 0 without any.
fn narrowest(body: &[&Instruction]) -> u32 {
    let is_integer = |it: &&&Instruction| {
        it.element > 0 && matches!(it.class, Class::VectorAdd | Class::VectorMul | Class::Cross | Class::Shuffle)
    };
    body.iter().filter(is_integer).map(|it| it.element).min().unwrap_or(0)
}

/// What a turn needs whatever it is compiled to: operations on numbers, and bytes of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Essential {
    operations: BTreeMap<Class, f64>,
    pub loaded: u64,
    pub stored: u64,
}

impl Essential {
    pub fn add(&mut self, class: Class, elements: f64) {
        *self.operations.entry(class).or_default() += elements;
    }

    /// Operations of a kind.
    pub fn elements(&self, class: Class) -> f64 {
        self.operations.get(&class).copied().unwrap_or(0.0)
    }

    /// Floating-point operations.
    pub fn flops(&self) -> f64 {
        self.operations.iter().fold(0.0, |sum, (class, elements)| sum + f64::from(class.flops()) * elements)
    }

    /// Cycles of the unit that needs longest, on elements of so many bytes.
    pub fn cycles(&self, core: &Core, element: u32) -> f64 {
        let cycles = |class: Class, elements: f64| {
            let rate = core.rate(class) / f64::from(element.max(1));
            if rate > 0.0 { elements / rate } else { 0.0 }
        };
        let of = |class: Class| cycles(class, self.elements(class));
        let (adds, multiplications) = (self.elements(Class::FpAdd), self.elements(Class::FpMul));
        // At best each multiplication is one with an addition.
        let alone = (adds - multiplications).max(0.0);
        let units = [
            cycles(Class::FpFma, self.elements(Class::FpFma) + multiplications),
            cycles(Class::FpAdd, alone),
            of(Class::FpDiv32),
            of(Class::FpDiv64),
            of(Class::FpSqrt32),
            of(Class::FpSqrt64),
            self.loaded as f64 / core.bytes_a_cycle(&core.load),
            self.stored as f64 / core.bytes_a_cycle(&core.store),
        ];
        units.into_iter().fold(0.0, f64::max)
    }
}
