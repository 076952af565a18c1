//! What must hold of every table.

use partune_paradigm::{Class, PARADIGMS, is_model, recognise};
use partune_trace::{Completion, Participants, Role};
use std::collections::BTreeSet;

#[test]
fn every_construct_is_unique_in_its_paradigm_and_recognised_by_its_name() {
    for paradigm in PARADIGMS {
        let mut names = BTreeSet::new();
        for construct in paradigm.constructs {
            assert!(names.insert(construct.name), "{} twice in {}", construct.name, paradigm.name);
            let found = recognise(construct.name, Some(paradigm.name)).expect(construct.name);
            assert_eq!((found.paradigm, found.construct), (*paradigm, construct));
        }
    }
}

#[test]
fn paradigms_have_distinct_names_and_aliases() {
    let mut words = BTreeSet::new();
    for paradigm in PARADIGMS {
        let name: String = paradigm.name.chars().filter(char::is_ascii_alphanumeric).collect();
        assert!(words.insert(name.to_lowercase()), "{name}");
        for alias in paradigm.aliases {
            assert!(words.insert((*alias).to_owned()), "{alias}");
        }
    }
}

#[test]
fn numbers_of_otf2_are_one_paradigm_each() {
    let mut numbers: Vec<u8> = PARADIGMS.iter().filter_map(|paradigm| paradigm.otf2).collect();
    numbers.sort_unstable();
    // OTF2 3.1 numbers to 24; 1, 2, 10, 21 and 22 are no programming models.
    let models: Vec<u8> = (3..=24).filter(|number| ![10, 21, 22].contains(number)).collect();
    assert_eq!(numbers, models);
}

#[test]
fn those_who_take_part_fit_roles() {
    let exceptions = PARADIGMS.iter().flat_map(|paradigm| paradigm.constructs.iter().map(move |it| (paradigm, it)));
    let exceptions = exceptions.filter(|(_, construct)| construct.participants != construct.role.participants());
    for (paradigm, construct) in exceptions {
        let (role, who) = (construct.role, construct.participants);
        // A start-up or a shut-down in which nobody waits for others is its own, and so is the start of what was described before.
        let alone = matches!(role, Role::Init | Role::Finalize | Role::SendRecv) && who == Participants::Own;
        // A file is accessed by one process, or by all that opened it.
        let together = role == Role::Io && who == Participants::Group;
        assert!(alone || together || role.participants() == Participants::Group, "{construct:?}");
        let fits = alone
            || match who {
                Participants::Team => paradigm.is_of_threads(),
                Participants::World | Participants::Named => paradigm.class == Class::Processes,
                Participants::Set => true,
                Participants::Group => together,
                Participants::Own | Participants::Peer | Participants::Object => false,
            };
        assert!(fits, "{construct:?}");
    }
    let of = |name: &str| recognise(name, None).expect(name).construct.participants;
    assert_eq!(of("_gfortran_caf_sync_images"), Participants::Named);
    assert_eq!(of("_gfortran_caf_sync_all"), Participants::World);
    assert_eq!(of("MPI_Barrier"), Participants::Group);
    assert_eq!(of("shmem_barrier"), Participants::Set);
    assert_eq!(of("!$omp barrier @a.c:1"), Participants::Team);
}

#[test]
fn no_name_is_claimed_by_two_paradigms() {
    for paradigm in PARADIGMS {
        for construct in paradigm.constructs {
            let claims: Vec<_> =
                PARADIGMS.iter().filter(|other| (other.recognise)(construct.name).is_some()).map(|p| p.name).collect();
            assert!(claims.len() < 2, "{}: {claims:?}", construct.name);
        }
    }
}

#[test]
fn completions_fit_roles() {
    for paradigm in PARADIGMS {
        for construct in paradigm.constructs {
            let fits = match construct.completion {
                Completion::Blocking | Completion::NonBlocking => true,
                Completion::Synchronous | Completion::Buffered => construct.role == Role::Send,
                Completion::Persistent => construct.name.ends_with("_init"),
            };
            assert!(fits, "{construct:?}");
            if construct.role.is_transparent() {
                assert_eq!(construct.completion, Completion::Blocking, "{construct:?}");
            }
        }
    }
}

#[test]
fn no_name_panics() {
    let odd = [
        "",
        " ",
        "()",
        "_",
        "__",
        "p",
        "P",
        "MPI_",
        "mpi_",
        "mpi__",
        "PMPI_",
        "MPIX_",
        "shmem_",
        "pshmem__",
        "shmem_ctx_",
        "shmem_int",
        "shmem_64",
        "!$omp ",
        "!$omp @",
        "!$omp (",
        "OpenMP ",
        "omp_",
        "GASP_UPC_",
        "upc_all_reduce",
        "caf_",
        "cu",
        "cuda",
        "é",
        "mpi_é",
        "shmem_é64",
        "!$omp é@",
        "cudaé",
        "hipé",
        "cl",
        "clé",
        "acc_",
        "acc_@",
        "openacc_",
        "openacc_é",
        "_h_",
        "acc__h_",
        "pi",
        "ur",
        "sycl::",
        "cl::sycl::_V1::(",
        "ze",
        "MPI_Sendé",
        "ﬀ\u{0}",
    ];
    for name in odd {
        for hint in PARADIGMS.iter().map(|p| Some(p.name)).chain([None, Some(""), Some("é"), Some("USER")]) {
            if let Some(found) = recognise(name, hint) {
                assert!(found.paradigm.constructs.contains(found.construct), "{name}");
            }
        }
    }
}

#[test]
fn user_code_and_measurement_are_no_programming_models() {
    assert!(PARADIGMS.iter().filter(|it| it.name != "measurement").all(|it| is_model(it.name)));
    assert!(!["measurement", "user", "compiler", "none", "unknown", ""].into_iter().any(is_model));
}
