//! Frames that begin where a word of the stack says it, which `framehop` does not read.
//!
//! A function that aligns its stack anew (`-mavx` with a vector on the stack, `force_align_arg_pointer`) has an unknown distance to its caller's
//! frame. GCC copies the return address to where one would be in a usual frame and keeps the place of the real one in a word, which the unwind
//! table says by an expression: `*(rbp - 16)`. `framehop` then takes the frame for a usual one: it comes to the right caller, whose
//! stack pointer is wrong, so all frames from there on are made of what lies on the stack. The kernel's frames of signals are said like this, too.
//!
//! So where a step looks like one over a usual frame, the table is asked whether it is. That it is, is remembered; what an expression says is
//! found each time. Neither takes memory or a lock, as the walker.

use framehop::FrameAddress;
use framehop::x86_64::{Reg, UnwindRegsX86_64};
use gimli::{
    CfaRule, EhFrame, Encoding, Evaluation, EvaluationResult, EvaluationStorage, Expression, LittleEndian, Location,
    Register, RegisterRule, UnwindContext, UnwindContextStorage, UnwindExpression, UnwindSection as _, UnwindTableRow,
    Value, X86_64,
};

use crate::modules::{Frames, Modules};

const WORD: u64 = size_of::<usize>() as u64;
/// As many addresses are remembered; a prime number, since those of calls are often multiples of something.
const KNOWN: usize = 509;

type Bytes = gimli::EndianSlice<'static, LittleEndian>;

/// Where rows and values are: no heap. x86-64 has 17 registers with rules.
struct InPlace;

impl UnwindContextStorage<usize> for InPlace {
    type Rules = [(Register, RegisterRule<usize>); 32];
    type Stack = [UnwindTableRow<usize, Self>; 4];
}

impl EvaluationStorage<Bytes> for InPlace {
    type Stack = [Value; 16];
    type ExpressionStack = [(Bytes, Bytes); 1];
    type Result = [gimli::Piece<Bytes>; 1];
}

/// What a table says of a frame.
pub(crate) enum Said {
    /// What `framehop` understands.
    Usual,
    /// What cannot be found.
    Lost,
    Found(Outer),
}

/// The frame around one.
pub(crate) struct Outer {
    pub(crate) address: FrameAddress,
    pub(crate) registers: UnwindRegsX86_64,
    /// The last word of the stack that said where the frame begins; 0 if registers alone did.
    pub(crate) told: usize,
}

/// What a thread knows of tables.
pub(crate) struct Exact {
    context: Box<UnwindContext<usize, InPlace>>,
    /// Addresses in functions with other rules than expressions, each at its remainder, as long as these are the modules.
    usual: Box<[u64; KNOWN]>,
    of: *const Modules,
}

impl Exact {
    pub(crate) fn new() -> Exact {
        Exact { context: Box::new(UnwindContext::new_in()), usual: Box::new([0; KNOWN]), of: std::ptr::null() }
    }

    /// What is said of the frame at `here`.
    pub(crate) fn outer(
        &mut self,
        modules: &Modules,
        here: FrameAddress,
        registers: &UnwindRegsX86_64,
        mut read: impl FnMut(u64) -> Result<u64, ()>,
    ) -> Said {
        let address = here.address_for_lookup();
        if !std::ptr::eq(self.of, modules) {
            self.of = modules;
            self.usual.fill(0);
        }
        let known = &mut self.usual[address as usize % KNOWN];
        if *known == address {
            return Said::Usual;
        }
        let rules = modules.frames_at(address as usize).and_then(|of| Rules::at(of, address, &mut self.context));
        let Some(rules) = rules.filter(Rules::is_unusual) else {
            *known = address;
            return Said::Usual;
        };
        rules.outer(registers, !here.is_return_address(), &mut read).map_or(Said::Lost, Said::Found)
    }
}

/// A row of a table.
struct Rules<'a> {
    section: EhFrame<Bytes>,
    row: &'a UnwindTableRow<usize, InPlace>,
    encoding: Encoding,
    is_of_signal: bool,
}

