//! Files: who opened, read and wrote which, how much at a time, in which order, and what it took.
//!
//! After the counters of Darshan, whose users know them. One walk over the rows of a PE; PEs are added up in order. What is kept grows with files, PEs that use them, and different sizes of accesses.

use std::collections::BTreeMap;

use partune_base::{FileId, PeId, Span};
use partune_trace::{HandleKind, IoKind, Stream, Trace, VisitIx};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::file_findings;
use crate::fold::{Fold, fold};
use crate::queries::Query;
use crate::useful::cpu_pes;
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values,
};

pub(crate) static FILES: Analysis = Analysis {
    name: "files",
    title: "Files: who read and wrote what, how, and what it took",
    docs: DOCS,
    finds: true,
    needs: Needs::Queries,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "files",
    scalars: &[
        ("files", Unit::Count),
        ("read_bytes", Unit::Bytes),
        ("written_bytes", Unit::Bytes),
        ("seconds", Unit::Seconds),
    ],
    tables: &[TableShape {
        name: "file_table",
        columns: &[
            ("file", Shape::Name),
            ("pes", Shape::Count),
            ("opens", Shape::Count),
            ("reads", Shape::Count),
            ("writes", Shape::Count),
            ("seeks", Shape::Count),
            ("syncs", Shape::Count),
            ("read_bytes", Shape::BYTES),
            ("written_bytes", Shape::BYTES),
            ("read_seconds", Shape::SECONDS),
            ("write_seconds", Shape::SECONDS),
            ("other_seconds", Shape::SECONDS),
            ("smallest_bytes", Shape::BYTES),
            ("largest_bytes", Shape::BYTES),
            ("common_bytes", Shape::BYTES),
            ("common_accesses", Shape::Count),
            ("placed", Shape::Count),
            ("consecutive", Shape::Count),
            ("sequential", Shape::Count),
            ("unaligned", Shape::Count),
        ],
    }],
}];

const DOCS: &str = "\
# Files

A row for each file that was opened, read, written or synchronised, the one with most time first; summed over PEs.

| column | meaning |
|---|---|
| file | its path, as the recorder tells it |
| pes | PEs that did something with it |
| opens, seeks, syncs | handles that were opened and positioned; accesses that send what was written to the device (`fsync`), or to the system (`fflush`) |
| reads, writes, read_bytes, written_bytes | accesses, and the bytes that they moved, which may be fewer than were asked for |
| read_seconds, write_seconds, other_seconds | time in operations that read, wrote, and opened, closed, positioned or synchronised; not that of locks, `ftruncate` and `mmap` |
| smallest_bytes, largest_bytes | of one access |
| common_bytes, common_accesses | the size that most accesses had, and how many; of equal ones the larger |
| placed | accesses of which is known where they begin; what follows is counted among them |
| consecutive | accesses that begin where the last one of the same PE and kind (read, write) to the file ended |
| sequential | accesses that begin there or behind it |
| unaligned | accesses that do not begin at a multiple of 4096 bytes (`file_block`) |

The first access of a PE has none before it, and is neither consecutive nor sequential. An operation that is in another one (what MPI-IO does below) is part of that.

`small_accesses`: a PE made at least 100 (`file_accesses`) accesses of fewer than 4096 bytes (`file_block`) to a file at one call path, each a call of the
system (streams of the C library gather them, and are not blamed), and at least half of those that have one before them followed it or lay behind. Lost is what they took, less what as many bytes in blocks of 1 MiB would
take (`combined_seconds`) by *t(s) = o + G s*, the least-squares line through all such accesses of the kind; without a line (sizes do not differ, or it explains less than half of the variance) by what one takes on average.

`serial_io`: one PE has at least nine tenths of all time on files, and PEs of other processes waited for it meanwhile. Lost is their waiting while it read or wrote; waits have findings as well.

`same_file_read_by_all`: every process read exactly the same bytes of a file, at least one block in all. Lost is the time of all but the process that took longest.

`sync_in_loop`: a PE sent what was written to the device at least 10 times (`file_syncs`) at one call path. Lost is all but one time on average. `fflush` hands
what a stream gathered to the system and no farther: it costs what a write costs, and counts as one (`input_output`).

**Source**: Darshan (Carns et al.) for the table and its counters; LogGP (Alexandrov et al.) for the line.
";

/// What PEs did with one file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Use {
    opens: u64,
    reads: u64,
    writes: u64,
    seeks: u64,
    syncs: u64,
    bytes: [u64; 2],
    /// Reading, writing, and all else.
    time: [Span; 3],
    smallest: Option<u64>,
    largest: u64,
    /// Accesses by their size.
    sizes: BTreeMap<u64, u64>,
    placed: u64,
    consecutive: u64,
    sequential: u64,
    unaligned: u64,
}

