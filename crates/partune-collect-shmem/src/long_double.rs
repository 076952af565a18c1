//! The functions that take or return a `long double`, for which Rust has no type: in assembler, around the same steps as all others.
//!
//! On x86-64 alone, where the value lies in memory above the return address, or on top of the floating-point stack, which nothing
//! here touches otherwise. Elsewhere these calls go to the library unseen.
#![cfg(target_arch = "x86_64")]

use std::ffi::c_int;
use std::mem::MaybeUninit;

use partune_collect::{Call, LeftOut, frame, next};

use crate::function::Function;
use crate::rma::{self, Access};
use crate::teams;

/// What is known of a call while the library's function runs, in the wrapper's frame: at most 64 bytes.
enum UnderWay {
    Recorded(Call<'static>, Access),
    LeftOut(LeftOut),
    Nothing,
}

const _: () = assert!(size_of::<UnderWay>() <= 64);

/// A wrapper: its name, the step before, the context (0 for none), the address and the PE, the steps after.
macro_rules! wrapper {
    ($name:ident $family:literal $static:ident, $act:ident, $context:literal $address:literal $pe:literal, $keep:literal $give_back:literal) => {
        static $static: Function = Function::of_family(next::named(concat!(stringify!($name), "\0")), $family);

        /// # Safety
        /// As that of the library.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[allow(unreachable_pub, reason = "the program calls it")]
        pub unsafe extern "C" fn $name() {
            /// The wrapper has the address and the PE.
            unsafe extern "C" fn begin(
                under_way: *mut MaybeUninit<UnderWay>,
                base: usize,
                address: usize,
                pe: c_int,
                context: usize,
            ) -> usize {
                let real = $static.real();
                let frame = frame::at(base);
                let begun = match $static.enter(frame) {
                    Some(mut call) => {
                        let access = rma::$act(&mut call, address, 16, teams::pe(context, pe));
                        UnderWay::Recorded(call, access)
                    }
                    None => $static.left_out(frame).map_or(UnderWay::Nothing, UnderWay::LeftOut),
                };
                // SAFETY: the wrapper's place.
                unsafe { (*under_way).write(begun) };
                real
            }
            core::arch::naked_asm!(
                "push rbp",
                "mov rbp, rsp",
                "sub rsp, 128",
                "mov [rbp - 8], rdi",
                "mov [rbp - 16], rsi",
                "mov [rbp - 24], rdx",
                concat!("mov r8, ", $context),
                concat!("mov rcx, ", $pe),
                concat!("mov rdx, ", $address),
                "lea rdi, [rbp - 96]",
                "mov rsi, rbp",
                "call {begin}",
                // The value, if there is one, where the library's function looks for it.
                "movups xmm0, [rbp + 16]",
                "movups [rsp], xmm0",
                "mov rdi, [rbp - 8]",
                "mov rsi, [rbp - 16]",
                "mov rdx, [rbp - 24]",
                "call rax",
                $keep,
                "lea rdi, [rbp - 96]",
                "call {end}",
                $give_back,
                "leave",
                "ret",
                begin = sym begin,
                end = sym end,
            )
        }
    };
}

wrapper!(shmem_longdouble_p "shmem_p" P, put, "0" "[rbp - 8]" "[rbp - 16]", "" "");
wrapper!(shmem_ctx_longdouble_p "shmem_p" CTX_P, put, "[rbp - 8]" "[rbp - 16]" "[rbp - 24]", "" "");
wrapper!(shmem_longdouble_g "shmem_g" G, get, "0" "[rbp - 8]" "[rbp - 16]", "fstp tbyte ptr [rsp]" "fld tbyte ptr [rsp]");
wrapper!(shmem_ctx_longdouble_g "shmem_g" CTX_G, get, "[rbp - 8]" "[rbp - 16]" "[rbp - 24]", "fstp tbyte ptr [rsp]" "fld tbyte ptr [rsp]");

unsafe extern "C" fn end(under_way: *mut MaybeUninit<UnderWay>) {
    // SAFETY: written by the wrapper's first step.
    match unsafe { (*under_way).assume_init_read() } {
        UnderWay::Recorded(mut call, access) => {
            call.returned();
            access.complete(&mut call);
            call.leave();
        }
        UnderWay::LeftOut(left_out) => left_out.end(),
        UnderWay::Nothing => {}
    }
}
