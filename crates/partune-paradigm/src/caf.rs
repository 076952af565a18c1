//! Coarray Fortran: statements and intrinsic procedures as Fortran writes them, and the calls that gfortran makes into its coarray library
//! (`_gfortran_caf_*`, or `_caf_extensions_*` for other compilers), of GCC 8 to 15.
//!
//! One row is what the standard has one name for, whichever calls a compiler makes of it. Only with the producer's word for it the names in
//! Fortran count (`sync all`, `SYNC ALL`, `sync_all`).

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static CAF: Paradigm = Paradigm {
    name: "CAF",
    aliases: &["coarrayfortran", "coarray", "coarrays", "opencoarrays"],
    class: Class::Processes,
    otf2: None,
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

/// Calls of the library whose names are not those of the statement, and what they are called in Fortran, or here where it has no word.
const CALLS: &[(&str, &str)] = &[
    ("init", "caf init"),
    ("finalize", "caf finalize"),
    ("stop", "stop"),
    ("stop_numeric", "stop"),
    ("stop_str", "stop"),
    ("error_stop", "error stop"),
    ("error_stop_str", "error stop"),
    ("register", "allocate"),
    ("deregister", "deallocate"),
    ("send", "put"),
    ("send_by_ref", "put"),
    ("send_to_remote", "put"),
    ("sendget", "copy"),
    ("sendget_by_ref", "copy"),
    ("transfer_between_remotes", "copy"),
    ("get", "get"),
    ("get_by_ref", "get"),
    ("get_from_remote", "get"),
    ("get_by_ct", "get"),
    ("is_present", "allocated"),
    ("is_present_on_remote", "allocated"),
];

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

/// A call of the library.
fn recognise(name: &str) -> Option<&'static Construct> {
    const PREFIXES: [&str; 4] = ["_gfortran_caf_", "gfortran_caf_", "_caf_extensions_", "caf_"];
    let bare = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
    match CALLS.iter().find(|(call, _)| *call == bare) {
        Some((_, statement)) => EXACT.get(statement),
        None => statement(bare).filter(|it| CALLS.iter().all(|(_, renamed)| *renamed != it.name)),
    }
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| statement(&name.to_ascii_lowercase()))
}

/// By its words, whatever stands between them.
fn statement(name: &str) -> Option<&'static Construct> {
    EXACT.get(name).or_else(|| EXACT.get(&name.replace('_', " "))).or_else(|| EXACT.get(&name.replace(' ', "_")))
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Life; a normal stop waits for all images, an error stop for none
    "caf init" => Init;
    "caf finalize" => Finalize;
    "stop" => Finalize;
    "error stop" => Management;
    "fail image" => Management;
    "random_init" => Management;
    // Inquiry
    "this_image" => Inquiry;
    "num_images" => Inquiry;
    "failed_images" => Inquiry;
    "stopped_images" => Inquiry;
    "image_status" => Inquiry;
    "is_contiguous" => Inquiry;
    "team_number" => Inquiry;
    "get_communicator" => Inquiry;
    // Coarrays: allocation and release synchronise the team, those of a component of one do not
    "allocate" => GlobalAlloc;
    "deallocate" => GlobalAlloc;
    "allocate component" => Management;
    "deallocate component" => Management;
    "register_accessor" => Management;
    "register_accessors_finish" => Management;
    "get_remote_function_index" => Management;
    // Access: asking whether a remote component is allocated reads it; a copy is from one image to another one
    "put" => Put;
    "copy" => Put;
    "get" => Get;
    "allocated" => Get;
    // Synchronisation
    "sync all" => GroupSync of World;
    "sync images" => GroupSync of Named;
    "sync team" => GroupSync of Set;
    "sync memory" => CommSync;
    "lock" => LockAcquire;
    "lock acquired_lock" => LockAcquire, NonBlocking;
    "unlock" => LockRelease;
    "critical" => LockAcquire;
    "end critical" => LockRelease;
    "event post" => Signal;
    "event wait" => WaitOnValue;
    "event_query" => WaitOnValue, NonBlocking;
    // Teams
    "form team" => GlobalAlloc;
    "change team" => GroupSync of Set;
    "end team" => GroupSync of Set;
    // Atomics
    "atomic_define" => Atomic;
    "atomic_ref" => Atomic;
    "atomic_cas" => Atomic;
    "atomic_op" => Atomic;
    "atomic_add" => Atomic;
    "atomic_and" => Atomic;
    "atomic_or" => Atomic;
    "atomic_xor" => Atomic;
    "atomic_fetch_add" => Atomic;
    "atomic_fetch_and" => Atomic;
    "atomic_fetch_or" => Atomic;
    "atomic_fetch_xor" => Atomic;
    // Collectives: reductions give to all images, or to one that is named
    "co_broadcast" => OneToAll;
    "co_sum" => AllToAll;
    "co_min" => AllToAll;
    "co_max" => AllToAll;
    "co_reduce" => AllToAll;
    "co_sum result_image" => AllToOne;
    "co_min result_image" => AllToOne;
    "co_max result_image" => AllToOne;
    "co_reduce result_image" => AllToOne;
};
