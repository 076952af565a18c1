//! OpenSHMEM 1.0 to 1.6 and the SHMEM dialects before it, C and Fortran.
//!
//! One row is one family: `shmem_put` stands for `shmem_double_put`, `shmem_ctx_long_put`, `shmem_put64` and `SHMEM_REAL_PUT`, as
//! the generic interface of C11 does. Which types a family has is left to the library: the types and sizes are one list for all.
//! Constraint: a row's name is the part that is left when context, type and size are taken away.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static OPENSHMEM: Paradigm = Paradigm {
    name: "OpenSHMEM",
    aliases: &["shmem", "oshmem", "sgishmem", "crayshmem"],
    class: Class::Processes,
    otf2: Some(13),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

/// Element types in names, those of C and those of Fortran.
const TYPES: &[&str] = &[
    "bfloat16",
    "char",
    "character",
    "comp4",
    "comp8",
    "complex",
    "complexd",
    "complexf",
    "double",
    "float",
    "int",
    "int16",
    "int2",
    "int32",
    "int4",
    "int64",
    "int8",
    "integer",
    "logical",
    "long",
    "longdouble",
    "longlong",
    "ptrdiff",
    "real",
    "real16",
    "real4",
    "real8",
    "schar",
    "short",
    "size",
    "uchar",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "ulong",
    "ulonglong",
    "ushort",
];

/// Element sizes in names: bits, in Fortran also bytes.
const SIZES: [&str; 6] = ["128", "16", "32", "64", "4", "8"];

/// Names of the first dialects that a user's function could well have.
const ORDINARY: [&str; 6] = ["globalexit", "my_pe", "num_pes", "shpalloc", "shpclmove", "shpdeallc"];

fn recognise(name: &str) -> Option<&'static Construct> {
    recognise_hinted(name).filter(|construct| !ORDINARY.contains(&construct.name))
}

/// C as it stands, Fortran in one case and with the underscores of its compiler.
fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    let name = name.strip_suffix("__").or_else(|| name.strip_suffix('_')).unwrap_or(name);
    if name.bytes().any(|b| b.is_ascii_lowercase()) { family(name) } else { family(&name.to_ascii_lowercase()) }
}

/// `shmem_`, `pshmem_` or `shmemx_` and a family with its decorations, or a name of a row as it stands.
fn family(name: &str) -> Option<&'static Construct> {
    if let Some(construct) = EXACT.get(name) {
        return Some(construct);
    }
    let rest = ["shmem_", "pshmem_", "shmemx_", "pshmemx_"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
    let known = |family: &str| EXACT.get(&format!("shmem_{family}"));
    known(rest).or_else(|| {
        let rest = rest.strip_prefix("ctx_").unwrap_or(rest);
        known(rest).or_else(|| known(&undecorated(rest)))
    })
}

