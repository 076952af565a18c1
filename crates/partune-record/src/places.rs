//! Where addresses are in the source: modules are read once, for the addresses of all processes together.

use std::cell::RefCell;
use std::fs::File;
use std::path::Path;

use memmap2::Mmap;
use partune_base::{StringId, Strings};
use partune_parts::log::{Hex, Step};
use partune_parts::script::{self, Script};
use partune_symbols::{Address, Module, Storage};
use rustc_hash::FxHashMap;

use crate::RecordError;

/// An address as it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum At {
    /// A return address.
    Call(u64),
    /// The first instruction of a function.
    Begin(u64),
    /// An instruction that ran.
    Running(u64),
}

impl At {
    /// What a step of a path names: the number of its module, and the address. None for a region.
    pub(crate) fn of(step: Step) -> Option<(Option<u32>, At)> {
        match step {
            Step::Frame { module, address: Hex(address) } => Some((module, At::Call(address))),
            Step::Function { module, address: Hex(address) } | Step::Body { module, address: Hex(address), .. } => {
                Some((module, At::Begin(address)))
            }
            Step::Sample { module, address: Hex(address) } => Some((module, At::Running(address))),
            Step::Region(_) => None,
        }
    }
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

/// Headers with functions that fortified programs have inlined around those of the C library.
const HEADERS: [&str; 4] = ["/bits/fcntl2.h", "/bits/stdio.h", "/bits/stdio2.h", "/bits/unistd.h"];

/// Headers of GCC's library of C++ with what it puts around POSIX threads.
const HEADERS_OF_CPP: [&str; 14] = [
    "atomic_futex.h",
    "atomic_wait.h",
    "barrier",
    "condition_variable",
    "future",
    "gthr-default.h",
    "latch",
    "mutex",
    "semaphore",
    "semaphore_base.h",
    "shared_mutex",
    "std_mutex.h",
    "this_thread_sleep.h",
    "unique_lock.h",
];

/// Whether functions of a file stand between a call of the program and the function of a library that it stands for.
pub(crate) fn is_of_headers(file: &str) -> bool {
    HEADERS.iter().any(|header| file.ends_with(header))
        || file.contains("/c++/") && HEADERS_OF_CPP.contains(&file_name(file))
}

/// What is known of all addresses.
#[derive(Default)]
pub(crate) struct Places {
    known: FxHashMap<(StringId, At), Box<[Function]>>,
    /// Modules without debug data that call something, for a hint.
    pub(crate) bare: Vec<String>,
    /// What modules were compiled with, by their paths.
    pub(crate) compilers: FxHashMap<String, String>,
}

impl Places {
    /// Resolves addresses by the path of their module.
    pub(crate) fn resolve(addresses: Vec<(StringId, At)>, strings: &mut Strings) -> Result<Places, RecordError> {
        let mut addresses = addresses;
        addresses.sort_unstable();
        addresses.dedup();
        let mut places = Places::default();
        for group in addresses.chunk_by(|(a, _), (b, _)| a == b) {
            places.module(group, strings)?;
        }
        Ok(places)
    }

    /// The functions at an address, outermost first; none if its module cannot be read.
    pub(crate) fn get(&self, module: StringId, at: At) -> &[Function] {
        self.known.get(&(module, at)).map_or(&[], |functions| functions)
    }

    fn module(&mut self, addresses: &[(StringId, At)], strings: &mut Strings) -> Result<(), RecordError> {
        let Some((id, _)) = addresses.first() else { return Ok(()) };
        let path = strings.get(*id).to_owned();
        if let Some(Script { name, file, line }) = Script::parse(&path) {
            let (name, file) = (strings.intern(name), strings.intern(file));
            self.known.extend(addresses.iter().map(|&(module, at)| {
                let (At::Call(address) | At::Begin(address) | At::Running(address)) = at;
                let function = Function { name, file, line, call_file: file, call_line: script::line(address) };
                ((module, at), [function].into())
            }));
            return Ok(());
        }
        let Some(bytes) = map(Path::new(&path))? else { return Ok(()) };
        let files = Maps::default();
        let storage = Storage::new();
        let open = |path: &str| files.get(path);
        let module = Module::parse(&path, &bytes, &open, &storage);
        if let Some(failure) = files.failure.take() {
            return Err(failure);
        }
        let Ok(module) = module else { return Ok(()) };
        let wanted: Vec<Address> = addresses
            .iter()
            .map(|(_, at)| match *at {
                At::Call(address) => Address::Return(address),
                At::Begin(address) | At::Running(address) => Address::Exact(address),
            })
            .collect();
        let found = module.resolve(&wanted, strings);
        if let Some(failure) = files.failure.take() {
            return Err(failure);
        }
        for (address, (place, frames)) in addresses.iter().zip(found.iter()) {
            let last = frames.len().saturating_sub(1);
            let around = frames[..last].iter().take_while(|frame| is_of_headers(strings.get(frame.file))).count();
            let functions = frames.iter().enumerate().skip(around).rev().map(|(i, frame)| {
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
        self.compilers.insert(path.clone(), module.compilers().join("; "));
        if !module.has_debug_data() {
            self.bare.push(path);
        }
        Ok(())
    }
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A file's content; none where there is no such file for this user. Any other failure may be over the next time: an archive without
/// names, which would stay so, is not the answer to it.
pub(crate) fn map(path: &Path) -> Result<Option<Mmap>, RecordError> {
    // SAFETY: programs and libraries are not changed in place while they are used.
    #[allow(unsafe_code, reason = "reading a file in place")]
    let map = |file: File| unsafe { Mmap::map(&file) };
    match partune_files::open_regular(path).and_then(map) {
        Ok(map) => Ok(Some(map)),
        Err(error) => match error.raw_os_error() {
            // Not there, not ours, or nothing that has a content: a folder, a pipe, an empty file, what the loader made up.
            Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::EPERM | libc::EINVAL | libc::ENODEV) | None => {
                Ok(None)
            }
            Some(_) => Err(RecordError::file(path)(error)),
        },
    }
}

/// Files that were asked for, kept until the module is done.
#[derive(Default)]
struct Maps {
    maps: RefCell<Vec<Mmap>>,
    failure: RefCell<Option<RecordError>>,
}

impl Maps {
    fn get(&self, path: &str) -> Option<&[u8]> {
        let map = map(Path::new(path)).unwrap_or_else(|failure| {
            self.failure.replace(Some(failure));
            None
        })?;
        let bytes = std::ptr::from_ref::<[u8]>(&map);
        self.maps.borrow_mut().push(map);
        // SAFETY: mapped memory does not move with its owner, which is never removed before `self`.
        #[allow(unsafe_code, reason = "an arena of mappings")]
        Some(unsafe { &*bytes })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_module_that_is_no_file_has_no_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        for path in [&pipe, Path::new("/dev/zero"), folder.path(), &folder.path().join("none")] {
            assert!(map(path).expect("nothing failed").is_none(), "{}", path.display());
        }
        std::fs::write(&file, "seven").expect("a file is written");
        assert_eq!(map(&file).expect("it is there").as_deref(), Some(&b"seven"[..]));
    }
}
