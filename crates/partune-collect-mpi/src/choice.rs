//! Functions of MPI whose calls the user does not want.

use partune_collect::choice;

/// Whether calls of a function are left out. Its large-count form is it, and so is an extension that MPI took over.
pub(crate) fn has_left_out(name: &str) -> bool {
    let stem = name.strip_suffix("_c").unwrap_or(name);
    choice::has_left_out(stem)
        || stem.strip_prefix("MPIX_").is_some_and(|rest| choice::has_left_out(&format!("MPI_{rest}")))
}
