//! Kinds of the functions of MPI and of files, for those who choose which are recorded: classes, roles, and names.
//!
//! What is in a class follows from the table of constructs: there is no second list of functions.

use partune_trace::{Completion, Role};

use crate::{Construct, MPI, POSIX_IO};

/// A set of functions with a name that people know it by.
#[derive(Debug)]
pub struct Class {
    pub name: &'static str,
    pub has: fn(&Construct) -> bool,
}

/// A function may be in several of them, or in none.
pub static CLASSES: &[Class] = &[
    Class { name: "p2p", has: is_message },
    Class { name: "collective", has: is_collective },
    Class { name: "rma", has: |it| is_access(it.role) || is_of(it, &["MPI_Win_"]) },
    Class { name: "file", has: |it| is_of(it, &["MPI_File_"]) || it.role == Role::Io },
    Class { name: "communicator", has: is_of_communicators },
    Class { name: "test", has: |it| is_message(it) && is_poll(it) },
];

const NEIGHBOURS: &[&str] = &["MPI_Neighbor_", "MPI_Ineighbor_"];

/// All functions that can be chosen.
pub fn all() -> impl Iterator<Item = &'static Construct> {
    MPI.constructs.iter().chain(POSIX_IO.constructs)
}

/// The functions that a word says: a class, a role, a name, or the begin of names before a `*`. None: nobody knows the word.
pub fn functions(word: &str) -> Option<Vec<&'static Construct>> {
    let found: Vec<&Construct> = if let Some(class) = CLASSES.iter().find(|class| class.name == word) {
        all().filter(|it| (class.has)(it)).collect()
    } else if let Some(role) = Role::ALL.iter().find(|role| role.name() == word) {
        all().filter(|it| it.role == *role).collect()
    } else if let Some(begin) = word.strip_suffix('*') {
        all().filter(|it| it.name.starts_with(begin)).collect()
    } else {
        (MPI.recognise)(word).or_else(|| (POSIX_IO.recognise_hinted)(word)).into_iter().collect()
    };
    (!found.is_empty()).then_some(found)
}

/// All words that [`functions`] knows but for those with a `*`.
pub fn words() -> impl Iterator<Item = &'static str> {
    let roles = Role::ALL.iter().filter(|role| all().any(|it| it.role == **role));
    CLASSES.iter().map(|class| class.name).chain(roles.map(|role| role.name())).chain(all().map(|it| it.name))
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
    construct.completion == Completion::NonBlocking && matches!(construct.role, Role::Probe | Role::CommSync)
}

/// Not what starts and ends MPI, and what makes communicators, windows and files.
fn is_collective(construct: &Construct) -> bool {
    construct.role.is_collective()
        && !matches!(construct.role, Role::Init | Role::Finalize | Role::GlobalAlloc | Role::RmaGroupSync)
        || is_of(construct, NEIGHBOURS)
}

fn is_access(role: Role) -> bool {
    matches!(role, Role::Put | Role::Get | Role::Atomic)
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
        functions(word).unwrap_or_else(|| panic!("{word} is known")).iter().any(|it| it.name == name)
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
        for name in ["MPI_Barrier", "MPI_Iallreduce", "MPI_Bcast_init", "MPI_Neighbor_alltoall"] {
            assert_eq!(of(name), ["collective"], "{name}");
        }
        for name in ["MPI_Put", "MPI_Win_create", "MPI_Win_fence", "MPI_Win_lock", "MPI_Win_flush", "MPI_Fetch_and_op"]
        {
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
        assert_eq!(functions("MPI_Iprobe").map(|found| found.len()), Some(1));
        for wrong in ["", "MPI_Iprob", "p2", "omp barrier", "nothing*"] {
            assert!(functions(wrong).is_none(), "{wrong}");
        }
        assert!(words().all(|word| functions(word).is_some()));
    }
}
