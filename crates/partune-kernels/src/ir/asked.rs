//! What a turn of a loop of the source asks for, and the bounds M and MA that come of it.

use std::collections::{BTreeMap, BTreeSet};

use super::IrError;
use super::addresses::Values;
use super::places::Places;
use super::text::{Function, Line, Words, functions};
use super::types::{self, Type, Types};
use crate::bounds::Essential;
use crate::class::Class;
use crate::core::Core;
use crate::flow;
use crate::streams::{Stream, Streams};

/// An innermost loop of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceLoop {
    /// As the source has it.
    pub function: String,
    /// With its folder, where that is known.
    pub file: String,
    /// The first and the last line that it has code of.
    pub lines: (u32, u32),
    /// None where it calls what is no arithmetic.
    pub asked: Option<Asked>,
}

/// What every turn asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Bytes of the number that most operations are on; 0 without any.
    pub element: u32,
    /// Operations, and bytes of memory: each element once, and not those that the loop itself stored before.
    pub essential: Essential,
    /// Bytes of accesses that do not move by a constant; they are in the others too, each for itself.
    pub scattered: u64,
    /// Operations and accesses that not every turn does: they are in nothing else.
    pub conditional: usize,
    /// Bytes by which its accesses move, to either side.
    pub steps: BTreeSet<u64>,
}

impl Asked {
    pub fn flops(&self) -> f64 {
        self.essential.flops()
    }

    /// The bounds on a core, in cycles for a turn.
    pub fn bounds(&self, core: &Core) -> (f64, f64) {
        let flops = self.flops();
        let m = if flops > 0.0 { flops / core.peak_flops(self.element) } else { 0.0 };
        (m, self.essential.cycles(core, self.element).max(m))
    }
}

/// The innermost loops of a module, in its order. Cost: a few passes over each function, and of each loop some over its lines.
pub fn source_loops(text: &str) -> Result<Vec<SourceLoop>, IrError> {
    let functions = functions(text);
    if functions.is_empty() {
        return Err(IrError::NoFunctions);
    }
    let (types, places) = (Types::new(text), Places::new(text));
    let mut found = Vec::new();
    let (mut has_loops, mut has_counters) = (false, false);
    for function in &functions {
        let before = flow::predecessors(&function.blocks);
        let named = function.described.and_then(|described| places.function(described));
        for it in flow::loops(&function.blocks, &before).iter().filter(|it| it.is_innermost) {
            has_loops = true;
            let inside = || it.blocks.iter().flat_map(|block| block_lines(function, *block));
            // Whatever turns keeps something from one turn to the next.
            has_counters |= inside().any(|line| line.operation == "phi");
            let lines = inside().filter_map(|line| places.line(line.place?));
            let lines = lines.fold(None, |ends: Option<(u32, u32)>, line| {
                Some(ends.map_or((line, line), |(first, last)| (first.min(line), last.max(line))))
            });
            let Some(((name, file), lines)) = named.clone().zip(lines) else { continue };
            found.push(SourceLoop { function: name, file, lines, asked: asked(&types, function, it) });
        }
    }
    match (found.is_empty(), has_loops, has_counters) {
        (_, true, false) => Err(IrError::InMemory),
        (true, true, _) => Err(IrError::NoLines),
        _ => Ok(found),
    }
}

fn block_lines<'f, 'a>(function: &'f Function<'a>, block: usize) -> &'f [Line<'a>] {
    let block = &function.blocks[block];
    &function.lines[block.first..block.end]
}

/// None where it calls what is no arithmetic.
fn asked<'a>(types: &Types<'a>, function: &Function<'a>, of: &flow::Loop) -> Option<Asked> {
    let is_inside = |block: usize| of.blocks.binary_search(&block).is_ok();
    let order = flow::reverse_postorder(&function.blocks, of.head, |next| next != of.head && is_inside(next));
    let always = flow::every_turn(&function.blocks, of);
    let mut values = Values::new(types, function, &order);
    let (mut essential, mut streams, mut conditional) = (Essential::default(), Streams::default(), 0);
    // Operations by the bytes of their elements.
    let mut operations: BTreeMap<u32, u32> = BTreeMap::new();
    let mut at = 0;
    for block in &order {
        let is_always = always.contains(block);
        for line in block_lines(function, *block) {
            at += 1;
            match line.operation {
                "load" | "store" if is_always => {
                    let Some(access) = values.access(line) else { continue };
                    let bytes = types.size(&access.of).map_or(0, |size| size.bytes);
                    let stream = access.place.map(|place| Stream {
                        at,
                        base: values.array(&place),
                        index: None,
                        scale: 1,
                        offset: place.constant,
                        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                        stride: place.step,
                        counted: None,
                    });
                    // Far from what a program can have, sums of these fit everywhere.
                    let is_sane =
                        |it: &Stream| it.offset.unsigned_abs() < 1 << 60 && it.stride.unsigned_abs() < 1 << 60;
                    let (known, scattered) = if access.is_store {
                        (&mut streams.stores, &mut streams.scattered_stores)
                    } else {
                        (&mut streams.loads, &mut streams.scattered_loads)
                    };
                    match stream.filter(is_sane) {
                        Some(stream) => known.push(stream),
                        None => *scattered = scattered.saturating_add(bytes),
                    }
                }
                "load" | "store" => conditional += 1,
                _ => match operation(line) {
                    Operation::Nothing => {}
                    Operation::Calls => return None,
                    Operation::Of(classes, element, lanes) if is_always => {
                        for class in classes {
                            essential.add(*class, f64::from(lanes));
                        }
                        *operations.entry(element).or_default() += 1;
                    }
                    Operation::Of(..) => conditional += 1,
                },
            }
        }
    }
    let moving = streams.loads.iter().chain(&streams.stores).map(|it| it.stride.unsigned_abs());
    let steps = moving.filter(|step| *step > 0).collect();
    // What an earlier turn stored, or this one before, is at hand.
    let stores = &streams.stores;
    let is_at_hand = |load: &Stream| {
        stores.iter().any(|store| load.turns_after(store).is_some_and(|turns| turns > 0 || store.at < load.at))
    };
    streams.loads.retain(|load| !is_at_hand(load));
    (essential.loaded, essential.stored) = streams.distinct();
    let most = operations.into_iter().max_by_key(|(element, count)| (*count, *element));
    let scattered = streams.scattered_loads.saturating_add(streams.scattered_stores);
    Some(Asked { element: most.map_or(0, |(element, _)| element), essential, scattered, conditional, steps })
}

