//! Where addresses are in the source: modules are read once, for the addresses of all processes together.

use std::cell::RefCell;
use std::fs::File;
use std::path::Path;

use memmap2::Mmap;
use partune_base::{StringId, Strings};
use partune_symbols::{Address, Module, Storage};
use rustc_hash::FxHashMap;

/// An address as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum At {
    /// A return address.
    Call(u64),
    /// The first instruction of a function.
    Begin(u64),
}

/// A function that an address is in, or that was inlined there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Function {
    pub(crate) name: StringId,
    /// Where it is declared; none and 0 if unknown.
    pub(crate) file: StringId,
    pub(crate) line: u32,
    /// Where in it the call is.
    pub(crate) call_file: StringId,
    pub(crate) call_line: u32,
}

/// What is known of all addresses.
#[derive(Default)]
pub(crate) struct Places {
    known: FxHashMap<(StringId, At), Box<[Function]>>,
    /// Modules without debug data that call something, for a hint.
    pub(crate) bare: Vec<String>,
}

impl Places {
    /// Resolves addresses by the path of their module.
    pub(crate) fn resolve(addresses: Vec<(StringId, At)>, strings: &mut Strings) -> Places {
        let mut addresses = addresses;
        addresses.sort_unstable();
        addresses.dedup();
        let mut places = Places::default();
        for group in addresses.chunk_by(|(a, _), (b, _)| a == b) {
            places.module(group, strings);
        }
        places
    }

    /// The functions at an address, outermost first; none if its module cannot be read.
    pub(crate) fn get(&self, module: StringId, at: At) -> &[Function] {
        self.known.get(&(module, at)).map_or(&[], |functions| functions)
    }

    fn module(&mut self, addresses: &[(StringId, At)], strings: &mut Strings) {
        let Some((id, _)) = addresses.first() else { return };
        let path = strings.get(*id).to_owned();
        let Some(bytes) = map(Path::new(&path)) else { return };
        let files = Maps::default();
        let storage = Storage::new();
        let open = |path: &str| files.get(path);
        let Ok(module) = Module::parse(&path, &bytes, &open, &storage) else { return };
        let wanted: Vec<Address> = addresses
            .iter()
            .map(|(_, at)| match *at {
                At::Call(address) => Address::Return(address),
                At::Begin(address) => Address::Exact(address),
            })
            .collect();
        let found = module.resolve(&wanted, strings);
        for (address, (place, frames)) in addresses.iter().zip(found.iter()) {
            let last = frames.len().saturating_sub(1);
            let functions = frames.iter().enumerate().rev().map(|(i, frame)| {
                // Where an inlined function is declared is not known; its own name tells it apart.
                let declared = if i == last { (place.function.file, place.function.line) } else { (frame.file, 0) };
                Function {
                    name: frame.function,
                    file: declared.0,
                    line: declared.1,
                    call_file: frame.file,
                    call_line: frame.line,
                }
            });
            self.known.insert(*address, functions.collect());
        }
        if !module.has_debug_data() {
            self.bare.push(path);
        }
    }
}

fn map(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    // SAFETY: programs and libraries are not changed in place while they are used.
    #[allow(unsafe_code, reason = "reading a file in place")]
    unsafe { Mmap::map(&file) }.ok()
}

/// Files that were asked for, kept until the module is done.
#[derive(Default)]
struct Maps(RefCell<Vec<Mmap>>);

impl Maps {
    fn get(&self, path: &str) -> Option<&[u8]> {
        let map = map(Path::new(path))?;
        let bytes = std::ptr::from_ref::<[u8]>(&map);
        self.0.borrow_mut().push(map);
        // SAFETY: mapped memory does not move with its owner, which is never removed before `self`.
        #[allow(unsafe_code, reason = "an arena of mappings")]
        Some(unsafe { &*bytes })
    }
}
