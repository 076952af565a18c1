//! What an entry of the debug data says about a function: its names, and where it was declared.
//!
//! For [`crate::debug`]. An entry of code often says little itself and refers to another (an inlined or cloned function to
//! its abstract one, a member function to its declaration in the class), also in another unit or file.

use std::borrow::Cow;
use std::cell::OnceCell;

use addr2line::gimli::{
    self, AttributeValue, DwLang, Dwarf, EndianSlice, RunTimeEndian, Unit, UnitHeader, UnitOffset, UnitRef,
};

use crate::names;

pub(crate) type Bytes<'a> = EndianSlice<'a, RunTimeEndian>;

/// References are followed this far; real ones need three.
const FAR: usize = 16;

/// A function as its entries describe it.
#[derive(Default)]
pub(crate) struct Described<'a> {
    name: Option<Bytes<'a>>,
    linkage: Option<Bytes<'a>>,
    /// The path of the file of its declaration.
    pub(crate) file: Option<String>,
    /// 0 if not known.
    pub(crate) line: u32,
    language: Option<DwLang>,
}

impl Described<'_> {
    /// The readable name.
    ///
    /// A linkage name says more than a name (scopes, argument types), except in Fortran, where it is the name with an
    /// underscore for everything outside of modules. Compilers leave it out for what is local to a file; then a mangled
    /// `symbol`, where the function has one, says the same.
    ///
    /// An assembler describes symbols, of which the best one was chosen.
    pub(crate) fn name(&self, symbol: Option<&str>) -> Option<String> {
        if let Some(symbol) = symbol.filter(|_| self.language == Some(gimli::DW_LANG_Mips_Assembler)) {
            return Some(names::demangle(symbol).into_owned());
        }
        let text = |bytes: &Option<Bytes<'_>>| bytes.map(|bytes| bytes.to_string_lossy().into_owned());
        let symbol = symbol.filter(|symbol| names::is_mangled(symbol)).map(str::to_owned);
        let (name, linkage) = (text(&self.name), text(&self.linkage).or(symbol));
        let readable = match (name, linkage) {
            (Some(name), linkage) if self.is_fortran() => {
                linkage.as_deref().and_then(names::fortran).or_else(|| names::fortran(&name)).unwrap_or(name)
            }
            (_, Some(linkage)) => names::demangle(&linkage).into_owned(),
            (Some(name), None) => name,
            (None, None) => return None,
        };
        (!readable.is_empty()).then_some(readable)
    }

    fn is_fortran(&self) -> bool {
        let fortran = [
            gimli::DW_LANG_Fortran77,
            gimli::DW_LANG_Fortran90,
            gimli::DW_LANG_Fortran95,
            gimli::DW_LANG_Fortran03,
            gimli::DW_LANG_Fortran08,
            gimli::DW_LANG_Fortran18,
        ];
        self.language.is_some_and(|language| fortran.contains(&language))
    }
}

/// The units of a file in the order of their offsets; parsed when they are first asked for.
pub(crate) struct Units<'a> {
    rows: Vec<Row<'a>>,
}

struct Row<'a> {
    offset: usize,
    header: UnitHeader<Bytes<'a>>,
    unit: OnceCell<Option<Unit<Bytes<'a>>>>,
}