/// What a line asks for beside memory.
enum Operation {
    Nothing,
    /// Work on so many elements of so many bytes.
    Of(&'static [Class], u32, u32),
    Calls,
}

fn operation(line: &Line<'_>) -> Operation {
    let mut words = Words::new(line.rest);
    words.skip_flags();
    let classes: fn(u32) -> &'static [Class] = match line.operation {
        "fadd" | "fsub" => |_| &[Class::FpAdd],
        "fmul" => |_| &[Class::FpMul],
        "fdiv" => |element| if element == 4 { &[Class::FpDiv32] } else { &[Class::FpDiv64] },
        "atomicrmw" => return exchanged(line.rest),
        "call" | "tail" | "musttail" | "notail" | "invoke" | "callbr" => return called(line.rest),
        _ => return Operation::Nothing,
    };
    of(classes, types::read(&mut words, 0))
}

/// Work on a type.
fn of(classes: fn(u32) -> &'static [Class], on: Option<Type<'_>>) -> Operation {
    let (element, lanes) = match on {
        Some(Type::Float(bytes)) => (bytes, 1),
        Some(Type::Vector(lanes, inner)) => match *inner {
            Type::Float(bytes) => (bytes, lanes),
            _ => return Operation::Nothing,
        },
        _ => return Operation::Nothing,
    };
    let element = u32::try_from(element).unwrap_or(0);
    Operation::Of(classes(element), element, u32::try_from(lanes).unwrap_or(u32::MAX))
}

/// What an atomic operation on memory computes: `fadd ptr %sum, double %x`.
fn exchanged(rest: &str) -> Operation {
    let (what, operands) = rest.strip_prefix("volatile ").unwrap_or(rest).split_once(' ').unwrap_or_default();
    let value = operands.split_once(", ").map(|(_, value)| value).filter(|_| ["fadd", "fsub"].contains(&what));
    of(|_| &[Class::FpAdd], value.and_then(|value| types::read(&mut Words::new(value), 0)))
}

/// Of functions that are arithmetic of a core: what they are.
fn called(rest: &str) -> Operation {
    /// That cost nothing, or less than what any bound counts.
    const NOTHING: [&str; 16] = [
        "llvm.dbg.",
        "llvm.lifetime.",
        "llvm.assume",
        "llvm.fabs.",
        "llvm.copysign.",
        "llvm.experimental.noalias",
        "llvm.smax.",
        "llvm.smin.",
        "llvm.umax.",
        "llvm.umin.",
        "llvm.abs.",
        "llvm.minnum.",
        "llvm.maxnum.",
        "llvm.expect.",
        "llvm.prefetch",
        "llvm.is.constant.",
    ];
    let Some(at) = rest.find('@') else { return Operation::Calls };
    let Some(name) = Words::new(&rest[at..]).next().map(|name| name.trim_start_matches('@').trim_matches('"')) else {
        return Operation::Calls;
    };
    if NOTHING.iter().any(|prefix| name.starts_with(prefix)) {
        return Operation::Nothing;
    }
    let before = rest[..at].trim_end();
    if before.contains('(') && !before.ends_with(')') {
        // Through a pointer, and the name is what it takes.
        return Operation::Calls;
    }
    // The type that it gives stands right before its name, or before those of what it takes.
    let before = before.split(" (").next().unwrap_or("").trim_end();
    let begin = if before.ends_with('>') { before.rfind('<') } else { before.rfind(' ').map(|at| at + 1) };
    let on = types::read(&mut Words::new(&before[begin.unwrap_or(0)..]), 0);
    match name {
        _ if name.starts_with("llvm.fmuladd.") || name.starts_with("llvm.fma.") => {
            of(|_| &[Class::FpMul, Class::FpAdd], on)
        }
        "fma" | "fmaf" => of(|_| &[Class::FpMul, Class::FpAdd], on),
        "sqrt" | "sqrtf" => of(square_root, on),
        _ if name.starts_with("llvm.sqrt.") => of(square_root, on),
        "fabs" | "fabsf" => Operation::Nothing,
        _ => Operation::Calls,
    }
}

fn square_root(element: u32) -> &'static [Class] {
    if element == 4 { &[Class::FpSqrt32] } else { &[Class::FpSqrt64] }
}
