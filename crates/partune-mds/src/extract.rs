//! A model of a recorded run: the reverse of calibration.
//!
//! A run is a sequence of blocks, which synchronisations of all PEs separate. Blocks that end at the same place are a phase; phases that come again and again are a loop. Each PE is an
//! index of one domain, and has as much work in each phase as it was seen to have, so owners can be changed and so can the number of PEs. What work is made of is told
//! where calls explain it: a class is a function, its weight what one call takes, by least squares without negative coefficients. Messages are data that
//! one PE writes and others read.
//!
//! The model takes as long as the bound IPCOLMD of the run and what its synchronisations take; what PEs wait for each other within a block is not in it.
//!
//! Cost: linear in blocks times PEs, and in the longest pattern of phases.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use partune_fit::solve_positive;
use partune_model::RESERVED;
use partune_model::plan::{Fold, fold};

/// PEs that a model can have.
pub const MOST_PES: usize = 1024;
/// Parts of a program that are told one by one; a run that has more is told phase by phase, without its order.
const MOST_PARTS: usize = 100;
/// Bytes of an element.
const LARGEST: u64 = 1 << 12;
/// Numbers in tables that change from turn to turn.
const MOST_NUMBERS: usize = 20_000;
/// The share of the work that a model may lose where blocks that differ a little are told as their mean.
const MOST_LOST: f64 = 0.01;
/// Classes explain a phase if PEs are off by no more than this share of its mean, as the root of the mean square.
const EXPLAINED: f64 = 0.02;
/// At most so many classes a phase, each with so many PEs to be seen on.
const MOST_CLASSES: usize = 3;
const PES_A_CLASS: usize = 3;
/// Functions that are tried.
const TRIED: usize = 64;

/// Names that every model has.
const OWN: [&str; 5] = ["P", "p", "pe", "k", "turn"];

/// What is known of a run.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// What it is called in the text.
    pub title: String,
    pub pes: usize,
    pub phases: Vec<RecordedPhase>,
    /// In order of time: the phase, and whether a synchronisation ends it.
    pub blocks: Vec<(usize, bool)>,
    /// What each PE worked in each block, block by block, in nanoseconds.
    pub work: Vec<i64>,
    /// What one synchronisation takes, in nanoseconds.
    pub barrier: i64,
    pub flows: Vec<RecordedFlow>,
}

#[derive(Clone, Debug, Default)]
pub struct RecordedPhase {
    /// What it may be called, and where it is.
    pub name: String,
    pub place: String,
    /// Functions that are called in it, with the calls of each PE.
    pub calls: Vec<(String, Vec<u64>)>,
}

/// What a PE sent another in all blocks of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedFlow {
    pub phase: usize,
    pub from: usize,
    pub to: usize,
    pub bytes: u64,
}

/// The text of a model, in which nothing is left to be given.
pub fn extract(run: &Recorded) -> String {
    let total = (0..run.blocks.len()).map(|block| run.most(block)).sum();
    let names = RESERVED.iter().chain(&OWN).map(|it| (*it).to_owned()).collect();
    let known = run.phases.iter().map(|_| None).collect();
    let mut text = Text { run, total, lost: 0, numbers: MOST_NUMBERS, names, known, items: String::new() };
    let main: Vec<String> = nodes(&run.blocks).iter().map(|node| text.node(node, &mut Vec::new())).collect();
    let mut all = String::new();
    let _ = writeln!(all, "// A model of {}.", run.title);
    let _ = writeln!(
        all,
        "// A block is what PEs do from one synchronisation of all of them to the next; blocks that end at the same place are a"
    );
    let _ = writeln!(
        all,
        "// phase. Weights are what each PE worked in a block, in nanoseconds, communication included and waits not."
    );
    let _ = writeln!(all, "param P: int = {} where P >= 1;", run.pes);
    let _ = writeln!(all, "domain pe = 0..{};", run.pes - 1);
    let _ = writeln!(all, "decompose pe -> P by block;");
    let _ = writeln!(all, "machine {{ barrier {}ns }};", run.barrier.max(0));
    all += &text.items;
    let _ = writeln!(all, "\nmain = {{\n{}\n}};", main.join(";\n"));
    all
}

