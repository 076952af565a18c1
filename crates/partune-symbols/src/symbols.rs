//! Symbol tables: which function an address is in, where debug data does not say.

use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolIndex, SymbolKind, elf};

use crate::names::is_mangled;

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

/// Decides between several symbols of one address; the least is best. What it is: functions before labels, those that other files see before local
/// ones, sized before unsized. Then what people call it: not by a version that new programs do not get, not by a name that begins with an
/// underscore (`nanosleep`, not `__nanosleep`), and by the shortest name (`fmax`, not `fmaxf32x`).
type Rank = (bool, bool, bool, bool, bool, usize);

/// A symbol with what decides between several of one address.
struct Candidate<'a> {
    symbol: Symbol<'a>,
    rank: Rank,
    /// Where code ends that a symbol without size could be.
    limit: u64,
}

impl<'a> Symbols<'a> {
    /// The symbol table of a file.
    pub(crate) fn full(file: &object::File<'a>) -> Self {
        Self::new(file, file.symbols(), |symbol| is_old(symbol.name().unwrap_or_default()))
    }

    /// Its dynamic symbol table.
    pub(crate) fn dynamic(file: &object::File<'a>) -> Self {
        let is_hidden = hidden(file);
        Self::new(file, file.dynamic_symbols(), |symbol| is_hidden(symbol.index()))
    }

    fn new<S: ObjectSymbol<'a>>(
        file: &object::File<'a>,
        symbols: impl Iterator<Item = S>,
        is_old: impl Fn(&S) -> bool,
    ) -> Self {
        let mut candidates: Vec<_> = symbols.filter_map(|symbol| candidate(file, &symbol, is_old(&symbol))).collect();
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

fn candidate<'a>(file: &object::File<'a>, symbol: &impl ObjectSymbol<'a>, is_old: bool) -> Option<Candidate<'a>> {
    let label = match symbol.kind() {
        SymbolKind::Text => false,
        SymbolKind::Unknown | SymbolKind::Label => true,
        _ => return None,
    };
    let section = file.section_by_index(symbol.section_index()?).ok()?;
    let name = without_version(symbol.name().ok()?);
    if name.is_empty() {
        return None;
    }
    // Not by kind: the sections of a debug file have flags, but no content.
    if !matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR)) {
        return None;
    }
    let start = symbol.address();
    let end = start.saturating_add(symbol.size());
    let is_inner = name.starts_with('_') && !is_mangled(name);
    Some(Candidate {
        symbol: Symbol { start, end, name },
        rank: (label, symbol.is_local(), symbol.size() == 0, is_old, is_inner, name.len()),
        limit: section.address().saturating_add(section.size()),
    })
}

/// Whether a module, whose content is `bytes`, has one of these functions itself, by its symbols: not those that it takes from a library. Nothing else of it is read.
pub fn defines(bytes: &[u8], functions: &[&str]) -> bool {
    let is_one = |name: &str| functions.contains(&without_version(name));
    object::File::parse(bytes).is_ok_and(|file| {
        let mut symbols = file.symbols().chain(file.dynamic_symbols());
        symbols.any(|symbol| symbol.is_definition() && symbol.name().is_ok_and(is_one))
    })
}

/// The name of a symbol without its version: symbol tables have `memcpy@@GLIBC_2.14`, and `memcpy@GLIBC_2.2.5` for programs that were linked long ago.
pub(crate) fn without_version(name: &str) -> &str {
    name.find('@').filter(|&at| at > 0).map_or(name, |at| &name[..at])
}

/// Whether the name of a symbol has a version that new programs do not get.
fn is_old(name: &str) -> bool {
    name.split_once('@').is_some_and(|(_, version)| !version.starts_with('@'))
}

/// The same of dynamic symbols, whose versions are in a table beside: a number each, and a bit that hides it.
fn hidden<'a>(file: &object::File<'a>) -> impl Fn(SymbolIndex) -> bool + use<'a> {
    let versions = file.section_by_name(".gnu.version").and_then(|section| section.data().ok()).unwrap_or_default();
    let upper = usize::from(file.is_little_endian());
    move |symbol| symbol.0.checked_mul(2).and_then(|at| versions.get(at + upper)).is_some_and(|byte| byte & 0x80 != 0)
}
