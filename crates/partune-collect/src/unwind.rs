//! The frames of a thread, by the unwind tables of the modules that they are in.
//!
//! A path walks the stack only where it meets one for the first time: [`crate::paths`] remembers the result and proves by a few
//! loads that it still holds, so that runs once a call path. The walker is `framehop`: it allocates nothing, takes no lock and remembers the
//! rule of each address, so that it serves a signal's handler too. It reads the thread's stack and nothing else; what lies elsewhere (the stack of a
//! coroutine, an alternative stack) the system copies for it, which fails where there is nothing.

#[cfg(target_arch = "x86_64")]
use std::ffi::c_int;
use std::ffi::c_void;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use framehop::x86_64::Reg;
use framehop::{CacheNative, FrameAddress, MustNotAllocateDuringUnwind, UnwindRegsNative, Unwinder as _};

#[cfg(target_arch = "x86_64")]
use crate::exact::{Exact, Said};
use crate::frame::{self, Frame};
use crate::modules::{self, Modules, Whose};

/// A frame of the user's program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Step {
    /// Where it goes on: a return address.
    pub(crate) address: usize,
    /// Just above where that address is stored (the canonical frame address of what it called).
    pub(crate) below: usize,
    /// Its frame pointer register.
    pub(crate) base: usize,
    /// Where a word said what `below` is; 0 if registers did.
    pub(crate) told: usize,
}

/// What a function may use below its stack without saying so (x86-64 psABI, 3.2.2).
const RED_ZONE: usize = 128;
const WORD: usize = size_of::<usize>();

/// A thread's walker.
pub(crate) struct Walker {
    cache: CacheNative<MustNotAllocateDuringUnwind>,
    #[cfg(target_arch = "x86_64")]
    exact: Exact,
    stack: Stack,
}

/// What is read of a stack.
struct Stack {
    /// Where this thread's own lies, and from where on it is in use.
    bounds: Range<usize>,
    used: Range<usize>,
    /// A piece of another one, and where that begins.
    copy: Box<[usize; Stack::COPIED]>,
    copied: Range<usize>,
}

impl Walker {
    /// For the calling thread.
    pub(crate) fn new() -> Walker {
        let bounds = bounds().unwrap_or_default();
        let stack = Stack { bounds, used: 0..0, copy: Box::new([0; Stack::COPIED]), copied: 0..0 };
        Walker {
            cache: CacheNative::new_in(),
            #[cfg(target_arch = "x86_64")]
            exact: Exact::new(),
            stack,
        }
    }

    /// For the calling thread from now on, which may be another one.
    pub(crate) fn go_on(&mut self) {
        self.stack.bounds = bounds().unwrap_or_default();
    }

    /// The frames of the program from the caller of a wrapper outwards, at most `limit`.
    pub(crate) fn walk(&mut self, frame: Frame, limit: usize, steps: &mut Vec<Step>) {
        steps.clear();
        if frame.return_address == 0 || limit == 0 {
            return;
        }
        // The wrapper's frame: its caller's frame pointer, and the return address. The caller's stack follows.
        let below = frame.base + 2 * WORD;
        self.stack.from(below);
        // SAFETY: the wrapper's frame stands.
        let base = unsafe { *(frame.saved as *const usize) };
        let [address, stack, pointer] = [frame.return_address, below, base].map(|it| it as u64);
        let registers = UnwindRegsNative::new(address, stack, pointer);
        steps.push(Step { address: frame.return_address, below, base, told: 0 });
        let address = FrameAddress::from_return_address(frame.return_address as u64);
        self.outwards(modules::known(), address, registers, |step| {
            if steps.len() < limit {
                steps.push(step);
            }
            steps.len() < limit
        });
    }

    /// Whether a word lies on this thread's own stack.
    pub(crate) fn is_within(&self, place: usize) -> bool {
        self.stack.bounds.contains(&place)
    }

    /// The frames of the code that a signal has interrupted, innermost first, and whose each is, as long as whoever gets them wants more. For handlers
    /// of signals.
    pub(crate) fn walk_interrupted(&mut self, context: *const c_void, mut wants_more: impl FnMut(Step, Whose) -> bool) {
        let Some(modules) = Modules::last() else { return };
        // SAFETY: the context that the handler was given.
        let (address, registers) = unsafe { interrupted(context) };
        // What the processor's calling convention lets a function use below its stack is below what the system has stored.
        self.stack.from(registers.sp() as usize - RED_ZONE);
        let first = Step::at(address, &registers);
        if wants_more(first, modules.whose(address)) {
            let from = FrameAddress::from_instruction_pointer(address as u64);
            self.outwards(modules, Some(from), registers, |step| wants_more(step, modules.whose(step.address)));
        }
    }

