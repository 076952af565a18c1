//! Loops of a function: basic blocks, who dominates whom, and the innermost natural loops.

use std::collections::BTreeSet;

use crate::instruction::{Flow, Instruction};

/// Instructions in a row that are entered at the first one only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Positions of the first instruction and after the last one.
    pub first: usize,
    pub end: usize,
    /// Blocks that may follow.
    pub next: Vec<usize>,
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The block that it is entered at.
    pub head: usize,
    /// All its blocks, in order of address.
    pub blocks: Vec<usize>,
    /// Whether it contains no other one.
    pub is_innermost: bool,
    /// Whether there is a way out of it.
    pub has_exit: bool,
}

/// The blocks of a function, in order of address. Jumps to places outside of it, or into the middle of an instruction, lead nowhere. O(n log n).
pub fn blocks(code: &[Instruction]) -> Vec<Block> {
    let at = |address: u64| code.binary_search_by_key(&address, |it| it.address).ok();
    let mut firsts: BTreeSet<usize> = BTreeSet::from([0]);
    for (place, instruction) in code.iter().enumerate() {
        match instruction.flow {
            Flow::Next => {}
            Flow::Jump { to, .. } => firsts.extend(at(to).into_iter().chain([place + 1])),
            Flow::Away => firsts.extend([place + 1]),
        }
    }
    let firsts: Vec<usize> = firsts.into_iter().filter(|first| *first < code.len()).collect();
    let block_of = |place: usize| firsts.partition_point(|first| *first <= place).checked_sub(1);
    let block = |(index, first): (usize, &usize)| {
        let end = firsts.get(index + 1).copied().unwrap_or(code.len());
        let after = (end < code.len()).then_some(index + 1);
        let next = match code[end - 1].flow {
            Flow::Next => after.into_iter().collect(),
            Flow::Jump { to, is_conditional } => {
                let target = at(to).and_then(block_of);
                let mut next: Vec<usize> = target.into_iter().chain(after.filter(|_| is_conditional)).collect();
                next.dedup();
                next
            }
            Flow::Away => Vec::new(),
        };
        Block { first: *first, end, next }
    };
    firsts.iter().enumerate().map(block).collect()
}

/// The blocks that each block may follow, in order of address.
pub fn predecessors(blocks: &[Block]) -> Vec<Vec<usize>> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    for (block, it) in blocks.iter().enumerate() {
        it.next.iter().for_each(|next| before[*next].push(block));
    }
    before
}

/// The natural loops, in order of their heads; those with one head are one. `before` are the [`predecessors`]. O(blocks squared) at worst.
pub fn loops(blocks: &[Block], before: &[Vec<usize>]) -> Vec<Loop> {
    let order = reverse_postorder(blocks, 0, |_| true);
    let dominators = dominators(blocks, &order);
    let mut loops: Vec<Loop> = Vec::new();
    for head in 0..blocks.len() {
        let is_back = |from: &&usize| dominators[**from].is_some() && dominates(&dominators, head, **from);
        let mut open: Vec<usize> = before[head].iter().filter(is_back).copied().collect();
        if open.is_empty() {
            continue;
        }
        let mut inside = BTreeSet::from([head]);
        while let Some(block) = open.pop() {
            if inside.insert(block) {
                open.extend(before[block].iter().filter(|it| dominators[**it].is_some()));
            }
        }
        let has_exit = inside.iter().any(|block| blocks[*block].next.iter().any(|next| !inside.contains(next)));
        loops.push(Loop { head, blocks: inside.into_iter().collect(), is_innermost: true, has_exit });
    }
    let heads: Vec<usize> = loops.iter().map(|it| it.head).collect();
    for it in &mut loops {
        it.is_innermost = !heads.iter().any(|head| *head != it.head && it.blocks.binary_search(head).is_ok());
    }
    loops
}

/// The blocks that are reached from an entry by way of those where it `may_go`, each before what follows it but for ways back.
pub fn reverse_postorder(blocks: &[Block], entry: usize, may_go: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; blocks.len()];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    if let Some(seen) = seen.get_mut(entry) {
        *seen = true;
        stack.push((entry, 0));
    }
    while let Some((block, at)) = stack.pop() {
        match blocks[block].next.get(at) {
            None => order.push(block),
            Some(next) => {
                stack.push((block, at + 1));
                if may_go(*next) && !std::mem::replace(&mut seen[*next], true) {
                    stack.push((*next, 0));
                }
            }
        }
    }
    order.reverse();
    order
}

/// The immediate dominator of each block of an order, the entry's being itself; none of what is not reached (Cooper, Harvey and Kennedy 2001).
fn dominators(blocks: &[Block], order: &[usize]) -> Vec<Option<usize>> {
    let mut rank = vec![usize::MAX; blocks.len()];
    order.iter().enumerate().for_each(|(at, block)| rank[*block] = at);
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    for block in order {
        blocks[*block].next.iter().for_each(|next| before[*next].push(*block));
    }
    let mut dominators: Vec<Option<usize>> = vec![None; blocks.len()];
    let Some(entry) = order.first() else { return dominators };
    dominators[*entry] = Some(*entry);
    let mut changed = true;
    while changed {
        changed = false;
        for block in &order[1..] {
            let known = before[*block].iter().copied().filter(|it| dominators[*it].is_some());
            let new = known.reduce(|mut one, mut other| {
                while one != other {
                    while rank[one] > rank[other] {
                        one = dominators[one].unwrap_or(*entry);
                    }
                    while rank[other] > rank[one] {
                        other = dominators[other].unwrap_or(*entry);
                    }
                }
                one
            });
            changed |= new != dominators[*block];
            dominators[*block] = new;
        }
    }
    dominators
}

fn dominates(dominators: &[Option<usize>], above: usize, mut block: usize) -> bool {
    loop {
        if block == above {
            return true;
        }
        match dominators[block] {
            Some(next) if next != block => block = next,
            _ => return false,
        }
    }
}

/// Blocks that every turn of a loop runs, in the order in which it does: those that all ways back to its head pass.
pub fn every_turn(blocks: &[Block], of: &Loop) -> Vec<usize> {
    // Of the loop alone, with what goes back to its head going nowhere.
    let order = reverse_postorder(blocks, of.head, |next| next != of.head && of.blocks.binary_search(&next).is_ok());
    let dominators = dominators(blocks, &order);
    let backs: Vec<usize> = order.iter().copied().filter(|block| blocks[*block].next.contains(&of.head)).collect();
    // Who dominates comes first.
    order.into_iter().filter(|block| backs.iter().all(|back| dominates(&dominators, *block, *back))).collect()
}

/// Blocks that run one after the other each time before a loop is entered, in order: as far back as there is one way, and at most [`BACK`] of them. `before` are
/// the [`predecessors`].
pub fn before(before: &[Vec<usize>], of: &Loop) -> Vec<usize> {
    let mut chain = Vec::new();
    let mut at = of.head;
    while chain.len() < BACK {
        let mut from = before[at].iter().filter(|block| of.blocks.binary_search(block).is_err());
        let (Some(block), None) = (from.next(), from.next()) else { break };
        if chain.contains(block) {
            break;
        }
        chain.push(*block);
        at = *block;
    }
    chain.reverse();
    chain
}

/// What makes the addresses of a loop is not farther before it, and code may be without an end.
const BACK: usize = 64;