impl Use {
    fn add(&mut self, more: Use) {
        self.opens += more.opens;
        self.reads += more.reads;
        self.writes += more.writes;
        self.seeks += more.seeks;
        self.syncs += more.syncs;
        self.bytes.iter_mut().zip(more.bytes).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.time.iter_mut().zip(more.time).for_each(|(sum, more)| *sum += more);
        self.smallest = [self.smallest, more.smallest].into_iter().flatten().min();
        self.largest = self.largest.max(more.largest);
        more.sizes.into_iter().for_each(|(size, count)| *self.sizes.entry(size).or_default() += count);
        self.placed += more.placed;
        self.consecutive += more.consecutive;
        self.sequential += more.sequential;
        self.unaligned += more.unaligned;
    }

    fn follow(&mut self, follows: Follows) {
        self.consecutive += u64::from(follows.at_end);
        self.sequential += u64::from(follows.ahead);
    }

    fn time(&self) -> Span {
        self.time.iter().copied().sum()
    }
}

/// What PEs did with files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Uses {
    of_files: BTreeMap<FileId, Use>,
    /// Of each PE that did something with a file, the ends of what it read, and of what it wrote.
    ends: BTreeMap<(FileId, PeId), [Option<Extent>; 2]>,
}

/// Where the first of some placed accesses of a PE begins, and where the last one ends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Extent {
    begin: u64,
    end: u64,
}

impl Extent {
    /// Of one access.
    pub(crate) fn of(offset: u64, bytes: u64) -> Extent {
        Extent { begin: offset, end: offset.saturating_add(bytes) }
    }

    /// Adds what comes next; how it follows what was there, if both are something.
    pub(crate) fn join(sum: &mut Option<Extent>, next: Option<Extent>) -> Option<Follows> {
        let next = next?;
        let before = sum.replace(Extent { begin: sum.map_or(next.begin, |sum| sum.begin), ..next })?;
        Some(Follows { at_end: next.begin == before.end, ahead: next.begin >= before.end })
    }
}

/// How an access follows the one before it.
#[derive(Clone, Copy)]
pub(crate) struct Follows {
    /// It begins where that ended.
    pub(crate) at_end: bool,
    /// Or behind.
    pub(crate) ahead: bool,
}

impl Query for Uses {
    fn of(input: &Input<'_>) -> Uses {
        let trace = input.trace;
        let pes = if trace.files().is_empty() { Vec::new() } else { cpu_pes(trace) };
        fold(&UsesOf { trace, block: input.options.file_block }, pes)
    }

    fn add(&mut self, next: Uses) {
        next.of_files.into_iter().for_each(|(file, it)| self.of_files.entry(file).or_default().add(it));
        for ((file, pe), ends) in next.ends {
            let sums = self.ends.entry((file, pe)).or_default();
            for follows in sums.iter_mut().zip(ends).filter_map(|(sum, next)| Extent::join(sum, next)) {
                self.of_files.entry(file).or_default().follow(follows);
            }
        }
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    if trace.files().is_empty() {
        return Outcome::default();
    }
    let uses = input.file_uses();
    let mut rows: Vec<(FileId, &Use)> = uses.of_files.iter().map(|(file, it)| (*file, it)).collect();
    if rows.is_empty() {
        return Outcome::default();
    }
    rows.sort_by_key(|(file, it)| (std::cmp::Reverse(it.time()), *file));
    let sections = vec![section(trace, &rows, &uses.ends)];
    Outcome { findings: file_findings::find(input), sections }
}

fn section(trace: &Trace, rows: &[(FileId, &Use)], of_pes: &BTreeMap<(FileId, PeId), [Option<Extent>; 2]>) -> Section {
    let pes = |file: FileId| of_pes.range((file, PeId(0))..=(file, PeId::NONE)).count() as u64;
    let count = |of: &dyn Fn(&Use) -> u64| Values::Count(rows.iter().map(|(_, it)| of(it)).collect());
    let bytes =
        |of: &dyn Fn(&Use) -> u64| Values::Number(Unit::Bytes, rows.iter().map(|(_, it)| of(it) as f64).collect());
    let seconds = |of: &dyn Fn(&Use) -> Span| {
        Values::Number(Unit::Seconds, rows.iter().map(|(_, it)| trace.clock().seconds(of(it))).collect())
    };
    let common =
        |it: &Use| it.sizes.iter().max_by_key(|(size, count)| (**count, **size)).map_or((0, 0), |(a, b)| (*a, *b));
    let columns = [
        ("file", Values::Name(rows.iter().map(|(file, _)| trace.files()[*file].name).collect())),
        ("pes", Values::Count(rows.iter().map(|(file, _)| pes(*file)).collect())),
        ("opens", count(&|it| it.opens)),
        ("reads", count(&|it| it.reads)),
        ("writes", count(&|it| it.writes)),
        ("seeks", count(&|it| it.seeks)),
        ("syncs", count(&|it| it.syncs)),
        ("read_bytes", bytes(&|it| it.bytes[0])),
        ("written_bytes", bytes(&|it| it.bytes[1])),
        ("read_seconds", seconds(&|it| it.time[0])),
        ("write_seconds", seconds(&|it| it.time[1])),
        ("other_seconds", seconds(&|it| it.time[2])),
        ("smallest_bytes", bytes(&|it| it.smallest.unwrap_or(0))),
        ("largest_bytes", bytes(&|it| it.largest)),
        ("common_bytes", bytes(&|it| common(it).0)),
        ("common_accesses", count(&|it| common(it).1)),
        ("placed", count(&|it| it.placed)),
        ("consecutive", count(&|it| it.consecutive)),
        ("sequential", count(&|it| it.sequential)),
        ("unaligned", count(&|it| it.unaligned)),
    ];
    let sum = |of: &dyn Fn(&Use) -> f64| rows.iter().map(|(_, it)| of(it)).sum::<f64>();
    let columns = columns.into_iter().map(|(name, values)| Column::new(name, values)).collect();
    Section {
        name: "files",
        scalars: vec![
            Scalar::new("files", Unit::Count, rows.len() as f64),
            Scalar::new("read_bytes", Unit::Bytes, sum(&|it| it.bytes[0] as f64)),
            Scalar::new("written_bytes", Unit::Bytes, sum(&|it| it.bytes[1] as f64)),
            Scalar::new("seconds", Unit::Seconds, trace.clock().seconds(rows.iter().map(|(_, it)| it.time()).sum())),
        ],
        tables: vec![DataTable { name: "file_table", columns }],
        ..Section::default()
    }
}

/// What PEs of a trace did with files.
struct UsesOf<'a> {
    trace: &'a Trace,
    block: u64,
}

