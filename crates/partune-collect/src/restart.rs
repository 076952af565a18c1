//! Calls of the system that the sampler's signal has interrupted before they waited begin again, so that the program never sees it.
//!
//! Most calls begin again by themselves (`SA_RESTART`); those that wait for a time do not: `nanosleep`, `poll`, `select`, `epoll_wait` and waits of threads until a time return
//! `EINTR` (signal(7)). A timer on a CPU clock does not tick while its thread waits; it can while the kernel is on the way to wait, and that
//! is enough. The kernel has forgotten then which call it was, but the code just before says so.
//!
//! A signal that the program itself awaits is delivered first, since its number is lower: then the sampler's handler finds the program in the
//! handler of that one, and changes nothing.

use std::ffi::c_void;

/// Calls that wait for a time: their numbers on x86-64.
#[cfg(target_arch = "x86_64")]
const WAITS: [libc::c_long; 10] = [
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_poll,
    libc::SYS_ppoll,
    libc::SYS_select,
    libc::SYS_pselect6,
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_futex,
];

/// If the context is that of such a call, interrupted: makes it begin again when the handler returns.
///
/// # Safety
/// The context is that of a signal's handler, which runs in it.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn wait(context: *mut c_void) {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    // SAFETY: as the caller said.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let [result, next] = [libc::REG_RAX, libc::REG_RIP].map(|register| register as usize);
    if registers[result] != -i64::from(libc::EINTR) {
        return;
    }
    let at = registers[next].cast_unsigned() as usize;
    // SAFETY: the thread has just left the kernel here: before this address is the call's instruction, and the function's others. A function of so few
    // bytes that they would lie on another page cannot set a number and call.
    let code = unsafe { (at.wrapping_sub(LOOKED_AT) as *const [u8; LOOKED_AT]).read_unaligned() };
    // Threads wait for each other until a time. Other calls of that name begin again by themselves, or would wait for longer.
    let operation = registers[libc::REG_RSI as usize] as i32 & libc::FUTEX_CMD_MASK;
    let is_whole = |number: &libc::c_long| *number != libc::SYS_futex || operation == libc::FUTEX_WAIT_BITSET;
    if let Some(number) = number(&code).filter(|_| code.ends_with(&SYSCALL)).filter(is_whole) {
        registers[result] = number;
        registers[next] -= SYSCALL.len() as i64;
    }
}

/// Bytes of code before the end of the call: setting the number, at most one move to another register, and the call.
#[cfg(target_arch = "x86_64")]
const LOOKED_AT: usize = 5 + 4 + 2;

/// The number that the code sets for its call, if that is one of [`WAITS`].
#[cfg(target_arch = "x86_64")]
fn number(code: &[u8; LOOKED_AT]) -> Option<libc::c_long> {
    const SET: u8 = 0xb8;
    let set = |at: usize| {
        let [op, number @ ..] = code.get(at..at + 5)?.try_into().ok().map(|it: [u8; 5]| it)?;
        (op == SET).then(|| i64::from(u32::from_le_bytes(number)))
    };
    // `mov` from the stack to a register of 32 bits.
    let is_move = matches!(code[5..9], [0x8b, register, 0x24, _] if register & 0xc7 == 0x44);
    // `xor` of the second argument's lowest byte: whether memory is shared.
    let is_flag = matches!(code[5..9], [0x40, 0x80, 0xf6, _]);
    let number = set(4).or_else(|| set(0).filter(|_| is_move || is_flag))?;
    WAITS.contains(&number).then_some(number)
}

/// Other processors: what the call was given is not kept anywhere, so it returns `EINTR`.
///
/// # Safety
/// None is needed.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn wait(_: *mut c_void) {}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::number;

    #[test]
    fn the_number_is_that_before_the_call() {
        // mov eax, 7; syscall, behind something else.
        let poll = [0x24, 0x08, 0x74, 0x14, 0xb8, 7, 0, 0, 0, 0x0f, 0x05];
        assert_eq!(number(&poll), Some(libc::SYS_poll));
        // mov eax, 0x119; mov edi, [rsp + 4]; syscall.
        let epoll = [0xb8, 0x19, 0x01, 0, 0, 0x8b, 0x7c, 0x24, 0x04, 0x0f, 0x05];
        assert_eq!(number(&epoll), Some(libc::SYS_epoll_pwait));
        // mov eax, 0xca; xor sil, 0x80; syscall.
        let futex = [0xb8, 0xca, 0, 0, 0, 0x40, 0x80, 0xf6, 0x80, 0x0f, 0x05];
        assert_eq!(number(&futex), Some(libc::SYS_futex));
        // read, which begins again by itself, and something that is no move.
        let read = [0x24, 0x08, 0x74, 0x14, 0xb8, 0, 0, 0, 0, 0x0f, 0x05];
        assert_eq!(number(&read), None);
        assert_eq!(number(&[0xb8, 0x19, 0x01, 0, 0, 0x89, 0xc7, 0x90, 0x90, 0x0f, 0x05]), None);
    }
}