/// Takes away the element's type (`int_put`, in Fortran also `sum_int4_to_all`) or size (`put64_nbi`).
fn undecorated(family: &str) -> String {
    let mut words: Vec<&str> = family.split('_').collect();
    let typed = words.iter().take(2).position(|word| TYPES.contains(word)).filter(|_| words.len() > 1);
    if let Some(at) = typed {
        words.remove(at);
    } else if let Some(first) = words.first_mut() {
        *first = SIZES.iter().find_map(|size| first.strip_suffix(size)).unwrap_or(first);
    }
    words.join("_")
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Start-up and shut-down
    "shmem_init" => Init;
    "shmem_init_thread" => Init;
    "start_pes" => Init;
    "shmem_finalize" => Finalize;
    "shmem_global_exit" => Management;
    "globalexit" => Management;
    "shmem_pcontrol" => Management;
    // Inquiry
    "shmem_my_pe" => Inquiry;
    "_my_pe" => Inquiry;
    "my_pe" => Inquiry;
    "shmem_n_pes" => Inquiry;
    "_num_pes" => Inquiry;
    "num_pes" => Inquiry;
    "shmem_query_thread" => Inquiry;
    "shmem_query_initialized" => Inquiry;
    "shmem_info_get_name" => Inquiry;
    "shmem_info_get_version" => Inquiry;
    "shmem_pe_accessible" => Inquiry;
    "shmem_addr_accessible" => Inquiry;
    "shmem_ptr" => Inquiry;
    "shmem_team_ptr" => Inquiry;
    // Symmetric memory
    "shmem_malloc" => GlobalAlloc;
    "shmem_malloc_with_hint" => GlobalAlloc;
    "shmem_malloc_with_hints" => GlobalAlloc;
    "shmem_calloc" => GlobalAlloc;
    "shmem_realloc" => GlobalAlloc;
    "shmem_align" => GlobalAlloc;
    "shmem_free" => GlobalAlloc;
    "shmalloc" => GlobalAlloc;
    "shmemalign" => GlobalAlloc;
    "shrealloc" => GlobalAlloc;
    "shfree" => GlobalAlloc;
    "shpalloc" => GlobalAlloc;
    "shpclmove" => GlobalAlloc;
    "shpdeallc" => GlobalAlloc;
    // Teams: a creation is collective over the parent
    "shmem_team_split_strided" => GlobalAlloc;
    "shmem_team_split_2d" => GlobalAlloc;
    "shmem_team_destroy" => GlobalAlloc;
    "shmem_team_my_pe" => Inquiry;
    "shmem_team_n_pes" => Inquiry;
    "shmem_team_get_config" => Inquiry;
    "shmem_team_translate_pe" => Inquiry;
    "shmem_team_sync" => GroupSync of Set;
    // Contexts: local; destroying one completes what it began
    "shmem_ctx_create" => Management;
    "shmem_team_create_ctx" => Management;
    "shmem_ctx_get_team" => Inquiry;
    "shmem_ctx_destroy" => CommSync;
    "shmem_session_start" => Management;
    "shmem_session_stop" => Management;
    // Put
    "shmem_put" => Put;
    "shmem_putmem" => Put;
    "shmem_iput" => Put;
    "shmem_ibput" => Put;
    "shmem_p" => Put;
    "shmem_put_nbi" => Put, NonBlocking;
    "shmem_putmem_nbi" => Put, NonBlocking;
    "shmem_put_signal" => Put;
    "shmem_putmem_signal" => Put;
    "shmem_put_signal_nbi" => Put, NonBlocking;
    "shmem_putmem_signal_nbi" => Put, NonBlocking;
    // Get
    "shmem_get" => Get;
    "shmem_getmem" => Get;
    "shmem_iget" => Get;
    "shmem_ibget" => Get;
    "shmem_g" => Get;
    "shmem_get_nbi" => Get, NonBlocking;
    "shmem_getmem_nbi" => Get, NonBlocking;
    // Atomics
    "shmem_atomic_fetch" => Atomic;
    "shmem_atomic_set" => Atomic;
    "shmem_atomic_swap" => Atomic;
    "shmem_atomic_compare_swap" => Atomic;
    "shmem_atomic_add" => Atomic;
    "shmem_atomic_inc" => Atomic;
    "shmem_atomic_and" => Atomic;
    "shmem_atomic_or" => Atomic;
    "shmem_atomic_xor" => Atomic;
    "shmem_atomic_fetch_add" => Atomic;
    "shmem_atomic_fetch_inc" => Atomic;
    "shmem_atomic_fetch_and" => Atomic;
    "shmem_atomic_fetch_or" => Atomic;
    "shmem_atomic_fetch_xor" => Atomic;
    "shmem_atomic_fetch_nbi" => Atomic, NonBlocking;
    "shmem_atomic_swap_nbi" => Atomic, NonBlocking;
    "shmem_atomic_compare_swap_nbi" => Atomic, NonBlocking;
    "shmem_atomic_fetch_add_nbi" => Atomic, NonBlocking;
    "shmem_atomic_fetch_inc_nbi" => Atomic, NonBlocking;
    "shmem_atomic_fetch_and_nbi" => Atomic, NonBlocking;
    "shmem_atomic_fetch_or_nbi" => Atomic, NonBlocking;
    "shmem_atomic_fetch_xor_nbi" => Atomic, NonBlocking;
    // Atomics as they were called before 1.4
    "shmem_add" => Atomic;
    "shmem_cswap" => Atomic;
    "shmem_fadd" => Atomic;
    "shmem_fetch" => Atomic;
    "shmem_finc" => Atomic;
    "shmem_inc" => Atomic;
    "shmem_mswap" => Atomic;
    "shmem_set" => Atomic;
    "shmem_swap" => Atomic;
    // Order and completion
    "shmem_fence" => CommSync;
    "shmem_quiet" => CommSync;
    "shmem_pe_quiet" => CommSync;
    // Signals and waiting on values; a test is a poll
    "shmem_signal_fetch" => Inquiry;
    "shmem_signal_add" => Signal;
    "shmem_signal_set" => Signal;
    "shmem_signal_wait_until" => WaitOnValue;
    "shmem_wait" => WaitOnValue;
    "shmem_wait_until" => WaitOnValue;
    "shmem_wait_until_all" => WaitOnValue;
    "shmem_wait_until_any" => WaitOnValue;
    "shmem_wait_until_some" => WaitOnValue;
    "shmem_wait_until_all_vector" => WaitOnValue;
    "shmem_wait_until_any_vector" => WaitOnValue;
    "shmem_wait_until_some_vector" => WaitOnValue;
    "shmem_test" => WaitOnValue, NonBlocking;
    "shmem_test_all" => WaitOnValue, NonBlocking;
    "shmem_test_any" => WaitOnValue, NonBlocking;
    "shmem_test_some" => WaitOnValue, NonBlocking;
    "shmem_test_all_vector" => WaitOnValue, NonBlocking;
    "shmem_test_any_vector" => WaitOnValue, NonBlocking;
    "shmem_test_some_vector" => WaitOnValue, NonBlocking;
    "shmem_set_event" => Signal;
    "shmem_wait_event" => WaitOnValue;
    "shmem_test_event" => WaitOnValue, NonBlocking;
    "shmem_clear_event" => Management;
    // Locks
    "shmem_set_lock" => LockAcquire;
    "shmem_test_lock" => LockAcquire, NonBlocking;
    "shmem_clear_lock" => LockRelease;
    // Collectives
    "shmem_barrier" => GroupSync of Set;
    "shmem_barrier_all" => GroupSync of World;
    "shmem_sync" => GroupSync of Set;
    "shmem_sync_all" => GroupSync of World;
    "shmem_broadcast" => OneToAll;
    "shmem_broadcastmem" => OneToAll;
    "shmem_collect" => AllToAll;
    "shmem_collectmem" => AllToAll;
    "shmem_fcollect" => AllToAll;
    "shmem_fcollectmem" => AllToAll;
    "shmem_alltoall" => AllToAll;
    "shmem_alltoallmem" => AllToAll;
    "shmem_alltoalls" => AllToAll;
    "shmem_alltoallsmem" => AllToAll;
    "shmem_and_to_all" => AllToAll;
    "shmem_or_to_all" => AllToAll;
    "shmem_xor_to_all" => AllToAll;
    "shmem_max_to_all" => AllToAll;
    "shmem_min_to_all" => AllToAll;
    "shmem_sum_to_all" => AllToAll;
    "shmem_prod_to_all" => AllToAll;
    "shmem_and_reduce" => AllToAll;
    "shmem_or_reduce" => AllToAll;
    "shmem_xor_reduce" => AllToAll;
    "shmem_max_reduce" => AllToAll;
    "shmem_min_reduce" => AllToAll;
    "shmem_sum_reduce" => AllToAll;
    "shmem_prod_reduce" => AllToAll;
    "shmem_sum_inscan" => Scan;
    "shmem_sum_exscan" => Scan;
    // Caches of vector machines
    "shmem_set_cache_inv" => Management;
    "shmem_set_cache_line_inv" => Management;
    "shmem_clear_cache_inv" => Management;
    "shmem_clear_cache_line_inv" => Management;
    "shmem_udcflush" => Management;
    "shmem_udcflush_line" => Management;
};
