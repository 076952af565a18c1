//! The file that says which instrumented functions are left out: lines `skip BEGIN END PATH`, addresses hexadecimal in the module's file.
//!
//! Names are known to the launcher only, which writes it before the program starts (`PARTUNE_FILTER`).

use std::path::Path;

/// Code of the module at `path` that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skip<'a> {
    pub path: &'a Path,
    pub begin: u64,
    pub end: u64,
}

impl Skip<'_> {
    /// What a line says; none if it is not understood.
    pub fn parse(line: &str) -> Option<Skip<'_>> {
        let mut words = line.strip_prefix("skip ")?.splitn(3, ' ');
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        let (begin, end) = (number()?, number()?);
        Some(Skip { path: Path::new(words.next()?), begin, end })
    }

    /// Its line.
    pub fn line(self) -> String {
        format!("skip {:x} {:x} {}\n", self.begin, self.end, self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back() {
        let skip = Skip { path: Path::new("/opt/a b"), begin: 0x10, end: 0x20 };
        assert_eq!(skip.line(), "skip 10 20 /opt/a b\n");
        assert_eq!(Skip::parse("skip 10 20 /opt/a b"), Some(skip));
        assert_eq!(["nonsense", "skip z 1 /opt/c", "skip 1 2"].map(Skip::parse), [None; 3]);
    }
}
