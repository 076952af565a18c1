//! Frames of Python in call paths, read where CPython keeps them.
//!
//! A native frame of CPython's evaluation loop runs one or several functions of Python. What they are is in a chain that begins in the thread's state, in
//! memory that does not change while the thread is elsewhere, so neither a lock of Python's nor its consent is needed: mpi4py gives the lock up
//! before it calls MPI. Each loop has a mark of itself in its native frame, which is where the chain says it; so both kinds of frames are woven into each other by
//! their places on the stack. The interpreter's other frames are left out.
//!
//! Offsets are those of CPython 3.11 and 3.12, whose internal headers have them, and for 3.13 those that it states itself. Everything is read through
//! the system, which refuses what is not there: this serves the handler of samples too.

use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::sync::OnceLock;

use partune_parts::log::Line;

use crate::log::log;
use crate::modules;
use crate::paths::Word;
use crate::unwind::Step;

/// A function of Python at one of its instructions, as an address that no code has: a bit, the code object by 16 bytes, the instruction by 2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) code: usize,
    pub(crate) instruction: usize,
}

impl Running {
    const MARK: usize = 1 << 63;
    const INSTRUCTIONS: usize = 1 << 20;

    fn address(self) -> usize {
        Running::MARK | self.code >> 4 << 20 | self.instruction.min(Running::INSTRUCTIONS - 1)
    }

    /// None for an address of native code.
    pub(crate) fn at(address: usize) -> Option<Running> {
        let code = (address & !Running::MARK) >> 20 << 4;
        let running = Running { code, instruction: address & (Running::INSTRUCTIONS - 1) };
        (address & Running::MARK != 0).then_some(running)
    }
}

/// What a code object says of itself.
pub(crate) struct Code {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) first_line: u32,
    lines: Vec<u8>,
}

/// The Python of this process.
pub(crate) struct Python {
    /// The calling thread's state; null if it has none.
    state: unsafe extern "C" fn() -> *mut c_void,
    code_type: usize,
    layout: Layout,
    /// Where the interpreter's code is.
    interpreter: Range<usize>,
}

/// Where things are in its structures, in bytes.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// In a thread's state: the frame that runs, or what holds it and the next outer one of its kind.
    current: usize,
    loops: Option<Loops>,
    code: usize,
    previous: usize,
    instruction: usize,
    owner: usize,
    first_line: usize,
    /// Where instructions begin in a code object.
    instructions: usize,
    /// Where text begins in a string of ASCII, and in others.
    text: [usize; 2],
}

/// 3.11 and 3.12 have a structure for each loop.
#[derive(Clone, Copy, Debug)]
struct Loops {
    frame: usize,
    /// In 3.11 frames have no mark: the next outer loop, and where a frame says that it is the first of its own.
    chain: Option<[usize; 2]>,
}

const V3_11: Layout = Layout {
    current: 56,
    loops: Some(Loops { frame: 8, chain: Some([16, 68]) }),
    code: 32,
    previous: 48,
    instruction: 56,
    owner: 69,
    first_line: 72,
    instructions: 184,
    text: [48, 72],
};
const V3_12: Layout = Layout {
    current: 56,
    loops: Some(Loops { frame: 0, chain: None }),
    code: 0,
    previous: 8,
    instruction: 56,
    owner: 70,
    first_line: 68,
    instructions: 192,
    text: [40, 56],
};
/// In code objects of all three.
const FILE: usize = 112;
const NAME: usize = 128;
const LINES: usize = 136;
/// The owner of a frame that stands for a loop and runs nothing.
const BY_LOOP: u8 = 3;

/// Frames of one loop, innermost first, and where its mark lies in its native frame.
pub(crate) struct Loop {
    frames: [(usize, Running); Loop::FRAMES],
    count: usize,
    mark: usize,
}

impl Loop {
    /// At most; the outer ones of a longer chain are left out.
    const FRAMES: usize = 128;
    /// Frames of a chain that are looked at, since a handler may have met it half made.
    const CHAIN: usize = 512;

