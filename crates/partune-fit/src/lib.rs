//! Laws of what was measured at several sizes and numbers of PEs: fits in the performance-model normal form,
//! `Σ c · n^i log₂^j n · P^k log₂^l P` (Calotoiu and others, 2013), of any number of parameters.
//!
//! For whoever has a handful of values and asks for another one. Pure functions on plain values: nothing is read or said to people. Which sums of terms are
//! looked at is in [`terms`], how they are chosen in [`search`], the arithmetic in [`squares`], and in [`positive`] where coefficients are amounts.
//!
//! ```
//! use partune_fit::{Point, fit};
//!
//! // Work on cubes of n cells a side, on P PEs.
//! let at: Vec<[f64; 2]> = [8.0, 16.0, 32.0].iter().flat_map(|n| [1.0, 2.0, 4.0].map(|pes| [*n, pes])).collect();
//! let points: Vec<Point> =
//!     at.iter().map(|at| Point { at: at.to_vec(), value: 2e-7 * at[0].powi(3) / at[1], deviation: 0.0 }).collect();
//! let law = fit(&points).expect("some law is possible");
//! let (value, _) = law.at(&[64.0, 8.0]);
//! assert!((value / (2e-7 * 64.0_f64.powi(3) / 8.0) - 1.0).abs() < 1e-6);
//! assert_eq!(law.text(&["n", "P"]), "2e-7·n^3·P^-1");
//! ```

pub mod positive;
pub mod search;
pub mod squares;
pub mod terms;

pub use positive::solve_positive;
pub use search::{Fitted, Point, fit};
