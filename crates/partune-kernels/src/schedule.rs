//! Cycles of a turn as a core runs it that finds all data in its first cache: instructions out of order, ports that are taken, a window that is full.
//!
//! Each instruction is renamed in order, and takes the earliest cycle in which its operands are there and a port of its set is free. Not
//! modelled: the front end (decoding, caches of instructions), wrong guesses at branches, banks of caches, stores that wait for earlier ones.

use crate::body::{Body, Need, Use, What};
use crate::core::Core;

/// Turns that are run at most; the second half counts.
const TURNS: usize = 400;
/// Instructions that are run at most.
const MOST: usize = 200_000;

/// When each port is taken.
struct Booked {
    taken: Vec<Vec<bool>>,
    /// Cycles that each was taken, to spread what could go anywhere.
    load: Vec<u64>,
}

impl Booked {
    /// The first cycle from `ready` on in which a port is free for so long.
    fn book(&mut self, it: Use, ready: u64) -> u64 {
        let length = it.cycles.max(1) as usize;
        let ports = (0..self.taken.len()).filter(|port| it.ports & 1 << port != 0);
        let begin = |port: usize| {
            let taken = &self.taken[port];
            let mut at = ready as usize;
            while let Some(last) = (at..at + length).rev().find(|cycle| taken.get(*cycle) == Some(&true)) {
                at = last + 1;
            }
            at
        };
        let best = ports.map(|port| (begin(port), self.load[port], port)).min();
        let Some((at, _, port)) = best else { return ready };
        let taken = &mut self.taken[port];
        if taken.len() < at + length {
            taken.resize(at + length, false);
        }
        taken[at..at + length].fill(true);
        self.load[port] += length as u64;
        at as u64
    }
}

/// Cycles a turn in the long run; none of an empty body, or one with more instructions than are run.
pub fn cycles(body: &Body<'_>, core: &Core) -> Option<f64> {
    let length = body.code.len();
    let turns = TURNS.min(MOST / length.max(1)) & !1;
    if length == 0 || turns < 4 {
        return None;
    }
    let mut booked = Booked { taken: vec![Vec::new(); core.ports.len()], load: vec![0; core.ports.len()] };
    let mut needs: Vec<Vec<&Need>> = vec![Vec::new(); length];
    body.needs.iter().for_each(|need| needs[need.to].push(need));
    // When each instruction began its work, and its result was there, by turn; when instructions retired, in order.
    let mut began = vec![0_u64; length * turns];
    let mut retired: Vec<u64> = Vec::with_capacity(length * turns);
    let (mut cycle, mut renamed) = (0_u64, 0);
    let mut half = 0;
    for turn in 0..turns {
        if turn == turns / 2 {
            half = retired.last().copied().unwrap_or(0);
        }
        for (at, step) in body.steps.iter().enumerate() {
            if step.is_issued {
                let room = retired.len().checked_sub(core.window as usize).map_or(0, |before| retired[before]);
                if room > cycle {
                    (cycle, renamed) = (room, 0);
                }
                if renamed == core.issue {
                    (cycle, renamed) = (cycle + 1, 0);
                }
                renamed += 1;
            }
            let given = |need: &&&Need| -> Option<u64> {
                let from = turn.checked_sub(need.distance as usize)?;
                Some(began[from * length + need.from] + u64::from(body.latency(need)))
            };
            let ready = |is_address: bool| {
                let these = needs[at].iter().filter(|need| (need.what == What::Address) == is_address);
                these.filter_map(|need| given(&need)).max().unwrap_or(0).max(cycle)
            };
            let loaded = step.load.iter().map(|it| booked.book(*it, ready(true))).max();
            let operands = ready(false).max(loaded.map_or(0, |at| at + u64::from(step.load_latency)));
            let start = step.work.map_or(operands, |it| booked.book(it, operands));
            for it in &step.store {
                booked.book(*it, start);
            }
            began[turn * length + at] = start;
            let done = start + u64::from(step.latency);
            retired.push(done.max(retired.last().copied().unwrap_or(0)));
        }
    }
    let end = retired.last().copied().unwrap_or(0);
    Some((end - half) as f64 / (turns - turns / 2) as f64)
}
