//! Machine code of x86-64, decoded by iced-x86.

use std::sync::LazyLock;

use iced_x86::{
    Decoder, DecoderOptions, EncodingKind, FlowControl, Formatter as _, GasFormatter, Instruction as Decoded,
    InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register as Named,
};

use crate::class::Class;
use crate::instruction::{Flow, Fusible, Instruction, Memory, Register, Value};

/// Flags are one register to us.
const FLAGS: Register = 1 << 15;

/// Decodes code that lies at an address. Bytes that are no instruction become [`Class::Unknown`], one byte each. O(bytes).
pub fn decode(code: &[u8], address: u64) -> Vec<Instruction> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut information = InstructionInfoFactory::new();
    let mut all = Vec::new();
    let mut decoded = Decoded::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut decoded);
        all.push(instruction(&decoded, &mut information));
        if decoded.is_invalid() {
            // What follows begins one byte further.
            let next = decoded.ip().wrapping_sub(address).wrapping_add(1);
            if usize::try_from(next).map_or(true, |next| decoder.set_position(next).is_err()) {
                break;
            }
            decoder.set_ip(decoded.ip().wrapping_add(1));
        }
    }
    all
}

/// The instruction at an address of code that lies at another one, as an assembler writes it; empty where that code does not have it.
pub fn text(code: &[u8], address: u64, of: u64) -> String {
    let mut text = String::new();
    let from = of.checked_sub(address).and_then(|from| usize::try_from(from).ok());
    if let Some(rest) = from.and_then(|from| code.get(from..)).filter(|rest| !rest.is_empty()) {
        GasFormatter::new().format(&Decoder::with_ip(64, rest, of, DecoderOptions::NONE).decode(), &mut text);
    }
    text
}

/// The names of mnemonics, by their numbers.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| Mnemonic::values().map(|it| format!("{it:?}").to_lowercase()).collect());

fn instruction(decoded: &Decoded, information: &mut InstructionInfoFactory) -> Instruction {
    let mut made = Instruction {
        address: decoded.ip(),
        length: if decoded.is_invalid() { 1 } else { decoded.len() as u8 },
        class: Class::Unknown,
        name: "",
        bytes: 0,
        element: 0,
        lanes: 0,
        converts: None,
        mixes: false,
        reads: Vec::new(),
        writes: Vec::new(),
        addresses: Vec::new(),
        load: None,
        store: None,
        step: None,
        sets: None,
        shifts: None,
        constant: None,
        fuses: Fusible::Never,
        flow: flow(decoded),
    };
    if decoded.is_invalid() {
        return made;
    }
    let name = &NAMES[decoded.mnemonic() as usize];
    let is_vex = matches!(decoded.code().encoding(), EncodingKind::VEX | EncodingKind::EVEX);
    let stem = if is_vex { name.strip_prefix('v').unwrap_or(name) } else { name };
    let what = class(stem, decoded);
    made.class = what;
    made.name = named(stem);
    made.bytes = widest(decoded);
    (made.element, made.lanes) = elements(stem, what, made.bytes);
    if made.lanes == 1 && made.element > 0 && what != Class::Transfer {
        made.bytes = made.bytes.min(WORD);
    }
    let zeroes = zeroes(stem, decoded);
    if zeroes {
        made.class = Class::Nothing;
    }
    registers(decoded, information, zeroes, &mut made);
    made.step = step(decoded, stem);
    made.sets = sets(decoded, stem, zeroes);
    made.shifts = shifts(decoded, stem);
    made.constant = is_immediate(decoded.op1_kind()).then(|| decoded.immediate(1) as i64);
    made.converts = converts(stem);
    made.mixes = mixes(decoded, stem, made.load.is_some());
    made.fuses = match decoded.mnemonic() {
        Mnemonic::Cmp | Mnemonic::Test => Fusible::Comparison,
        Mnemonic::Add
        | Mnemonic::Sub
        | Mnemonic::Inc
        | Mnemonic::Dec
        | Mnemonic::And
        | Mnemonic::Or
        | Mnemonic::Xor => Fusible::Arithmetic,
        _ => Fusible::Never,
    };
    made
}

/// Bytes that an operand of one element may have at most to cost no more than the narrowest vector.
const WORD: u32 = 16;