    /// Room for one, which a handler has no stack for.
    pub(crate) fn room() -> Box<Loop> {
        let none = Running { code: 0, instruction: 0 };
        Box::new(Loop { frames: [(0, none); Loop::FRAMES], count: 0, mark: 0 })
    }
}

/// The process's Python, if it was found. For handlers of signals.
pub(crate) fn last() -> Option<&'static Python> {
    KNOWN.get()?.as_ref()
}

static KNOWN: OnceLock<Option<Python>> = OnceLock::new();

/// The process's Python, if it has one that is known. Looked for once.
pub(crate) fn known() -> Option<&'static Python> {
    KNOWN.get_or_init(Python::find).as_ref()
}

impl Python {
    fn find() -> Option<Python> {
        let symbol = |name: &CStr| {
            // SAFETY: a C string.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize;
            (address != 0).then_some(address)
        };
        let version = symbol(c"Py_GetVersion")?;
        let state = symbol(c"PyGILState_GetThisThreadState")?;
        // SAFETY: the types of these functions in all versions.
        let (text, state) = unsafe {
            let text: unsafe extern "C" fn() -> *const c_char = std::mem::transmute(version);
            (CStr::from_ptr(text()), std::mem::transmute::<usize, unsafe extern "C" fn() -> *mut c_void>(state))
        };
        let minor = text.to_str().ok()?.split(' ').next()?.strip_prefix("3.")?;
        let layout = match minor.split(|it: char| !it.is_ascii_digit()).next()? {
            "11" => Some(V3_11),
            "12" => Some(V3_12),
            "13" => stated(symbol(c"_PyRuntime")?),
            _ => None,
        };
        if layout.is_none() {
            let text = format!("call paths have no functions of Python: how 3.{minor} keeps them is not known");
            log(&Line::Note { text: text.into() });
        }
        let layout = layout?;
        let ((begin, end, _), _) = modules::module_at(version)?;
        Some(Python { state, code_type: symbol(c"PyCode_Type")?, layout, interpreter: begin..end })
    }

    /// Weaves the calling thread's frames of Python into its native ones, innermost first; whether there are any. `word` is told each word that led there.
    pub(crate) fn weave(
        &self,
        native: &[Step],
        inner: &mut Loop,
        mut each: impl FnMut(Step),
        mut word: impl FnMut(Word),
    ) -> bool {
        // SAFETY: a function of Python that looks the calling thread up.
        let state = unsafe { (self.state)() } as usize;
        let Some(mut at) = (state != 0).then(|| self.begin(state, &mut word)).flatten() else { return false };
        let mut is_there = self.next(&mut at, inner, &mut word).is_some();
        if !is_there {
            return false;
        }
        for (level, step) in native.iter().enumerate() {
            let outer = native.get(level + 1).map_or(usize::MAX, |outer| outer.below);
            if is_there && (step.below..outer).contains(&inner.mark) {
                for (below, running) in &inner.frames[..inner.count] {
                    each(Step { address: running.address(), below: *below, base: 0, told: 0 });
                }
                is_there = self.next(&mut at, inner, &mut word).is_some();
            } else if !self.interpreter.contains(&step.address) {
                each(*step);
            }
        }
        true
    }

    /// Where the chain of a thread begins: its innermost frame, and its innermost loop in 3.11.
    fn begin(&self, state: usize, word: &mut impl FnMut(Word)) -> Option<[usize; 2]> {
        word((slot(state)?, state));
        let first = follow(state + self.layout.current, word)?;
        match self.layout.loops {
            Some(Loops { frame, chain }) => {
                Some([follow(first + frame, word)?, if chain.is_some() { first } else { 0 }])
            }
            None => Some([first, 0]),
        }
    }

