//! Sizes of transfers: how many of what size, by place, and how long the operations there take.
//!
//! A histogram by powers of four. Many small transfers at a place that takes long are the first thing to combine (theory 6.8; Su,
//! "Parallel Performance Wizard", chapter 5); whether they could be one, [`crate::small_transfers`] tells, which needs events.

use partune_base::{CallPathId, Span};
use partune_trace::Transfers;

use crate::sums::{OperationSums, size_classes};
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Scalar, Section, SectionShape, Shape, TableShape, Unit, Values,
};

/// Rows of the table of places.
const ROWS: usize = 1000;

pub(crate) static TRANSFER_SIZES: Analysis = Analysis {
    name: "transfer_sizes",
    title: "Sizes of transfers: how many of what size, and where",
    docs: DOCS,
    finds: false,
    needs: Needs::Sums,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "transfer_sizes",
    scalars: &[("transfers", Unit::Count), ("small_share", Unit::Ratio), ("small_place_seconds", Unit::Seconds)],
    tables: &[
        TableShape { name: "sizes", columns: &[("bytes", Shape::BYTES), ("transfers", Shape::Count)] },
        TableShape {
            name: "sized_places",
            columns: &[
                ("callpath", Shape::Path),
                ("transfers", Shape::Count),
                ("small", Shape::Count),
                ("mean_bytes", Shape::BYTES),
                ("seconds", Shape::SECONDS),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Sizes of transfers

A transfer is a message sent, a message received, a part in a collective that moves something, an access to memory of another PE or to a file. It counts where
its operation is, a non-blocking receive or collective where it completes; its size is the larger of what went and what came.

Table `sizes` counts transfers from `bytes` up to four times that; `sized_places` has for each place their number, those smaller than
1024 bytes (`small_bytes`, taken down to a power of four), their mean size and the time of all operations there (at most
1000 rows, longest first). Scalars: `transfers`, `small_share` of them, and `small_place_seconds`, the time of operations at places
where most transfers are small.

**Source**: frequency analysis of PPW (Su, chapter 5).
";

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let small = Transfers::class(input.options.small_bytes);
    let is_small = |transfers: &Transfers| transfers.sizes.iter().take(small).sum::<u64>();
    let mut all = OperationSums::default();
    let mut rows: Vec<(CallPathId, OperationSums)> = Vec::new();
    for (path, sums) in input.operations().iter_ids().filter(|(_, sums)| sums.transfers.count > 0) {
        all.merge(sums);
        rows.push((path, *sums));
    }
    if rows.is_empty() {
        return Outcome::default();
    }
    rows.sort_unstable_by_key(|(path, sums)| (std::cmp::Reverse(sums.time), *path));
    let mut section = Section { name: "transfer_sizes", ..Section::default() };
    let clock = trace.clock();
    let mostly = rows.iter().filter(|(_, sums)| 2 * is_small(&sums.transfers) > sums.transfers.count);
    let mostly: Span = mostly.map(|(_, sums)| sums.time).sum();
    let share = is_small(&all.transfers) as f64 / all.transfers.count as f64;
    section.scalars.push(Scalar::new("transfers", Unit::Count, all.transfers.count as f64));
    section.scalars.push(Scalar::new("small_share", Unit::Ratio, share));
    section.scalars.push(Scalar::new("small_place_seconds", Unit::Seconds, clock.seconds(mostly)));
    let used = all.transfers.sizes.iter().zip(size_classes()).filter(|(count, _)| **count > 0);
    let (counts, least): (Vec<u64>, Vec<f64>) = used.map(|(count, least)| (*count, least as f64)).unzip();
    section.tables.push(DataTable {
        name: "sizes",
        columns: vec![Column::bytes("bytes", least), Column::new("transfers", Values::Count(counts))],
    });
    if rows.len() > ROWS {
        section.notes.push(format!("the table lists the longest {ROWS} of {} places", rows.len()));
        rows.truncate(ROWS);
    }
    let count = |of: &dyn Fn(&Transfers) -> u64| Values::Count(rows.iter().map(|(_, it)| of(&it.transfers)).collect());
    let mean = rows.iter().map(|(_, it)| it.transfers.bytes() as f64 / it.transfers.count as f64).collect();
    section.tables.push(DataTable {
        name: "sized_places",
        columns: vec![
            Column::new("callpath", Values::Path(rows.iter().map(|row| row.0).collect())),
            Column::new("transfers", count(&|it| it.count)),
            Column::new("small", count(&is_small)),
            Column::bytes("mean_bytes", mean),
            Column::seconds("seconds", rows.iter().map(|(_, it)| clock.seconds(it.time)).collect()),
        ],
    });
    Outcome { findings: Vec::new(), sections: vec![section] }
}