fn flow(decoded: &Decoded) -> Flow {
    match decoded.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall | FlowControl::XbeginXabortXend => Flow::Next,
        FlowControl::UnconditionalBranch => Flow::Jump { to: decoded.near_branch_target(), is_conditional: false },
        FlowControl::ConditionalBranch => Flow::Jump { to: decoded.near_branch_target(), is_conditional: true },
        FlowControl::IndirectBranch | FlowControl::Return | FlowControl::Interrupt | FlowControl::Exception => {
            Flow::Away
        }
    }
}

/// The class of a mnemonic without the `v` of newer encodings.
fn class(stem: &str, decoded: &Decoded) -> Class {
    let is_vector = (0..decoded.op_count()).any(|at| decoded.op_register(at).is_vector_register());
    if matches!(decoded.flow_control(), FlowControl::Call | FlowControl::IndirectCall) {
        return Class::Call;
    }
    if decoded.flow_control() != FlowControl::Next {
        return Class::Branch;
    }
    if is_vector || stem.starts_with('k') && is_mask(decoded) { vector(stem, decoded) } else { integer(stem, decoded) }
}

fn is_mask(decoded: &Decoded) -> bool {
    (0..decoded.op_count()).any(|at| decoded.op_register(at).is_k())
}

fn integer(stem: &str, decoded: &Decoded) -> Class {
    match stem {
        "nop" | "endbr64" | "endbr32" | "prefetcht0" | "prefetcht1" | "prefetcht2" | "prefetchnta" | "prefetchw" => {
            Class::Nothing
        }
        // Copies are done where registers get their names; those from and to memory are loads and stores.
        "mov" | "movabs" | "push" | "pop" | "movnti" => {
            let constant =
                decoded.op_count() == 2 && is_immediate(decoded.op1_kind()) && decoded.op0_kind() == OpKind::Register;
            if constant { Class::IntAlu } else { Class::Nothing }
        }
        "shl" | "shr" | "sar" | "rol" | "ror" | "shlx" | "shrx" | "sarx" | "rorx" | "shld" | "shrd" | "rcl" | "rcr" => {
            Class::IntShift
        }
        "imul" | "mul" | "mulx" => Class::IntMul,
        "idiv" | "div" => Class::IntDiv,
        "add" | "sub" | "and" | "or" | "xor" | "cmp" | "test" | "inc" | "dec" | "neg" | "not" | "lea" | "adc"
        | "sbb" | "bt" | "bts" | "btr" | "cdqe" | "cdq" | "cqo" | "cwde" | "movzx" | "movsx" | "movsxd" | "andn"
        | "bswap" | "leave" | "blsr" | "blsi" | "blsmsk" | "bextr" | "bzhi" | "popcnt" | "lzcnt" | "tzcnt" | "bsf"
        | "bsr" | "xchg" => Class::IntAlu,
        _ if stem.starts_with("set") || stem.starts_with("cmov") => Class::IntAlu,
        "syscall" | "cpuid" | "rdtsc" | "rdtscp" | "mfence" | "lfence" | "sfence" | "xgetbv" => Class::Call,
        _ if decoded.has_rep_prefix() || decoded.has_repne_prefix() => Class::Call,
        _ => Class::Unknown,
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate8
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64
    )
}

