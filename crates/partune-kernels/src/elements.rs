//! How large the elements are that vectors are loaded and stored of: what a load or a store is called does not say it.

use std::collections::BTreeMap;

use crate::class::Class;
use crate::instruction::{Instruction, Register};
use crate::streams::Stream;

/// Bytes of the elements of each access of a loop.
pub struct Elements {
    loaded: Vec<u32>,
    stored: Vec<u32>,
}

impl Elements {
    /// By what reads a load and what makes that which is stored; where that does not tell, `element`. O(n log n).
    pub fn new(code: &[&Instruction], element: u32) -> Elements {
        let of_loop = |it: &Instruction, bytes: u32| {
            let is_integer = it.element == 0 && bytes <= 8;
            if is_integer || element == 0 { bytes } else { element }
        };
        let mut loaded = vec![1; code.len()];
        let mut taken: BTreeMap<Register, u32> = BTreeMap::new();
        for (at, it) in code.iter().enumerate().rev() {
            let later = it.writes.iter().filter_map(|register| taken.remove(register)).next_back();
            let takes = if is_carrier(it) { later } else { takes(it) };
            if let Some(load) = it.load {
                loaded[at] = takes.filter(|it| *it <= load.bytes).unwrap_or_else(|| of_loop(it, load.bytes)).max(1);
            }
            if let Some(takes) = takes {
                taken.extend(it.reads.iter().map(|register| (*register, takes)));
            }
        }
        let mut stored = vec![1; code.len()];
        let mut made: BTreeMap<Register, u32> = BTreeMap::new();
        for (at, it) in code.iter().enumerate() {
            let earlier = it.reads.iter().find_map(|register| made.get(register)).copied();
            if let Some(store) = it.store {
                stored[at] = earlier.filter(|it| *it <= store.bytes).unwrap_or_else(|| of_loop(it, store.bytes)).max(1);
            }
            let makes = if is_carrier(it) { earlier } else { makes(it) };
            for register in &it.writes {
                match makes {
                    Some(makes) => made.insert(*register, makes),
                    None => made.remove(register),
                };
            }
        }
        Elements { loaded, stored }
    }

    pub fn loaded(&self, it: &Stream) -> u32 {
        it.element().unwrap_or(self.loaded[it.at])
    }

    pub fn stored(&self, it: &Stream) -> u32 {
        it.element().unwrap_or(self.stored[it.at])
    }
}

/// Whether it leaves elements what they are, wherever it puts them.
pub fn is_carrier(it: &Instruction) -> bool {
    let is_whatever = matches!(it.class, Class::Nothing | Class::Shuffle | Class::Cross | Class::VectorLogic);
    is_whatever && it.converts.is_none()
}

fn takes(it: &Instruction) -> Option<u32> {
    let is_arithmetic =
        it.class.flops() > 0 || matches!(it.class, Class::FpCompare | Class::VectorAdd | Class::VectorMul);
    it.converts.map(|(from, _)| from).or_else(|| (is_arithmetic && it.element > 0).then_some(it.element))
}

fn makes(it: &Instruction) -> Option<u32> {
    it.converts.map(|(_, to)| to).or_else(|| (it.class.flops() > 0).then_some(it.element))
}
