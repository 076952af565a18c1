//! `transfers`: what some PEs gave to others: sizes, how long it was on its way, and the messages themselves.

use partune_engine::{Between, First, TransferKind};
use serde::Serialize;

use super::Ask;
use super::rows::named;
use super::selection::Durations;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Messages and accesses that are listed.
const ROWS: usize = 500;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Transfers {
    count: u64,
    bytes: u64,
    seconds: f64,
    unmatched: u64,
    backwards: u64,
    sizes: Sizes,
    durations: Durations,
    rows: Rows,
    omitted: u64,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Sizes {
    from: Vec<u64>,
    to: Vec<Option<u64>>,
    count: Vec<u64>,
    bytes: Vec<u64>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Rows {
    kind: Vec<&'static str>,
    from_pe: Vec<Option<u32>>,
    sent: Vec<i64>,
    to_pe: Vec<Option<u32>>,
    received: Vec<i64>,
    bytes: Vec<u64>,
    tag: Vec<Option<u32>>,
    group: Vec<Option<String>>,
}

pub(super) fn transfers(run: &Run, ask: &Ask<'_>) -> Result<Transfers, Error> {
    run.needs_events()?;
    let recorded = run.recorded();
    let (givers, getters) = (named(run, &ask.query, "givers")?, named(run, &ask.query, "getters")?);
    let orders = [("slowest", First::Slowest), ("largest", First::Largest), ("earliest", First::Earliest)];
    let order = ask.query.word("order", &orders)?;
    let (between, first) = recorded.between(&givers, &getters, (order, ROWS.min(ask.most)));
    let Between { total, unmatched, backwards, .. } = between;
    let mut rows = Rows::default();
    for it in &first {
        let (tag, group) = match it.kind {
            TransferKind::Message { tag, group } => (Some(tag), recorded.group(group)),
            TransferKind::Put | TransferKind::Get | TransferKind::Atomic => (None, None),
        };
        rows.kind.push(it.kind.name());
        rows.from_pe.push(run.number(it.from));
        rows.sent.push(run.ns(it.begin));
        rows.to_pe.push(run.number(it.to));
        rows.received.push(run.ns(it.end));
        rows.bytes.push(it.bytes);
        rows.tag.push(tag);
        rows.group.push(group.map(|group| text::name(group.name)));
    }
    Ok(Transfers {
        count: total.count,
        bytes: total.bytes,
        seconds: run.seconds(total.time),
        unmatched,
        backwards,
        omitted: (total.count - unmatched).saturating_sub(rows.kind.len() as u64),
        sizes: sizes(&between),
        durations: Durations::new(&between.durations),
        rows,
    })
}

fn sizes(between: &Between) -> Sizes {
    let mut columns = Sizes::default();
    for row in &between.sizes {
        columns.from.push(row.from);
        columns.to.push(row.to);
        columns.count.push(row.count);
        columns.bytes.push(row.bytes);
    }
    columns
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::Value;

    use crate::runs::Runs;

    fn question(runs: &Runs, path: &str, query: &str) -> Value {
        let answer = crate::answer(runs, &format!("runs/0/{path}"), query);
        serde_json::from_slice(&answer.expect("it is answered")).expect("JSON")
    }

    /// Each cell of the matrix, by each measure, is the sum of what is told of it; so are the classes.
    #[test]
    fn the_sum_is_that_of_the_matrix() {
        let trace = partune_testkit::trace(
            "pe 0: main 0..900 { repeat 8 every 100 { MPI_Send 5..9 send(to=1, bytes=100) MPI_Recv 50..70 recv(from=2, bytes=8) } }
             pe 1: main 0..900 { repeat 8 every 100 { MPI_Recv 2..30 recv(from=0, bytes=100) } shmem_putmem 850..870 put(to=2, bytes=64, id=7) complete(7)@870 }
             pe 2: main 0..900 { repeat 8 every 100 { MPI_Send 45..49 send(to=0, bytes=8) } MPI_Send 880..881 send(to=1, bytes=3) }",
        );
        let runs = Runs::of(Path::new("three"), partune_engine::analyze(trace, &Request::default(), &()));
        for measure in ["count", "bytes", "seconds"] {
            let matrix = question(&runs, "matrix", &format!("by={measure}"));
            for from in 0..3 {
                for to in 0..3 {
                    let told = question(&runs, "transfers", &format!("givers={from}&getters={to}"));
                    let sum = told[measure].as_f64().expect("a number");
                    assert_eq!(matrix["cells"][from][to].as_f64(), Some(sum), "{measure} from {from} to {to}");
                }
            }
            assert_eq!(question(&runs, "transfers", "")[measure].as_f64(), matrix["total"].as_f64());
        }
        let told = question(&runs, "transfers", "givers=2&getters=0-1&order=earliest");
        assert_eq!((&told["count"], &told["unmatched"], &told["omitted"]), (&9.into(), &1.into(), &0.into()));
        assert_eq!(told["rows"]["sent"].as_array().map(Vec::len), Some(8));
        assert_eq!((&told["rows"]["sent"][0], &told["rows"]["received"][0]), (&45.into(), &70.into()));
        assert_eq!(told["rows"]["kind"][0], "message");
        for wrong in ["givers=3", "getters=", "order=late", "givers=0&givers=1"] {
            assert!(crate::answer(&runs, "runs/0/transfers", wrong).is_err(), "{wrong}");
        }
    }
}
