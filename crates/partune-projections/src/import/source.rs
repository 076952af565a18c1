//! The logs as a source: a part is the log of a PE, read piece by piece.

use std::ops::ControlFlow;

use partune_base::{PeId, RegionId};
use partune_import::{Assembler, Files, Joined, RegionKey, Segment, Source, read_text};
use partune_trace::TraceBuilder;

use super::decode::Decoder;
use super::kept::{Ended, Kept};
use super::logs::Log;
use super::messages::{self, Creation, Receipt};
use super::objects::{self, Objects};
use super::reductions;
use super::report;
use super::tables::Tables;
use crate::codec::Lines;

pub(super) struct Logs<'a> {
    files: &'a dyn Files,
    /// By PE.
    of_pes: Vec<Option<Log>>,
    tables: Tables,
    /// The end of the run, in microseconds.
    end: Option<i64>,
}

impl<'a> Logs<'a> {
    pub(super) fn new(files: &'a dyn Files, of_pes: Vec<Option<Log>>, tables: Tables, end: Option<i64>) -> Logs<'a> {
        Logs { files, of_pes, tables, end }
    }

    fn log(&self, pe: PeId) -> Option<&Log> {
        self.of_pes.get(pe.0 as usize)?.as_ref()
    }
}

impl Source for Logs<'_> {
    type Part = PeId;
    type Beside = Kept;

    fn parts(&self) -> Vec<PeId> {
        (0..self.of_pes.len() as u32).map(PeId).filter(|pe| self.log(*pe).is_some()).collect()
    }

    fn size(&self, pe: &PeId) -> u64 {
        self.log(*pe).map_or(0, |log| log.size)
    }

    fn read(&self, pe: &PeId) -> Vec<(PeId, Segment<Kept>)> {
        vec![(*pe, self.whole(*pe))]
    }

    fn whole(&self, pe: PeId) -> Segment<Kept> {
        let Some(log) = self.log(pe) else { return Assembler::new(true).finish() };
        let (mut decoder, mut lines) = (Decoder::new(&self.tables), Lines::default());
        let mut ended = Ended::default();
        // How many records the first line says that there are at least.
        let mut claimed = None;
        let read = self.files.open(&log.name).and_then(|file| {
            read_text(&*file, |piece, _| {
                lines.feed(piece, |line| {
                    if claimed.is_none() {
                        ended.refused = !line.text.starts_with(super::LOG);
                        claimed = Some(line.numbers.get(1).copied().unwrap_or(0));
                    }
                    if !ended.refused {
                        decoder.read(line);
                    }
                });
                if ended.refused { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        let counts = lines.finish();
        ended.failed = read.err().map(|error| error.to_string());
        ended.refused |= claimed.is_none();
        ended.early = counts.cut || claimed.is_some_and(|claimed| decoder.records().cast_signed() < claimed);
        decoder.faults().endless_lines += counts.endless;
        decoder.finish(ended)
    }

    fn region(&self, _: PeId, key: RegionKey) -> RegionId {
        self.tables.region(key)
    }

    fn report(&self, joined: &[Joined<Kept>], builder: &mut TraceBuilder) {
        let unknown: std::collections::BTreeSet<RegionKey> =
            joined.iter().flat_map(Joined::beside).flat_map(|(kept, _)| kept.unknown.iter().copied()).collect();
        self.tables.add_others(unknown.into_iter(), builder);
        report::logs(joined, &self.of_pes, self.end, &mut builder.quality);
    }

    fn complete(self, beside: Vec<Kept>, builder: &mut TraceBuilder) {
        let (mut creations, mut receipts): (Vec<Vec<Creation>>, Vec<Vec<Receipt>>) = (Vec::new(), Vec::new());
        let mut objects: Vec<Objects> = Vec::new();
        let mut results = Vec::new();
        for kept in beside {
            creations.push(kept.creations);
            receipts.push(kept.receipts);
            results.push(kept.results);
            objects.push(kept.objects);
        }
        let contributions = reductions::resolve(&mut creations, &mut receipts, &results);
        for (stream, contributions) in builder.streams.iter_mut().zip(contributions) {
            stream.contributions = contributions;
        }
        let alone = messages::join(&creations, &receipts, &self.tables, builder);
        report::alone(alone, &mut builder.quality);
        objects::number(&objects, &self.tables.chares, builder);
    }
}
