//! From names of linkers to names of people: Rust, C++, and Fortran of several compilers.
//!
//! For [`crate::entry`] and [`crate::symbols`]. Output is bounded: a mangled name of a hundred bytes can describe a text
//! of gigabytes.

use std::borrow::Cow;
use std::fmt::{self, Write};

/// Longer demangled names are given up, and stay mangled.
const LONGEST: usize = 16 << 10;

/// What compilers append to the name of a piece of a function. Outlined OpenMP bodies (`._omp_fn.0`) are not among
/// them: they are code of their own.
const PIECES: &[&str] = &[".cold", ".constprop", ".isra", ".localalias", ".lto_priv", ".llvm", ".part"];

/// The readable form of a symbol, or the symbol itself if it has none.
///
/// * Rust and C++ by their mangling schemes; Rust's hash is left out.
/// * Procedures of Fortran modules as `module::procedure` (gfortran, Intel, flang), others without underscores at the end.
/// * Pieces of functions (`f.constprop.0`, `f.cold`) as the function.
pub fn demangle(symbol: &str) -> Cow<'_, str> {
    let whole = without_piece(symbol);
    if let Some(name) = fortran(whole) {
        return Cow::Owned(name);
    }
    // A program of Fortran.
    if let Some(name) = (whole == "MAIN__").then_some("main").or_else(|| external(whole)) {
        return Cow::Borrowed(name);
    }
    // The suffix of an outlined body is no part of the mangling.
    let (name, rest) = whole.find("._omp_fn").map_or((whole, ""), |at| whole.split_at(at));
    match rust(name).or_else(|| cpp(name)).or_else(|| scopes(name)) {
        Some(readable) => Cow::Owned(readable + rest),
        None => Cow::Borrowed(whole),
    }
}

/// Whether a symbol tells scopes and argument types.
pub(crate) fn is_mangled(symbol: &str) -> bool {
    symbol.starts_with("_Z") || symbol.starts_with("_R")
}

/// A procedure of a module, or inside of another procedure: `module::procedure`.
pub(crate) fn fortran(symbol: &str) -> Option<String> {
    let pair = |(module, procedure): (&str, &str)| {
        (!module.is_empty() && !procedure.is_empty()).then(|| format!("{module}::{procedure}"))
    };
    if let Some(name) = symbol.strip_prefix("__") {
        return name.split_once("_MOD_").and_then(pair); // gfortran
    }
    if let Some(scopes) = symbol.strip_prefix("_Q") {
        return flang(scopes);
    }
    let name = symbol.strip_suffix('_')?;
    name.split_once("_mp_").and_then(pair) // Intel
}

/// Scopes of flang, each a letter that says what it is, and a name; Fortran names have no capitals there.
fn flang(scopes: &str) -> Option<String> {
    const MAIN: &str = "Qmain";
    if scopes == MAIN {
        return Some("main".to_owned());
    }
    let (mut names, mut last, mut rest) = (Vec::new(), ' ', scopes.chars());
    while let Some(kind) = rest.next() {
        let name = rest.as_str().split(|c: char| c.is_ascii_uppercase()).next()?;
        match kind {
            'M' | 'S' | 'P' if !name.is_empty() => names.push(name),
            'F' => names.push(if name.is_empty() { "main" } else { name }), // the main program has no name here
            'B' => {}
            _ => return None,
        }
        (last, rest) = (kind, rest.as_str()[name.len()..].chars());
    }
    (last == 'P').then(|| names.join("::"))
}

/// A procedure of Fortran that is in no module: `solve_`. Compilers give a second underscore to names that have one (`step_one__`).
fn external(symbol: &str) -> Option<&str> {
    let name = symbol.strip_suffix('_')?;
    let name = name.strip_suffix('_').filter(|name| name.contains('_')).unwrap_or(name);
    let is_fortran = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.ends_with('_') && is_fortran(name)).then_some(name)
}