fn vector(stem: &str, decoded: &Decoded) -> Class {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| stem.starts_with(prefix));
    let has_float_ending = ["pd", "ps", "sd", "ss"].iter().any(|ending| stem.ends_with(ending));
    let is_double = stem.ends_with('d');
    let touches_memory = (0..decoded.op_count()).any(|at| decoded.op_kind(at) == OpKind::Memory);
    let touches_integer = (0..decoded.op_count()).any(|at| decoded.op_register(at).is_gpr());
    match stem {
        "movd" | "movq" if touches_integer => Class::Transfer,
        "zeroupper" | "zeroall" => Class::Nothing,
        // They keep half of the register that they write.
        "movsd" | "movss" | "movlps" | "movhps" | "movlpd" | "movhpd" | "movhlps" | "movlhps" => {
            if touches_memory && begins(&["movs"]) { Class::Nothing } else { Class::Shuffle }
        }
        "movddup" | "movshdup" | "movsldup" => {
            if touches_memory {
                Class::Nothing
            } else {
                Class::Shuffle
            }
        }
        _ if begins(&["fmadd", "fmsub", "fnmadd", "fnmsub", "fmaddsub", "fmsubadd"]) => Class::FpFma,
        _ if begins(&["comis", "ucomis", "max", "min", "cmp"]) && (has_float_ending || begins(&["cmp"])) => {
            Class::FpCompare
        }
        _ if begins(&["cvt", "round", "rndscale"]) => Class::Convert,
        _ if begins(&["add", "sub"]) && has_float_ending => Class::FpAdd,
        _ if begins(&["mul"]) && has_float_ending => Class::FpMul,
        _ if begins(&["div"]) && has_float_ending => {
            if is_double {
                Class::FpDiv64
            } else {
                Class::FpDiv32
            }
        }
        _ if begins(&["sqrt"]) && has_float_ending => {
            if is_double {
                Class::FpSqrt64
            } else {
                Class::FpSqrt32
            }
        }
        _ if begins(&["broadcast", "pbroadcast"]) => {
            if touches_memory {
                Class::Nothing
            } else if touches_integer {
                Class::Transfer
            } else {
                Class::Cross
            }
        }
        _ if begins(&["movmsk", "pmovmsk", "pextr", "extractps", "pinsr"]) => Class::Transfer,
        _ if begins(&["mov", "lddqu"]) => Class::Nothing,
        _ if begins(&["and", "or", "xor", "pand", "por", "pxor", "ptern", "ptest", "blend", "pblend"]) => {
            Class::VectorLogic
        }
        _ if begins(&["padd", "psub", "pcmp", "pmax", "pmin", "pabs", "pavg", "psign"]) => Class::VectorAdd,
        _ if begins(&["pmul", "pmadd"]) => Class::VectorMul,
        _ if begins(&["psll", "psrl", "psra", "prol", "pror", "pshld", "pshrd"]) => {
            if stem.ends_with("dq") {
                Class::Shuffle
            } else {
                Class::VectorShift
            }
        }
        _ if begins(&[
            "perm", "insertf", "inserti", "extractf", "extracti", "pmovzx", "pmovsx", "compress", "expand", "align",
        ]) && !begins(&["permil"]) =>
        {
            Class::Cross
        }
        _ if begins(&["shuf", "unpck", "pshuf", "punpck", "palignr", "pack", "permil", "insertps"]) => Class::Shuffle,
        _ if stem.starts_with('k') => Class::Mask,
        _ => Class::Unknown,
    }
}

/// Bytes of the widest operand.
fn widest(decoded: &Decoded) -> u32 {
    let memory = (0..decoded.op_count()).any(|at| decoded.op_kind(at) == OpKind::Memory);
    let of_registers = (0..decoded.op_count()).map(|at| decoded.op_register(at)).filter(|it| !it.is_k());
    let widest = of_registers.map(|register| register.size() as u32).max().unwrap_or(0);
    if memory { widest.max(decoded.memory_size().size() as u32) } else { widest }
}

/// Bytes of an element, and how many there are.
fn elements(stem: &str, class: Class, bytes: u32) -> (u32, u32) {
    if let Some(element) = integers(stem, class) {
        return (element, 0);
    }
    let (element, is_packed) = match stem.get(stem.len().saturating_sub(2)..) {
        Some("pd") => (8, true),
        Some("ps") => (4, true),
        Some("sd") if stem != "pmovmskb" => (8, false),
        Some("ss") => (4, false),
        _ => (0, false),
    };
    match element {
        0 => (0, 0),
        // Parts of vectors, wherever they come from.
        _ if !class.is_floating() && !stem.starts_with("mov") && !stem.starts_with("broadcast") => (element, 0),
        _ if is_packed => (element, (bytes / element).max(1)),
        _ => (element, 1),
    }
}

/// Bytes of the integers that arithmetic on vectors begins with, and what widens them: the narrowest that its name has.
fn integers(stem: &str, class: Class) -> Option<u32> {
    let widens = ["pmovsx", "pmovzx", "punpck"].iter().any(|prefix| stem.starts_with(prefix));
    let named = match stem {
        "pmuldq" | "pmuludq" => 'd',
        "pmaddwd" => 'w',
        "pmaddubsw" => 'b',
        "punpcklqdq" | "punpckhqdq" => 'q',
        _ if widens => stem.chars().rev().nth(1)?,
        _ if matches!(class, Class::VectorAdd | Class::VectorMul) => stem.chars().next_back()?,
        _ => return None,
    };
    "bwdq".find(named).map(|power| 1 << power)
}

