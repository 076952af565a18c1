//! Coarray Fortran: the calls that gfortran makes into its coarray library (`_gfortran_caf_*`), of GCC 8 to 15.
//!
//! With the producer's word for it also the bare names (`sync_all`) and the statements (`sync all`, `SYNC ALL`).

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub(crate) static CAF: Paradigm = Paradigm {
    name: "CAF",
    aliases: &["coarrayfortran", "coarray", "coarrays", "opencoarrays"],
    class: Class::Processes,
    otf2: None,
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    let bare = ["_gfortran_caf_", "gfortran_caf_", "caf_"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
    EXACT.get(&format!("caf_{bare}"))
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| EXACT.get(&format!("caf_{}", name.to_ascii_lowercase().replace(' ', "_"))))
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Life; a normal stop waits for all images, an error stop for none
    "caf_init" => Init;
    "caf_finalize" => Finalize;
    "caf_stop_numeric" => Finalize;
    "caf_stop_str" => Finalize;
    "caf_error_stop" => Management;
    "caf_error_stop_str" => Management;
    "caf_fail_image" => Management;
    "caf_random_init" => Management;
    // Inquiry
    "caf_this_image" => Inquiry;
    "caf_num_images" => Inquiry;
    "caf_failed_images" => Inquiry;
    "caf_stopped_images" => Inquiry;
    "caf_image_status" => Inquiry;
    "caf_is_contiguous" => Inquiry;
    "caf_team_number" => Inquiry;
    "caf_get_communicator" => Inquiry;
    // Coarrays: allocation and release synchronise the team
    "caf_register" => GlobalAlloc;
    "caf_deregister" => GlobalAlloc;
    "caf_register_accessor" => Management;
    "caf_register_accessors_finish" => Management;
    "caf_get_remote_function_index" => Management;
    // Access: asking whether a remote component is allocated reads it
    "caf_send" => Put;
    "caf_send_by_ref" => Put;
    "caf_send_to_remote" => Put;
    "caf_sendget" => Put;
    "caf_sendget_by_ref" => Put;
    "caf_transfer_between_remotes" => Put;
    "caf_get" => Get;
    "caf_get_by_ref" => Get;
    "caf_get_from_remote" => Get;
    "caf_get_by_ct" => Get;
    "caf_is_present" => Get;
    "caf_is_present_on_remote" => Get;
    // Synchronisation
    "caf_sync_all" => GroupSync of World;
    "caf_sync_images" => GroupSync of Named;
    "caf_sync_team" => GroupSync of Set;
    "caf_sync_memory" => CommSync;
    "caf_lock" => LockAcquire;
    "caf_unlock" => LockRelease;
    "caf_event_post" => Signal;
    "caf_event_wait" => WaitOnValue;
    "caf_event_query" => WaitOnValue, NonBlocking;
    // Teams
    "caf_form_team" => GlobalAlloc;
    "caf_change_team" => GroupSync of Set;
    "caf_end_team" => GroupSync of Set;
    // Atomics
    "caf_atomic_define" => Atomic;
    "caf_atomic_ref" => Atomic;
    "caf_atomic_cas" => Atomic;
    "caf_atomic_op" => Atomic;
    // Collectives: reductions give to all images unless the call names one
    "caf_co_broadcast" => OneToAll;
    "caf_co_sum" => AllToAll;
    "caf_co_min" => AllToAll;
    "caf_co_max" => AllToAll;
    "caf_co_reduce" => AllToAll;
};
