//! Debug data that lie: mutations of real programs, through the body of the fuzz target.

use partune_symbols::{Module, NoFiles, Storage};

use crate::programs::Program;

#[path = "../../../fuzz/symbols.rs"]
mod symbols;

/// A small generator, so that every run sees the same damage.
struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below.max(1) as u64) as usize
    }
}

/// Where the debug data and symbols are: damage elsewhere is not read.
fn tables(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    use object::{Object, ObjectSection};
    let file = object::File::parse(bytes).unwrap();
    let interesting = |name: &str| name.starts_with(".debug") || name.contains("sym") || name.contains("str");
    let sections = file.sections().filter(|section| section.name().is_ok_and(interesting));
    sections.filter_map(|section| section.file_range()).map(|(at, size)| at as usize..(at + size) as usize).collect()
}

#[test]
fn mutations_never_panic() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (name, flags) in [
        ("heat.c", &["-g", "-O2"][..]),
        ("heat.c", &["-gdwarf-4", "-O2", "-gz=zlib"]),
        ("waves.f90", &["-g", "-O1"]),
        ("shapes.cc", &["-g", "-O2"]),
    ] {
        let program = Program::compile(name, flags);
        let tables = tables(&program.bytes);
        assert!(tables.len() > 5);
        for round in 0..120 {
            let mut bytes = program.bytes.clone();
            for _ in 0..=round % 8 {
                let table = &tables[random.next(tables.len())];
                let at = table.start + random.next(table.len());
                bytes[at] = match round % 3 {
                    0 => random.next(256) as u8,
                    1 => bytes[at] ^ (1 << random.next(8)),
                    _ => 0xff,
                };
            }
            if round % 16 == 0 {
                bytes.truncate(random.next(bytes.len()));
            }
            if round % 10 == 0 {
                let at = random.next(64.min(bytes.len()));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.next(8);
                }
            }
            symbols::elf(&bytes);
        }
    }
}

/// Inlined functions, a hundred thousand deep: a reader that recurses would overflow its stack.
#[test]
fn endless_nesting_is_damage() {
    use object::{Object, ObjectSection};
    let program = Program::compile("heat.c", &["-g", "-O2"]);
    let mut bytes = program.bytes.clone();
    let (info, abbreviations) = {
        let file = object::File::parse(&*program.bytes).unwrap();
        let range = |name| file.section_by_name(name).unwrap().file_range().unwrap();
        (range(".debug_info"), range(".debug_abbrev"))
    };
    // A unit (code 1), a function that starts at 0 and never ends (code 2), inlined functions without attributes (3).
    let table: &[u8] = &[
        1, 0x11, 1, 0, 0, // compile unit with children
        2, 0x2e, 1, 0x11, 0x01, 0x12, 0x01, 0, 0, // subprogram: low_pc, high_pc as addresses
        3, 0x1d, 1, 0, 0, 0,
    ];
    bytes[abbreviations.0 as usize..][..table.len()].copy_from_slice(table);
    // The entries go to the end of the file; the section header is made to point there.
    let mut unit = vec![5, 0, 1, 8, 0, 0, 0, 0, 1, 2];
    unit.extend_from_slice(&0u64.to_le_bytes());
    unit.extend_from_slice(&u64::MAX.to_le_bytes());
    unit.resize(unit.len() + 100_000, 3);
    let mut section = (unit.len() as u32).to_le_bytes().to_vec();
    section.append(&mut unit);
    let moved = bytes.len() as u64;
    let headers = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
    let header = bytes[headers..].chunks(64).position(|header| header[24..32] == info.0.to_le_bytes()).unwrap();
    let header = headers + header * 64;
    bytes[header + 24..header + 32].copy_from_slice(&moved.to_le_bytes());
    bytes[header + 32..header + 40].copy_from_slice(&(section.len() as u64).to_le_bytes());
    bytes.append(&mut section);

    let storage = Storage::new();
    let module = Module::parse(&program.path, &bytes, &NoFiles, &storage).unwrap();
    assert!(!module.has_debug_data());
    assert_eq!(module.quality().entries().len(), 1);
    symbols::elf(&bytes);
}