/// A piece of the program: blocks that are alike, or what comes again.
enum Node {
    Part(Part),
    Loop { turns: usize, nodes: Vec<Node> },
}

/// Blocks of a phase at one place of the program, in order of the turns around it, and whether synchronisations end them.
struct Part {
    phase: usize,
    synchronised: bool,
    blocks: Vec<usize>,
}

fn nodes(blocks: &[(usize, bool)]) -> Vec<Node> {
    let shapes = folded(blocks.iter().map(|(phase, synchronised)| Shape::Block(*phase, *synchronised)).collect());
    if shapes.iter().map(Shape::parts).sum::<usize>() <= MOST_PARTS {
        return placed(&shapes, &[0]);
    }
    let mut by_phase: BTreeMap<(usize, bool), Vec<usize>> = BTreeMap::new();
    blocks.iter().enumerate().for_each(|(at, block)| by_phase.entry(*block).or_default().push(at));
    let part = |((phase, synchronised), blocks): ((usize, bool), Vec<usize>)| Part { phase, synchronised, blocks };
    let mut parts: Vec<Part> = by_phase.into_iter().map(part).collect();
    parts.sort_by_key(|part| part.blocks[0]);
    let alone = |part: Part| match part.blocks.len() {
        1 => Node::Part(part),
        turns => Node::Loop { turns, nodes: vec![Node::Part(part)] },
    };
    parts.into_iter().map(alone).collect()
}

/// What comes after what, wherever it is.
#[derive(Clone, PartialEq)]
enum Shape {
    Block(usize, bool),
    Loop(usize, Vec<Shape>),
}

impl Shape {
    fn parts(&self) -> usize {
        match self {
            Shape::Block(..) => 1,
            Shape::Loop(_, inside) => inside.iter().map(Shape::parts).sum(),
        }
    }

    /// How many blocks it is.
    fn length(&self) -> usize {
        match self {
            Shape::Block(..) => 1,
            Shape::Loop(turns, inside) => turns * inside.iter().map(Shape::length).sum::<usize>(),
        }
    }
}

/// The same as loops, and loops in loops: what comes again in a turn is one too, and so is what comes again when inner loops are taken as one.
fn folded(mut shapes: Vec<Shape>) -> Vec<Shape> {
    loop {
        let folds = fold(&shapes);
        if folds.iter().all(|it| it.times == 1) {
            return shapes;
        }
        let shape = |Fold { begin, period, times }: Fold| {
            let inside = shapes[begin..begin + period].to_vec();
            if times == 1 { inside } else { vec![Shape::Loop(times, folded(inside))] }
        };
        shapes = folds.into_iter().flat_map(shape).collect();
    }
}

/// Shapes with the blocks that they are. `begins`: where the first one begins in each turn of the loops around it.
fn placed(shapes: &[Shape], begins: &[usize]) -> Vec<Node> {
    let mut begins = begins.to_vec();
    let mut nodes = Vec::with_capacity(shapes.len());
    for shape in shapes {
        nodes.push(match shape {
            Shape::Block(phase, synchronised) => {
                Node::Part(Part { phase: *phase, synchronised: *synchronised, blocks: begins.clone() })
            }
            Shape::Loop(turns, inside) => {
                let turn = shape.length() / turns;
                let of_turns = |begin: &usize| (0..*turns).map(|it| begin + it * turn).collect::<Vec<usize>>();
                let begins: Vec<usize> = begins.iter().flat_map(of_turns).collect();
                Node::Loop { turns: *turns, nodes: placed(inside, &begins) }
            }
        });
        begins.iter_mut().for_each(|begin| *begin += shape.length());
    }
    nodes
}

