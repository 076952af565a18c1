//! Debug data (DWARF) of a module, by `addr2line` and `gimli`.
//!
//! For [`crate::module`]. `addr2line` finds functions, inlined calls and lines; names and declarations are read here,
//! because it keeps neither.

use std::collections::BTreeSet;
use std::sync::Arc;

use addr2line::Context;
use addr2line::gimli::{AbbreviationsCacheStrategy, Dwarf, EndianSlice, RunTimeEndian, Section, SectionId, UnitRef};
use object::Object;
use partune_base::{StringId, Strings};
use rustc_hash::FxHashMap;

use crate::elf::{Damaged, Storage, section};
use crate::entry::{Bytes, Tree, Units, nests_too_deep, producer};
use crate::place::{Frame, Function};

/// Debug data that can be asked.
pub(crate) struct Debug<'a> {
    dwarf: Arc<Dwarf<Bytes<'a>>>,
    context: Context<Bytes<'a>>,
    tree: Tree<'a>,
}

/// What a function is called and where it was declared, by unit and entry.
pub(crate) type Known = FxHashMap<(usize, usize), Function>;

impl<'a> Debug<'a> {
    /// Opens the debug data of `file`; none if it has none.
    ///
    /// Cost: one pass over the entries, to be sure that `addr2line` can walk them.
    pub(crate) fn open(
        file: &object::File<'a>,
        supplement: Option<&object::File<'a>>,
        storage: &'a Storage,
    ) -> Result<Option<Self>, Damaged> {
        let mut dwarf = load(file, storage)?;
        if dwarf.debug_info.reader().is_empty() {
            return Ok(None);
        }
        let mut shared = None;
        if let Some(supplement) = supplement {
            let loaded = load(supplement, storage)?;
            shared = Some(Units::new(&loaded));
            dwarf.set_sup(loaded);
        }
        let dwarf = Arc::new(dwarf);
        let tree = Tree { units: Units::new(&dwarf), shared: shared.unwrap_or_else(Units::none) };
        let deep = |index| tree.units.get(index, &dwarf).is_some_and(|unit| nests_too_deep(UnitRef::new(&dwarf, unit)));
        if (0..tree.units.len()).any(deep) {
            return Err(Damaged);
        }
        let context = Context::from_arc_dwarf(dwarf.clone()).map_err(|_| Damaged)?;
        Ok(Some(Self { dwarf, context, tree }))
    }

    /// What compiled its units, with the flags where it says so, each once; assemblers are left out.
    pub(crate) fn producers(&self) -> BTreeSet<String> {
        let units = (0..self.tree.units.len()).filter_map(|index| self.tree.units.get(index, &self.dwarf));
        units.filter_map(|unit| producer(UnitRef::new(&self.dwarf, unit))).collect()
    }

    /// Appends the frames at an address, innermost first, and says which function really exists there.
    ///
    /// `symbol` is the one at the address. No frames if nothing is known. A frame without a name has
    /// [`StringId::NONE`].
    pub(crate) fn find(
        &self,
        address: u64,
        symbol: Option<&str>,
        strings: &mut Strings,
        known: &mut Known,
        frames: &mut Vec<Frame>,
    ) -> Result<Option<Function>, Damaged> {
        if address == u64::MAX {
            return Ok(None); // `addr2line` adds one
        }
        let mut found = self.context.find_frames(address).skip_all_loads().map_err(|_| Damaged)?;
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        let mut last = None;
        let mut next = found.next().map_err(|_| Damaged)?;
        while let Some(frame) = next {
            next = found.next().map_err(|_| Damaged)?;
            // The last is the one that exists, and has a symbol.
            let symbol = symbol.filter(|_| next.is_none());
            let function = match (unit, frame.dw_die_offset) {
                (Some(unit), Some(entry)) => *known.entry((unit.header.offset().0, entry.0)).or_insert_with(|| {
                    let described = self.tree.describe(unit, entry);
                    let mut intern = |text: Option<String>| text.map_or(StringId::NONE, |text| strings.intern(&text));
                    Function {
                        name: intern(described.name(symbol)),
                        file: intern(described.file),
                        line: described.line,
                    }
                }),
                _ => Function::NONE,
            };
            let (file, line) = frame.location.map_or((None, None), |location| (location.file, location.line));
            let file = file.filter(|file| !file.is_empty()).map_or(StringId::NONE, |file| strings.intern(file));
            frames.push(Frame { function: function.name, file, line: line.unwrap_or(0) });
            last = Some(function);
        }
        Ok(last)
    }
}

fn load<'a>(file: &object::File<'a>, storage: &'a Storage) -> Result<Dwarf<Bytes<'a>>, Damaged> {
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut dwarf = Dwarf::load(|id: SectionId| Ok(EndianSlice::new(section(file, id.name(), storage)?, endian)))?;
    // Many small units may share one large table.
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    Ok(dwarf)
}