/// Without what compilers append: pieces of a function, and the numbers that tell procedures in procedures apart (`inner.0`).
fn without_piece(symbol: &str) -> &str {
    let end = PIECES.iter().filter_map(|piece| symbol.find(piece)).filter(|&at| at > 0).min();
    let whole = end.map_or(symbol, |at| &symbol[..at]);
    match whole.rsplit_once('.') {
        Some((name, number)) if !name.is_empty() && !name.ends_with("_omp_fn") && is_number(number) => name,
        _ => whole,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

fn rust(symbol: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(symbol).ok()?;
    let mut text = Bounded(String::new());
    write!(text, "{name:#}").ok()?;
    Some(text.0)
}

fn cpp(symbol: &str) -> Option<String> {
    // Anything else would be taken for the mangled name of a type.
    if !symbol.starts_with("_Z") {
        return None;
    }
    let name = cpp_demangle::Symbol::new(symbol).ok()?;
    let mut text = Bounded(String::new());
    let options = cpp_demangle::DemangleOptions::default().hide_expression_literal_types();
    name.structured_demangle(&mut text, &options).ok()?;
    Some(text.0.replace(", >", ">")) // an empty pack
}

/// The scopes and the name of a C++ function, up to its template arguments: for what `cpp_demangle` cannot read, which is
/// expressions in types.
fn scopes(symbol: &str) -> Option<String> {
    let rest = symbol.strip_prefix("_Z")?;
    let rest = rest.strip_prefix('N').map_or(rest, |nested| nested.trim_start_matches(['K', 'V', 'R', 'O']));
    let (mut name, mut rest) = match rest.strip_prefix("St") {
        Some(rest) => (String::from("std"), rest),
        None => (String::new(), rest.strip_prefix('L').unwrap_or(rest)),
    };
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let length: usize = rest[..digits].parse().ok()?;
        let part = rest[digits..].get(..length)?;
        rest = &rest[digits + length..];
        if !name.is_empty() {
            name.push_str("::");
        }
        name.push_str(part);
    }
    (!name.is_empty() && name != "std").then_some(name)
}

/// Text that refuses to grow beyond [`LONGEST`].
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_linkers_become_names_of_people() {
        for (symbol, name) in [
            (
                "_ZN3app5solveEiRKSt6vectorIdSaIdEE",
                "app::solve(int, std::vector<double, std::allocator<double> > const&)",
            ),
            ("_Z4workv.constprop.0", "work()"),
            ("_Z4workv._omp_fn.0", "work()._omp_fn.0"),
            ("_Z4workv.part.0.cold", "work()"),
            ("_ZSt4swapIPiENSt9enable_ifIXsrSt6__and_IJE5valueEvE4typeERS7_SH_", "std::swap"),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("__solver_MOD_step", "solver::step"),
            ("solver_mp_step_", "solver::step"),
            ("_QMsolverPstep", "solver::step"),
            ("_QPstep", "step"),
            ("_QMsolverFstepPinner", "solver::step::inner"),
            ("_QFPinner", "main::inner"),
            ("_QQmain", "main"),
            ("MAIN__", "main"),
            ("solve_", "solve"),
            ("step_one_", "step_one"),
            ("step_one__", "step_one"),
            ("inner.0", "inner"),
            ("inner.4021", "inner"),
            ("main._omp_fn.1", "main._omp_fn.1"),
            ("exchange.isra.0", "exchange"),
        ] {
            assert_eq!(demangle(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn other_names_stay() {
        for symbol in [
            "main",
            "Solve_",
            "sol::ve_",
            "_solve_",
            "solve___",
            "_",
            "__libc_start_main",
            "_Zzz",
            "_init",
            ".cold",
            "",
            "i",
            "_mp_",
            "__MOD_",
            "_Q",
            "_QMsolver",
            ".0",
            "a.b",
            "_QMsolverZx",
            "_Qé",
            "_QéMsolverPstep",
        ] {
            assert_eq!(demangle(symbol), symbol);
        }
    }

    #[test]
    fn a_short_name_of_a_long_text_stays_mangled() {
        // Each template argument is the pair of the one before, twice: 2^40 letters.
        let mut symbol = String::from("_Z1fI1aI1bS_E");
        for digit in 0..40u8 {
            let back = char::from(if digit < 10 { b'0' + digit } else { b'A' + (digit - 10) % 26 });
            let _ = write!(symbol, "1cIS{back}_S{back}_E");
        }
        symbol.push_str("EvT_");
        assert!(demangle(&symbol).len() <= LONGEST);
    }
}
