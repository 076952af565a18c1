//! What a program finds that looks functions of MPI up by name: what its MPI library has, and nothing else.
//!
//! This library has wrappers for the functions of every MPI, and the one that the program runs with lacks some. Whoever asks by `dlsym` whether there is
//! a `MPI_Session_init` must not find our wrapper unless there is one behind it; and whoever opened MPI by `dlopen` and asks that handle for `MPI_Init` is
//! to find the wrapper, which is the only way to be recorded then. So `dlsym` is ours as well. It changes the handle that is asked, if anything, and jumps to
//! the loader's own function, which sees the program as its caller: that decides what `RTLD_NEXT` means.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

use crate::function::c_names;
use crate::{library, weak};

/// How a question goes on. Two registers, which is how the code below gets it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Way {
    /// The handle to ask instead of the one that was given.
    handle: *mut c_void,
    /// The function to jump to; zero: nothing was found.
    function: usize,
}

/// The program's function of this name.
///
/// # Safety
/// As that of the C library.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "endbr64",
        "push rdi",
        "push rsi",
        "mov rdx, [rsp + 16]",
        "sub rsp, 8",
        "call {way}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rdx, rdx",
        "jz 2f",
        "mov rdi, rax",
        "jmp rdx",
        "2:",
        "xor eax, eax",
        "ret",
        way = sym way,
    )
}

/// The same.
///
/// # Safety
/// As that of the C library.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
#[allow(unreachable_pub, reason = "the program calls it")]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-32]!",
        "mov x29, sp",
        "str x1, [sp, #16]",
        "mov x2, x30",
        "bl {way}",
        "mov x16, x1",
        "ldr x1, [sp, #16]",
        "ldp x29, x30, [sp], #32",
        "cbz x16, 2f",
        "br x16",
        "2:",
        "mov x0, #0",
        "ret",
        way = sym way,
    )
}

/// Which handle is to be asked for a name that code at `caller` asked `handle` for.
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]
unsafe extern "C" fn way(handle: *mut c_void, name: *const c_char, caller: usize) -> Way {
    const NOTHING: Way = Way { handle: null_mut(), function: 0 };
    let Some(function) = library::lookup() else { return NOTHING };
    let function = function as usize;
    // What a library weakly refers to is put right before anybody can get at the library's functions.
    weak::settle_opened();
    // SAFETY: the program's C string, if any.
    let name = unsafe { name.as_ref().map(|name| CStr::from_ptr(name)) };
    match name.map_or(Found::AsAsked, |name| find(handle, name, caller)) {
        Found::AsAsked => Way { handle, function },
        Found::Own(handle) => Way { handle, function },
        Found::Nothing => NOTHING,
    }
}

/// What a program is to find.
enum Found {
    /// Whatever the loader says.
    AsAsked,
    /// The wrapper, in this library.
    Own(*mut c_void),
    /// Nothing. The loader has just looked in vain, so `dlerror` has words for it.
    Nothing,
}

fn find(handle: *mut c_void, name: &CStr, caller: usize) -> Found {
    let Some((own, wrapper)) = wrapper(name) else { return Found::AsAsked };
    if handle == libc::RTLD_NEXT {
        // The loader's own order holds, unless it leads to us alone.
        return if is_there(name) { Found::AsAsked } else { Found::Nothing };
    }
    let found = library::symbol(handle, name);
    if handle == libc::RTLD_DEFAULT || found == Some(wrapper) {
        if found.is_some_and(|found| found != wrapper) {
            // Somebody before us in the loader's order.
            return Found::AsAsked;
        }
        // Everything that is loaded for all, then what the caller was loaded with.
        let local = || library::within(caller, |within| library::symbol(within, name)).flatten();
        let real = match library::symbol(libc::RTLD_NEXT, name) {
            None if handle == libc::RTLD_DEFAULT => local().filter(|real| *real != wrapper),
            real => real,
        };
        return match real {
            Some(_) => Found::Own(own),
            None => nothing(name),
        };
    }
    match found {
        Some(found) if is_wrapped(name, found) => Found::Own(own),
        Some(_) | None => Found::AsAsked,
    }
}

/// Lets the loader look in vain.
fn nothing(name: &CStr) -> Found {
    let _ = library::symbol(libc::RTLD_NEXT, name);
    Found::Nothing
}

/// The wrapper of a name, if it has one, and this library.
pub(crate) fn wrapper(name: &CStr) -> Option<(*mut c_void, usize)> {
    if !may_be_wrapped(name) {
        return None;
    }
    let own = library::own()?;
    let address = library::symbol(own, name)?;
    Some((own, address))
}

/// Whether a name could be one that has a wrapper: of MPI and what Open MPI calls, or of a paradigm whose wrappers are in the same library.
pub(crate) fn may_be_wrapped(name: &CStr) -> bool {
    const OTHERS: [&[u8]; 12] = [
        b"ompi_mpi_abort",
        b"shmem",
        b"shmalloc",
        b"shrealloc",
        b"shfree",
        b"start_pes",
        b"_my_pe",
        b"_num_pes",
        b"GOMP_",
        b"omp_",
        b"_gfortran_caf_",
        b"_caf_extensions_",
    ];
    let name = name.to_bytes();
    let is_of_mpi = name
        .first_chunk::<4>()
        .is_some_and(|[m, p, i, next]| [*m, *p, *i].eq_ignore_ascii_case(b"mpi") && (*next == b'_' || *next == b'X'));
    is_of_mpi || OTHERS.iter().any(|begin| name.starts_with(begin))
}

/// Whether a loaded library has the function.
pub(crate) fn is_there(name: &CStr) -> bool {
    library::function(&[name.to_owned()]).is_some()
}

/// Whether a function that was found is what the wrapper calls: of the same library. Another one may be a tool's, or of a second MPI.
fn is_wrapped(name: &CStr, found: usize) -> bool {
    let called = name.to_str().ok().and_then(|name| library::function(&c_names(name))).and_then(library::object);
    called.is_some() && called == library::object(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_may_have_wrappers() {
        for name in [
            c"MPI_Send",
            c"MPIX_Comm_shrink",
            c"mpi_send_",
            c"MPI_SEND",
            c"shmem_init",
            c"_my_pe",
            c"GOMP_parallel",
            c"_gfortran_caf_send",
        ] {
            assert!(may_be_wrapped(name), "{name:?}");
        }
        for name in [c"", c"MPI", c"PMPI_Send", c"mpiexec", c"malloc", c"ompi_mpi_comm_world", c"my_pe", c"shm_open"] {
            assert!(!may_be_wrapped(name), "{name:?}");
        }
    }
}