/// A name without the order of operands of a fused operation; with `pd` and the like only where nothing else tells them apart.
fn named(stem: &'static str) -> &'static str {
    let digits = ["fm", "fnm"].iter().any(|prefix| stem.starts_with(prefix)).then(|| stem.find(char::is_numeric));
    let end = digits.flatten().or_else(|| stem.starts_with("addsub").then_some("addsub".len()));
    &stem[..end.unwrap_or(stem.len())]
}

/// Bytes of the elements of vectors that are converted, and of what becomes of them. What `punpck` puts beside them is seldom another element of
/// the program, but their sign.
fn converts(stem: &str) -> Option<(u32, u32)> {
    let bytes = |of: &str| match of {
        "pd" | "sd" => Some(8),
        "ps" | "ss" | "dq" | "udq" => Some(4),
        _ => None,
    };
    if let Some((from, to)) = stem.strip_prefix("cvt").and_then(|rest| rest.trim_start_matches('t').split_once('2')) {
        return Some((bytes(from)?, bytes(to)?));
    }
    let power = |of: Option<char>| "bwdq".find(of?).map(|power| 1 << power);
    let mut last = stem.chars().rev();
    let (to, from) = (last.next(), last.next());
    match stem {
        "punpcklqdq" | "punpckhqdq" => None,
        _ if stem.starts_with("punpck") => Some((power(from)?, power(from)?)),
        _ if ["pmovsx", "pmovzx", "packss", "packus"].iter().any(|prefix| stem.starts_with(prefix)) => {
            Some((power(from)?, power(to)?))
        }
        _ => None,
    }
}

/// Whether it puts floating-point numbers to other places of a vector, or does different things to neighbours; not where it takes the end of one vector and the
/// begin of the next, which is a vector that begins later.
fn mixes(decoded: &Decoded, stem: &str, loads: bool) -> bool {
    const NAMES: [&str; 22] = [
        "unpck",
        "shufp",
        "blendp",
        "permp",
        "permilp",
        "permd",
        "perm2f",
        "permi2p",
        "permt2p",
        "insertf",
        "insertps",
        "punpcklqdq",
        "punpckhqdq",
        "movddup",
        "movshdup",
        "movsldup",
        "addsub",
        "fmaddsub",
        "fmsubadd",
        "hadd",
        "hsub",
        "movlhps",
    ];
    let is_half = matches!(stem, "movhpd" | "movhps" | "movlpd") && loads;
    let is_merge = matches!(stem, "movsd" | "movss")
        && decoded.op_count() == 2
        && (0..2).all(|at| decoded.op_kind(at) == OpKind::Register);
    let is_next = match stem {
        "shufpd" => matches!(decoded.immediate8(), 0b1 | 0b101 | 0b101_0101),
        "perm2f128" => decoded.immediate8() == 0x21,
        _ => false,
    };
    is_half || is_merge || !is_next && NAMES.iter().any(|prefix| stem.starts_with(prefix))
}

/// Whether the result is zero whatever is in the registers.
fn zeroes(stem: &str, decoded: &Decoded) -> bool {
    let same = |first: u32, second: u32| {
        let register = decoded.op_register(first);
        register != Named::None && register == decoded.op_register(second)
    };
    let is_one = matches!(stem, "xor" | "sub" | "pxor" | "pxord" | "pxorq" | "xorps" | "xorpd");
    is_one
        && match decoded.op_count() {
            2 => same(0, 1),
            3 => same(1, 2),
            _ => false,
        }
}

fn number(register: Named) -> Option<Register> {
    (register != Named::None && !register.is_ip()).then(|| register.full_register() as Register)
}

fn registers(decoded: &Decoded, information: &mut InstructionInfoFactory, zeroes: bool, made: &mut Instruction) {
    let used = information.info(decoded);
    let reads = |access: OpAccess| {
        matches!(access, OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
    };
    let writes = |access: OpAccess| {
        matches!(access, OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite)
    };
    for memory in used.used_memory() {
        let is_counted = memory.access() != OpAccess::NoMemAccess && memory.access() != OpAccess::None;
        let bytes = memory.memory_size().size() as u32;
        let offset = memory.displacement() as i64;
        let place = Memory {
            base: number(memory.base()),
            index: number(memory.index()),
            scale: memory.scale() as u8,
            offset,
            bytes: if bytes == 0 { made.bytes } else { bytes },
            is_scattered: memory.index().is_vector_register(),
        };
        made.addresses.extend([place.base, place.index].into_iter().flatten());
        if is_counted && reads(memory.access()) {
            made.load = Some(place);
        }
        if is_counted && writes(memory.access()) {
            made.store = Some(place);
        }
    }
    for register in used.used_registers() {
        let Some(number) = number(register.register()) else { continue };
        if reads(register.access()) && !zeroes && !is_only_address(decoded, register.register(), made) {
            made.reads.push(number);
        }
        if writes(register.access()) {
            made.writes.push(number);
        }
    }
    if decoded.rflags_read() != 0 {
        made.reads.push(FLAGS);
    }
    if decoded.rflags_modified() != 0 {
        made.writes.push(FLAGS);
    }
    for list in [&mut made.reads, &mut made.writes, &mut made.addresses] {
        list.sort_unstable();
        list.dedup();
    }
}

/// Whether a register that is read is read for an address alone.
fn is_only_address(decoded: &Decoded, register: Named, made: &Instruction) -> bool {
    let is_operand = |at: u32| {
        decoded.op_kind(at) == OpKind::Register && decoded.op_register(at).full_register() == register.full_register()
    };
    let has_memory = made.load.is_some() || made.store.is_some();
    let is_address = number(register).is_some_and(|number| made.addresses.contains(&number));
    has_memory && is_address && !(0..decoded.op_count()).any(is_operand)
}

/// What an instruction adds to one register: `add`, `sub`, `inc`, `dec`, `lea` from itself.
fn step(decoded: &Decoded, stem: &str) -> Option<(Register, i64)> {
    let register = decoded.op_register(0);
    if decoded.op_kind(0) != OpKind::Register || !register.is_gpr() {
        return None;
    }
    let constant = || is_immediate(decoded.op1_kind()).then(|| decoded.immediate(1) as i64);
    let by = match stem {
        "add" => constant()?,
        "sub" => constant()?.checked_neg()?,
        "inc" => 1,
        "dec" => -1,
        "lea"
            if decoded.memory_index() == Named::None
                && decoded.memory_base().full_register() == register.full_register() =>
        {
            decoded.memory_displacement64() as i64
        }
        _ => return None,
    };
    // Of 32 bits: the constant is of 32 bits, too.
    let by = if register.size() == 4 { i64::from(by as i32) } else { by };
    Some((number(register)?, by))
}

/// By how much an instruction shifts one register: `shl`, and `shr` and `sar`, which are the same to what is not negative.
fn shifts(decoded: &Decoded, stem: &str) -> Option<(Register, i8)> {
    let register = decoded.op_register(0);
    if decoded.op_kind(0) != OpKind::Register || !register.is_gpr() || !is_immediate(decoded.op1_kind()) {
        return None;
    }
    let by = (decoded.immediate(1) & 63) as i8;
    match stem {
        "shl" | "sal" => Some((number(register)?, by)),
        "shr" | "sar" => Some((number(register)?, -by)),
        _ => None,
    }
}

/// What an instruction sets a register of 64 bits to: `lea` without an index, `mov` of a constant or a register, what zeroes.
fn sets(decoded: &Decoded, stem: &str, zeroes: bool) -> Option<(Register, Value)> {
    let register = decoded.op_register(0);
    if decoded.op_kind(0) != OpKind::Register || !register.is_gpr() || register.size() < 4 {
        return None;
    }
    let of = |of: Option<Register>, offset: i64| Some((number(register)?, Value { of, offset }));
    match stem {
        _ if zeroes => of(None, 0),
        "mov" | "movabs" if is_immediate(decoded.op1_kind()) => of(None, decoded.immediate(1) as i64),
        "mov" if decoded.op1_kind() == OpKind::Register && register.is_gpr64() => of(number(decoded.op_register(1)), 0),
        "lea" if decoded.is_ip_rel_memory_operand() => of(None, decoded.ip_rel_memory_address() as i64),
        "lea" if decoded.memory_index() == Named::None && register.is_gpr64() => {
            of(number(decoded.memory_base()), decoded.memory_displacement64() as i64)
        }
        _ => None,
    }
}
