//! The way from bytes to bounds and lines, over code that no compiler makes: it ends, soon, and nothing panics.

use partune_kernels::{cores, kernels, x86};
use proptest::prelude::*;

use crate::known::bytes;

#[path = "../../../fuzz/kernels.rs"]
mod fuzzed;

/// Instructions that loops are made of: loads, stores, sums and products of several widths, counters, a gather, a division, a call, a return, a jump through a register,
/// x87 (which no table knows), one that ends early, and `ud2`.
const INSTRUCTIONS: [&str; 24] = [
    "c5fb1004c6",
    "c5fb1104c7",
    "c5f15804c6",
    "c4e2f19904c6",
    "62f1fd481006",
    "62f1fd48588608000000",
    "c5fb5ec1",
    "c5fd5ec1",
    "c5fb58c1",
    "c4e2f59204c6",
    "4883c008",
    "4883e808",
    "48ffc0",
    "488d4801",
    "488d04c6",
    "4839c8",
    "4c8b04c6",
    "ffd0",
    "c3",
    "ffe0",
    "d8c0",
    "0f0b",
    "f3a4",
    "c5fb10",
];

/// An instruction, a jump to somewhere near, always or perhaps, or any bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => (0..INSTRUCTIONS.len()).prop_map(|at| bytes(INSTRUCTIONS[at])),
        2 => (0x70_u8..0x80, any::<i8>()).prop_map(|(code, by)| vec![code, by as u8]),
        1 => (-40_i8..0).prop_map(|by| vec![0x75, by as u8]),
        1 => any::<i8>().prop_map(|by| vec![0xeb, by as u8]),
        1 => any::<i32>().prop_map(|by| [&[0xe9][..], &by.to_le_bytes()].concat()),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// Jumps lead back, over each other, into instructions and outside.
    #[test]
    fn code_of_any_shape_is_followed(head in any::<[u8; 10]>(), pieces in prop::collection::vec(piece(), 0..60)) {
        fuzzed::code(&[&head[..], &pieces.concat()].concat());
    }

    #[test]
    fn any_bytes_are_followed(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        fuzzed::code(&bytes);
    }
}

/// That code of this size has so many loops; it would not be known today if the cost grew with the third power of it.
fn has(code: &[u8], count: usize) {
    let found = kernels(&x86::decode(code, 0), &cores()[0]);
    assert_eq!(found.len(), count);
}

/// Ten thousand jumps one after the other, each of which may leave for an endless loop of its own: before each loop lies all the way to it.
#[test]
fn a_ladder_of_loops_is_no_hard_work() {
    const RUNGS: usize = 10_000;
    let mut code = Vec::new();
    for rung in 0..RUNGS {
        // je to the loop, which lies behind all rungs: six bytes a rung, and five a loop.
        let by = (RUNGS - rung - 1) * 6 + rung * 5;
        code.extend([0x0f, 0x84]);
        code.extend((by as i32).to_le_bytes());
    }
    // dec %rcx, and jmp back.
    (0..RUNGS).for_each(|_| code.extend([0x48, 0xff, 0xc9, 0xeb, 0xfb]));
    has(&code, RUNGS);
}

/// A loop of many loads, stores and sums that need each other.
#[test]
fn a_large_loop_is_no_hard_work() {
    let turn = bytes("c5fb1004c6 c5fb58c1 c5fb5cc8 c5fb1104c6 4883c008");
    let mut code = turn.repeat(2_000);
    let back = -(code.len() as i32 + 6);
    code.extend([0x0f, 0x85]);
    code.extend(back.to_le_bytes());
    has(&code, 1);
}

/// As many heads as ends, all of one loop in the other: `inc %rax` each, then jumps back from the innermost out.
#[test]
fn loops_around_loops_are_no_hard_work() {
    const DEEP: usize = 2_000;
    let mut code = bytes("48ffc0").repeat(DEEP);
    for level in 0..DEEP {
        let back = -((level * 3 + (level + 1) * 6) as i32) - 3;
        code.extend([0x0f, 0x85]);
        code.extend(back.to_le_bytes());
    }
    has(&code, 1);
}