impl Fold for UsesOf<'_> {
    type Part = PeId;
    type Partial = Uses;
    type Output = Uses;
    type Room = ();

    fn room(&self) {}

    fn map(&self, (): &mut (), pe: PeId) -> Uses {
        let stream = &self.trace.streams()[pe];
        let mut uses: BTreeMap<FileId, (Use, [Option<Extent>; 2])> = BTreeMap::new();
        let mut timed = Timed { stream, told: FxHashSet::default() };
        for row in accesses(stream) {
            let took = timed.take(row.visit);
            let Some(file) = row.file.some() else { continue };
            let (it, ends) = uses.entry(file).or_default();
            match row.kind {
                IoKind::Read => {
                    it.reads += 1;
                    it.bytes[0] = it.bytes[0].saturating_add(row.bytes);
                    it.time[0] += took;
                }
                IoKind::Write => {
                    it.writes += 1;
                    it.bytes[1] = it.bytes[1].saturating_add(row.bytes);
                    it.time[1] += took;
                }
                IoKind::Flush => {
                    it.syncs += 1;
                    it.time[2] += took;
                    continue;
                }
            }
            it.smallest = Some(it.smallest.map_or(row.bytes, |least| least.min(row.bytes)));
            it.largest = it.largest.max(row.bytes);
            *it.sizes.entry(row.bytes).or_default() += 1;
            let Some(offset) = row.offset else { continue };
            it.placed += 1;
            it.unaligned += u64::from(self.block > 0 && offset % self.block != 0);
            let ends = &mut ends[usize::from(row.kind == IoKind::Write)];
            if let Some(follows) = Extent::join(ends, Some(Extent::of(offset, row.bytes))) {
                it.follow(follows);
            }
        }
        for row in &stream.handles {
            let took = timed.take(row.visit);
            let Some(file) = row.file.some() else { continue };
            let (it, _) = uses.entry(file).or_default();
            it.time[2] += took;
            it.opens += u64::from(row.kind == HandleKind::Opened);
            it.seeks += u64::from(matches!(row.kind, HandleKind::Positioned(_)));
        }
        let mut of_pe = Uses::default();
        for (file, (it, ends)) in uses {
            of_pe.of_files.insert(file, it);
            of_pe.ends.insert((file, pe), ends);
        }
        of_pe
    }

    fn merge(&self, all: &mut Uses, next: Uses) {
        all.add(next);
    }

    fn finish(&self, all: Option<Uses>) -> Uses {
        all.unwrap_or_default()
    }
}

/// The accesses of a PE but for those that are made inside of another one.
pub(crate) fn accesses(stream: &Stream) -> impl Iterator<Item = &partune_trace::IoTransfer> {
    let mut last: Option<&partune_trace::IoTransfer> = None;
    stream.io.iter().filter(move |row| {
        let is_inside = last.is_some_and(|outer| {
            row.visit.is_some() && outer.visit == row.visit && outer.layer != row.layer && row.end <= outer.end
        });
        if !is_inside {
            last = Some(row);
        }
        !is_inside
    })
}

/// The time of operations, each once.
struct Timed<'a> {
    stream: &'a Stream,
    told: FxHashSet<VisitIx>,
}

impl Timed<'_> {
    fn take(&mut self, visit: VisitIx) -> Span {
        let is_new = visit.is_some() && self.told.insert(visit);
        self.stream.visits.get(visit).filter(|_| is_new).map_or(Span::ZERO, partune_trace::Visit::duration)
    }
}
