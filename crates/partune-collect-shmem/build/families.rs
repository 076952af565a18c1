//! The functions: one row is one family with equal parameters, those of all types, of all sizes, with a context and without.

use crate::handlers::{
    ALLTOALL, BROADCAST, COLLECT, COMPARE, COMPARE_NBI, FCOLLECT, FETCH, FETCH_ADD, FETCH_ADD_NBI, FETCH_INCREMENT,
    FETCH_INCREMENT_NBI, FETCH_NBI, FETCH_UPDATE, FETCH_UPDATE_NBI, Handler, INCREMENT, PLAIN, PUT_SIGNAL,
    PUT_SIGNAL_NBI, REDUCE, REDUCE_TEAM, SIGNAL, SWAP, SWAP_NBI, TEST_ALL, TEST_ANY, TEST_SOME, UPDATE, WAIT, WAIT_ALL,
    WAIT_ANY, WAIT_SOME, access, barrier, collective, poll, tell,
};

/// Element types: the name in names, the type in Rust (for values; empty where there are none), the bytes of an element.
pub(crate) const TYPES: [(&str, &str, usize); 26] = [
    ("char", "i8", 1),
    ("schar", "i8", 1),
    ("short", "i16", 2),
    ("int", "i32", 4),
    ("long", "i64", 8),
    ("longlong", "i64", 8),
    ("uchar", "u8", 1),
    ("ushort", "u16", 2),
    ("uint", "u32", 4),
    ("ulong", "u64", 8),
    ("ulonglong", "u64", 8),
    ("float", "f32", 4),
    ("double", "f64", 8),
    ("longdouble", "", 16),
    ("complexf", "", 8),
    ("complexd", "", 16),
    ("int8", "i8", 1),
    ("int16", "i16", 2),
    ("int32", "i32", 4),
    ("int64", "i64", 8),
    ("uint8", "u8", 1),
    ("uint16", "u16", 2),
    ("uint32", "u32", 4),
    ("uint64", "u64", 8),
    ("size", "usize", 8),
    ("ptrdiff", "isize", 8),
];

const VALUES: &str = "char schar short int long longlong uchar ushort uint ulong ulonglong float double int8 int16 int32 int64 \
                      uint8 uint16 uint32 uint64 size ptrdiff";
const ALL: &str = "char schar short int long longlong uchar ushort uint ulong ulonglong float double int8 int16 int32 int64 \
                   uint8 uint16 uint32 uint64 size ptrdiff longdouble";
const ALL_WITH_COMPLEX: &str = "char schar short int long longlong uchar ushort uint ulong ulonglong float double int8 int16 int32 \
                                int64 uint8 uint16 uint32 uint64 size ptrdiff longdouble complexf complexd";
const BITS: &str = "8 16 32 64 128";
const WORDS: &str = "32 64";
const ATOMIC: &str = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff";
const BITWISE: &str = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64";
const EXCHANGED: &str = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff float double";
const FIXED: &str = "int32 int64";
const FIXED_BITWISE: &str = "int32 int64 uint32 uint64";
const FIXED_ALL: &str = "int16 int32 int64";
const TESTED: &str = "short int long longlong ushort uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff";
const INTEGERS: &str = "short int long longlong";
const COMBINED: &str =
    "short int long longlong uchar ushort uint ulong ulonglong int8 int16 int32 int64 uint8 uint16 uint32 uint64 size";
const NUMBERS: &str = "short int long longlong float double longdouble";
const WITH_COMPLEX: &str = "short int long longlong float double longdouble complexf complexd";

/// Names, with `@` for the types or sizes, and `[ctx_]` where there is one with a context and one without; these types or sizes;
/// parameters with their kinds (`p` address, `n` count, `l` stride, `i` int, `v` element, `k` long); the kind of the result; what is done.
pub(crate) type Row = (&'static str, &'static str, &'static str, &'static str, Handler);

const MANY: &str = "to:p from:p count:n pe:i";
const SIGNALLED: &str = "to:p from:p count:n at:p signal:n how:i pe:i";
const STRIDED: &str = "to:p from:p to_stride:l from_stride:l count:n pe:i";
const SET: &str = "start:i stride:i size:i sync:p";
const MOVED: &str = "to:p from:p count:n start:i stride:i size:i sync:p";
const IN_TEAM: &str = "team:p to:p from:p count:n";
const REDUCED: &str = "to:p from:p count:i start:i stride:i size:i work:p sync:p";