impl<'a> Rules<'a> {
    fn at(of: Frames, address: u64, context: &'a mut UnwindContext<usize, InPlace>) -> Option<Rules<'a>> {
        let bases =
            gimli::BaseAddresses::default().set_eh_frame_hdr(of.index.0 as u64).set_eh_frame(of.frames.0 as u64);
        let index = gimli::EhFrameHdr::new(of.index.1, LittleEndian).parse(&bases, WORD as u8).ok()?;
        let mut section = EhFrame::new(of.frames.1, LittleEndian);
        section.set_address_size(WORD as u8);
        let frame = index.table()?.fde_for_address(&section, &bases, address, EhFrame::cie_from_offset).ok()?;
        let (encoding, is_of_signal) = (frame.cie().encoding(), frame.is_signal_trampoline());
        let row = frame.unwind_info_for_address(&section, &bases, context, address).ok()?;
        Some(Rules { section, row, encoding, is_of_signal })
    }

    /// Whether more than the stack's and the frame's pointer have to be known: a word of the stack, or a register of the first few instructions.
    fn is_unusual(&self) -> bool {
        match self.row.cfa() {
            CfaRule::Expression(_) => true,
            CfaRule::RegisterAndOffset { register, .. } => ![X86_64::RSP, X86_64::RBP].contains(register),
        }
    }

    fn outer(
        &self,
        registers: &UnwindRegsX86_64,
        is_first: bool,
        read: &mut impl FnMut(u64) -> Result<u64, ()>,
    ) -> Option<Outer> {
        let mut inner = Inner { rules: self, registers, is_first, told: 0, read };
        let frame = match self.row.cfa() {
            CfaRule::Expression(expression) => inner.value(expression, None)?,
            CfaRule::RegisterAndOffset { register, offset } => inner.register(*register)?.wrapping_add_signed(*offset),
        };
        let told = inner.told as usize;
        // Frames lie one above the other, but for the one that has been interrupted.
        if frame <= registers.sp() && !is_first {
            return None;
        }
        let base = inner.saved(X86_64::RBP, frame)?;
        let address = inner.saved(X86_64::RA, frame)?;
        let registers = UnwindRegsX86_64::new(address, frame, base);
        let address = if self.is_of_signal {
            FrameAddress::from_instruction_pointer(address)
        } else {
            FrameAddress::from_return_address(address)?
        };
        Some(Outer { address, registers, told })
    }
}

/// The frame that a row is evaluated in.
struct Inner<'a, R> {
    rules: &'a Rules<'a>,
    registers: &'a UnwindRegsX86_64,
    is_first: bool,
    told: u64,
    read: &'a mut R,
}

impl<R: FnMut(u64) -> Result<u64, ()>> Inner<'_, R> {
    /// What a register holds. Those that a function uses before it has a frame are known where the walk begins only.
    fn register(&self, register: Register) -> Option<u64> {
        match register {
            X86_64::RA => Some(self.registers.ip()),
            X86_64::RSP => Some(self.registers.sp()),
            X86_64::RBP => Some(self.registers.bp()),
            X86_64::R10 if self.is_first => Some(self.registers.get(Reg::R10)),
            X86_64::R13 if self.is_first => Some(self.registers.get(Reg::R13)),
            _ => None,
        }
    }

    /// What a register holds in the frame around this one, which begins at `frame`.
    fn saved(&mut self, register: Register, frame: u64) -> Option<u64> {
        let place = match self.rules.row.register(register) {
            None | Some(RegisterRule::SameValue) => return self.register(register),
            Some(RegisterRule::Register(other)) => return self.register(other),
            Some(RegisterRule::ValOffset(offset)) => return Some(frame.wrapping_add_signed(offset)),
            Some(RegisterRule::ValExpression(expression)) => return self.value(&expression, Some(frame)),
            Some(RegisterRule::Offset(offset)) => frame.wrapping_add_signed(offset),
            Some(RegisterRule::Expression(expression)) => self.value(&expression, Some(frame))?,
            Some(_) => return None,
        };
        (self.read)(place).ok()
    }

    /// What an expression says, which begins with a value on its stack or none.
    fn value(&mut self, expression: &UnwindExpression<usize>, first: Option<u64>) -> Option<u64> {
        let Expression(operations) = expression.get(&self.rules.section).ok()?;
        let mut evaluation = Evaluation::<Bytes, InPlace>::new_in(operations, self.rules.encoding);
        if let Some(value) = first {
            evaluation.set_initial_value(value);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(self.register(register)?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size: 8, space: None, .. } => {
                    self.told = address;
                    evaluation.resume_with_memory(Value::Generic((self.read)(address).ok()?)).ok()?
                }
                _ => return None,
            };
        }
        match evaluation.as_result() {
            [piece] => match piece.location {
                Location::Address { address } => Some(address),
                _ => None,
            },
            _ => None,
        }
    }
}