    /// Goes from frame to frame as long as whoever gets them wants more.
    fn outwards(
        &mut self,
        modules: &Modules,
        from: Option<FrameAddress>,
        mut registers: UnwindRegsNative,
        mut wants_more: impl FnMut(Step) -> bool,
    ) {
        let mut address = from;
        while let Some(here) = address {
            let Some((next, step)) = self.outer(modules, here, &mut registers) else { break };
            if !wants_more(step) {
                break;
            }
            address = Some(next);
        }
    }

    /// Where the frame around one goes on, and its registers.
    fn outer(
        &mut self,
        modules: &Modules,
        here: FrameAddress,
        registers: &mut UnwindRegsNative,
    ) -> Option<(FrameAddress, Step)> {
        let Walker { cache, stack, .. } = self;
        #[cfg(target_arch = "x86_64")]
        let inner = *registers;
        let next = modules.table.unwind_frame(here, registers, cache, &mut |at| stack.read(at as usize));
        let next = next.ok().flatten();
        // A step over a usual frame is also what is taken where the table could not be followed.
        #[cfg(target_arch = "x86_64")]
        if next.is_none() || registers.sp() == inner.bp().wrapping_add(2 * WORD as u64) {
            match self.exact.outer(modules, here, &inner, |at| stack.read(at as usize)) {
                Said::Usual => {}
                Said::Lost => return None,
                Said::Found(outer) => {
                    *registers = outer.registers;
                    let step = Step { told: outer.told, ..Step::at(registers.ip() as usize, registers) };
                    return Some((outer.address, step));
                }
            }
        }
        let next = next?;
        Some((FrameAddress::from_return_address(next)?, Step::at(next as usize, registers)))
    }
}

impl Step {
    fn at(address: usize, registers: &UnwindRegsNative) -> Step {
        Step { address, below: registers.sp() as usize, base: frame_pointer(registers), told: 0 }
    }
}

impl Stack {
    /// Words that are copied at once.
    const COPIED: usize = 2048;

    /// A walk begins: what lies above this place is in use.
    fn from(&mut self, place: usize) {
        self.copied = 0..0;
        self.used = if self.bounds.contains(&place) { place..self.bounds.end } else { 0..0 };
    }

    fn read(&mut self, at: usize) -> Result<u64, ()> {
        if !at.is_multiple_of(WORD) {
            return Err(());
        }
        if self.used.contains(&at) {
            // SAFETY: a word of this thread's stack, which is mapped from where it is in use to its end.
            return Ok(unsafe { (at as *const usize).read_volatile() } as u64);
        }
        if !self.copied.contains(&at) {
            self.copy_from(at)?;
        }
        Ok(self.copy[(at - self.copied.start) / WORD] as u64)
    }

    /// Copies what lies from a place on; less, where not all is mapped.
    #[cold]
    fn copy_from(&mut self, at: usize) -> Result<(), ()> {
        let all = libc::iovec { iov_base: self.copy.as_mut_ptr().cast(), iov_len: Stack::COPIED * WORD };
        // SAFETY: a number, a place with as much room as is said, and an address that the system checks.
        let copied = unsafe {
            let page = 4096 - at % 4096;
            let pieces = [(at, page), (at + page, Stack::COPIED * WORD - page)]
                .map(|(at, length)| libc::iovec { iov_base: at as *mut _, iov_len: length });
            libc::process_vm_readv(libc::getpid(), &raw const all, 1, pieces.as_ptr(), 2, 0)
        };
        let copied = usize::try_from(copied).unwrap_or(0) / WORD * WORD;
        self.copied = at..at + copied;
        if copied == 0 { Err(()) } else { Ok(()) }
    }
}

#[cfg(target_arch = "x86_64")]
fn frame_pointer(registers: &UnwindRegsNative) -> usize {
    registers.bp() as usize
}

#[cfg(target_arch = "aarch64")]
fn frame_pointer(registers: &UnwindRegsNative) -> usize {
    registers.fp() as usize
}

