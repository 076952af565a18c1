//! Kinds of the functions that are recorded, for those who choose among them: classes, roles, paradigms, and names.
//!
//! What is in a class follows from the tables of constructs: there is no second list of functions.

use partune_trace::{Completion, Role};

use crate::recognise::paradigm;
use crate::{CAF, Construct, MPI, OPENMP, OPENSHMEM, POSIX_IO, PTHREAD, Paradigm, UPC};

/// The paradigms that are recorded. No name is that of functions of two of them, and none is that of a function and of something else.
pub static RECORDED: &[&Paradigm] = &[&MPI, &OPENMP, &OPENSHMEM, &UPC, &CAF, &PTHREAD, &POSIX_IO];

/// A set of functions with a name that people know it by.
#[derive(Debug)]
pub struct Class {
    pub name: &'static str,
    pub has: fn(&Paradigm, &Construct) -> bool,
}

/// A function may be in several of them, or in none.
pub static CLASSES: &[Class] = &[
    Class { name: "p2p", has: |of, it| *of == MPI && is_message(it) },
    Class { name: "collective", has: |_, it| is_collective(it) },
    Class { name: "barrier", has: |_, it| matches!(it.role, Role::GroupSync | Role::GroupNotify | Role::GroupWait) },
    Class { name: "rma", has: |of, it| is_access(of, it) || is_of(it, &["MPI_Win_"]) },
    Class { name: "lock", has: |_, it| matches!(it.role, Role::LockAcquire | Role::LockRelease) },
    Class { name: "task", has: |_, it| matches!(it.role, Role::TaskCreate | Role::TaskRun | Role::TaskWait) },
    Class { name: "thread", has: |of, _| *of == PTHREAD },
    Class { name: "file", has: |_, it| is_of(it, &["MPI_File_"]) || it.role == Role::Io },
    Class { name: "communicator", has: |of, it| *of == MPI && is_of_communicators(it) },
    Class { name: "test", has: |_, it| is_poll(it) && !is_of(it, &["MPI_Win_"]) },
];

const NEIGHBOURS: &[&str] = &["MPI_Neighbor_", "MPI_Ineighbor_"];

/// What says how a run begins and ends, or which PEs there are: it is recorded whatever is chosen.
const ALWAYS: &[&str] = &[
    "MPI_Session_init",
    "MPI_Abort",
    "MPI_Pcontrol",
    "shmem_global_exit",
    "error stop",
    "fail image",
    "upc_global_exit",
    "upc_noncollective_exit",
    "pthread_create",
    "thrd_create",
];

/// What a word says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub constructs: Vec<&'static Construct>,
    /// If it is the name of one function of a family that is one construct: only that one.
    pub function: Option<String>,
}

/// All functions that can be chosen, and those that are recorded in any case.
pub fn all() -> impl Iterator<Item = (&'static Paradigm, &'static Construct)> {
    let constructs = |of: &'static Paradigm| of.constructs.iter().map(move |it| (of, it));
    RECORDED.iter().copied().flat_map(constructs).filter(|(_, it)| it.role != Role::User)
}

/// Whether it is recorded whatever is chosen.
pub fn is_always(construct: &Construct) -> bool {
    matches!(construct.role, Role::Init | Role::Finalize | Role::Parallel) || ALWAYS.contains(&construct.name)
}

/// The functions that a word says: a class, a role, a paradigm, a name, or the begin of names before a `*`; after the name of a paradigm and a colon
/// those of that paradigm, names first. None: nobody knows the word.
pub fn functions(word: &str) -> Option<Chosen> {
    let Some((of, rest)) = word.split_once(':') else { return group(word, RECORDED).or_else(|| named(word, RECORDED)) };
    let of = [recorded(of)?];
    named(rest, &of).or_else(|| group(rest, &of))
}

