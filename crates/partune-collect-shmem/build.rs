//! Makes the wrappers of OpenSHMEM's functions from the list of their families.
//!
//! One row is one family of functions with equal parameters: those of all types, of all sizes, with a context and without. The functions
//! that begin and end the program's part in SHMEM are in `world.rs`, those with a `long double` for a value in `long_double.rs`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

/// Element types: the name in names, the type in Rust (for values; empty where there are none), the bytes of an element.
const TYPES: [(&str, &str, usize); 26] = [
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
const BITS: &str = "8 16 32 64 128";
const WORDS: &str = "32 64";
const ATOMIC: &str = "int long longlong uint ulong ulonglong";
const BITWISE: &str = "int long longlong uint ulong ulonglong int32 int64 uint32 uint64";
const EXCHANGED: &str = "int long longlong uint ulong ulonglong float double";
const OLD: &str = "int long longlong";
const OLD_EXCHANGED: &str = "int long longlong float double";
const FIXED: &str = "int32 int64";
const FIXED_BITWISE: &str = "int32 int64 uint32 uint64";
const FIXED_ALL: &str = "int16 int32 int64";
const TESTED: &str = "short int long longlong ushort uint ulong ulonglong int32 int64 uint32 uint64 size ptrdiff";
const INTEGERS: &str = "short int long longlong";
const NUMBERS: &str = "short int long longlong float double longdouble";
const WITH_COMPLEX: &str = "short int long longlong float double longdouble complexf complexd";

/// What is done around a function: what is told before it is called, and after. `SIZE` is the bytes of an element, `told` what the first
/// gave, `result` what the function returned.
struct Handler {
    enter: &'static str,
    before: &'static str,
    after: &'static str,
}

const PLAIN: Handler = tell("()", "");

const fn tell(before: &'static str, after: &'static str) -> Handler {
    Handler { enter: "enter", before, after }
}

const fn poll(before: &'static str, after: &'static str) -> Handler {
    Handler { enter: "enter_poll", before, after }
}

const fn access(before: &'static str) -> Handler {
    tell(before, "told.complete(&mut call);")
}

const fn collective(before: &'static str) -> Handler {
    tell(before, "told.end(&mut call);")
}

const fn barrier(before: &'static str) -> Handler {
    tell(before, "rma::quiet(&mut call, rma::DEFAULT); told.end(&mut call);")
}

/// Names, with `@` for the types or sizes, and `[ctx_]` where there is one with a context and one without; these types or sizes;
/// parameters with their kinds (`p` address, `n` count, `l` stride, `i` int, `v` element, `k` long); the kind of the result; what is done.
type Row = (&'static str, &'static str, &'static str, &'static str, Handler);

const MANY: &str = "to:p from:p count:n pe:i";
const STRIDED: &str = "to:p from:p to_stride:l from_stride:l count:n pe:i";
const SET: &str = "start:i stride:i size:i sync:p";
const MOVED: &str = "to:p from:p count:n start:i stride:i size:i sync:p";
const REDUCED: &str = "to:p from:p count:i start:i stride:i size:i work:p sync:p";

const FAMILIES: &[Row] = &[
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
    ("shmemx_malloc_with_hint", "", "bytes:n hint:k", "a", collective("sync::allocate(&mut call)")),
    ("shmem_free", "", "address:p", "", collective("sync::free(&mut call)")),
    ("shfree", "", "address:p", "", collective("sync::free(&mut call)")),
    // Contexts
    ("shmem_ctx_create", "", "options:k place:p", "i", PLAIN),
    ("shmem_ctx_destroy", "", "ctx:p", "", tell("()", "rma::quiet(&mut call, ctx);")),
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
    // Atomics as they were called before
    ("shmem_@_fetch", OLD_EXCHANGED, "at:p pe:i", "v", FETCH),
    ("shmem_@_set", OLD_EXCHANGED, "at:p value:v pe:i", "", UPDATE),
    ("shmem_@_swap", OLD_EXCHANGED, "at:p value:v pe:i", "v", SWAP),
    ("shmem_@_cswap", OLD, "at:p expected:v value:v pe:i", "v", COMPARE),
    ("shmem_@_add", OLD, "at:p value:v pe:i", "", UPDATE),
    ("shmem_@_inc", OLD, "at:p pe:i", "", INCREMENT),
    ("shmem_@_fadd", OLD, "at:p value:v pe:i", "v", FETCH_ADD),
    ("shmem_@_finc", OLD, "at:p pe:i", "v", FETCH_INCREMENT),
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
    ("shmemx_@_wait_until", FIXED, "at:p relation:i value:v", "", WAIT),
    ("shmem_@_test", TESTED, "at:p relation:i value:v", "i", poll("()", "rma::tested(&mut call, at, result != 0);")),
    // Locks
    ("shmem_set_lock", "", "lock:p", "", tell("sync::request(&mut call, lock)", "sync::acquired(&mut call, lock);")),
    ("shmem_test_lock", "", "lock:p", "i", poll("()", "sync::tried(&mut call, lock, result == 0);")),
    ("shmem_clear_lock", "", "lock:p", "", tell("sync::release(&mut call, lock)", "")),
    // Collectives
    ("shmem_barrier_all", "", "", "", barrier("sync::everybody(&mut call, sync::BARRIER)")),
    ("shmem_sync_all", "", "", "", collective("sync::everybody(&mut call, sync::SYNC)")),
    ("shmem_barrier", "", SET, "", barrier("sync::barrier(&mut call, [start, stride, size], sync::BARRIER)")),
    ("shmem_sync", "", SET, "", collective("sync::barrier(&mut call, [start, stride, size], sync::SYNC)")),
    (
        "shmem_broadcast@",
        WORDS,
        "to:p from:p count:n root:i start:i stride:i size:i sync:p",
        "",
        collective("sync::broadcast(&mut call, [start, stride, size], root, count.wrapping_mul(SIZE))"),
    ),
    (
        "shmem_collect@",
        WORDS,
        MOVED,
        "",
        collective("sync::collect(&mut call, [start, stride, size], count.wrapping_mul(SIZE))"),
    ),
    (
        "shmem_fcollect@",
        WORDS,
        MOVED,
        "",
        collective("sync::fcollect(&mut call, [start, stride, size], count.wrapping_mul(SIZE))"),
    ),
    (
        "shmem_alltoall@",
        WORDS,
        MOVED,
        "",
        collective("sync::alltoall(&mut call, [start, stride, size], count.wrapping_mul(SIZE))"),
    ),
    (
        "shmem_alltoalls@",
        WORDS,
        "to:p from:p to_stride:l from_stride:l count:n start:i stride:i size:i sync:p",
        "",
        collective("sync::alltoall(&mut call, [start, stride, size], count.wrapping_mul(SIZE))"),
    ),
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

const FETCH: Handler = access("rma::atomic(&mut call, Atomic::FetchAndAccumulate, at, [0, SIZE], pe)");
const UPDATE: Handler = access("rma::atomic(&mut call, Atomic::Accumulate, at, [SIZE, 0], pe)");
const SWAP: Handler = access("rma::atomic(&mut call, Atomic::Swap, at, [SIZE, SIZE], pe)");
const COMPARE: Handler = access("rma::atomic(&mut call, Atomic::CompareAndSwap, at, [2 * SIZE, SIZE], pe)");
const INCREMENT: Handler = access("rma::atomic(&mut call, Atomic::Increment, at, [SIZE, 0], pe)");
const FETCH_ADD: Handler = access("rma::atomic(&mut call, Atomic::FetchAndAdd, at, [SIZE, SIZE], pe)");
const FETCH_INCREMENT: Handler = access("rma::atomic(&mut call, Atomic::FetchAndIncrement, at, [SIZE, SIZE], pe)");
const FETCH_UPDATE: Handler = access("rma::atomic(&mut call, Atomic::FetchAndAccumulate, at, [SIZE, SIZE], pe)");
const WAIT: Handler = tell("rma::wait(&mut call, at)", "");
const REDUCE: Handler =
    collective("sync::reduce(&mut call, [start, stride, size], (count.max(0) as usize).wrapping_mul(SIZE))");

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut code = String::new();
    let mut all = String::new();
    for (names, elements, parameters, result, handler) in FAMILIES {
        let family = family(names);
        let elements: Vec<&str> = if elements.is_empty() { vec![""] } else { elements.split_whitespace().collect() };
        let contexts: &[bool] = if names.contains("[ctx_]") { &[false, true] } else { &[false] };
        for element in elements {
            let (value, size) = of(element);
            for with_context in contexts {
                let name = names.replace("[ctx_]", if *with_context { "ctx_" } else { "" }).replace('@', element);
                let context = if *with_context { "ctx:p " } else { "" };
                let parameters = format!("{context}{parameters}");
                wrapper(&mut code, [&name, &family], value, size, &parameters, result, handler);
                let _ = write!(all, "(\"{name}\", \"{family}\", {}), ", parameters.split_whitespace().count());
            }
        }
    }
    let _ = writeln!(code, "#[cfg(test)] pub(crate) static ALL: &[(&str, &str, usize)] = &[{all}];");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(folder.join("wrappers.rs"), code)
}

/// What the paradigm's table calls functions that differ in context, type and size only.
fn family(names: &str) -> String {
    names.replace("[ctx_]", "").replace("_@_", "_").replace('@', "").replacen("shmemx_", "shmem_", 1)
}

/// The Rust type and the bytes of an element, from its type or its bits.
fn of(element: &str) -> (&'static str, usize) {
    match element.parse::<usize>() {
        Ok(bits) => ("", bits / 8),
        Err(_) => TYPES.iter().find(|it| it.0 == element).map_or(("", 1), |it| (it.1, it.2)),
    }
}

fn wrapper(
    code: &mut String,
    [name, family]: [&str; 2],
    value: &'static str,
    size: usize,
    parameters: &str,
    result: &str,
    handler: &Handler,
) {
    let kind = |kind: &str| match kind {
        "p" | "n" | "a" => "usize",
        "l" => "isize",
        "k" => "c_long",
        "i" => "c_int",
        "v" if !value.is_empty() => value,
        other => panic!("{name} has a parameter of kind {other}"),
    };
    let parameters: Vec<(&str, &str)> =
        parameters.split_whitespace().map(|it| it.split_once(':').expect("a name and a kind")).collect();
    let list = |text: &dyn Fn(&(&str, &str)) -> String| parameters.iter().map(text).collect::<Vec<_>>().join(", ");
    let (declared, types) = (list(&|it| format!("{}: {}", it.0, kind(it.1))), list(&|it| kind(it.1).to_owned()));
    let given = list(&|it| it.0.to_owned());
    let returns = if result.is_empty() { String::new() } else { format!(" -> {}", kind(result)) };
    let learn = if result == "a" { "segments::learn(result); " } else { "" };
    let context = if parameters.iter().any(|it| it.0 == "ctx") { "ctx" } else { "rma::DEFAULT" };
    let fill = |text: &str| text.replace("CTX", context).replace("SIZE", &size.to_string());
    let (enter, before, after) = (handler.enter, fill(handler.before), fill(handler.after));
    let constant = name.to_ascii_uppercase();
    let _ = writeln!(
        code,
        "static {constant}: Function = Function::of_family(c\"{name}\", \"{family}\");\n\
         #[unsafe(no_mangle)] pub unsafe extern \"C\" fn {name}({declared}){returns} {{\n\
         let frame = frame::here();\n\
         let real: unsafe extern \"C\" fn({types}){returns} = unsafe {{ transmute({constant}.real()) }};\n\
         let Some(mut call) = {constant}.{enter}(frame) else {{ let result = {constant}.without(frame, || unsafe {{ real({given}) }}); {learn}return result; }};\n\
         let told = {before};\n\
         let result = unsafe {{ real({given}) }};\n\
         call.returned(); {learn}{after} call.leave(); return result; }}"
    );
}
