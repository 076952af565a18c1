//! Where functions begin, by the index of unwind tables (`.eh_frame_hdr`), which stripped modules have too: tells functions without names apart.

use std::ops::Range;

use addr2line::gimli::{BaseAddresses, EhFrameHdr, LittleEndian, Pointer};
use object::{Object, ObjectSection, SectionFlags, elf};

/// The addresses at which functions begin, in order, and the code that they are in.
#[derive(Default)]
pub(crate) struct Starts {
    starts: Vec<u64>,
    code: Vec<Range<u64>>,
}

impl Starts {
    /// Of a module; no functions where it has no index, or a damaged one. Cost: a pass over the index.
    pub(crate) fn of(file: &object::File<'_>) -> Starts {
        let is_code =
            |flags| matches!(flags, SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(elf::SHF_EXECINSTR));
        let code = file.sections().filter(|section| is_code(section.flags()));
        let code = code.map(|section| section.address()..section.address().saturating_add(section.size())).collect();
        Starts { starts: Starts::read(file).unwrap_or_default(), code }
    }

    fn read(file: &object::File<'_>) -> Option<Vec<u64>> {
        let section = file.section_by_name(".eh_frame_hdr")?;
        let address = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(section.address())
            .set_eh_frame(address(".eh_frame"))
            .set_text(address(".text"));
        let word = if file.is_64() { 8 } else { 4 };
        let data = section.data().ok()?;
        let index = EhFrameHdr::new(data, LittleEndian).parse(&bases, word).ok()?;
        let table = index.table()?;
        let mut rows = table.iter(&bases);
        let mut starts = Vec::new();
        while let Ok(Some((start, _))) = rows.next() {
            if let Pointer::Direct(start) = start {
                starts.push(start);
            }
        }
        starts.sort_unstable();
        starts.dedup();
        Some(starts)
    }

    /// Whether two addresses are in one section of code.
    pub(crate) fn are_together(&self, one: u64, other: u64) -> bool {
        self.code.iter().any(|code| code.contains(&one) && code.contains(&other))
    }

    /// Where the function that an address is in begins; what lies between two functions belongs to the first.
    pub(crate) fn find(&self, address: u64) -> Option<u64> {
        let code = self.code.iter().find(|code| code.contains(&address))?;
        let start = self.starts[..self.starts.partition_point(|start| *start <= address)].last().copied()?;
        code.contains(&start).then_some(start)
    }
}