pub(crate) const FAMILIES: &[Row] = &[
    // Inquiry
    ("shmem_my_pe", "", "", "i", PLAIN),
    ("_my_pe", "", "", "i", PLAIN),
    ("shmem_n_pes", "", "", "i", PLAIN),
    ("_num_pes", "", "", "i", PLAIN),
    ("shmem_query_thread", "", "provided:p", "", PLAIN),
    ("shmem_info_get_version", "", "major:p minor:p", "", PLAIN),
    ("shmem_info_get_name", "", "name:p", "", PLAIN),
    ("shmem_pe_accessible", "", "pe:i", "i", PLAIN),
    ("shmem_addr_accessible", "", "address:p pe:i", "i", PLAIN),
    ("shmem_ptr", "", "address:p pe:i", "p", PLAIN),
    // Symmetric memory
    ("shmem_malloc", "", "bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shmalloc", "", "bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shmem_calloc", "", "count:n bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shmem_align", "", "alignment:n bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shmemalign", "", "alignment:n bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shmem_realloc", "", "address:p bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shrealloc", "", "address:p bytes:n", "a", collective("sync::allocate(&mut call)")),
    ("shmem_malloc_with_hints", "", "bytes:n hints:k", "a", collective("sync::allocate(&mut call)")),
    ("shmemx_malloc_with_hint", "", "bytes:n hint:k", "a", collective("sync::allocate(&mut call)")),
    ("shmem_free", "", "address:p", "", collective("sync::free(&mut call)")),
    ("shfree", "", "address:p", "", collective("sync::free(&mut call)")),
    // Contexts
    ("shmem_ctx_create", "", "options:k place:p", "i", PLAIN.noting("teams::context(0, place, result);")),
    (
        "shmem_ctx_destroy",
        "",
        "ctx:p",
        "",
        tell("()", "rma::quiet(&mut call, ctx);").noting("teams::forget_context(ctx);"),
    ),
    (
        "shmem_team_create_ctx",
        "",
        "team:p options:k place:p",
        "i",
        PLAIN.noting("teams::context(team, place, result);"),
    ),
    ("shmem_ctx_get_team", "", "ctx:p place:p", "i", PLAIN),
    // Teams
    ("shmem_team_my_pe", "", "team:p", "i", PLAIN),
    ("shmem_team_n_pes", "", "team:p", "i", PLAIN),
    ("shmem_team_get_config", "", "team:p mask:k config:p", "i", PLAIN),
    ("shmem_team_translate_pe", "", "team:p pe:i other:p", "i", PLAIN),
    ("shmem_team_ptr", "", "team:p address:p pe:i", "p", PLAIN),
    (
        "shmem_team_split_strided",
        "",
        "team:p start:i stride:i size:i config:p mask:k made:p",
        "i",
        collective("sync::split(&mut call, MEMBERS)").noting("teams::made(made);"),
    ),
    (
        "shmem_team_split_2d",
        "",
        "team:p range:i x_config:p x_mask:k x_made:p y_config:p y_mask:k y_made:p",
        "i",
        collective("sync::split(&mut call, MEMBERS)").noting("teams::made(x_made); teams::made(y_made);"),
    ),
    // It returns nothing by the specification, and a number with some.
    (
        "shmem_team_destroy",
        "",
        "team:p",
        "i",
        collective("sync::end(&mut call, MEMBERS)").noting("teams::forget(team);"),
    ),
    ("shmem_team_sync", "", "team:p", "i", collective("sync::barrier(&mut call, MEMBERS, sync::SYNC)")),
    // Put
    ("shmem_[ctx_]@_put", ALL, MANY, "", access("rma::put(&mut call, to, count.wrapping_mul(SIZE), pe)")),
    ("shmem_[ctx_]put@", BITS, MANY, "", access("rma::put(&mut call, to, count.wrapping_mul(SIZE), pe)")),
    ("shmem_[ctx_]putmem", "", MANY, "", access("rma::put(&mut call, to, count, pe)")),
    ("shmem_[ctx_]@_p", VALUES, "to:p value:v pe:i", "", access("rma::put(&mut call, to, SIZE, pe)")),
    ("shmemx_@_p", FIXED_ALL, "to:p value:v pe:i", "", access("rma::put(&mut call, to, SIZE, pe)")),
    (
        "shmem_[ctx_]@_iput",
        ALL,
        STRIDED,
        "",
        access("rma::iput(&mut call, to, to_stride, count.wrapping_mul(SIZE), pe)"),
    ),
    (
        "shmem_[ctx_]iput@",
        BITS,
        STRIDED,
        "",
        access("rma::iput(&mut call, to, to_stride, count.wrapping_mul(SIZE), pe)"),
    ),
    (
        "shmem_[ctx_]@_put_nbi",
        ALL,
        MANY,
        "",
        tell("rma::put_nbi(&mut call, CTX, to, count.wrapping_mul(SIZE), pe)", ""),
    ),
    (
        "shmem_[ctx_]put@_nbi",
        BITS,
        MANY,
        "",
        tell("rma::put_nbi(&mut call, CTX, to, count.wrapping_mul(SIZE), pe)", ""),
    ),
    ("shmem_[ctx_]putmem_nbi", "", MANY, "", tell("rma::put_nbi(&mut call, CTX, to, count, pe)", "")),
    // Put and say so; a signal is a word
    ("shmem_[ctx_]@_put_signal", ALL, SIGNALLED, "", PUT_SIGNAL),
    ("shmem_[ctx_]put@_signal", BITS, SIGNALLED, "", PUT_SIGNAL),
    ("shmem_[ctx_]putmem_signal", "", SIGNALLED, "", PUT_SIGNAL),
    ("shmem_[ctx_]@_put_signal_nbi", ALL, SIGNALLED, "", PUT_SIGNAL_NBI),
    ("shmem_[ctx_]put@_signal_nbi", BITS, SIGNALLED, "", PUT_SIGNAL_NBI),
    ("shmem_[ctx_]putmem_signal_nbi", "", SIGNALLED, "", PUT_SIGNAL_NBI),
    ("shmemx_[ctx_]signal_add", "", "at:p value:n pe:i", "", SIGNAL),
    ("shmemx_[ctx_]signal_set", "", "at:p value:n pe:i", "", SIGNAL),
    ("shmem_signal_fetch", "", "at:p", "n", PLAIN),
    // Get
    ("shmem_[ctx_]@_get", ALL, MANY, "", access("rma::get(&mut call, from, count.wrapping_mul(SIZE), pe)")),
    ("shmem_[ctx_]get@", BITS, MANY, "", access("rma::get(&mut call, from, count.wrapping_mul(SIZE), pe)")),
    ("shmem_[ctx_]getmem", "", MANY, "", access("rma::get(&mut call, from, count, pe)")),
    ("shmem_[ctx_]@_g", VALUES, "from:p pe:i", "v", access("rma::get(&mut call, from, SIZE, pe)")),
    ("shmemx_@_g", FIXED_ALL, "from:p pe:i", "v", access("rma::get(&mut call, from, SIZE, pe)")),
    (
        "shmem_[ctx_]@_iget",
        ALL,
        STRIDED,
        "",
        access("rma::iget(&mut call, from, from_stride, count.wrapping_mul(SIZE), pe)"),
    ),
    (
        "shmem_[ctx_]iget@",
        BITS,
        STRIDED,
        "",
        access("rma::iget(&mut call, from, from_stride, count.wrapping_mul(SIZE), pe)"),
    ),
    (
        "shmem_[ctx_]@_get_nbi",
        ALL,
        MANY,
        "",
        tell("rma::get_nbi(&mut call, CTX, from, count.wrapping_mul(SIZE), pe)", ""),
    ),
    (
        "shmem_[ctx_]get@_nbi",
        BITS,
        MANY,
        "",
        tell("rma::get_nbi(&mut call, CTX, from, count.wrapping_mul(SIZE), pe)", ""),
    ),
    ("shmem_[ctx_]getmem_nbi", "", MANY, "", tell("rma::get_nbi(&mut call, CTX, from, count, pe)", "")),
    // Atomics
    ("shmem_[ctx_]@_atomic_fetch", EXCHANGED, "at:p pe:i", "v", FETCH),
    ("shmem_[ctx_]@_atomic_set", EXCHANGED, "at:p value:v pe:i", "", UPDATE),
    ("shmem_[ctx_]@_atomic_swap", EXCHANGED, "at:p value:v pe:i", "v", SWAP),
    ("shmem_[ctx_]@_atomic_compare_swap", ATOMIC, "at:p expected:v value:v pe:i", "v", COMPARE),
    ("shmem_[ctx_]@_atomic_add", ATOMIC, "at:p value:v pe:i", "", UPDATE),
    ("shmem_[ctx_]@_atomic_inc", ATOMIC, "at:p pe:i", "", INCREMENT),
    ("shmem_[ctx_]@_atomic_fetch_add", ATOMIC, "at:p value:v pe:i", "v", FETCH_ADD),
    ("shmem_[ctx_]@_atomic_fetch_inc", ATOMIC, "at:p pe:i", "v", FETCH_INCREMENT),
    ("shmem_[ctx_]@_atomic_and", BITWISE, "at:p value:v pe:i", "", UPDATE),
    ("shmem_[ctx_]@_atomic_or", BITWISE, "at:p value:v pe:i", "", UPDATE),
    ("shmem_[ctx_]@_atomic_xor", BITWISE, "at:p value:v pe:i", "", UPDATE),
    ("shmem_[ctx_]@_atomic_fetch_and", BITWISE, "at:p value:v pe:i", "v", FETCH_UPDATE),
    ("shmem_[ctx_]@_atomic_fetch_or", BITWISE, "at:p value:v pe:i", "v", FETCH_UPDATE),
    ("shmem_[ctx_]@_atomic_fetch_xor", BITWISE, "at:p value:v pe:i", "v", FETCH_UPDATE),
    ("shmemx_@_atomic_and", FIXED_BITWISE, "at:p value:v pe:i", "", UPDATE),
    ("shmemx_@_atomic_or", FIXED_BITWISE, "at:p value:v pe:i", "", UPDATE),
    ("shmemx_@_atomic_xor", FIXED_BITWISE, "at:p value:v pe:i", "", UPDATE),
    ("shmemx_@_atomic_fetch_and", FIXED_BITWISE, "at:p value:v pe:i", "v", FETCH_UPDATE),
    ("shmemx_@_atomic_fetch_or", FIXED_BITWISE, "at:p value:v pe:i", "v", FETCH_UPDATE),
    ("shmemx_@_atomic_fetch_xor", FIXED_BITWISE, "at:p value:v pe:i", "v", FETCH_UPDATE),
    ("shmem_[ctx_]@_atomic_fetch_nbi", EXCHANGED, "to:p at:p pe:i", "", FETCH_NBI),
    ("shmem_[ctx_]@_atomic_swap_nbi", EXCHANGED, "to:p at:p value:v pe:i", "", SWAP_NBI),
    ("shmem_[ctx_]@_atomic_compare_swap_nbi", ATOMIC, "to:p at:p expected:v value:v pe:i", "", COMPARE_NBI),
    ("shmem_[ctx_]@_atomic_fetch_add_nbi", ATOMIC, "to:p at:p value:v pe:i", "", FETCH_ADD_NBI),
    ("shmem_[ctx_]@_atomic_fetch_inc_nbi", ATOMIC, "to:p at:p pe:i", "", FETCH_INCREMENT_NBI),
    ("shmem_[ctx_]@_atomic_fetch_and_nbi", BITWISE, "to:p at:p value:v pe:i", "", FETCH_UPDATE_NBI),
    ("shmem_[ctx_]@_atomic_fetch_or_nbi", BITWISE, "to:p at:p value:v pe:i", "", FETCH_UPDATE_NBI),
    ("shmem_[ctx_]@_atomic_fetch_xor_nbi", BITWISE, "to:p at:p value:v pe:i", "", FETCH_UPDATE_NBI),
    // Atomics as they were called before
    ("shmem_@_fetch", EXCHANGED, "at:p pe:i", "v", FETCH),
    ("shmem_@_set", EXCHANGED, "at:p value:v pe:i", "", UPDATE),
    ("shmem_@_swap", EXCHANGED, "at:p value:v pe:i", "v", SWAP),
    ("shmem_@_cswap", ATOMIC, "at:p expected:v value:v pe:i", "v", COMPARE),
    ("shmem_@_add", ATOMIC, "at:p value:v pe:i", "", UPDATE),
    ("shmem_@_inc", ATOMIC, "at:p pe:i", "", INCREMENT),
    ("shmem_@_fadd", ATOMIC, "at:p value:v pe:i", "v", FETCH_ADD),
    ("shmem_@_finc", ATOMIC, "at:p pe:i", "v", FETCH_INCREMENT),
    ("shmemx_@_fetch", FIXED, "at:p pe:i", "v", FETCH),
    ("shmemx_@_set", FIXED, "at:p value:v pe:i", "", UPDATE),
    ("shmemx_@_swap", FIXED, "at:p value:v pe:i", "v", SWAP),
    ("shmemx_@_cswap", FIXED, "at:p expected:v value:v pe:i", "v", COMPARE),
    ("shmemx_@_add", FIXED, "at:p value:v pe:i", "", UPDATE),
    ("shmemx_@_inc", FIXED, "at:p pe:i", "", INCREMENT),
    ("shmemx_@_fadd", FIXED, "at:p value:v pe:i", "v", FETCH_ADD),
    ("shmemx_@_finc", FIXED, "at:p pe:i", "v", FETCH_INCREMENT),
    // Order and completion
    ("shmem_[ctx_]fence", "", "", "", PLAIN),
    ("shmem_[ctx_]quiet", "", "", "", tell("()", "rma::quiet(&mut call, CTX);")),
    // Values that others write
    ("shmem_@_wait", INTEGERS, "at:p value:v", "", WAIT),
    ("shmem_wait", "", "at:p value:k", "", WAIT),
    ("shmemx_@_wait", FIXED, "at:p value:v", "", WAIT),
    ("shmem_@_wait_until", TESTED, "at:p relation:i value:v", "", WAIT),
    ("shmem_wait_until", "", "at:p relation:i value:k", "", WAIT),
    ("shmem_signal_wait_until", "", "at:p relation:i value:n", "n", WAIT),
    ("shmem_@_wait_until_all", TESTED, "at:p count:n status:p relation:i value:v", "", WAIT_ALL),
    ("shmem_@_wait_until_all_vector", TESTED, "at:p count:n status:p relation:i values:p", "", WAIT_ALL),
    ("shmem_@_wait_until_any", TESTED, "at:p count:n status:p relation:i value:v", "n", WAIT_ANY),
    ("shmem_@_wait_until_any_vector", TESTED, "at:p count:n status:p relation:i values:p", "n", WAIT_ANY),
    ("shmem_@_wait_until_some", TESTED, "at:p count:n indices:p status:p relation:i value:v", "n", WAIT_SOME),
    ("shmem_@_wait_until_some_vector", TESTED, "at:p count:n indices:p status:p relation:i values:p", "n", WAIT_SOME),
    ("shmem_@_test_all", TESTED, "at:p count:n status:p relation:i value:v", "i", TEST_ALL),
    ("shmem_@_test_all_vector", TESTED, "at:p count:n status:p relation:i values:p", "i", TEST_ALL),
    ("shmem_@_test_any", TESTED, "at:p count:n status:p relation:i value:v", "n", TEST_ANY),
    ("shmem_@_test_any_vector", TESTED, "at:p count:n status:p relation:i values:p", "n", TEST_ANY),
    ("shmem_@_test_some", TESTED, "at:p count:n indices:p status:p relation:i value:v", "n", TEST_SOME),
    ("shmem_@_test_some_vector", TESTED, "at:p count:n indices:p status:p relation:i values:p", "n", TEST_SOME),
    ("shmemx_@_wait_until", FIXED, "at:p relation:i value:v", "", WAIT),
    ("shmem_@_test", TESTED, "at:p relation:i value:v", "i", poll("()", "rma::tested(&mut call, at, result != 0);")),
    // Locks
    ("shmem_set_lock", "", "lock:p", "", tell("sync::request(&mut call, lock)", "sync::acquired(&mut call, lock);")),
    ("shmem_test_lock", "", "lock:p", "i", poll("()", "sync::tried(&mut call, lock, result == 0);")),
    ("shmem_clear_lock", "", "lock:p", "", tell("sync::release(&mut call, lock)", "")),
    // Collectives
    ("shmem_barrier_all", "", "", "", barrier("sync::everybody(&mut call, sync::BARRIER)")),
    ("shmem_sync_all", "", "", "", collective("sync::everybody(&mut call, sync::SYNC)")),
    ("shmem_barrier", "", SET, "", barrier("sync::barrier(&mut call, MEMBERS, sync::BARRIER)")),
    ("shmem_sync", "", SET, "", collective("sync::barrier(&mut call, MEMBERS, sync::SYNC)")),
    (
        "shmem_broadcast@",
        WORDS,
        "to:p from:p count:n root:i start:i stride:i size:i sync:p",
        "",
        collective("sync::broadcast(&mut call, MEMBERS, root, count.wrapping_mul(SIZE), false)"),
    ),
    ("shmem_collect@", WORDS, MOVED, "", COLLECT),
    ("shmem_fcollect@", WORDS, MOVED, "", FCOLLECT),
    ("shmem_alltoall@", WORDS, MOVED, "", ALLTOALL),
    (
        "shmem_alltoalls@",
        WORDS,
        "to:p from:p to_stride:l from_stride:l count:n start:i stride:i size:i sync:p",
        "",
        ALLTOALL,
    ),
    ("shmem_@_broadcast", ALL, "team:p to:p from:p count:n root:i", "i", BROADCAST),
    ("shmem_broadcastmem", "", "team:p to:p from:p count:n root:i", "i", BROADCAST),
    ("shmem_@_collect", ALL, IN_TEAM, "i", COLLECT),
    ("shmem_collectmem", "", IN_TEAM, "i", COLLECT),
    ("shmem_@_fcollect", ALL, IN_TEAM, "i", FCOLLECT),
    ("shmem_fcollectmem", "", IN_TEAM, "i", FCOLLECT),
    ("shmem_@_alltoall", ALL, IN_TEAM, "i", ALLTOALL),
    ("shmem_alltoallmem", "", IN_TEAM, "i", ALLTOALL),
    ("shmem_@_alltoalls", ALL, "team:p to:p from:p to_stride:l from_stride:l count:n", "i", ALLTOALL),
    ("shmem_alltoallsmem", "", "team:p to:p from:p to_stride:l from_stride:l count:n", "i", ALLTOALL),
    ("shmem_@_and_reduce", COMBINED, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_or_reduce", COMBINED, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_xor_reduce", COMBINED, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_max_reduce", ALL, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_min_reduce", ALL, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_sum_reduce", ALL_WITH_COMPLEX, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_prod_reduce", ALL_WITH_COMPLEX, IN_TEAM, "i", REDUCE_TEAM),
    ("shmem_@_and_to_all", INTEGERS, REDUCED, "", REDUCE),
    ("shmem_@_or_to_all", INTEGERS, REDUCED, "", REDUCE),
    ("shmem_@_xor_to_all", INTEGERS, REDUCED, "", REDUCE),
    ("shmem_@_max_to_all", NUMBERS, REDUCED, "", REDUCE),
    ("shmem_@_min_to_all", NUMBERS, REDUCED, "", REDUCE),
    ("shmem_@_sum_to_all", WITH_COMPLEX, REDUCED, "", REDUCE),
    ("shmem_@_prod_to_all", WITH_COMPLEX, REDUCED, "", REDUCE),
    ("shmemx_@_and_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    ("shmemx_@_or_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    ("shmemx_@_xor_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    ("shmemx_@_max_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    ("shmemx_@_min_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    ("shmemx_@_sum_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    ("shmemx_@_prod_to_all", FIXED_ALL, REDUCED, "", REDUCE),
    // Caches of vector machines
    ("shmem_udcflush", "", "", "", PLAIN),
    ("shmem_udcflush_line", "", "at:p", "", PLAIN),
    ("shmem_set_cache_inv", "", "", "", PLAIN),
    ("shmem_set_cache_line_inv", "", "at:p", "", PLAIN),
    ("shmem_clear_cache_inv", "", "", "", PLAIN),
    ("shmem_clear_cache_line_inv", "", "at:p", "", PLAIN),
];
