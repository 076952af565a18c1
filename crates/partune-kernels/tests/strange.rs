//! Code that is none, loops without an end, calls: reported and bounded, never a panic.

use partune_kernels::{cores, kernels, ports, x86};
use proptest::prelude::*;

#[test]
fn a_loop_without_an_end_and_one_with_a_call_are_said() {
    // jmp to itself.
    let endless = kernels(&x86::decode(&[0xeb, 0xfe], 0), &cores()[0]);
    assert!(endless.len() == 1 && !endless[0].has_exit);
    // call, dec %rax, jne back, ret.
    let calls = kernels(&x86::decode(&[0xe8, 0, 0, 0, 0, 0x48, 0xff, 0xc8, 0x75, 0xf6, 0xc3], 0), &cores()[0]);
    assert!(calls.len() == 1 && calls[0].calls && calls[0].bounds.is_none());
    assert!(kernels(&x86::decode(&[], 0), &cores()[0]).is_empty());
    // Straight code has no loop: ret.
    assert!(kernels(&x86::decode(&[0xc3], 0), &cores()[0]).is_empty());
}

#[test]
fn what_not_every_turn_runs_is_in_no_bound() {
    // test %rax,%rax; je over; divsd; over: dec %rcx; jne back; ret.
    let code = [0x48, 0x85, 0xc0, 0x74, 0x04, 0xf2, 0x0f, 0x5e, 0xc1, 0x48, 0xff, 0xc9, 0x75, 0xf2, 0xc3];
    let found = kernels(&x86::decode(&code, 0x400), &cores()[0]);
    assert_eq!((found.len(), found[0].instructions, found[0].conditional), (1, 4, 1));
    assert_eq!(found[0].chained, [0x409]);
}

proptest! {
    #[test]
    fn any_bytes_are_bounded(code in prop::collection::vec(any::<u8>(), 0..300), address in any::<u64>()) {
        let decoded = x86::decode(&code, address);
        let length: usize = decoded.iter().map(|it| usize::from(it.length)).sum();
        prop_assert!(length <= code.len() + 15);
        for core in cores() {
            for kernel in kernels(&decoded, core) {
                if let Some(bounds) = kernel.bounds {
                    prop_assert!(bounds.m <= bounds.ma && bounds.ma <= bounds.mac);
                    prop_assert!(bounds.macs.is_none_or(|macs| bounds.mac <= macs && macs.is_finite()));
                }
            }
        }
    }

    /// The bound of ports is the least time of any way to share the work out, which a linear program finds: here by its dual, over all sets of ports.
    #[test]
    fn ports_are_bound_by_the_busiest_set(work in prop::collection::vec((1_u32..64, 1_u32..9), 1..10)) {
        let found = ports::bound(work.iter().map(|(ports, cycles)| (*ports, f64::from(*cycles))));
        let of = |set: u32| {
            let inside = work.iter().filter(|(ports, _)| ports & !set == 0).map(|(_, cycles)| *cycles).sum::<u32>();
            f64::from(inside) / f64::from(set.count_ones())
        };
        let most = (1_u32..64).map(of).fold(0.0, f64::max);
        prop_assert!((found.cycles - most).abs() < 1e-9);
        prop_assert!((of(found.ports) - most).abs() < 1e-9);
    }
}
