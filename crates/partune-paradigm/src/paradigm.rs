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

/// What the PEs of a paradigm are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Processes,
    /// Threads that fork and join as a team.
    Team,
    /// Threads that are created and waited for one by one.
    Threads,
    /// Work of the host for a device.
    Accelerator,
    /// It has none of its own.
    None,
}

/// A programming model.
#[derive(Debug)]
pub struct Paradigm {
    /// The name shown to people: `MPI`, `OpenMP`.
    pub name: &'static str,
    /// What else producers call it, in lower case and without punctuation (`shmem` for OpenSHMEM).
    pub aliases: &'static [&'static str],
    pub class: Class,
    /// Its number in OTF2 (`OTF2_Paradigm`), if it has one there.
    pub otf2: Option<u8>,
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

impl Paradigm {
    /// One of which only the name is known.
    pub(crate) const fn named(name: &'static str, class: Class, otf2: u8) -> Paradigm {
        const fn nothing(_: &str) -> Option<&'static Construct> {
            None
        }
        Paradigm {
            name,
            aliases: &[],
            class,
            otf2: Some(otf2),
            constructs: &[],
            recognise: nothing,
            recognise_hinted: nothing,
        }
    }

    /// Whether its PEs are threads of one process.
    pub fn is_of_threads(&self) -> bool {
        matches!(self.class, Class::Team | Class::Threads)
    }
}
