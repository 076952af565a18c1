//! Figures made part by part: `map` looks at one part of a trace, `merge` joins what two neighbours found, `finish` makes the result.
//!
//! A part is a PE, or a piece of its visits; parts need nothing of each other, so they can be looked at in parallel, or one after the
//! other where a trace does not fit. What is merged is merged in the order of parts, so results do not depend on threads, sums of floating
//! point numbers included.

use rayon::prelude::*;

/// A figure of a trace.
pub(crate) trait Fold: Sync {
    /// What is looked at at a time.
    type Part: Send;
    /// What one part gives.
    type Partial: Send;
    type Output;
    /// What parts that are looked at by the same thread may share: room to work in, empty between two parts.
    type Room: Send;

    fn room(&self) -> Self::Room;

    fn map(&self, room: &mut Self::Room, part: Self::Part) -> Self::Partial;

    /// Joins to what earlier parts gave what the next one gave.
    fn merge(&self, all: &mut Self::Partial, next: Self::Partial);

    /// `None` if there was no part.
    fn finish(&self, all: Option<Self::Partial>) -> Self::Output;
}

/// Makes a figure of parts, which come in order.
pub(crate) fn fold<F: Fold>(fold: &F, parts: Vec<F::Part>) -> F::Output {
    let found: Vec<F::Partial> =
        parts.into_par_iter().map_init(|| fold.room(), |room, part| fold.map(room, part)).collect();
    fold.finish(found.into_iter().reduce(|mut all, next| {
        fold.merge(&mut all, next);
        all
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parts themselves, and how much room was left dirty.
    struct Order;

    impl Fold for Order {
        type Part = u32;
        type Partial = Vec<u32>;
        type Output = Vec<u32>;
        type Room = Vec<u32>;

        fn room(&self) -> Vec<u32> {
            Vec::new()
        }

        fn map(&self, room: &mut Vec<u32>, part: u32) -> Vec<u32> {
            room.push(part);
            std::mem::take(room)
        }

        fn merge(&self, all: &mut Vec<u32>, next: Vec<u32>) {
            all.extend(next);
        }

        fn finish(&self, all: Option<Vec<u32>>) -> Vec<u32> {
            all.unwrap_or_default()
        }
    }

    #[test]
    fn parts_are_merged_in_their_order_on_any_number_of_threads() {
        for threads in [1, 3, 8] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let parts: Vec<u32> = (0..1000).collect();
            assert_eq!(pool.install(|| fold(&Order, parts.clone())), parts);
        }
        assert_eq!(fold(&Order, Vec::new()), []);
    }
}