    /// The next loop outwards.
    fn next(&self, at: &mut [usize; 2], found: &mut Loop, word: &mut impl FnMut(Word)) -> Option<()> {
        found.count = 0;
        let Layout { code, previous, instruction, owner, instructions, .. } = self.layout;
        let chain = self.layout.loops.and_then(|loops| loops.chain);
        let [frame, around] = at;
        for _ in 0..Loop::CHAIN {
            let here = *frame;
            let words: [usize; 9] = read(here)?;
            let bytes = |at: usize| words[at / 8].to_le_bytes()[at % 8];
            *frame = words[previous / 8];
            word((here + previous, *frame));
            if chain.is_none() && bytes(owner) == BY_LOOP {
                found.mark = here;
                return Some(());
            }
            let object = words[code / 8];
            word((here + code, object));
            word((here + instruction, words[instruction / 8]));
            let instruction = words[instruction / 8].wrapping_sub(object + instructions) / 2;
            if let Some(place) = found.frames.get_mut(found.count) {
                *place = (here, Running { code: object, instruction });
                found.count += 1;
            }
            if let Some([outer, is_first]) = chain
                && bytes(is_first) != 0
            {
                found.mark = *around;
                *around = follow(*around + outer, word)?;
                *frame = if *around == 0 { 0 } else { follow(*around + self.layout.loops?.frame, word)? };
                return Some(());
            }
        }
        None
    }

    /// What an object says, if it is code, and what tells it apart from another one at the same place.
    pub(crate) fn code(&self, object: usize) -> Option<([usize; 4], Code)> {
        let words: [usize; 18] = read(object)?;
        let [file, name, lines] = [FILE, NAME, LINES].map(|at| words[at / 8]);
        let first_line = (words[self.layout.first_line / 8] >> (self.layout.first_line % 8 * 8)) as u32;
        if words[1] != self.code_type {
            return None;
        }
        let [length, _] = read(lines + 16)?;
        let code =
            Code { name: self.text(name)?, file: self.text(file)?, first_line, lines: bytes(lines + 32, length)? };
        Some(([file, name, lines, first_line as usize], code))
    }

    fn text(&self, object: usize) -> Option<String> {
        const IS_ASCII: usize = 1 << 6;
        let [length, _, state] = read(object + 16)?;
        if state & IS_ASCII != 0 {
            return String::from_utf8(bytes(object + self.layout.text[0], length)?).ok();
        }
        let width = state >> 2 & 7;
        let units = bytes(object + self.layout.text[1], length * width)?;
        let unit = |unit: &[u8]| unit.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
        Some(units.chunks(width.max(1)).map(|it| char::from_u32(unit(it)).unwrap_or('?')).collect())
    }
}

impl Code {
    /// The line of an instruction; that of the function if the table has none. Python's `Objects/locations.md`.
    pub(crate) fn line(&self, instruction: usize) -> u32 {
        let mut bytes = self.lines.iter().copied();
        let (mut line, mut at) = (i64::from(self.first_line), 0);
        while let Some(head) = bytes.next() {
            let mut number = || {
                let (mut value, mut shift) = (0_u64, 0);
                for byte in bytes.by_ref() {
                    value |= u64::from(byte & 63).checked_shl(shift).unwrap_or(0);
                    shift += 6;
                    if byte & 64 == 0 {
                        break;
                    }
                }
                value
            };
            let signed = |value: u64| if value & 1 == 0 { (value >> 1) as i64 } else { -((value >> 1) as i64) };
            let mut has_line = true;
            match head >> 3 & 15 {
                15 => has_line = false,
                14 => {
                    line += signed(number());
                    let _ = (number(), number(), number());
                }
                13 => line += signed(number()),
                kind @ 10..=12 => {
                    line += i64::from(kind - 10);
                    let _ = (bytes.next(), bytes.next());
                }
                _ => {
                    let _ = bytes.next();
                }
            }
            at += usize::from(head & 7) + 1;
            if instruction < at {
                return if has_line { u32::try_from(line).unwrap_or(self.first_line) } else { self.first_line };
            }
        }
        self.first_line
    }
}

