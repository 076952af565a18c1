//! Gaps by name, and what share of a run each is.

use partune_analysis::Gap;
use serde::Deserialize;

macro_rules! gaps {
    ($($(#[$doc:meta])* $gap:ident $name:literal,)*) => {
        /// A gap of the hierarchy of bounds (theory 2.1), in the order of the bounds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        pub enum GapName {
            $($(#[$doc])* #[serde(rename = $name)] $gap,)*
        }

        impl GapName {
            pub const ALL: [GapName; [$(GapName::$gap),*].len()] = [$(GapName::$gap),*];

            /// As bounds and data files call it.
            pub fn name(self) -> &'static str {
                match self {
                    $(GapName::$gap => $name,)*
                }
            }
        }
    };
}

gaps! {
    /// What the program computes more than the machine's peak would need: MA - M.
    Application "A",
    /// Instructions that the compiler adds: MAC - MA.
    Compiler "C",
    /// The schedule of instructions: MACS - MAC.
    Schedule "S",
    /// Misses of finite caches: I - MACS.
    Cache "$",
    /// What does not run in parallel: IP - I.
    PartialParallel "P",
    /// Communication work.
    Communication "C'",
    /// Input, output and the system.
    System "O",
    /// Imbalance over the whole run.
    Imbalance "L",
    /// Imbalance between regions that the whole run evens out.
    Multiphase "M'",
    /// Imbalance that changes from turn to turn.
    Dynamic "D",
    /// Waits inside regions.
    Waits "W",
    /// The synchronising operations themselves.
    Synchronization "S'",
    /// What nothing else explains.
    Unexplained "X",
}

/// Shares of the run by gap, in \[0, 1\]; 0 for a gap that was not measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares([f64; GapName::ALL.len()]);

impl Shares {
    /// From gaps with their fractions. Of several of one name, as of processes and of threads, the largest counts. A negative one (the work
    /// shrinks on more PEs) is nothing to tune. Other names, such as the undivided rest of a profile, point to no action and are left out.
    pub fn of(gaps: &[Gap]) -> Shares {
        let mut shares = Shares::default();
        for gap in gaps {
            if let Some(known) = GapName::ALL.iter().position(|it| it.name() == gap.name) {
                // `max` also leaves out what is no number.
                shares.0[known] = shares.0[known].max(gap.fraction);
            }
        }
        shares
    }

    pub fn share(&self, gap: GapName) -> f64 {
        self.0[gap as usize]
    }

    /// Of several, each once.
    pub fn sum(&self, gaps: &[GapName]) -> f64 {
        GapName::ALL.iter().filter(|gap| gaps.contains(gap)).map(|gap| self.share(*gap)).sum()
    }

    /// Whether one of them is at least this share.
    pub fn any(&self, gaps: &[GapName], least: f64) -> bool {
        gaps.iter().any(|gap| self.share(*gap) >= least)
    }
}