impl<'a> Units<'a> {
    /// Reads the headers, up to the first that is damaged.
    pub(crate) fn new(dwarf: &Dwarf<Bytes<'a>>) -> Self {
        let mut rows = Vec::new();
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            if let Some(offset) = header.debug_info_offset() {
                rows.push(Row { offset: offset.0, header, unit: OnceCell::new() });
            }
        }
        Self { rows }
    }

    pub(crate) fn none() -> Self {
        Self { rows: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// A unit by its position; none if it is damaged.
    pub(crate) fn get(&self, index: usize, dwarf: &Dwarf<Bytes<'a>>) -> Option<&Unit<Bytes<'a>>> {
        let row = self.rows.get(index)?;
        row.unit.get_or_init(|| dwarf.unit(row.header).ok()).as_ref()
    }

    /// The unit that holds an offset, and the offset in it.
    fn at(&self, offset: gimli::DebugInfoOffset, dwarf: &Dwarf<Bytes<'a>>) -> Option<(&Unit<Bytes<'a>>, UnitOffset)> {
        let after = self.rows.partition_point(|row| row.offset <= offset.0);
        let unit = self.get(after.checked_sub(1)?, dwarf)?;
        Some((unit, offset.to_unit_offset(&unit.header)?))
    }
}

/// The debug data of a module and, where `dwz` moved parts out of it, of the shared file.
pub(crate) struct Tree<'a> {
    pub(crate) units: Units<'a>,
    pub(crate) shared: Units<'a>,
}

impl<'a> Tree<'a> {
    /// What the entry at `offset` of `unit`, and those it refers to, say about a function. What is damaged says nothing.
    pub(crate) fn describe(&self, unit: UnitRef<'_, Bytes<'a>>, offset: UnitOffset) -> Described<'a> {
        let mut described = Described { language: language(unit), ..Described::default() };
        self.follow(unit, offset, false, FAR, &mut described);
        described
    }

    fn follow(
        &self,
        unit: UnitRef<'_, Bytes<'a>>,
        offset: UnitOffset,
        in_shared: bool,
        left: usize,
        described: &mut Described<'a>,
    ) -> Option<()> {
        let mut entries = unit.entries_raw(Some(offset)).ok()?;
        let abbreviation = entries.read_abbreviation().ok()??;
        let (mut file, mut line, mut origin) = (None, 0, None);
        for &specification in abbreviation.attributes() {
            let attribute = entries.read_attribute(specification).ok()?;
            match attribute.name() {
                gimli::DW_AT_name => described.name = described.name.or(unit.attr_string(attribute.value()).ok()),
                gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                    described.linkage = described.linkage.or(unit.attr_string(attribute.value()).ok());
                }
                gimli::DW_AT_decl_file => file = file_index(&attribute.value()),
                gimli::DW_AT_decl_line => line = attribute.udata_value().unwrap_or(0),
                gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => origin = Some(attribute.value()),
                _ => {}
            }
        }
        if described.line == 0 {
            described.line = u32::try_from(line).unwrap_or(0);
        }
        if described.file.is_none() {
            described.file = file.and_then(|file| path(unit, file));
        }
        let left = left.checked_sub(1)?;
        match origin? {
            AttributeValue::UnitRef(offset) => self.follow(unit, offset, in_shared, left, described),
            AttributeValue::DebugInfoRef(offset) => {
                let units = if in_shared { &self.shared } else { &self.units };
                let (other, offset) = units.at(offset, unit.dwarf)?;
                self.follow(UnitRef::new(unit.dwarf, other), offset, in_shared, left, described)
            }
            AttributeValue::DebugInfoRefSup(offset) => {
                let dwarf = unit.dwarf.sup.as_deref()?;
                let (other, offset) = self.shared.at(offset, dwarf)?;
                self.follow(UnitRef::new(dwarf, other), offset, true, left, described)
            }
            _ => None,
        }
    }
}

fn file_index(value: &AttributeValue<Bytes<'_>>) -> Option<u64> {
    match *value {
        AttributeValue::FileIndex(index) => Some(index),
        _ => value.udata_value(),
    }
}

/// What compiled a unit, with its flags where it says so; none for what an assembler made.
pub(crate) fn producer(unit: UnitRef<'_, Bytes<'_>>) -> Option<String> {
    if language(unit) == Some(gimli::DW_LANG_Mips_Assembler) {
        return None;
    }
    let mut entries = unit.entries();
    let value = entries.next_dfs().ok()??.attr_value(gimli::DW_AT_producer)?;
    Some(unit.attr_string(value).ok()?.to_string_lossy().trim().to_owned()).filter(|text| !text.is_empty())
}

fn language(unit: UnitRef<'_, Bytes<'_>>) -> Option<DwLang> {
    let mut entries = unit.entries();
    let root = entries.next_dfs().ok()??;
    match root.attr_value(gimli::DW_AT_language) {
        Some(AttributeValue::Language(language)) => Some(language),
        _ => None,
    }
}

/// The path of a file of a unit's line table, made as `addr2line` makes those of lines, so that they are equal text.
fn path(unit: UnitRef<'_, Bytes<'_>>, index: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let mut path = unit.comp_dir.map_or(Cow::Borrowed(""), |folder| folder.to_string_lossy()).into_owned();
    if file.directory_index() != 0 {
        push(&mut path, &unit.attr_string(file.directory(header)?).ok()?.to_string_lossy());
    }
    push(&mut path, &unit.attr_string(file.path_name()).ok()?.to_string_lossy());
    Some(path)
}

fn push(path: &mut String, part: &str) {
    if part.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(part);
}

/// Whether inlined functions are nested deeper than a stack can follow, which only damaged data are.
///
/// `addr2line` recurses over them. Cost: one pass over the unit.
pub(crate) fn nests_too_deep(unit: UnitRef<'_, Bytes<'_>>) -> bool {
    /// Inlining goes some tens deep.
    const DEEPEST: usize = 400;
    let Ok(mut entries) = unit.entries_raw(None) else { return false };
    let mut open: Vec<isize> = Vec::new();
    while !entries.is_empty() {
        let depth = entries.next_depth();
        match entries.read_abbreviation() {
            Ok(Some(abbreviation)) => {
                while open.last().is_some_and(|&outer| outer >= depth) {
                    open.pop();
                }
                if abbreviation.tag() == gimli::DW_TAG_inlined_subroutine {
                    open.push(depth);
                    if open.len() > DEEPEST {
                        return true;
                    }
                }
                if entries.skip_attributes(abbreviation.attributes()).is_err() {
                    return false;
                }
            }
            Ok(None) => {}
            Err(_) => return false,
        }
    }
    false
}
