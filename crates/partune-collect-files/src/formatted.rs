//! Formatted output and input with arguments of any number and type: in assembler on x86-64, where all of them are made a list, which the function
//! of the library that takes one does the same with. Elsewhere these calls go to the library unseen.
#![cfg(target_arch = "x86_64")]

use std::ffi::{c_char, c_int, c_void};
use std::mem::transmute;

use libc::FILE;
use partune_collect::facts::Io;
use partune_collect::frame;

use crate::function::Function;
use crate::streams::{access, scan};

/// A wrapper: its symbol; the function of the library with a list; the name in the archive; parameters before the list, their names, bytes of the
/// registers they are in, the registers for the list and for the wrapper's frame; what is done.
macro_rules! formatted {
    ($symbol:ident, $list_symbol:literal, $name:literal, ($($parameter:ident: $kind:ty),*), $taken:literal, [$list:literal, $base:literal],
     |$function:ident, $frame:ident, $real:ident| $act:expr) => {
        /// # Safety
        /// As that of the library.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol() -> c_int {
            unsafe extern "C" fn act($($parameter: $kind,)* list: *mut c_void, base: usize) -> c_int {
                static FUNCTION: Function = Function::new($list_symbol, $name);
                let real: unsafe extern "C" fn($($kind,)* *mut c_void) -> c_int = unsafe { transmute(FUNCTION.real()) };
                let $real = || unsafe { real($($parameter,)* list) };
                if !partune_collect::is_recorded() {
                    return $real();
                }
                let ($function, $frame) = (&FUNCTION, frame::at(base));
                $act
            }
            core::arch::naked_asm!(
                "endbr64",
                "push rbp",
                "mov rbp, rsp",
                "sub rsp, 208",
                // Where the list finds arguments that came in registers.
                "mov [rsp + 32], rdi",
                "mov [rsp + 40], rsi",
                "mov [rsp + 48], rdx",
                "mov [rsp + 56], rcx",
                "mov [rsp + 64], r8",
                "mov [rsp + 72], r9",
                "test al, al",
                "je 2f",
                "movaps [rsp + 80], xmm0",
                "movaps [rsp + 96], xmm1",
                "movaps [rsp + 112], xmm2",
                "movaps [rsp + 128], xmm3",
                "movaps [rsp + 144], xmm4",
                "movaps [rsp + 160], xmm5",
                "movaps [rsp + 176], xmm6",
                "movaps [rsp + 192], xmm7",
                "2:",
                concat!("mov dword ptr [rsp], ", $taken),
                "mov dword ptr [rsp + 4], 48",
                "lea rax, [rbp + 16]",
                "mov [rsp + 8], rax",
                "lea rax, [rsp + 32]",
                "mov [rsp + 16], rax",
                concat!("mov ", $list, ", rsp"),
                concat!("mov ", $base, ", rbp"),
                "call {act}",
                "leave",
                "ret",
                act = sym act,
            )
        }
    };
}

formatted!(fprintf, c"vfprintf", "fprintf", (stream: *mut FILE, format: *const c_char), "16", ["rdx", "rcx"],
    |function, frame, real| access(function, frame, stream, Io::Write, 0, real, |done| done.max(0) as usize));
formatted!(__fprintf_chk, c"__vfprintf_chk", "fprintf", (stream: *mut FILE, flag: c_int, format: *const c_char), "24", ["rcx", "r8"],
    |function, frame, real| access(function, frame, stream, Io::Write, 0, real, |done| done.max(0) as usize));
formatted!(fscanf, c"vfscanf", "fscanf", (stream: *mut FILE, format: *const c_char), "16", ["rdx", "rcx"],
    |function, frame, real| scan(function, frame, stream, real));
formatted!(__isoc99_fscanf, c"__isoc99_vfscanf", "fscanf", (stream: *mut FILE, format: *const c_char), "16", ["rdx", "rcx"],
    |function, frame, real| scan(function, frame, stream, real));
formatted!(__isoc23_fscanf, c"__isoc23_vfscanf", "fscanf", (stream: *mut FILE, format: *const c_char), "16", ["rdx", "rcx"],
    |function, frame, real| scan(function, frame, stream, real));
