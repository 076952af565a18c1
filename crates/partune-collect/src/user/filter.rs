//! Instrumented functions that the user does not want to see.
//!
//! The launcher knows their names, and says their addresses in the file that [`partune_parts::filter`] describes. A function is looked up once.

use std::path::{Path, PathBuf};

use partune_parts::filter::Skip;

/// Ranges of addresses in files of modules.
#[derive(Debug, Default)]
pub(super) struct Filter {
    rows: Vec<(PathBuf, u64, u64)>,
}

impl Filter {
    /// What the launcher asked for; what cannot be read asks for nothing.
    pub(super) fn read() -> Filter {
        let text = std::env::var_os("PARTUNE_FILTER").and_then(|path| std::fs::read_to_string(path).ok());
        Filter::parse(&text.unwrap_or_default())
    }

    fn parse(text: &str) -> Filter {
        let row = |Skip { path, begin, end }: Skip<'_>| (real(path), begin, end);
        Filter { rows: text.lines().filter_map(Skip::parse).map(row).collect() }
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
        let filter = Filter::parse("skip 10 20 /opt/a b\nnonsense\nskip z 1 /opt/c\n");
        assert!(filter.leaves_out("/opt/a b", 0x10) && filter.leaves_out("/opt/a b", 0x1f));
        assert!(!filter.leaves_out("/opt/a b", 0x20) && !filter.leaves_out("/opt/c", 0));
        assert!(!Filter::parse("").leaves_out("/opt/a b", 0x10));
    }
}
