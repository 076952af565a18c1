//! The hierarchy of bounds on tensors: the figures of Hung and Davidson, the order theorem, and what may not change them.

use partune_analysis::{Bounds, RegionKind, Tensor};
use proptest::prelude::*;

fn two_regions(cells: [[[i64; 2]; 2]; 2]) -> Tensor {
    let mut tensor = Tensor::new(2);
    let regions = [tensor.region(RegionKind::Parallel), tensor.region(RegionKind::Parallel)];
    for iteration in cells {
        for (region, work) in regions.into_iter().zip(iteration) {
            tensor.iteration(region, &work);
        }
    }
    tensor
}

/// Fig. 4: iterations of (region 1, region 2).
pub(crate) const FIGURE_4: [[[i64; 2]; 2]; 2] = [[[10, 5], [10, 15]], [[5, 6], [15, 16]]];
pub(crate) const FIGURE_5: [[[i64; 2]; 2]; 2] = [[[15, 5], [5, 15]], [[5, 15], [15, 5]]];

fn levels(bounds: &Bounds) -> [i128; 4] {
    [bounds.ipco(), bounds.ipcol(), bounds.ipcolm(), bounds.ipcolmd()].map(|scaled| {
        assert_eq!(scaled % bounds.pes, 0);
        scaled / bounds.pes
    })
}

#[test]
fn figures_4_and_5() {
    assert_eq!(levels(&two_regions(FIGURE_4).bounds()), [41, 42, 46, 47]);
    assert_eq!(levels(&two_regions(FIGURE_5).bounds()), [40, 40, 40, 60]);
}

#[test]
fn a_serial_region_shifts_all_bounds() {
    let mut tensor = two_regions(FIGURE_4);
    let serial = tensor.region(RegionKind::Serial);
    tensor.iteration(serial, &[7, 0]);
    assert_eq!(levels(&tensor.bounds()), [48, 49, 53, 54]);
    // Others may be recorded as waiting in it.
    let mut tensor = two_regions(FIGURE_5);
    let serial = tensor.region(RegionKind::Serial);
    tensor.iteration(serial, &[7, 7]);
    assert_eq!(levels(&tensor.bounds()), [47, 47, 47, 67]);
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(Tensor::new(0).bounds().ipcolmd(), 0);
    assert_eq!(Tensor::new(3).bounds().ipco(), 0);
}

/// A tensor as numbers: for each region its kind, for each cell its region and work.
type Cells = (usize, Vec<bool>, Vec<(usize, Vec<i64>)>);

fn cells() -> impl Strategy<Value = Cells> {
    (1_usize..6, 1_usize..5).prop_flat_map(|(pes, regions)| {
        let kinds = proptest::collection::vec(prop::bool::weighted(0.2), regions);
        let work = proptest::collection::vec(0_i64..1000, pes);
        let cells = proptest::collection::vec((0..regions, work), 0..20);
        (Just(pes), kinds, cells)
    })
}

fn tensor((pes, kinds, cells): &Cells, of: impl Fn(usize, &[i64]) -> Vec<i64>) -> Tensor {
    let mut tensor = Tensor::new(*pes);
    for serial in kinds {
        tensor.region(if *serial { RegionKind::Serial } else { RegionKind::Parallel });
    }
    for (at, (region, work)) in cells.iter().enumerate() {
        tensor.iteration(*region, &of(at, work));
    }
    tensor
}

fn scaled(bounds: &Bounds) -> [i128; 4] {
    [bounds.ipco(), bounds.ipcol(), bounds.ipcolm(), bounds.ipcolmd()]
}

proptest! {
    #[test]
    fn bounds_are_in_order(cells in cells()) {
        let levels = scaled(&tensor(&cells, |_, work| work.to_vec()).bounds());
        prop_assert!(levels.windows(2).all(|pair| pair[0] <= pair[1]));
    }

    #[test]
    fn scaling_work_scales_bounds(cells in cells(), factor in 0_i64..1000) {
        let once = scaled(&tensor(&cells, |_, work| work.to_vec()).bounds());
        let scaled = scaled(&tensor(&cells, |_, work| work.iter().map(|ticks| ticks * factor).collect()).bounds());
        prop_assert_eq!(once.map(|bound| bound * i128::from(factor)), scaled);
    }

    #[test]
    fn who_works_in_a_cell_does_not_change_the_ends(cells in cells(), turns in proptest::collection::vec(0_usize..6, 20)) {
        let turned = |at: usize, work: &[i64]| {
            let mut work = work.to_vec();
            let by = turns[at % turns.len()] % work.len();
            work.rotate_left(by);
            work
        };
        let once = tensor(&cells, |_, work| work.to_vec()).bounds();
        let turned = tensor(&cells, turned).bounds();
        prop_assert_eq!(once.ipco(), turned.ipco());
        prop_assert_eq!(once.ipcolmd(), turned.ipcolmd());
    }

    #[test]
    fn less_cpu_time_is_a_lower_bound(cells in cells(), shares in proptest::collection::vec(0_i64..=100, 20)) {
        let wall = tensor(&cells, |_, work| work.to_vec()).bounds();
        let cpu = tensor(&cells, |at, work| work.iter().map(|ticks| ticks * shares[at % 20] / 100).collect()).bounds();
        prop_assert!(cpu.ipco() <= wall.ipco());
    }
}
