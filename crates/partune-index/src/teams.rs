//! Teams of threads: which PEs ran a parallel region together, and who forked them.

use partune_base::{GroupId, PeId, Time};
use partune_diag::Quality;
use partune_trace::Trace;

use crate::Place;

/// A parallel region: forked by one PE, run by a team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Where it was forked: the visit around the fork event.
    pub place: Place,
    pub fork: Time,
    pub join: Time,
    /// The team; none if the archive does not tell.
    pub team: GroupId,
    /// Its PEs with the time each began and ended its part, in order of PE.
    pub members: Vec<(PeId, Time, Time)>,
}

/// All parallel regions in order of their fork.
#[derive(Clone, Debug, Default)]
pub struct Teams {
    pub forks: Vec<Fork>,
}

impl Teams {
    pub(crate) fn build(trace: &Trace, quality: &mut Quality) -> Teams {
        let _ = (trace, quality);
        Teams::default()
    }
}