impl Recorded {
    /// How many phases the model has: those that are seen in a block.
    pub fn phases_seen(&self) -> usize {
        self.blocks.iter().map(|block| block.0).collect::<BTreeSet<_>>().len()
    }

    fn work(&self, block: usize) -> &[i64] {
        self.work.chunks_exact(self.pes.max(1)).nth(block).unwrap_or_default()
    }

    fn blocks_of(&self, phase: usize) -> Vec<usize> {
        self.blocks.iter().enumerate().filter(|(_, block)| block.0 == phase).map(|(at, _)| at).collect()
    }

    /// What each PE works in one of these blocks.
    fn mean(&self, blocks: &[usize]) -> Vec<i64> {
        let count = blocks.len().max(1) as i64;
        let of_pe = |pe: usize| blocks.iter().map(|block| self.work(*block)[pe]).sum::<i64>();
        (0..self.pes).map(|pe| (of_pe(pe) + count / 2) / count).collect()
    }

    /// How much longer the blocks take than if all were as their mean.
    fn lost(&self, blocks: &[usize], mean: &[i64]) -> i64 {
        let all: i64 = blocks.iter().map(|block| self.most(*block)).sum();
        all - blocks.len() as i64 * mean.iter().copied().max().unwrap_or(0)
    }

    /// What the PE with most to do works in a block.
    fn most(&self, block: usize) -> i64 {
        self.work(block).iter().copied().max().unwrap_or(0)
    }
}

/// What is written so far.
struct Text<'a> {
    run: &'a Recorded,
    /// The largest work of all blocks together.
    total: i64,
    /// What of it is lost so far, as the mean of blocks that differ.
    lost: i64,
    /// Numbers that may still stand in tables that change from turn to turn.
    numbers: usize,
    names: BTreeSet<String>,
    /// Of phases that were met.
    known: Vec<Option<Phase>>,
    items: String,
}

/// What stands for a phase.
#[derive(Clone)]
struct Phase {
    name: String,
    /// What a task takes, if blocks are alike.
    weight: Option<String>,
    /// What it writes, and what it reads of others.
    data: Option<(String, String)>,
}

