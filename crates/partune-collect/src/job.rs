//! What tells the processes of a job from those of others, where nobody asks them.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that all processes of this job have in common and that was told; 0 if none was.
static TOLD: AtomicU64 = AtomicU64::new(0);

/// The processes of a world have found such a number. The first one counts.
pub(crate) fn tell(key: u64) {
    let _ = TOLD.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed);
}

/// A number that all processes of a job have and those of other jobs have not: one that they have found, else who launched it says which it
/// is; a program that makes its own processes has made them all. One that is alone may have been launched by nobody.
pub fn key(size: u32) -> u64 {
    const NAMES: [&str; 7] = [
        "PMIX_NAMESPACE",
        "OMPI_MCA_orte_hnp_uri",
        "OMPI_MCA_ess_base_jobid",
        "PMI_JOBID",
        "SLURM_JOB_ID",
        "SLURM_STEP_ID",
        "PBS_JOBID",
    ];
    let told = TOLD.load(Ordering::Relaxed);
    if told != 0 {
        return told;
    }
    let mut state = DefaultHasher::new();
    if size == 1 {
        (std::process::id(), crate::now()).hash(&mut state);
    }
    let said: Vec<_> = NAMES.iter().map(std::env::var_os).collect();
    said.hash(&mut state);
    if said.iter().all(Option::is_none) {
        std::os::unix::process::parent_id().hash(&mut state);
    }
    state.finish()
}