fn group(word: &str, within: &[&'static Paradigm]) -> Option<Chosen> {
    let all = || all().filter(|(of, _)| within.contains(of));
    let found: Vec<&Construct> = if let Some(class) = CLASSES.iter().find(|class| class.name == word) {
        all().filter(|(of, it)| (class.has)(of, it)).map(|(_, it)| it).collect()
    } else if let Some(role) = Role::ALL.iter().find(|role| role.name() == word) {
        all().map(|(_, it)| it).filter(|it| it.role == *role).collect()
    } else if let Some(begin) = word.strip_suffix('*') {
        all().map(|(_, it)| it).filter(|it| it.name.starts_with(begin)).collect()
    } else {
        let named = recorded(word)?;
        all().filter(|(of, _)| *of == named).map(|(_, it)| it).collect()
    };
    (!found.is_empty()).then_some(Chosen { constructs: found, function: None })
}

/// By the name that the archive shows, or another spelling of it.
fn named(word: &str, within: &[&'static Paradigm]) -> Option<Chosen> {
    let exact = all().find(|(of, it)| it.name == word && within.contains(of));
    let (of, construct) = exact.or_else(|| {
        let spelled = |of: &'static Paradigm| {
            // Names of files' functions are ordinary words, and nobody else's.
            let hinted = if *of == POSIX_IO || within.len() == 1 { (of.recognise_hinted)(word) } else { None };
            Some((of, (of.recognise)(word).or(hinted)?))
        };
        within.iter().copied().find_map(spelled).filter(|(_, it)| it.role != Role::User)
    })?;
    let function = (*of == OPENSHMEM && construct.name != word).then(|| word.to_owned());
    Some(Chosen { constructs: vec![construct], function })
}

fn recorded(word: &str) -> Option<&'static Paradigm> {
    paradigm(word).filter(|it| RECORDED.contains(it))
}

/// All words that [`functions`] knows but for those with a `*` or a colon, and single functions of families.
pub fn words() -> impl Iterator<Item = &'static str> {
    let roles = Role::ALL.iter().filter(|role| all().any(|(_, it)| it.role == **role));
    let groups = CLASSES.iter().map(|class| class.name).chain(roles.map(|role| role.name()));
    groups.chain(RECORDED.iter().map(|it| it.name)).chain(all().map(|(_, it)| it.name))
}

fn is_of(construct: &Construct, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|begin| construct.name.starts_with(begin))
}

/// Messages, and what completes them; requests of collectives are completed by the same functions.
fn is_message(construct: &Construct) -> bool {
    let of_others = is_of(construct, &["MPI_Win_"]) || is_of(construct, NEIGHBOURS);
    matches!(construct.role, Role::Send | Role::Recv | Role::SendRecv | Role::Probe | Role::CommSync) && !of_others
}

fn is_poll(construct: &Construct) -> bool {
    let looks = matches!(construct.role, Role::Probe | Role::CommSync | Role::WaitOnValue | Role::LockAcquire);
    construct.completion == Completion::NonBlocking && looks
}

/// Not what starts and ends a paradigm, and what makes communicators, windows and files.
fn is_collective(construct: &Construct) -> bool {
    construct.role.is_collective()
        && !matches!(construct.role, Role::Init | Role::Finalize | Role::GlobalAlloc | Role::RmaGroupSync)
        || is_of(construct, NEIGHBOURS)
}

/// What reaches memory of others, and where they have paradigms for that alone, what completes it.
fn is_access(of: &Paradigm, construct: &Construct) -> bool {
    let completes = construct.role == Role::CommSync && [&OPENSHMEM, &UPC, &CAF].contains(&of);
    matches!(construct.role, Role::Put | Role::Get | Role::Atomic) || completes
}