impl Text<'_> {
    /// The process of a piece; `loops`: the variables of those around it, with their turns.
    fn node(&mut self, node: &Node, loops: &mut Vec<(String, usize)>) -> String {
        match node {
            Node::Part(part) => self.part(part, loops),
            Node::Loop { turns, nodes } => {
                let variable = if loops.is_empty() { "turn".to_owned() } else { format!("turn_{}", loops.len() + 1) };
                loops.push((variable.clone(), *turns));
                let inside: Vec<String> = nodes.iter().map(|node| self.node(node, loops)).collect();
                loops.pop();
                format!("seq ({variable} = 1, {turns}) {{\n{}\n}}", inside.join(";\n"))
            }
        }
    }

    fn part(&mut self, part: &Part, loops: &[(String, usize)]) -> String {
        let Phase { name, weight, data } = self.phase(part.phase);
        let weight = weight.unwrap_or_else(|| self.weight(part, &name, loops));
        let barrier = if part.synchronised { ";\nbarrier" } else { "" };
        match data {
            None => format!("phase {name} forall (p in pe) task {{ weight {weight} }}{barrier}"),
            Some((writes, reads)) => format!(
                "phase {name} {{\nforall (p in pe) task {{ writes {writes}; weight {weight} }};\n\
                 forall (p in pe) task {{ reads {reads} }}\n}}{barrier}"
            ),
        }
    }

    /// What stands for a phase; where it was not met yet, it is written.
    fn phase(&mut self, number: usize) -> Phase {
        if let Some(known) = &self.known[number] {
            return known.clone();
        }
        let run = self.run;
        let (phase, blocks) = (&run.phases[number], run.blocks_of(number));
        let name = self.free(&phase.name);
        let _ = writeln!(self.items, "\n// {name}: {}", phase.place);
        let mean = run.mean(&blocks);
        let weight = self.is_little(run.lost(&blocks, &mean)).then(|| {
            if blocks.len() > 1 {
                let _ = writeln!(self.items, "// of a block, as the mean of {}", blocks.len());
            }
            self.alike(&name, &phase.calls, &mean, blocks.len() as i64)
        });
        let data = self.data(&name, number, blocks.len());
        let found = Phase { name, weight, data };
        self.known[number] = Some(found.clone());
        found
    }

    /// What PEs send each other in a phase: the same to each of those that receive.
    fn data(&mut self, name: &str, number: usize, blocks: usize) -> Option<(String, String)> {
        let flows: Vec<&RecordedFlow> = self.run.flows.iter().filter(|it| it.phase == number).collect();
        let bytes = flows.iter().map(|it| it.bytes).sum::<u64>() / (flows.len() * blocks).max(1) as u64;
        if flows.is_empty() {
            return None;
        }
        let pieces = bytes.div_ceil(LARGEST).max(1);
        let senders = |to: usize| list(flows.iter().filter(|it| it.to == to).map(|it| it.from));
        let senders: Vec<String> = (0..self.run.pes).map(senders).collect();
        let _ = writeln!(self.items, "// what is sent to each of those that receive, in a block");
        let (size, all) = if pieces > 1 { (format!(", {pieces}"), ", *") } else { (String::new(), "") };
        let _ = writeln!(self.items, "data {name}_sent[pe{size}]: byte * {};", bytes.div_ceil(pieces).max(1));
        let _ = writeln!(self.items, "table {name}_from[pe, ..] = {};", list(senders));
        Some((format!("{name}_sent[p{all}]"), format!("{name}_sent[k{all}] for k in {name}_from[p]")))
    }

    /// What a task of blocks takes that are not as all of their phase, as an expression of the PE `p`, and of turns where it changes from one to the next.
    fn weight(&mut self, part: &Part, phase: &str, loops: &[(String, usize)]) -> String {
        let run = self.run;
        let mean = run.mean(&part.blocks);
        let numbers = part.blocks.len() * run.pes;
        let name = self.free(&format!("{phase}_part"));
        let lost = run.lost(&part.blocks, &mean);
        if part.blocks.len() == 1 || self.is_little(lost) {
            return self.alike(&name, &[], &mean, 1);
        }
        if numbers > self.numbers {
            let share = 100.0 * lost as f64 / self.total as f64;
            let _ = writeln!(
                self.items,
                "// of a block, as the mean of {}, which loses {share:.1} % of the work",
                part.blocks.len()
            );
            return self.alike(&name, &[], &mean, 1);
        }
        self.numbers -= numbers;
        let _ = writeln!(self.items, "// of each block, turn by turn");
        let all = part.blocks.iter().flat_map(|block| run.work(*block));
        let _ = writeln!(self.items, "table {name}_work = {};", list(all));
        // Turns of the innermost loop follow each other.
        let turn = loops.iter().fold(String::new(), |outer, (variable, turns)| {
            if outer.is_empty() { format!("({variable} - 1)") } else { format!("({outer}*{turns} + {variable} - 1)") }
        });
        format!("{name}_work[{turn}*{} + p]*1ns", run.pes)
    }

    /// Whether so much can be lost, too.
    fn is_little(&mut self, lost: i64) -> bool {
        let is_little = (self.lost + lost) as f64 <= MOST_LOST * self.total as f64;
        if is_little {
            self.lost += lost;
        }
        is_little
    }

    /// What a task takes in blocks that are alike: calls that explain it, else a table.
    fn alike(&mut self, name: &str, calls: &[(String, Vec<u64>)], mean: &[i64], blocks: i64) -> String {
        let Some(classes) = explained(calls, mean, blocks) else {
            let _ = writeln!(self.items, "table {name}_work[pe] = {};", list(mean));
            return format!("{name}_work[p]*1ns");
        };
        let terms = classes.into_iter().map(|(function, nanoseconds, calls)| {
            let class = self.free(&format!("{name}_{function}"));
            let _ = writeln!(self.items, "param {class}: time = {nanoseconds:.3}ns;");
            let _ = writeln!(self.items, "table {class}_calls[pe] = {};", list(calls));
            let each = if blocks > 1 { format!("/{blocks}") } else { String::new() };
            format!("{class}_calls[p]*{class}{each}")
        });
        terms.collect::<Vec<_>>().join(" + ")
    }

    /// A name like this one that nothing has; what is derived from it is free, too.
    fn free(&mut self, like: &str) -> String {
        let mut base: String = like.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }).collect();
        if !base.starts_with(|it: char| it.is_ascii_alphabetic()) {
            base.insert_str(0, "p_");
        }
        let derived = |name: &str| DERIVED.map(|end| format!("{name}{end}"));
        let is_free = |name: &String| derived(name).iter().all(|it| !self.names.contains(it));
        let numbered = (2_usize..).map(|number| format!("{base}_{number}"));
        let name = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base.clone());
        self.names.extend(derived(&name));
        name
    }
}

