//! Programming models that archives name and of whose constructs there is no table.

use crate::{Class, Paradigm};

pub(crate) static HMPP: Paradigm = Paradigm::named("HMPP", Class::Accelerator, 8);
pub(crate) static OMPSS: Paradigm = Paradigm::named("OmpSs", Class::Team, 9);
pub(crate) static GASPI: Paradigm = Paradigm::named("GASPI", Class::Processes, 11);
pub(crate) static WINDOWS_THREADS: Paradigm = Paradigm::named("Windows threads", Class::Threads, 14);
pub(crate) static QT_THREADS: Paradigm = Paradigm::named("Qt threads", Class::Threads, 15);
pub(crate) static ACE_THREADS: Paradigm = Paradigm::named("ACE threads", Class::Threads, 16);
pub(crate) static TBB: Paradigm = Paradigm::named("TBB", Class::Threads, 17);
pub(crate) static MTAPI: Paradigm = Paradigm::named("MTAPI", Class::Threads, 20);
pub(crate) static KOKKOS: Paradigm = Paradigm::named("Kokkos", Class::Accelerator, 24);
