//! UPC 1.0 to 1.3, its collectives, atomics and non-blocking copies, Berkeley's extensions, and the names of GASP events.
//!
//! One row is one function; `upc_all_reduce` stands for all element types (`upc_all_reduceD`). A GASP event is a spelling
//! (`GASP_UPC_MEMPUT` is `upc_memput`); the implicit accesses that only GASP names are rows too. Creation by one thread alone is
//! local management, only the `all` forms are collective.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static UPC: Paradigm = Paradigm {
    name: "UPC",
    aliases: &["unifiedparallelc", "gasp", "gaspupc"],
    class: Class::Processes,
    otf2: Some(12),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted: recognise,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

/// Element types at the end of a reduction's name, longest first.
const TYPES: [&str; 11] = ["LD", "UC", "UI", "UL", "US", "C", "D", "F", "I", "L", "S"];

fn recognise(name: &str) -> Option<&'static Construct> {
    if let Some(event) = name.strip_prefix("GASP_UPC_") {
        return EXACT.get(&format!("upc_{}", event.to_ascii_lowercase()));
    }
    if let Some(event) = name.strip_prefix("GASP_BUPC_") {
        return EXACT.get(&format!("bupc_{}", event.to_ascii_lowercase()));
    }
    EXACT.get(name).or_else(|| {
        let family = TYPES.iter().find_map(|suffix| name.strip_suffix(suffix))?;
        family.ends_with("reduce").then(|| EXACT.get(family)).flatten()
    })
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Life
    "upc_init" => Init;
    "upc_global_exit" => Management;
    "upc_collective_exit" => Finalize;
    "upc_noncollective_exit" => Management;
    // Synchronisation
    "upc_barrier" => GroupSync of World;
    "upc_notify" => GroupNotify, NonBlocking of World;
    "upc_wait" => GroupWait of World;
    "upc_fence" => CommSync;
    "upc_forall" => WorkSharing;
    // Memory
    "upc_all_alloc" => GlobalAlloc;
    "upc_all_free" => GlobalAlloc;
    "upc_alloc" => Management;
    "upc_global_alloc" => Management;
    "upc_local_alloc" => Management;
    "upc_free" => Management;
    // Locks
    "upc_all_lock_alloc" => GlobalAlloc;
    "upc_all_lock_free" => GlobalAlloc;
    "upc_global_lock_alloc" => Management;
    "upc_lock_free" => Management;
    "upc_lock" => LockAcquire;
    "upc_lock_attempt" => LockAcquire, NonBlocking;
    "upc_unlock" => LockRelease;
    // Copies; which side is remote is the event's to say, a copy between two threads counts as a put
    "upc_memcpy" => Put;
    "upc_memput" => Put;
    "upc_memset" => Put;
    "upc_memget" => Get;
    "upc_memcpy_nb" => Put, NonBlocking;
    "upc_memput_nb" => Put, NonBlocking;
    "upc_memset_nb" => Put, NonBlocking;
    "upc_memget_nb" => Get, NonBlocking;
    "upc_memcpy_nbi" => Put, NonBlocking;
    "upc_memput_nbi" => Put, NonBlocking;
    "upc_memset_nbi" => Put, NonBlocking;
    "upc_memget_nbi" => Get, NonBlocking;
    "upc_sync" => CommSync;
    "upc_sync_attempt" => CommSync, NonBlocking;
    "upc_synci" => CommSync;
    "upc_synci_attempt" => CommSync, NonBlocking;
    // Implicit accesses, named by GASP
    "upc_get" => Get;
    "upc_put" => Put;
    "upc_nb_get_init" => Get, NonBlocking;
    "upc_nb_get_data" => Management;
    "upc_nb_put_init" => Put, NonBlocking;
    "upc_nb_put_data" => Management;
    "upc_nb_sync" => CommSync;
    "upc_cache_miss" => Management;
    "upc_cache_hit" => Management;
    "upc_cache_invalidate" => Management;
    // Collectives
    "upc_all_broadcast" => OneToAll;
    "upc_all_scatter" => OneToAll;
    "upc_all_gather" => AllToOne;
    "upc_all_gather_all" => AllToAll;
    "upc_all_exchange" => AllToAll;
    "upc_all_permute" => AllToAll;
    "upc_all_sort" => AllToAll;
    "upc_all_reduce" => AllToOne;
    "upc_all_prefix_reduce" => Scan;
    // Atomics
    "upc_all_atomicdomain_alloc" => GlobalAlloc;
    "upc_all_atomicdomain_free" => GlobalAlloc;
    "upc_atomic_strict" => Atomic;
    "upc_atomic_relaxed" => Atomic;
    "upc_atomic_isfast" => Inquiry;
    // Inquiry
    "upc_addrfield" => Inquiry;
    "upc_affinitysize" => Inquiry;
    "upc_cast" => Inquiry;
    "upc_phaseof" => Inquiry;
    "upc_resetphase" => Inquiry;
    "upc_thread_info" => Inquiry;
    "upc_threadof" => Inquiry;
    "upc_ticks_now" => Inquiry;
    "upc_ticks_to_ns" => Inquiry;
    // Berkeley
    "bupc_memcpy_async" => Put, NonBlocking;
    "bupc_memput_async" => Put, NonBlocking;
    "bupc_memset_async" => Put, NonBlocking;
    "bupc_memget_async" => Get, NonBlocking;
    "bupc_waitsync" => CommSync;
    "bupc_waitsync_all" => CommSync;
    "bupc_waitsync_some" => CommSync;
    "bupc_waitsynci" => CommSync;
    "bupc_trysync" => CommSync, NonBlocking;
    "bupc_trysync_all" => CommSync, NonBlocking;
    "bupc_trysync_some" => CommSync, NonBlocking;
    "bupc_trysynci" => CommSync, NonBlocking;
    "bupc_sem_alloc" => Management;
    "bupc_sem_free" => Management;
    "bupc_sem_post" => Signal;
    "bupc_sem_postN" => Signal;
    "bupc_sem_wait" => WaitOnValue;
    "bupc_sem_waitN" => WaitOnValue;
    "bupc_sem_try" => WaitOnValue, NonBlocking;
    "bupc_sem_tryN" => WaitOnValue, NonBlocking;
    "bupc_memput_signal" => Put;
    "bupc_memput_signal_async" => Put, NonBlocking;
    "bupc_poll" => Management;
    "bupc_ticks_now" => Inquiry;
    "bupc_nb_trysync" => CommSync, NonBlocking;
    "bupc_nb_memget_init" => Get, NonBlocking;
    "bupc_nb_memput_init" => Put, NonBlocking;
    "bupc_nb_memcpy_init" => Put, NonBlocking;
    "bupc_static_shared" => Management;
};