/// What names are given for a part, or a class.
const DERIVED: [&str; 5] = ["", "_work", "_sent", "_from", "_calls"];

fn list(items: impl IntoIterator<Item = impl ToString>) -> String {
    format!("[{}]", items.into_iter().map(|it| it.to_string()).collect::<Vec<_>>().join(", "))
}

/// Functions whose calls explain what PEs work in a phase, each with what one call takes and the calls of each PE: the fewest that do, of those the best.
fn explained<'a>(calls: &'a [(String, Vec<u64>)], work: &[i64], turns: i64) -> Option<Vec<(&'a str, f64, &'a [u64])>> {
    let mean = work.iter().sum::<i64>() as f64 / work.len() as f64;
    let often = |calls: &&(String, Vec<u64>)| calls.1.iter().sum::<u64>() >= 2 * turns as u64 * work.len() as u64;
    let mut tried: Vec<&(String, Vec<u64>)> = calls.iter().filter(often).collect();
    tried.sort_by_key(|(name, calls)| (std::cmp::Reverse(calls.iter().sum::<u64>()), name));
    tried.truncate(TRIED);
    let mut chosen: Vec<usize> = Vec::new();
    while mean > 0.0 && chosen.len() < MOST_CLASSES.min(work.len() / PES_A_CLASS) {
        let with = |class: usize| {
            let classes: Vec<usize> = chosen.iter().copied().chain([class]).collect();
            let counts = |pe: usize| classes.iter().map(|it| tried[*it].1[pe] as f64 / turns as f64).collect();
            let rows: Vec<(Vec<f64>, f64, f64)> =
                work.iter().enumerate().map(|(pe, work)| (counts(pe), *work as f64, mean.powi(-2))).collect();
            let costs = solve_positive(&rows);
            let off = |(counts, work, _): &(Vec<f64>, f64, f64)| {
                (counts.iter().zip(&costs).map(|(count, cost)| count * cost).sum::<f64>() - work).powi(2)
            };
            ((rows.iter().map(off).sum::<f64>() / work.len() as f64).sqrt() / mean, classes, costs)
        };
        let left = (0..tried.len()).filter(|it| !chosen.contains(it));
        let (off, classes, costs) = left.map(with).min_by(|a, b| a.0.total_cmp(&b.0))?;
        if off <= EXPLAINED {
            let known = classes.iter().zip(costs).filter(|(_, cost)| *cost > 0.0);
            return Some(known.map(|(it, cost)| (tried[*it].0.as_str(), cost, tried[*it].1.as_slice())).collect());
        }
        chosen = classes;
    }
    None
}
