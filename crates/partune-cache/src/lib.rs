//! What caches keep of the memory that a program touches, where the line is thrown out that was not used for longest (LRU).
//!
//! For whoever has the addresses of a program in their order. Pure functions, no clock: what a line costs is not known here.
//!
//! | question | module |
//! |---|---|
//! | how many accesses miss in a cache of each size, a line being kept anywhere in it | [`distances`] |
//! | how many miss in caches as they are, of few ways, one behind the other | [`levels`] |
//!
//! ```
//! use partune_cache::{Distances, Lines};
//!
//! // Five rounds through 100 lines: a cache of 99 lines keeps none of them until it is needed again, one of 100 lines all.
//! let (mut lines, mut distances) = (Lines::default(), Distances::default());
//! for address in (0..5).flat_map(|_| (0..100).map(|line| 64 * line)) {
//!     distances.touch(lines.id(address / 64));
//! }
//! let histogram = distances.histogram();
//! assert_eq!((histogram.misses(99), histogram.misses(100)), (500, 100));
//! ```

pub mod distances;
pub mod levels;
pub mod lines;

pub use distances::{Distances, Histogram};
pub use levels::{Counts, Hierarchy, Level, LevelError, Moved, Source};
pub use lines::Lines;
