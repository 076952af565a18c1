//! A wrapped function: its name for the archive, the real functions behind it, and where its parameters are.

use std::ffi::{CString, c_int};
use std::hint::cold_path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use partune_collect::{Kind, Region};

use crate::library;
use crate::place::{NOWHERE, Place, Places};

/// The name of the paradigm, as the archive's regions have it.
pub(crate) const PARADIGM: &str = "MPI";

/// When a function's operation is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Blocking,
    /// It gives a request that is under way.
    NonBlocking,
    /// It gives a request that has to be started.
    Persistent,
}

/// What a function's parameters mean. Nothing in it changes: where it is known to the compiler, so is every position.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) mode: Mode,
    pub(crate) places: Places,
    /// Bit i: parameter i is a number of 64 bits, or an array of such.
    pub(crate) wide: u32,
    /// Parameters of the Fortran binding without the error code.
    pub(crate) fortran_parameters: usize,
}

impl Signature {
    /// The position of a parameter.
    #[allow(clippy::inline_always, reason = "becomes a number where the signature is known")]
    #[inline(always)]
    pub(crate) fn at(&self, place: Place) -> Option<usize> {
        let at = self.places[place as usize];
        (at != NOWHERE).then_some(at as usize)
    }

    #[allow(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    pub(crate) fn is_wide(&self, place: Place) -> bool {
        self.at(place).is_some_and(|at| self.wide >> at & 1 != 0)
    }
}

/// One function of MPI with all its bindings.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) region: Region,
    pub(crate) signature: &'static Signature,
    c: Real,
    fortran: Real,
    f08: Real,
    /// Whether the program's user was told that the library lacks it.
    pub(crate) told_missing: AtomicBool,
}

/// Which binding the program called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    /// `mpif.h` or `use mpi`.
    Fortran,
    /// `use mpi_f08`.
    F08,
}

impl Function {
    /// Its family are its forms for all sizes of counts.
    pub(crate) const fn new(name: &'static str, family: &'static str, signature: &'static Signature) -> Function {
        let region = Region::of_family(name, family, Kind::Construct(PARADIGM));
        let (c, fortran, f08) = (Real::new(), Real::new(), Real::new());
        Function { region, signature, c, fortran, f08, told_missing: AtomicBool::new(false) }
    }

    /// The function of the library, if somebody called it before.
    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    pub(crate) fn found(&self, language: Language) -> Option<usize> {
        match language {
            Language::C => self.c.found(),
            Language::Fortran => self.fortran.found(),
            Language::F08 => self.f08.found(),
        }
    }

    /// The function of the library; none if it has none.
    #[inline]
    pub(crate) fn real(&self, language: Language) -> Option<usize> {
        let name = self.region.name;
        match language {
            Language::C => self.c.of_c(name),
            Language::Fortran => self.fortran.find(name, fortran_names),
            Language::F08 => self.f08.find(name, |name| owned(&[format!("{}_f08_", name.to_ascii_lowercase())])),
        }
    }
}

/// The address of a function of the library, looked for when it is first needed.
#[derive(Debug)]
pub(crate) struct Real(AtomicUsize);

impl Real {
    const UNKNOWN: usize = 0;
    const MISSING: usize = 1;

    pub(crate) const fn new() -> Real {
        Real(AtomicUsize::new(Real::UNKNOWN))
    }

    /// The real function of the C binding.
    #[inline]
    pub(crate) fn of_c(&self, name: &'static str) -> Option<usize> {
        self.find(name, c_names)
    }

    #[inline]
    fn find(&self, name: &'static str, names: fn(&str) -> Vec<CString>) -> Option<usize> {
        self.found().or_else(|| self.look(name, names))
    }

    #[allow(clippy::inline_always, reason = "a load")]
    #[inline(always)]
    fn found(&self) -> Option<usize> {
        let address = self.0.load(Ordering::Relaxed);
        if address <= Real::MISSING {
            cold_path();
            return None;
        }
        Some(address)
    }

    #[cold]
    fn look(&self, name: &str, names: fn(&str) -> Vec<CString>) -> Option<usize> {
        if self.0.load(Ordering::Relaxed) == Real::MISSING {
            return None;
        }
        let found = library::function(&names(name));
        self.0.store(found.unwrap_or(Real::MISSING), Ordering::Relaxed);
        found
    }
}

/// The name of the C binding for tools, then the plain one.
pub(crate) fn c_names(name: &str) -> Vec<CString> {
    owned(&[format!("P{name}"), name.to_owned()])
}

/// Compilers' spellings of a Fortran name; libraries have all of them, at one address.
fn fortran_names(name: &str) -> Vec<CString> {
    let lower = name.to_ascii_lowercase();
    owned(&[format!("{lower}_"), format!("{lower}__"), lower.clone(), name.to_ascii_uppercase()])
}

fn owned(names: &[String]) -> Vec<CString> {
    names.iter().filter_map(|name| CString::new(name.as_str()).ok()).collect()
}

/// Calls a function with words for arguments.
///
/// # Safety
/// `real` must be a function of as many arguments, all of class integer; further words are passed and ignored.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
pub(crate) unsafe fn invoke(real: usize, words: &[usize]) -> c_int {
    macro_rules! call {
        ($($index:literal)*) => {{
            // SAFETY: as the caller said; arguments beyond the function's are ignored in every C calling convention.
            unsafe {
                let function: unsafe extern "C" fn($(call!(@word $index)),*) -> c_int = std::mem::transmute(real);
                function($(if $index < words.len() { words[$index] } else { 0 }),*)
            }
        }};
        (@word $index:literal) => { usize };
    }
    // Registers hold six or eight arguments; the rest is on the stack, pair by pair.
    match words.len() {
        0..=6 => call!(0 1 2 3 4 5),
        7..=9 => call!(0 1 2 3 4 5 6 7 8),
        10..=12 => call!(0 1 2 3 4 5 6 7 8 9 10 11),
        _ => call!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19),
    }
}
