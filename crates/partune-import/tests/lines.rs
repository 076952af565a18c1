//! A small text format, as an example of a reader and to test what readers share.
//!
//! Its files begin with the line `lines`; every other line is an event of a PE, in the order of time of that PE:
//!
//! ```text
//! PE TIME enter NAME
//! PE TIME leave NAME
//! PE TIME send TO TAG BYTES
//! PE TIME receive FROM TAG BYTES
//! ```

use std::ops::Range;

use partune_base::{GroupId, PeId, RegionId, StringId, Time};
use partune_diag::{Code, Diagnostic};
use partune_import::{
    Advance, Assembler, Faults, Files, Format, ImportError, Joined, RegionKey, Segment, Source, read, read_all,
};
use partune_paradigm::recognise;
use partune_trace::{NO_MATCHING, NO_REQUEST, Pe, PeKind, Process, Recv, Region, Send, Trace, TraceBuilder};
use rustc_hash::FxHashMap;

pub(crate) const FORMAT: Format = Format {
    name: "Lines",
    endings: &[".lines"],
    others: &[],
    detect: |_, head| head.starts_with(b"lines\n"),
    open: |files, name, advance| open(files, name, 1 << 20, advance),
    slices: None,
    around: None,
};

/// A file whose PEs and regions are known.
struct Lines {
    text: String,
    regions: FxHashMap<String, u64>,
    pes: usize,
    /// Bytes of a part, about.
    part: usize,
}

/// Reads a file, in parts of about so many bytes.
pub(crate) fn open(files: &dyn Files, name: &str, part: usize, advance: Advance<'_>) -> Result<Trace, ImportError> {
    let bytes = files.open(name).and_then(|file| read_all(file.as_ref()));
    let bytes = bytes.map_err(|error| ImportError::unreadable(name, &error))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut builder = TraceBuilder::default();
    let mut regions = FxHashMap::default();
    for line in text.lines().skip(1) {
        let mut words = line.split(' ');
        let pe: usize = words.next().and_then(|pe| pe.parse().ok()).unwrap_or(0);
        // No more PEs than lines: a number alone must not cost memory.
        while builder.pes.len() <= pe.min(text.len() / 8) {
            let pe = PeId(builder.pes.len() as u32);
            let (name, node) = (StringId::NONE, StringId::NONE);
            let process = builder.processes.push(Process { name, rank: Some(pe.0), node, pes: vec![pe] });
            builder.pes.push(Pe { name, kind: PeKind::Cpu, process, thread: 0, device: None, archive_id: pe.0.into() });
        }
        if let (Some("enter"), Some(name)) = (words.nth(1), words.next()) {
            regions.entry(name.to_owned()).or_insert_with(|| {
                let text = builder.strings.intern(name);
                let mut region = Region::of_user(text);
                if let Some(found) = recognise(name, None) {
                    region.paradigm = builder.strings.intern(found.paradigm.name);
                    (region.role, region.completion) = (found.construct.role, found.construct.completion);
                }
                u64::from(builder.regions.push(region).0)
            });
        }
    }
    let pes = builder.pes.len();
    Ok(read(Lines { text, regions, pes, part }, builder, advance))
}

impl Source for Lines {
    type Part = Range<usize>;
    type Beside = ();

    fn parts(&self) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let mut begin = self.text.find('\n').map_or(self.text.len(), |end| end + 1);
        while begin < self.text.len() {
            let least = self.text.as_bytes().iter().skip(begin + self.part).position(|byte| *byte == b'\n');
            let end = least.map_or(self.text.len(), |more| begin + self.part + more + 1);
            parts.push(begin..end);
            begin = end;
        }
        parts
    }

    fn size(&self, part: &Range<usize>) -> u64 {
        part.len() as u64
    }

    fn read(&self, part: &Range<usize>) -> Vec<(PeId, Segment<()>)> {
        let is_first = part.start <= "lines\n".len();
        let mut assemblers: Vec<Assembler<()>> = (0..self.pes).map(|_| Assembler::new(is_first)).collect();
        for line in self.text[part.clone()].lines() {
            self.line(&mut assemblers, line);
        }
        (0..).map(PeId).zip(assemblers.into_iter().map(Assembler::finish)).collect()
    }

    fn whole(&self, pe: PeId) -> Segment<()> {
        let mut assemblers: Vec<Assembler<()>> = (0..self.pes).map(|_| Assembler::new(true)).collect();
        for line in self.text.lines().skip(1) {
            self.line(&mut assemblers, line);
        }
        assemblers.swap_remove(pe.0 as usize).finish()
    }

    fn region(&self, _: PeId, key: RegionKey) -> RegionId {
        RegionId(key.0 as u32)
    }

    fn report(&self, joined: &[Joined<()>], builder: &mut TraceBuilder) {
        let mut faults = Faults::default();
        joined.iter().for_each(|joined| faults.add(joined.faults));
        faults.report("PE", &mut builder.quality);
        let bad = self.text.lines().skip(1).filter(|line| parse(line).is_none()).count() as u64;
        builder.quality.add(
            Diagnostic::data_loss(Code::MalformedRecords, "lines that say nothing were left out", "write them anew")
                .times(bad),
        );
    }
}

impl Lines {
    fn line(&self, assemblers: &mut [Assembler<()>], line: &str) {
        let Some((pe, time, what, words)) = parse(line) else { return };
        let Some(into) = assemblers.get_mut(pe) else { return };
        let time = into.at(Time(time));
        into.segment.stream.events += 1;
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<u32>().ok()).unwrap_or_default();
        let region = || words.first().and_then(|name| self.regions.get(*name)).map(|region| RegionKey(*region));
        let (visit, peer, tag, bytes) = (into.visit(), PeId(number(0)), number(1), u64::from(number(2)));
        let (group, request, matching) = (GroupId::NONE, NO_REQUEST, NO_MATCHING);
        match what {
            "enter" => region().into_iter().for_each(|region| into.enter(time, region)),
            "leave" => region().into_iter().for_each(|region| into.leave(time, region)),
            "send" => into.segment.stream.sends.push(Send { visit, time, peer, group, tag, bytes, request, matching }),
            _ => into.segment.stream.recvs.push(Recv { visit, time, peer, group, tag, bytes, request, matching }),
        }
    }
}

/// PE, time, what happened, and the rest of a line.
fn parse(line: &str) -> Option<(usize, i64, &str, Vec<&str>)> {
    let mut words = line.split(' ');
    let (pe, time, what) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?);
    let known = ["enter", "leave", "send", "receive"].contains(&what);
    known.then(|| (pe, time, what, words.collect()))
}