/// What 3.13 says of itself, at the begin of its runtime: `_Py_DebugOffsets`.
fn stated(runtime: usize) -> Option<Layout> {
    let words: [usize; 44] = read(runtime)?;
    let is_free_threaded = words[2] != 0;
    let [thread, frame, code] = [19, 28, 34];
    let layout = Layout {
        current: words[thread + 4],
        loops: None,
        previous: words[frame + 1],
        code: words[frame + 2],
        instruction: words[frame + 3],
        owner: words[frame + 5],
        first_line: words[code + 5],
        instructions: words[code + 9],
        text: [40, 56],
    };
    let is_as_known = [words[code + 1], words[code + 3], words[code + 4]] == [FILE, NAME, LINES];
    (!is_free_threaded && is_as_known && words[0].to_le_bytes() == *b"xdebugpy").then_some(layout)
}

/// Where the C library keeps the calling thread's state for Python: a word in the thread's own block, which is there as long as the thread.
fn slot(state: usize) -> Option<usize> {
    const BLOCK: usize = 1536;
    // SAFETY: a question without arguments.
    let block = unsafe { libc::pthread_self() } as usize;
    // SAFETY: the C library's block is longer.
    let words = unsafe { std::slice::from_raw_parts(block as *const usize, BLOCK / size_of::<usize>()) };
    let at = words.iter().position(|word| *word == state)?;
    Some(block + at * size_of::<usize>())
}

/// What a word points to.
fn follow(at: usize, word: &mut impl FnMut(Word)) -> Option<usize> {
    let [value] = read(at)?;
    word((at, value));
    Some(value)
}

/// Words at an address, if all are there.
fn read<const N: usize>(at: usize) -> Option<[usize; N]> {
    let mut words = [0; N];
    copy(at, words.as_mut_ptr().cast(), N * size_of::<usize>()).then_some(words)
}

fn bytes(at: usize, length: usize) -> Option<Vec<u8>> {
    /// More than any table of lines has.
    const MOST: usize = 1 << 22;
    let mut bytes = vec![0; Some(length).filter(|length| *length <= MOST)?];
    copy(at, bytes.as_mut_ptr(), length).then_some(bytes)
}

fn copy(at: usize, to: *mut u8, length: usize) -> bool {
    let [to, from] = [to as usize, at].map(|at| libc::iovec { iov_base: at as *mut c_void, iov_len: length });
    // SAFETY: room for so many bytes, and an address that the system checks.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &raw const to, 1, &raw const from, 1, 0) };
    length == 0 || usize::try_from(copied) == Ok(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_instructions() {
        // Two instructions one line down, one three up, one without a line, eight a hundred down, one on the same.
        let lines = vec![0xd9, 0, 5, 0xe8, 7, 0xf8, 0xf7, 0x48, 3, 0, 1, 1, 0x80, 0x12];
        let code = Code { name: String::new(), file: String::new(), first_line: 10, lines };
        let found = [0, 1, 2, 3, 4, 11, 12, 13].map(|instruction| code.line(instruction));
        assert_eq!(found, [11, 11, 8, 10, 108, 108, 108, 10]);
    }

    #[test]
    fn addresses_that_no_code_has() {
        let running = Running { code: 0x7fb7_fe81_0c60, instruction: 77 };
        let found = Running::at(running.address()).expect("it has the mark");
        assert_eq!((found.code, found.instruction), (running.code, running.instruction));
        assert!(Running::at(0x7fb7_fe81_0c60).is_none());
    }

    #[test]
    fn what_is_not_there_is_not_read() {
        let words = [3_usize, 4];
        assert_eq!(read::<2>(words.as_ptr() as usize), Some(words));
        assert_eq!(read::<1>(8), None);
        assert_eq!(bytes(8, usize::MAX), None);
    }
}
