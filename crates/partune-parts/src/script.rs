//! Functions of an interpreted language among the modules: each is one, and an address in it is a line and an instruction.
//!
//! So call paths have one form, whatever runs; the path of such a module begins with what no file's does.

use std::fmt;

const BEGIN: &str = "<script>:";

/// A function of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script<'a> {
    pub name: &'a str,
    pub file: &'a str,
    /// Where it begins.
    pub line: u32,
}

impl fmt::Display for Script<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGIN}{}:{}:{}", self.line, self.name, self.file)
    }
}

impl<'a> Script<'a> {
    /// None if the path is that of a file.
    pub fn parse(path: &'a str) -> Option<Script<'a>> {
        let (line, rest) = path.strip_prefix(BEGIN)?.split_once(':')?;
        let (name, file) = rest.split_once(':')?;
        Some(Script { name, file, line: line.parse().ok()? })
    }
}

/// Bits of the instruction in an address.
const INSTRUCTION: u32 = 24;

/// The address of an instruction that a line is of.
pub fn address(line: u32, instruction: usize) -> u64 {
    u64::from(line) << INSTRUCTION | (instruction as u64 & ((1 << INSTRUCTION) - 1))
}

/// The line of an address.
pub fn line(address: u64) -> u32 {
    (address >> INSTRUCTION) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let script = Script { name: "A.<locals>.f", file: "/a:b/c d.py", line: 7 };
        assert_eq!(Script::parse(&script.to_string()), Some(script));
        for path in ["/usr/bin/python3", "<script>:", "<script>:x:y:z", ""] {
            assert_eq!(Script::parse(path), None, "{path}");
        }
        assert_eq!(line(address(42, 9)), 42);
    }
}
