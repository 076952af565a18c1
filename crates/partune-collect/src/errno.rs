//! `errno` as the program would see it.

/// Runs something that may change `errno`, which is afterwards what it was.
pub fn kept<T>(act: impl FnOnce() -> T) -> T {
    // SAFETY: the thread's own.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *place };
    let result = act();
    // SAFETY: as above.
    unsafe { *place = before };
    result
}
