//! One executable or shared library.
//!
//! For the engine: open once, ask for all its addresses at once. A module is used by one thread at a time.

use std::cell::OnceCell;

use object::{Object, ObjectSection as _};
use partune_base::{StringId, Strings, short};
use partune_diag::{Code, Diagnostic, Quality};

use crate::debug::{Debug, Known};
use crate::debug_file::{Files, Link, supplement};
use crate::elf::{Damaged, Storage, address_of};
use crate::names::demangle;
use crate::place::{Address, Frame, Function, Origin, Place, Places};
use crate::starts::Starts;
use crate::stubs::Stubs;
use crate::symbols::{Symbol, Symbols};

/// Bytes that cannot be a module at all.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    #[error("{path} is no ELF file that can be read: {reason}")]
    NotElf { path: String, reason: String },
}

/// A module whose addresses can be resolved.
pub struct Module<'a> {
    path: String,
    file: object::File<'a>,
    debug: Option<Debug<'a>>,
    symbols: Symbols<'a>,
    symbols_from: Origin,
    /// Made when a function has no symbol.
    stubs: OnceCell<Stubs<'a>>,
    starts: OnceCell<Starts>,
    quality: Quality,
}

impl<'a> Module<'a> {
    /// Reads the tables of the module at `path`, whose content is `bytes`.
    ///
    /// Debug data is the module's own, else that of its debug file, asked for through `files`. `storage` holds what had
    /// to be inflated. Cost: one pass over the entries of the debug data and over the symbols; lines and inlined
    /// functions are read when they are asked for.
    pub fn parse(path: &str, bytes: &'a [u8], files: &dyn Files<'a>, storage: &'a Storage) -> Result<Self, Error> {
        let file = object::File::parse(bytes)
            .map_err(|error| Error::NotElf { path: path.to_owned(), reason: error.to_string() })?;
        let mut quality = Quality::default();
        let mut open = |file: &object::File<'a>, path: &str| {
            let shared = supplement(file, path, files);
            Debug::open(file, shared.as_ref(), storage).unwrap_or_else(|Damaged| {
                quality.add(Diagnostic::data_loss(
                    Code::DamagedDebugData,
                    format!("the debug data of {path} is damaged"),
                    "build it again; until then functions have names and no lines",
                ));
                None
            })
        };
        let mut debug = open(&file, path);
        let mut symbols = Symbols::full(&file);
        let missing = debug.is_none() || symbols.rows().is_empty();
        if let Some(found) = missing.then(|| Link::of(&file).find(path, files)).flatten() {
            debug = debug.or_else(|| open(&found.file, &found.path));
            if symbols.rows().is_empty() {
                symbols = Symbols::full(&found.file);
            }
        }
        let mut symbols_from = Origin::Symbols;
        if symbols.rows().is_empty() {
            symbols = Symbols::dynamic(&file);
            symbols_from = Origin::DynamicSymbols;
        }
        let (path, stubs, starts) = (path.to_owned(), OnceCell::new(), OnceCell::new());
        Ok(Self { path, file, debug, symbols, symbols_from, stubs, starts, quality })
    }

    /// Whether lines and inlined functions can be known at all (compiled with `-g`, or with a debug file).
    pub fn has_debug_data(&self) -> bool {
        self.debug.is_some()
    }

    /// What it was compiled with, each once: from its debug data, with flags where the compiler notes them, else what compilers leave in every program. At most 8.
    pub fn compilers(&self) -> Vec<String> {
        const MOST: usize = 8;
        let mut found = self.debug.as_ref().map(Debug::producers).unwrap_or_default();
        if found.is_empty() {
            let comment =
                self.file.section_by_name(".comment").and_then(|section| section.data().ok()).unwrap_or_default();
            let texts = comment.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).trim().to_owned());
            found.extend(texts.filter(|text| !text.is_empty()));
        }
        found.into_iter().take(MOST).collect()
    }

    /// What was wrong with the tables.
    pub fn quality(&self) -> &Quality {
        &self.quality
    }

    /// The address of the byte at `offset` of the file, if it is loaded.
    pub fn address_of(&self, offset: u64) -> Option<u64> {
        address_of(&self.file, offset)
    }

    /// The functions of the best symbol table there is, in the order of their addresses; aliases once.
    pub fn functions(&self) -> &[Symbol<'a>] {
        self.symbols.rows()
    }

    /// The machine code at `start..end`, which must lie in one section; none where the file holds none.
    pub fn code(&self, start: u64, end: u64) -> Option<&'a [u8]> {
        let size = end.checked_sub(start)?;
        self.file.sections().find_map(|section| section.data_range(start, size).ok().flatten())
    }

    /// Whether the code is that of x86 in 64 bits.
    pub fn is_x86_64(&self) -> bool {
        self.file.architecture() == object::Architecture::X86_64
    }

    /// Resolves many addresses; text goes to `strings`.
    ///
    /// Cost: a sort, and a few binary searches for each distinct address.
    pub fn resolve(&self, addresses: &[Address], strings: &mut Strings) -> Places {
        let mut order: Vec<(u64, usize)> = addresses.iter().map(|address| address.lookup()).zip(0..).collect();
        order.sort_unstable();
        let mut places = Places::default();
        let nothing = Place { function: Function::NONE, origin: Origin::Nothing, frames: 0..0 };
        places.rows.resize(addresses.len(), nothing);
        let mut known = Known::default();
        let mut damaged = 0;
        for same in order.chunk_by(|a, b| a.0 == b.0) {
            let address = same[0].0;
            let first = places.frames.len();
            let symbol = self.symbols.find(address).map(|symbol| symbol.name);
            let found = self.debug.as_ref().map(|debug| {
                let frames = &mut places.frames;
                debug.find(address, symbol, strings, &mut known, frames)
            });
            let found = found.transpose().unwrap_or_else(|Damaged| {
                damaged += 1;
                places.frames.truncate(first);
                None
            });
            let (function, origin) = self.named(address, symbol, found.flatten(), strings, &mut places.frames, first);
            let frames = first as u32..places.frames.len() as u32;
            for &(_, index) in same {
                places.rows[index] = Place { function, origin, frames: frames.clone() };
            }
        }
        places.quality.add(
            Diagnostic::data_loss(
                Code::DamagedDebugData,
                format!("the debug data of {} is damaged for some addresses", self.path),
                "build it again; until then some functions have names and no lines",
            )
            .times(damaged),
        );
        places
    }

    /// Completes what debug data found (`function`, and the frames from `first`) with the symbol tables.
    fn named(
        &self,
        address: u64,
        symbol: Option<&str>,
        function: Option<Function>,
        strings: &mut Strings,
        frames: &mut Vec<Frame>,
        first: usize,
    ) -> (Function, Origin) {
        let nameless = frames[first..].iter().any(|frame| frame.function == StringId::NONE);
        if let Some(function) = function.filter(|_| !nameless) {
            return (function, Origin::Debug);
        }
        let (name, from) = if let Some(symbol) = symbol {
            (strings.intern(&demangle(symbol)), self.symbols_from)
        } else if let Some(stub) = self.stubs.get_or_init(|| Stubs::of(&self.file, &self.symbols)).find(address) {
            (strings.intern(&stub), Origin::DynamicSymbols)
        } else {
            (strings.intern(&self.nameless(address)), Origin::Nothing)
        };
        let Some(function) = function else {
            frames.push(Frame { function: name, ..Frame::NONE });
            return (Function { name, ..Function::NONE }, from);
        };
        // Code with lines and without a function: assembly.
        for frame in frames[first..].iter_mut().filter(|frame| frame.function == StringId::NONE) {
            frame.function = name;
        }
        let name = frames.last().map_or(name, |frame| frame.function);
        (Function { name, ..function }, Origin::Debug)
    }

    /// What to call the function at an address that has no name: `~solve+0x1f` after the function with a name before it, where that is near,
    /// else `module+0x1234`. The offset is that of the function's begin, where unwind tables tell it.
    fn nameless(&self, address: u64) -> String {
        /// What one source file gives is mostly less, and lies together.
        const NEAR: u64 = 64 << 10;
        let starts = self.starts.get_or_init(|| Starts::of(&self.file));
        let start = starts.find(address).unwrap_or(address);
        if start == self.file.entry() && start > 0 {
            return "_start".to_owned(); // the program's first function, which calls the one of the C library that calls `main`
        }
        let near = |symbol: &&Symbol<'_>| start - symbol.start <= NEAR && starts.are_together(symbol.start, start);
        match self.symbols.before(start).filter(near) {
            Some(symbol) => format!("~{}+{:#x}", short(&demangle(symbol.name)), start - symbol.start),
            None => format!("{}+{start:#x}", self.name()),
        }
    }

    /// The last part of the path.
    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}
