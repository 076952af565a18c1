//! What a paradigm and a construct are.

use partune_trace::{Completion, Participants, Role};

/// One operation of a paradigm, or one family of operations that differ in nothing but the type or size of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Construct {
    /// The canonical name: `MPI_Recv`, `shmem_put` (all element types), `omp barrier`. Unique in its paradigm.
    pub name: &'static str,
    /// What it does.
    pub role: Role,
    /// When it comes back.
    pub completion: Completion,
    /// Who takes part in it.
    pub participants: Participants,
}

/// A programming model.
#[derive(Debug)]
pub struct Paradigm {
    /// The name shown to people: `MPI`, `OpenMP`.
    pub name: &'static str,
    /// What else producers call it, in lower case and without punctuation (`shmem` for OpenSHMEM).
    pub aliases: &'static [&'static str],
    /// Its constructs, grouped as its specification does.
    pub constructs: &'static [Construct],
    /// Finds a construct by any of its spellings, where the name alone is evidence enough.
    pub recognise: fn(&str) -> Option<&'static Construct>,
    /// The same where the producer says that the name belongs to this paradigm: knows also the names that any user's function
    /// could have (`read`, `my_pe`).
    pub recognise_hinted: fn(&str) -> Option<&'static Construct>,
}

impl PartialEq for Paradigm {
    /// Paradigms are values in one list; equal means the same entry.
    fn eq(&self, other: &Paradigm) -> bool {
        self.name == other.name
    }
}

impl Eq for Paradigm {}