/// Where a context stands, and its registers.
///
/// # Safety
/// It is that of a signal's handler.
#[cfg(target_arch = "x86_64")]
unsafe fn interrupted(context: *const c_void) -> (usize, UnwindRegsNative) {
    // SAFETY: as the caller said.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let of = |register: c_int| registers[register as usize].cast_unsigned();
    let address = of(libc::REG_RIP);
    let mut found = UnwindRegsNative::new(address, of(libc::REG_RSP), of(libc::REG_RBP));
    // By these a function that aligns its stack finds its caller's frame before it has one.
    found.set(Reg::R10, of(libc::REG_R10));
    found.set(Reg::R13, of(libc::REG_R13));
    (address as usize, found)
}

/// Where a context stands, and its registers.
///
/// # Safety
/// It is that of a signal's handler.
#[cfg(target_arch = "aarch64")]
unsafe fn interrupted(context: *const c_void) -> (usize, UnwindRegsNative) {
    // SAFETY: as the caller said.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    (machine.pc as usize, UnwindRegsNative::new(machine.regs[30], machine.sp, machine.regs[29]))
}

/// Begin and end of the calling thread's stack.
fn bounds() -> Option<Range<usize>> {
    // SAFETY: the attributes of this thread, which are given back.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut begin, mut size) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&raw const attributes, &raw mut begin, &raw mut size) == 0;
        libc::pthread_attr_destroy(&raw mut attributes);
        known.then(|| begin as usize..begin as usize + size)
    }
}

/// The first instruction of the function at a return address; 0 if unknown. Not for handlers of signals.
pub(crate) fn function(address: usize) -> usize {
    unsafe extern "C" {
        fn _Unwind_FindEnclosingFunction(address: usize) -> usize;
    }
    // SAFETY: it looks an address up.
    unsafe { _Unwind_FindEnclosingFunction(address.wrapping_sub(1)) }
}

/// Finds out, once, whether frames can be trusted.
#[inline(never)]
pub(crate) fn probe() {
    let marker = 0_usize;
    let near = &raw const marker as usize;
    let base = frame::base();
    // Otherwise the register holds something of the program's and must not be followed.
    let plausible = base > near.wrapping_sub(4096) && base < near.wrapping_add(65536) && base.is_multiple_of(8);
    let trusted = plausible && agrees(frame::read(base));
    frame::trust(trusted);
}

/// Whether [`Frame`]s are what the walker sees: the library was compiled with frame pointers.
#[inline(never)]
fn agrees(frame: Frame) -> bool {
    let (mut walker, mut left, mut found) = (Walker::new(), 8, false);
    let (address, registers) = here();
    walker.stack.from(registers.sp() as usize);
    walker.outwards(modules::known(), Some(FrameAddress::from_instruction_pointer(address)), registers, |step| {
        left -= 1;
        found = step.below == frame.base.wrapping_add(2 * WORD) && step.address == frame.return_address;
        left > 0 && !found
    });
    found
}

/// Where the function is that this is inlined into, and its registers.
#[allow(clippy::inline_always, reason = "it must not have a frame of its own")]
#[inline(always)]
#[cfg(target_arch = "x86_64")]
fn here() -> (u64, UnwindRegsNative) {
    let (address, stack, base): (u64, u64, u64);
    // SAFETY: it reads registers, and changes neither memory nor flags.
    unsafe {
        core::arch::asm!(
            "lea {address}, [rip]", "mov {stack}, rsp", "mov {base}, rbp",
            address = out(reg) address, stack = out(reg) stack, base = out(reg) base,
            options(nomem, nostack, preserves_flags),
        );
    }
    (address, UnwindRegsNative::new(address, stack, base))
}

#[allow(clippy::inline_always, reason = "it must not have a frame of its own")]
#[inline(always)]
#[cfg(target_arch = "aarch64")]
fn here() -> (u64, UnwindRegsNative) {
    let (address, link, stack, base): (u64, u64, u64, u64);
    // SAFETY: it reads registers, and changes neither memory nor flags.
    unsafe {
        core::arch::asm!(
            "adr {address}, .", "mov {link}, x30", "mov {stack}, sp", "mov {base}, x29",
            address = out(reg) address, link = out(reg) link, stack = out(reg) stack, base = out(reg) base,
            options(nomem, nostack, preserves_flags),
        );
    }
    (address, UnwindRegsNative::new(link, stack, base))
}
