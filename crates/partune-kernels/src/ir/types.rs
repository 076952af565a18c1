//! Types of LLVM's representation, as far as elements of memory have to be found: sizes and places of fields, as on machines with pointers of eight bytes.

use std::collections::BTreeMap;

use super::text::Words;

/// Types in types that are followed.
const DEPTH: u32 = 64;
/// Bytes of a pointer.
const POINTER: u64 = 8;
/// Nothing is aligned to more.
const MOST_ALIGNED: u64 = 16;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type<'a> {
    /// Of so many bits.
    Integer(u64),
    /// Of so many bytes.
    Float(u64),
    Pointer,
    Array(u64, Box<Type<'a>>),
    Vector(u64, Box<Type<'a>>),
    Struct(Vec<Type<'a>>, bool),
    Named(&'a str),
    /// Without elements: `void`, `label`, functions.
    Other,
}

/// The types that a module gives names to, and how large they are.
#[derive(Debug, Default)]
pub(super) struct Types<'a> {
    named: BTreeMap<&'a str, Type<'a>>,
    sizes: BTreeMap<&'a str, Size>,
}

/// Bytes, and what addresses are multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) bytes: u64,
    align: u64,
}

impl<'a> Types<'a> {
    /// Of lines such as `%struct.point = type { double, double }`.
    pub(super) fn new(text: &'a str) -> Types<'a> {
        let mut types = Types::default();
        for line in text.lines().filter(|line| line.starts_with('%')) {
            let Some((name, what)) = line.split_once(" = type ") else { continue };
            if let Some(of) = read(&mut Words::new(what), 0) {
                types.named.insert(name, of);
            }
        }
        // As often as names are made of names; one that is made of itself never has a size.
        for _ in 0..DEPTH {
            let known = types.sizes.len();
            let new: Vec<_> = types.named.iter().filter_map(|(name, of)| Some((*name, types.size(of)?))).collect();
            types.sizes.extend(new);
            if types.sizes.len() == known {
                break;
            }
        }
        types
    }

    /// How large it is; none where that is not known.
    pub(super) fn size(&self, of: &Type<'a>) -> Option<Size> {
        match of {
            Type::Integer(bits) => {
                let bytes = bits.div_ceil(8).max(1).checked_next_power_of_two()?;
                Some(Size { bytes, align: bytes.min(MOST_ALIGNED) })
            }
            Type::Float(bytes) => Some(Size { bytes: *bytes, align: (*bytes).min(MOST_ALIGNED) }),
            Type::Pointer => Some(Size { bytes: POINTER, align: POINTER }),
            Type::Array(count, of) | Type::Vector(count, of) => {
                let Size { bytes, align } = self.size(of)?;
                Some(Size { bytes: bytes.checked_mul(*count)?, align })
            }
            Type::Struct(fields, is_packed) => {
                let mut end = Size { bytes: 0, align: 1 };
                for field in fields {
                    end = self.after(end, field, *is_packed)?;
                }
                Some(Size { bytes: end.bytes.checked_next_multiple_of(end.align)?, align: end.align })
            }
            Type::Named(name) => self.sizes.get(name).copied(),
            Type::Other => None,
        }
    }

    /// Where a struct ends with one more field.
    fn after(&self, end: Size, field: &Type<'a>, is_packed: bool) -> Option<Size> {
        let Size { bytes, align } = self.size(field)?;
        let align = if is_packed { 1 } else { align.max(1) };
        let begin = end.bytes.checked_next_multiple_of(align)?;
        Some(Size { bytes: begin.checked_add(bytes)?, align: end.align.max(align) })
    }

    /// The type of an element, and how far it is from the begin: by its number, which must be constant for a field.
    pub(super) fn element<'t>(&'t self, of: &'t Type<'a>, number: Option<i64>) -> Option<(&'t Type<'a>, Step)> {
        match of {
            Type::Array(_, inner) | Type::Vector(_, inner) => Some((inner, Step::Each(self.size(inner)?.bytes))),
            Type::Struct(fields, is_packed) => {
                let number = usize::try_from(number?).ok()?;
                let field = fields.get(number)?;
                let mut end = Size { bytes: 0, align: 1 };
                for before in &fields[..number] {
                    end = self.after(end, before, *is_packed)?;
                }
                let align = if *is_packed { 1 } else { self.size(field)?.align.max(1) };
                Some((field, Step::At(end.bytes.checked_next_multiple_of(align)?)))
            }
            Type::Named(name) => match self.named.get(name)? {
                // A name for a name is written by nobody.
                Type::Named(_) => None,
                of => self.element(of, number),
            },
            Type::Integer(_) | Type::Float(_) | Type::Pointer | Type::Other => None,
        }
    }
}

/// How far an element is from the begin of what it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Its number times so many bytes.
    Each(u64),
    At(u64),
}

/// Takes a type from the begin of what is left; none if there is no type.
pub(super) fn read<'a>(words: &mut Words<'a>, depth: u32) -> Option<Type<'a>> {
    if depth > DEPTH {
        return None;
    }
    let mut of = match words.next()? {
        "[" => {
            let count = words.next()?.parse().ok()?;
            words.accept("x");
            let inner = read(words, depth + 1)?;
            words.accept("]").then_some(Type::Array(count, Box::new(inner)))?
        }
        "<" if words.peek() == Some("{") => {
            words.next();
            let fields = fields(words, depth)?;
            words.accept(">").then_some(Type::Struct(fields, true))?
        }
        "<" => {
            let count = words.next()?.parse().ok()?;
            words.accept("x");
            let inner = read(words, depth + 1)?;
            words.accept(">").then_some(Type::Vector(count, Box::new(inner)))?
        }
        "{" => Type::Struct(fields(words, depth)?, false),
        "half" | "bfloat" => Type::Float(2),
        "float" => Type::Float(4),
        "double" => Type::Float(8),
        "x86_fp80" | "fp128" | "ppc_fp128" => Type::Float(16),
        "ptr" => {
            if words.accept("addrspace") && words.accept("(") {
                words.next();
                words.accept(")");
            }
            Type::Pointer
        }
        name if name.starts_with('%') => Type::Named(name),
        "void" | "label" | "token" | "metadata" | "opaque" => Type::Other,
        word => Type::Integer(word.strip_prefix('i')?.parse().ok()?),
    };
    // Pointers as older versions write them.
    while words.accept("*") {
        of = Type::Pointer;
    }
    Some(of)
}

fn fields<'a>(words: &mut Words<'a>, depth: u32) -> Option<Vec<Type<'a>>> {
    let mut fields = Vec::new();
    while !words.accept("}") {
        fields.push(read(words, depth + 1)?);
        if !words.accept(",") && words.peek() != Some("}") {
            return None;
        }
    }
    Some(fields)
}
