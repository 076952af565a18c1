//! Stubs by which a module calls functions of others (`.plt`, `.plt.sec`, `.plt.got`). They have no symbols; each is named after what it calls, as
//! debuggers do: `fmax@plt`.
//!
//! A stub jumps to what a word holds (its slot in the global offset table), and the loader writes there what a relocation names.

use object::{Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget};
use rustc_hash::FxHashMap;

use crate::names::demangle;
use crate::symbols::{Symbols, without_version};

/// Begins of stubs, in order, and the linkers' names of what they call.
#[derive(Default)]
pub(crate) struct Stubs<'a> {
    rows: Vec<(u64, &'a str)>,
}

/// Where the slot of a stub is, by the code from its begin on and its address; none if there is no stub.
type Slot = fn(&[u8], u64) -> Option<u64>;

/// The longest stub, but for what pads it.
const LONGEST: u64 = 16;

impl<'a> Stubs<'a> {
    /// Of a module; `symbols` name its own functions. Cost: a pass over its relocations, and over the sections of stubs.
    pub(crate) fn of(file: &object::File<'a>, symbols: &Symbols<'a>) -> Stubs<'a> {
        let (slot, step): (Slot, u64) = match file.architecture() {
            Architecture::X86_64 => (x86_64, 8),
            Architecture::Aarch64 => (aarch64, 4),
            _ => return Stubs::default(),
        };
        let names = slots(file, symbols);
        let mut rows = Vec::new();
        for section in file.sections() {
            let is_stubs = section.name().is_ok_and(|name| name == ".plt" || name.starts_with(".plt."));
            let Some(code) = section.data().ok().filter(|_| is_stubs) else { continue };
            for (at, start) in (0..code.len()).step_by(step as usize).zip((section.address()..).step_by(step as usize))
            {
                rows.extend(slot(&code[at..], start).and_then(|slot| Some((start, *names.get(&slot)?))));
            }
        }
        rows.sort_unstable();
        Stubs { rows }
    }

    /// What to call the stub at an address. Cost: a binary search.
    pub(crate) fn find(&self, address: u64) -> Option<String> {
        let (start, name) = self.rows[..self.rows.partition_point(|(start, _)| *start <= address)].last()?;
        (address - start < LONGEST).then(|| format!("{}@plt", demangle(without_version(name))))
    }
}

/// What the loader writes into which words, as far as it is functions with names.
fn slots<'a>(file: &object::File<'a>, symbols: &Symbols<'a>) -> FxHashMap<u64, &'a str> {
    let table = file.dynamic_symbol_table();
    let relocations = file.dynamic_relocations().into_iter().flatten();
    let named = relocations.filter_map(|(slot, relocation)| {
        let name = match relocation.target() {
            RelocationTarget::Symbol(index) => table.as_ref()?.symbol_by_index(index).ok()?.name().ok()?,
            // A function of the module itself, or one that chooses such a function.
            _ => symbols.find(relocation.addend().cast_unsigned())?.name,
        };
        (!name.is_empty()).then_some((slot, name))
    });
    named.collect()
}

/// The slot of a stub that stands here: `jmp *slot(%rip)`, maybe after `endbr64` and with the prefix `bnd`.
fn x86_64(code: &[u8], address: u64) -> Option<u64> {
    let rest = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    let rest = rest.strip_prefix(&[0xf2]).unwrap_or(rest);
    let (distance, after) = rest.strip_prefix(&[0xff, 0x25])?.split_first_chunk::<4>()?;
    let next = address.wrapping_add((code.len() - after.len()) as u64);
    Some(next.wrapping_add_signed(i64::from(i32::from_le_bytes(*distance))))
}

/// The slot of a stub that stands here: `adrp x16, page`, `ldr x17, [x16, #offset]`.
fn aarch64(code: &[u8], address: u64) -> Option<u64> {
    let (first, rest) = code.split_first_chunk::<4>()?;
    let (page, load) = (u32::from_le_bytes(*first), u32::from_le_bytes(*rest.first_chunk::<4>()?));
    if page & 0x9f00_001f != 0x9000_0010 || load & 0xffc0_03ff != 0xf940_0211 {
        return None;
    }
    // 21 bits with a sign, of pages: the upper ones from the fifth bit on, the lower two near the top.
    let pages = (page >> 3 & 0x001f_fffc | page >> 29 & 3) << 11;
    let pages = i64::from(pages.cast_signed() >> 11) << 12;
    let offset = u64::from(load >> 10 & 0xfff) * 8;
    Some((address & !0xfff).wrapping_add_signed(pages).wrapping_add(offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_of_x86_64_name_their_slots() {
        // As `objdump -d` shows them: plain, after `endbr64`, and with `bnd` too.
        for (code, address, slot) in [
            (&[0xff, 0x25, 0xe2, 0x2f, 0x00, 0x00, 0x68, 0, 0, 0, 0][..], 0x1030, 0x4018),
            (&[0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x76, 0x2f, 0, 0][..], 0x1050, 0x3fd0),
            (&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0x75, 0x2f, 0, 0][..], 0x1050, 0x3fd0),
            (&[0xff, 0x25, 0xf8, 0xff, 0xff, 0xff][..], 0x1000, 0xffe),
        ] {
            assert_eq!(x86_64(code, address), Some(slot), "{address:x}");
        }
        // The first stub, which calls the loader, begins otherwise; and half of one is none.
        assert_eq!(x86_64(&[0xff, 0x35, 0xe2, 0x2f, 0, 0, 0xff, 0x25, 0xe4, 0x2f, 0, 0], 0x1020), None);
        assert_eq!(x86_64(&[0xff, 0x25, 0xe2], 0x1030), None);
    }

    #[test]
    fn stubs_of_aarch64_name_their_slots() {
        let code = |words: [u32; 2]| words.map(u32::to_le_bytes).concat();
        // adrp x16, 410000; ldr x17, [x16, #4088]
        assert_eq!(aarch64(&code([0x9000_0090, 0xf947_fe11]), 0x0040_0500), Some(0x0041_0ff8));
        // adrp x16, 11000; ldr x17, [x16, #8]
        assert_eq!(aarch64(&code([0xb000_0090, 0xf940_0611]), 0x650), Some(0x1_1008));
        // adrp x16, one page before; ldr x17, [x16]
        assert_eq!(aarch64(&code([0xf0ff_fff0, 0xf940_0211]), 0x5000), Some(0x4000));
        // stp x16, x30, [sp, #-16]!, and a register that stubs do not use
        assert_eq!(aarch64(&code([0xa9bf_7bf0, 0xf947_fe11]), 0x0040_0500), None);
        assert_eq!(aarch64(&code([0x9000_0091, 0xf947_fe11]), 0x0040_0500), None);
    }
}
