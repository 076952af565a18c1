//! How often instructions were executed, as callgrind counted them, and what that makes of the bounds of loops.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::bounds::Kernel;
use crate::core::Core;
use crate::instruction::Instruction;

/// What one process executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    /// Its command line.
    pub command: String,
    /// By path of each program and library: address of an instruction, as a disassembler prints it, and how often it was executed.
    pub objects: BTreeMap<String, BTreeMap<u64, u64>>,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CountsError {
    #[error("it is no file of callgrind")]
    NotCallgrind,
    #[error("it has lines of the source, and no instructions\n  remedy: valgrind --tool=callgrind --dump-instr=yes")]
    NoInstructions,
    #[error("line {0} cannot be read")]
    Line(usize),
    #[error("it ends early, or was changed: its instructions are {found}, and {said} are said to be there")]
    Sum { found: u64, said: u64 },
}

impl Executions {
    /// Reads what callgrind writes with `--dump-instr=yes`, names and positions compressed or not. Cost: one pass.
    pub fn callgrind(text: &str) -> Result<Executions, CountsError> {
        if !text.lines().take(3).any(|line| line.starts_with("# callgrind") || line.starts_with("creator: callgrind")) {
            return Err(CountsError::NotCallgrind);
        }
        let mut found = Executions::default();
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let mut object: Option<&str> = None;
        // The address before, to which the next one may be relative; whether the line is of a call, whose cost is what it calls.
        let (mut address, mut is_call, mut sum, mut said) = (0_u64, false, 0_u64, None::<u64>);
        for (at, line) in text.lines().enumerate() {
            let wrong = || CountsError::Line(at + 1);
            let begin = line.as_bytes().first();
            if begin.is_some_and(|byte| byte.is_ascii_digit() || b"+-*".contains(byte)) {
                let mut words = line.split_ascii_whitespace();
                address = position(words.next().ok_or_else(wrong)?, address).ok_or_else(wrong)?;
                // The line of the source, then the count; jumps have none.
                let count = words.nth(1).map_or(Some(0), |word| word.parse::<u64>().ok()).ok_or_else(wrong)?;
                if !std::mem::take(&mut is_call) && count > 0 {
                    let object = object.ok_or_else(wrong)?;
                    let of = found.objects.entry(object.to_owned()).or_default().entry(address).or_default();
                    *of = of.saturating_add(count);
                    sum = sum.saturating_add(count);
                }
            } else if let Some((key, value)) = line.split_once('=') {
                match key {
                    "ob" => object = Some(name(value, &mut names).ok_or_else(wrong)?),
                    "cob" => {
                        name(value, &mut names).ok_or_else(wrong)?;
                    }
                    "calls" => is_call = true,
                    _ => {}
                }
            } else if let Some((key, value)) = line.split_once(':') {
                match key {
                    "cmd" => value.trim().clone_into(&mut found.command),
                    "positions" if !value.split_ascii_whitespace().any(|it| it == "instr") => {
                        return Err(CountsError::NoInstructions);
                    }
                    "totals" => {
                        let first = value.split_ascii_whitespace().next();
                        let of = first.and_then(|it| it.parse::<u64>().ok()).ok_or_else(wrong)?;
                        said = Some(said.unwrap_or(0).saturating_add(of));
                    }
                    _ => {}
                }
            }
        }
        match said.unwrap_or(0) {
            said if said == sum => Ok(found),
            said => Err(CountsError::Sum { found: sum, said }),
        }
    }

    /// The program itself, and what was executed of it.
    pub fn program(&self) -> Option<(&str, &BTreeMap<u64, u64>)> {
        let base = |path: &str| path.rsplit('/').next().map(str::to_owned);
        let command = base(self.command.split_ascii_whitespace().next()?);
        let found = self.objects.iter().find(|(path, _)| base(path) == command);
        found.map(|(path, counts)| (path.as_str(), counts))
    }
}

/// An address, as it is or relative to the one before.
fn position(word: &str, before: u64) -> Option<u64> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    match word.as_bytes().first()? {
        b'*' => Some(before),
        b'+' | b'-' => before.checked_add_signed(word.parse().ok()?),
        _ => word.parse().ok(),
    }
}

/// A name: `(3) /bin/app` where it is met first, then `(3)`; or the name alone.
fn name<'a>(text: &'a str, names: &mut BTreeMap<&'a str, &'a str>) -> Option<&'a str> {
    let Some((number, name)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else { return Some(text) };
    match name.trim() {
        "" => names.get(number).copied(),
        name => {
            names.insert(number, name);
            Some(name)
        }
    }
}

/// What was executed needs at least, in cycles of the core.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needed {
    pub m: f64,
    pub ma: f64,
    pub mac: f64,
    pub macs: f64,
    /// Instructions, and those of them in loops that have bounds.
    pub instructions: u64,
    pub in_loops: u64,
}

impl Needed {
    /// What a function needs whose instructions were executed so often. Innermost loops need what their bounds say in each turn. What else was
    /// executed, also what only some turns of a loop run, is its floating-point operations at the core's peak for M and MA, and as many instructions
    /// a cycle as the core can rename for MAC and MACS. A loop without a schedule has its MAC for MACS.
    pub fn of(code: &[Instruction], kernels: &[Kernel], core: &Core, counts: &BTreeMap<u64, u64>) -> Needed {
        let executed = |it: &Instruction| counts.get(&it.address).copied().unwrap_or(0);
        let mut needed = Needed::default();
        let bounded: Vec<&Kernel> = kernels.iter().filter(|it| it.bounds.is_some()).collect();
        // Of all else: instructions, and cycles of their floating-point operations.
        let (mut others, mut least) = (0_u64, 0.0);
        for kernel in &bounded {
            let Some(bounds) = &kernel.bounds else { continue };
            let machine_turns = turns(kernel, counts);
            let cycles = |of_turn: f64| of_turn * machine_turns as f64 * f64::from(kernel.turns());
            needed.m += cycles(bounds.m);
            needed.ma += cycles(bounds.ma);
            needed.mac += cycles(bounds.mac);
            needed.macs += cycles(bounds.macs.unwrap_or(bounds.mac));
            let all: u64 = code.iter().filter(|it| kernel.has(it.address)).map(executed).sum();
            others += all.saturating_sub(machine_turns.saturating_mul(kernel.instructions as u64));
            needed.in_loops += all;
        }
        for it in code {
            let count = executed(it);
            needed.instructions += count;
            if !bounded.iter().any(|kernel| kernel.has(it.address)) {
                others += count;
                if it.flops() > 0 {
                    least += count as f64 * f64::from(it.flops()) / core.peak_flops(it.element);
                }
            }
        }
        let compiled = (others as f64 / f64::from(core.issue)).max(least);
        needed.m += least;
        needed.ma += least;
        needed.mac += compiled;
        needed.macs += compiled;
        needed
    }

    pub fn add(&mut self, other: &Needed) {
        self.m += other.m;
        self.ma += other.ma;
        self.mac += other.mac;
        self.macs += other.macs;
        self.instructions += other.instructions;
        self.in_loops += other.in_loops;
    }
}

/// Turns of the machine's loop: each runs its head.
pub fn turns(kernel: &Kernel, counts: &BTreeMap<u64, u64>) -> u64 {
    let counts = kernel.pieces.iter().flat_map(|(first, last)| counts.range(first..=last));
    counts.map(|(_, count)| *count).max().unwrap_or(0)
}
