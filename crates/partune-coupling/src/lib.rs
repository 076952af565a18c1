//! What kernels of a program do to each other, and what the program takes because of that: the algebra of kernel coupling.
//!
//! For whoever has measured kernels alone and in chains: experiments, the engine. All is pure functions on plain values: nothing runs a program, reads a
//! file, or says a word to people. The source is Taylor, Wu, Geisler and Stevens, "Using Kernel Couplings to Predict Parallel Application
//! Performance", HPDC-11 (2002); what is not in it is said where it stands.
//!
//! | question | module |
//! |---|---|
//! | which chains does the program go through, and how often | [`flow`] |
//! | what is measured, how do kernels add up, what is good | [`measured`] |
//! | what do the kernels of a chain do to each other | [`couplings`](mod@couplings) |
//! | what does the application take | [`predict`](mod@predict) |
//! | where do couplings change with size or PEs | [`plateau`] |
//! | how long should chains be | [`choice`] |
//! | what was wrong with the question | [`error`] |
//!
//! A loop of four kernels, which take 10, 20, 30 and 40 s alone. Pairs of them were measured too: three share what is in the cache, the second and
//! third kernel are in each other's way. Each kernel then takes its time alone by the mean of the couplings that it is in, weighted by what chains take.
//!
//! ```
//! use partune_coupling::couplings::{Interaction, Measurements, couplings};
//! use partune_coupling::flow::{Flow, KernelId};
//! use partune_coupling::measured::{Metric, Quantity};
//! use partune_coupling::predict::{Application, Method, predict};
//!
//! let [a, b, c, d] = [0, 1, 2, 3].map(KernelId);
//! let seconds = |value: f64| Quantity::amount(value, 0.01 * value);
//! let measurements = Measurements {
//!     metric: Metric::time(1e-6),
//!     isolated: [10.0, 20.0, 30.0, 40.0].map(seconds).to_vec().into(),
//!     chains: [([a, b], 27.0), ([b, c], 55.0), ([c, d], 63.0), ([d, a], 45.0)]
//!         .map(|(chain, value)| (chain.to_vec(), seconds(value)))
//!         .into(),
//! };
//! let flow = Flow::cyclic(&[a, b, c, d], 2)?;
//!
//! let found = couplings(&flow, &measurements)?;
//! assert_eq!(found[0].value.value, 27.0 / 30.0);
//! assert_eq!(found[0].interaction, Interaction::Constructive);
//! assert_eq!(found[1].interaction, Interaction::Destructive);
//!
//! let application = Application { once: vec![seconds(5.0)], iterations: 100 };
//! let predicted = predict(&flow, &measurements, &application, Method::Weighted)?;
//! assert!((predicted.value.value - 9552.954).abs() < 0.001);
//! assert!((predicted.summation.value - 10005.0).abs() < 0.001);
//! assert!(predicted.difference.value.abs() > 2.0 * predicted.difference.deviation);
//! # Ok::<(), partune_coupling::error::CouplingError>(())
//! ```

pub mod choice;
pub mod couplings;
pub mod error;
pub mod flow;
pub mod measured;
pub mod plateau;
pub mod predict;
mod segments;
mod uncertain;
