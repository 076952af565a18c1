//! Symbol tables: which function an address is in, where debug data does not say.

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};

/// A function of a symbol table: the addresses `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol<'a> {
    pub start: u64,
    /// Where it ends; the next one's start where the table has no size.
    pub end: u64,
    /// As the linker knows it; [`crate::demangle`] makes it readable.
    pub name: &'a str,
}

/// Functions in the order of their addresses; they do not overlap.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    rows: Vec<Symbol<'a>>,
}

/// A symbol with what decides between several of one address.
struct Candidate<'a> {
    symbol: Symbol<'a>,
    /// Least is best: functions before labels, strong before weak before local, sized before unsized.
    rank: (bool, u8, bool),
    /// Where code ends that a symbol without size could be.
    limit: u64,
}

impl<'a> Symbols<'a> {
    /// The symbol table of a file.
    pub(crate) fn full(file: &object::File<'a>) -> Self {
        Self::new(file, file.symbols())
    }

    /// Its dynamic symbol table.
    pub(crate) fn dynamic(file: &object::File<'a>) -> Self {
        Self::new(file, file.dynamic_symbols())
    }

    fn new(file: &object::File<'a>, symbols: impl Iterator<Item: ObjectSymbol<'a>>) -> Self {
        let mut candidates: Vec<_> = symbols.filter_map(|symbol| candidate(file, &symbol)).collect();
        candidates.sort_unstable_by_key(|one| (one.symbol.start, one.rank, one.symbol.name));
        candidates.dedup_by_key(|one| one.symbol.start);
        let mut rows: Vec<Symbol<'a>> = Vec::with_capacity(candidates.len());
        for (index, one) in candidates.iter().enumerate() {
            let Symbol { start, mut end, name } = one.symbol;
            let next = candidates.get(index + 1).map_or(u64::MAX, |next| next.symbol.start);
            let covered = rows.last().is_some_and(|before| start < before.end);
            if end == start {
                if covered {
                    continue; // a label inside a function
                }
                end = next.min(one.limit);
            }
            if let Some(before) = rows.last_mut().filter(|_| covered) {
                if end <= before.end {
                    continue; // a function inside a function: an entry of the outer one
                }
                before.end = start;
            }
            rows.push(Symbol { start, end, name });
        }
        Self { rows }
    }

    /// The function at an address. Cost: a binary search.
    pub(crate) fn find(&self, address: u64) -> Option<&Symbol<'a>> {
        self.before(address).filter(|symbol| address < symbol.end)
    }

    /// The last function that begins before an address.
    pub(crate) fn before(&self, address: u64) -> Option<&Symbol<'a>> {
        self.rows[..self.rows.partition_point(|symbol| symbol.start <= address)].last()
    }

    pub(crate) fn rows(&self) -> &[Symbol<'a>] {
        &self.rows
    }
}

fn candidate<'a>(file: &object::File<'a>, symbol: &impl ObjectSymbol<'a>) -> Option<Candidate<'a>> {
    let label = match symbol.kind() {
        SymbolKind::Text => false,
        SymbolKind::Unknown | SymbolKind::Label => true,
        _ => return None,
    };
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let name = symbol.name().ok().filter(|name| !name.is_empty())?;
    // Not by kind: the sections of a debug file have flags, but no content.
    if !matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR)) {
        return None;
    }
    let start = symbol.address();
    let end = start.saturating_add(symbol.size());
    let binding = if symbol.is_local() { 2 } else { u8::from(symbol.is_weak()) };
    Some(Candidate {
        symbol: Symbol { start, end, name },
        rank: (label, binding, symbol.size() == 0),
        limit: section.address().saturating_add(section.size()),
    })
}