fn is_of_communicators(construct: &Construct) -> bool {
    construct.role == Role::GlobalAlloc && !is_of(construct, &["MPI_Win_", "MPI_File_"])
        || is_of(construct, &["MPI_Comm_", "MPI_Group_", "MPI_Cart", "MPI_Graph", "MPI_Dist_graph", "MPI_Topo"])
            && construct.role != Role::CommSync
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(word: &str, name: &str) -> bool {
        functions(word).unwrap_or_else(|| panic!("{word} is known")).constructs.iter().any(|it| it.name == name)
    }

    #[test]
    fn classes_have_what_their_names_say() {
        let of =
            |name: &str| -> Vec<&str> { CLASSES.iter().map(|it| it.name).filter(|word| has(word, name)).collect() };
        for name in ["MPI_Send", "MPI_Irecv", "MPI_Waitall", "MPI_Sendrecv", "MPI_Start", "MPI_Mprobe", "MPI_Send_init"]
        {
            assert_eq!(of(name), ["p2p"], "{name}");
        }
        for name in ["MPI_Iprobe", "MPI_Testsome", "MPI_Request_get_status"] {
            assert_eq!(of(name), ["p2p", "test"], "{name}");
        }
        for name in ["MPI_Barrier", "omp barrier", "pthread_barrier_wait", "shmem_barrier_all", "sync all", "upc_wait"]
        {
            let of = of(name);
            assert!(
                of.starts_with(&["collective", "barrier"])
                    && of.iter().all(|it| ["collective", "barrier", "thread"].contains(it)),
                "{name}: {of:?}"
            );
        }
        for (name, classes) in [
            ("shmem_quiet", &["rma"][..]),
            ("upc_memput", &["rma"]),
            ("put", &["rma"]),
            ("atomic_add", &["rma"]),
            ("MPI_Win_lock", &["rma", "lock"]),
            ("omp_set_lock", &["lock"]),
            ("omp critical", &["lock"]),
            ("omp_test_lock", &["lock", "test"]),
            ("pthread_mutex_lock", &["lock", "thread"]),
            ("pthread_join", &["thread"]),
            ("omp create task", &["task"]),
            ("omp taskwait", &["task"]),
            ("event_query", &["test"]),
            ("shmem_malloc", &[]),
            ("omp for", &[]),
        ] {
            assert_eq!(of(name), classes, "{name}");
        }
        for name in ["MPI_Iallreduce", "MPI_Bcast_init", "MPI_Neighbor_alltoall"] {
            assert_eq!(of(name), ["collective"], "{name}");
        }
        for name in ["MPI_Put", "MPI_Win_create", "MPI_Win_fence", "MPI_Win_flush", "MPI_Fetch_and_op"] {
            assert_eq!(of(name), ["rma"], "{name}");
        }
        for name in ["MPI_File_open", "MPI_File_write_all", "MPI_File_get_view", "read", "fwrite", "fsync"] {
            assert_eq!(of(name), ["file"], "{name}");
        }
        for name in ["MPI_Comm_split", "MPI_Comm_rank", "MPI_Cart_create", "MPI_Intercomm_merge", "MPI_Group_incl"] {
            assert_eq!(of(name), ["communicator"], "{name}");
        }
        for name in ["MPI_Init", "MPI_Finalize", "MPI_Type_commit", "MPI_Info_set"] {
            assert_eq!(of(name), [""; 0], "{name}");
        }
    }

    #[test]
    fn words_are_classes_roles_names_and_begins_of_names() {
        assert!(has("inquiry", "MPI_Comm_rank") && !has("inquiry", "MPI_Send"));
        assert!(has("MPI_Type_*", "MPI_Type_commit") && !has("MPI_Type_*", "MPI_Send"));
        assert!(has("mpi_iprobe_", "MPI_Iprobe") && has("MPI_Send_c", "MPI_Send"));
        assert_eq!(functions("MPI_Iprobe").map(|found| found.constructs.len()), Some(1));
        assert!(has("OpenMP", "omp barrier") && has("openmp", "omp task") && !has("OpenMP", "MPI_Send"));
        assert!(has("omp barrier", "omp barrier") && has("sync all", "sync all") && has("upc_lock", "upc_lock"));
        // Names that are kinds too: the kind, unless the paradigm is named.
        assert!(has("put", "MPI_Put") && has("put", "put") && has("lock", "pthread_mutex_lock"));
        assert!(has("CAF:put", "put") && !has("caf:put", "MPI_Put") && !has("CAF:put", "copy"));
        assert!(has("caf:atomic", "atomic_add") && !has("CAF:atomic", "MPI_Accumulate"));
        assert!(has("shmem:inquiry", "shmem_my_pe") && !has("shmem:inquiry", "MPI_Comm_rank"));
        // One function of a family, and all of it.
        let function = |word: &str| functions(word).and_then(|found| found.function);
        assert!(has("shmem_int_put", "shmem_put"));
        assert_eq!(function("shmem_int_put").as_deref(), Some("shmem_int_put"));
        assert_eq!(function("shmem_put"), None);
        for wrong in ["", "MPI_Iprob", "p2", "nothing*", "nothing:put", "CUDA", "omp critical sblock", "mpi:sync all"] {
            assert!(functions(wrong).is_none(), "{wrong}");
        }
        assert!(words().all(|word| functions(word).is_some()));
    }

    /// A list of names says what is left out, whoever records it.
    #[test]
    fn no_two_paradigms_have_a_name_in_common() {
        let mut names: Vec<&str> = all().map(|(_, it)| it.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
