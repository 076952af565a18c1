//! The functions of the system that call a program's or a thread's first one.

/// What the system runs before the user's first function.
pub fn is_below_main(function: &str) -> bool {
    calls_main(function)
        || matches!(function, "_start" | "clone" | "__clone" | "clone3" | "__clone3" | "start_thread")
        || function.starts_with("libc.so.6+0x")
        || function.starts_with("libgomp.so")
}

/// The functions of the C library that lead to `main`, and to nothing else.
pub fn calls_main(function: &str) -> bool {
    matches!(
        function,
        "__libc_start_main" | "__libc_start_call_main" | "__libc_start_main_impl" | "__libc_start_main@@GLIBC_2.34"
    )
}
