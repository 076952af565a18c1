//! Instrumented functions that the user does not want to see.
//!
//! Names are known to the launcher only, which writes the addresses of what is to be left out into a file before the program
//! starts (`PARTUNE_FILTER`): lines `skip BEGIN END PATH`, addresses hexadecimal in the module's file. A function is looked up
//! once.

use std::path::{Path, PathBuf};

/// Ranges of addresses in files of modules.
#[derive(Debug, Default)]
pub(super) struct Filter {
    rows: Vec<(PathBuf, u64, u64)>,
}

/// A line of the filter file: code of the module at `path` that is to be left out.
pub fn skip(path: &Path, begin: u64, end: u64) -> String {
    format!("skip {begin:x} {end:x} {}\n", path.display())
}

impl Filter {
    /// What the launcher asked for; what cannot be read asks for nothing.
    pub(super) fn read() -> Filter {
        let text = std::env::var_os("PARTUNE_FILTER").and_then(|path| std::fs::read_to_string(path).ok());
        Filter::parse(&text.unwrap_or_default())
    }

    fn parse(text: &str) -> Filter {
        let row = |line: &str| {
            let mut words = line.strip_prefix("skip ")?.splitn(3, ' ');
            let mut number = || u64::from_str_radix(words.next()?, 16).ok();
            let (begin, end) = (number()?, number()?);
            Some((real(Path::new(words.next()?)), begin, end))
        };
        Filter { rows: text.lines().filter_map(row).collect() }
    }

    /// Whether the function at this address of a module is left out. Cost: the length of the filter.
    pub(super) fn leaves_out(&self, module: &str, address: u64) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        let module = real(Path::new(module));
        self.rows.iter().any(|(path, begin, end)| *path == module && (*begin..*end).contains(&address))
    }
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_launcher_writes_is_left_out() {
        let text = skip(Path::new("/opt/a b"), 0x10, 0x20) + "nonsense\nskip z 1 /opt/c\n";
        let filter = Filter::parse(&text);
        assert!(filter.leaves_out("/opt/a b", 0x10) && filter.leaves_out("/opt/a b", 0x1f));
        assert!(!filter.leaves_out("/opt/a b", 0x20) && !filter.leaves_out("/opt/c", 0));
        assert!(!Filter::parse("").leaves_out("/opt/a b", 0x10));
    }
}
