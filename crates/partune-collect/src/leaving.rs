//! Ends of a process that `atexit` does not see: by `_exit`, as another program, or leaving a daemon behind.
//!
//! Of a function that may fail it is told before that the process ends, if it can be seen that it will not. Handlers of signals may call most of these: nothing here
//! needs memory then. What a runtime does when others die is not what the program does.
#![allow(unreachable_pub, reason = "what the program calls has the C library's names")]

use std::ffi::{CStr, c_char, c_int};
use std::mem::transmute;

use crate::callers::{self, Caller};
use crate::frame;
use crate::next::{Next, named};
use crate::process;
use crate::signals::may_be_in_handler;

/// Where programs are looked for if the environment does not say it.
const FOLDERS: &[u8] = b"/bin:/usr/bin";

macro_rules! exits {
    ($($name:ident)*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(status: c_int) -> ! {
            static NEXT: Next = Next::new(named(concat!(stringify!($name), "\0")));
            if process::is_own() && !is_runtime(frame::here().return_address()) {
                process::leave();
            }
            // SAFETY: the type of the C library's function.
            let real: unsafe extern "C" fn(c_int) -> ! = unsafe { transmute(NEXT.address()) };
            // SAFETY: as it was asked for.
            unsafe { real(status) }
        }
    )*};
}

exits! {
    _exit
    _Exit
}

/// Who is at an address; in a handler of a signal, if that is known.
fn is_runtime(address: usize) -> bool {
    let caller = if may_be_in_handler() { callers::known(address) } else { Some(callers::of(address)) };
    caller == Some(Caller::Runtime)
}

/// Leaves a child to go on, and ends.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn daemon(stays: c_int, keeps_outputs: c_int) -> c_int {
    static NEXT: Next = Next::new(c"daemon");
    if process::is_own() {
        process::leave();
    }
    // SAFETY: the type of the C library's function.
    let real: unsafe extern "C" fn(c_int, c_int) -> c_int = unsafe { transmute(NEXT.address()) };
    // SAFETY: as it was asked for.
    unsafe { real(stays, keeps_outputs) }
}

macro_rules! execs {
    ($($name:ident($($more:ident),*) $is_searched:literal;)*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(program: *const c_char $(, $more: usize)*) -> c_int {
            static NEXT: Next = Next::new(named(concat!(stringify!($name), "\0")));
            becomes(program, $is_searched);
            // SAFETY: the type of the C library's function.
            let real: unsafe extern "C" fn(*const c_char $(, execs!(word $more))*) -> c_int = unsafe { transmute(NEXT.address()) };
            // SAFETY: as it was asked for.
            unsafe { real(program $(, $more)*) }
        }
    )*};
    (word $more:ident) => { usize };
}

execs! {
    execv(arguments) false;
    execve(arguments, environment) false;
    execvp(arguments) true;
    execvpe(arguments, environment) true;
}

/// Functions with arguments of any number, which stay where they are: in assembler on x86-64. Elsewhere the C library's are called.
#[cfg(target_arch = "x86_64")]
macro_rules! listed {
    ($($name:ident $is_searched:literal;)*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> c_int {
            unsafe extern "C" fn before(program: *const c_char) -> usize {
                static NEXT: Next = Next::new(named(concat!(stringify!($name), "\0")));
                becomes(program, $is_searched);
                NEXT.address()
            }
            core::arch::naked_asm!(
                "endbr64",
                "push rbp",
                "mov rbp, rsp",
                "push rdi",
                "push rsi",
                "push rdx",
                "push rcx",
                "push r8",
                "push r9",
                "call {before}",
                "pop r9",
                "pop r8",
                "pop rcx",
                "pop rdx",
                "pop rsi",
                "pop rdi",
                "pop rbp",
                "jmp rax",
                before = sym before,
            )
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
listed! {
    execl false;
    execle false;
    execlp true;
}

/// The process is about to become another program, if there is one; `is_searched`: in the folders of the environment, if it has no path.
fn becomes(program: *const c_char, is_searched: bool) {
    if program.is_null() || !process::is_own() {
        return;
    }
    // SAFETY: the program's C string.
    let program = unsafe { CStr::from_ptr(program) };
    let is_there =
        if is_searched && !program.to_bytes().contains(&b'/') { is_found(program) } else { can_run(program) };
    if is_there {
        if !may_be_in_handler() {
            crate::note(&format!("a process became another program: {}", program.to_string_lossy()));
        }
        process::leave();
    }
}

/// Becomes the program that a descriptor is.
///
/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fexecve(program: c_int, arguments: usize, environment: usize) -> c_int {
    static NEXT: Next = Next::new(c"fexecve");
    let mut path = [0_u8; 40];
    // The last byte ends it.
    let _ = std::io::Write::write_fmt(&mut &mut path[..39], format_args!("/proc/self/fd/{program}"));
    becomes(path.as_ptr().cast(), false);
    // SAFETY: the type of the C library's function.
    let real: unsafe extern "C" fn(c_int, usize, usize) -> c_int = unsafe { transmute(NEXT.address()) };
    // SAFETY: as it was asked for.
    unsafe { real(program, arguments, environment) }
}

/// Whether a program is in one of the folders.
fn is_found(name: &CStr) -> bool {
    // SAFETY: a C string; what is found stays, since nobody changes the environment meanwhile.
    let folders = unsafe { libc::getenv(c"PATH".as_ptr()).as_ref() };
    // SAFETY: a C string of the environment.
    let folders = folders.map_or(FOLDERS, |folders| unsafe { CStr::from_ptr(folders) }.to_bytes());
    folders.split(|byte| *byte == b':').any(|folder| {
        let mut path = [0_u8; libc::PATH_MAX as usize];
        let mut rest = &mut path[..];
        let parts: [&[u8]; 3] = [folder, if folder.is_empty() { b"" } else { b"/" }, name.to_bytes_with_nul()];
        let is_whole = parts.iter().all(|part| std::io::Write::write_all(&mut rest, part).is_ok());
        is_whole && CStr::from_bytes_until_nul(&path).is_ok_and(can_run)
    })
}

/// Whether a file is there to be run.
fn can_run(path: &CStr) -> bool {
    // SAFETY: a structure of numbers.
    let mut about: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and the structure.
    let is_file =
        unsafe { libc::stat(path.as_ptr(), &raw mut about) } == 0 && about.st_mode & libc::S_IFMT == libc::S_IFREG;
    // SAFETY: a C string.
    is_file && unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) } == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_what_can_be_run() {
        assert_eq!([c"/bin/sh", c"/bin", c"/etc/passwd", c"/nowhere"].map(can_run), [true, false, false, false]);
        assert_eq!([c"sh", c"passwd.nowhere"].map(is_found), [true, false]);
    }
}
