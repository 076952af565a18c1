//! `array`: memory that PEs share as an array, which part of it each PE touches, and what a distribution makes local.

use std::ops::Range;

use partune_base::{Id, WindowId};
use partune_engine::{Affinity, Distributed, Fold};
use serde::Serialize;

use super::Ask;
use super::rows::Rows;
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Rows of PEs, columns of elements, and blocking factors that are tried for the curve.
const ROWS: usize = 256;
const COLUMNS: usize = 1024;
const FACTORS: u32 = 64;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Arrays {
    /// Windows and symmetric heaps whose accesses were all recorded with addresses.
    windows: Windows,
    /// The one that is asked for, or the first; none if there are none.
    array: Option<Array>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Windows {
    window: Vec<u32>,
    name: Vec<String>,
    pes: Vec<usize>,
    local_bytes: Vec<u64>,
    remote_bytes: Vec<u64>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Array {
    window: u32,
    elements: usize,
    element_bytes: u64,
    /// Elements on each PE, as recorded, and where the first begins there.
    each: usize,
    begin: u64,
    /// The distribution that is asked for: element i on PE ⌊i/block⌋ mod pes.
    block: usize,
    pes: usize,
    /// Elements on the PE that has most.
    largest: usize,
    /// Accesses to elements, all and those that are where they live: as recorded, as asked for, and at best. Not known where more PEs are asked for than there were.
    accesses: u64,
    recorded_local: u64,
    local: Option<u64>,
    best_block: Option<usize>,
    best_local: Option<u64>,
    factors: Factors,
    /// PEs in order of rank, how often each touches the elements of each column, and how often where they are at home as asked for.
    rows: Rows,
    touched: Vec<Vec<u64>>,
    at_home: Option<Vec<Vec<u64>>>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Factors {
    block: Vec<usize>,
    local: Vec<u64>,
}

pub(super) fn array(run: &Run, ask: &Ask<'_>) -> Result<Arrays, Error> {
    let (query, recorded) = (&ask.query, run.recorded());
    let mut windows = Windows::default();
    for it in recorded.shared_memory() {
        windows.window.push(it.window.0);
        windows.name.push(text::name(if it.name.is_empty() { it.group } else { it.name }));
        windows.pes.push(it.pes);
        windows.local_bytes.push(it.local);
        windows.remote_bytes.push(it.remote);
    }
    let asked = query.number("window", 0..=u32::MAX)?;
    let Some(window) = asked.or(windows.window.first().copied()) else { return Ok(Arrays { windows, array: None }) };
    let known = recorded.shared_array(WindowId::from_index(window as usize));
    let none = || Error::question("there is no such window with addresses", "runs/R/array lists them");
    let Distributed { array, pes: members, best } = known.as_ref().as_ref().ok_or_else(none)?;
    let elements = array.affinity.elements();
    let block = query.number("block", 1..=elements)?.unwrap_or(array.each);
    let pes = query.number("pes", 1..=1 << 20)?.unwrap_or(members.len());
    let columns = query.number("columns", 1..=COLUMNS)?.unwrap_or(256).min(elements);
    let rows = query.number("rows", 1..=ROWS)?.unwrap_or(64).min(ask.most);

    let other = (pes != members.len()).then(|| array.affinity.on(pes));
    let (asked, best) = match &other {
        None => (Some(&array.affinity), Some(*best)),
        Some(other) => (other.as_ref(), other.as_ref().and_then(Affinity::best)),
    };
    let (blocks, rest) = (elements / block, elements % block);
    let fold = Fold::new(members.clone(), rows);
    let column = |at: usize| (elements as u128 * at as u128 / columns as u128) as usize;
    let cells = |of: &dyn Fn(usize, Range<usize>) -> u64| -> Vec<Vec<u64>> {
        let mut ranks = 0..;
        let rows = fold.rows().map(|row| {
            let ranks: Vec<usize> = ranks.by_ref().take(row.len()).collect();
            let cell = |at: usize| ranks.iter().map(|rank| of(*rank, column(at)..column(at + 1))).sum();
            (0..columns).map(cell).collect()
        });
        rows.collect()
    };
    let touched = cells(&|rank, part| array.affinity.within(rank, part));
    let at_home = asked
        .as_ref()
        .map(|_| cells(&|rank, part| array.affinity.within_at(rank, part, (block, rank * pes / members.len(), pes))));
    Ok(Arrays {
        windows,
        array: Some(Array {
            window,
            elements,
            element_bytes: array.element,
            each: array.each,
            begin: array.begin,
            block,
            pes,
            largest: blocks / pes * block + if blocks % pes > 0 { block } else { rest },
            accesses: array.affinity.total(),
            recorded_local: array.affinity.blocking(array.each).local,
            local: asked.map(|it| it.blocking(block).local),
            best_block: best.map(|it| it.factor),
            best_local: best.map(|it| it.local),
            factors: asked.map(|it| factors(it, [block, array.each])).unwrap_or_default(),
            touched,
            at_home,
            rows: Rows::new(run, &fold),
        }),
    })
}

/// What factors make local: some of each magnitude, and those that are named.
fn factors(affinity: &Affinity, named: [usize; 2]) -> Factors {
    let elements = affinity.elements() as f64;
    let spread = (0..FACTORS).map(|at| elements.powf(f64::from(at) / f64::from(FACTORS - 1)).round() as usize);
    let mut block: Vec<usize> = spread.chain(named).collect();
    block.sort_unstable();
    block.dedup();
    let local = block.iter().map(|factor| affinity.blocking(*factor).local).collect();
    Factors { block, local }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use partune_engine::Request;
    use serde_json::{Value, json};

    use crate::runs::Runs;

    /// Four elements of eight bytes on each of two PEs. Each PE touches every other element: PE 0 those at 0, 2, 4, 6, PE 1 the others.
    fn runs() -> Runs {
        let gets = |pe: usize| -> String {
            let get = |turn: usize| {
                let element = 2 * turn + pe;
                let (to, addr, from) = (element / 4, element % 4 * 8, turn * 20);
                format!("shmem_getmem {from}..{} get(to={to}, bytes=8, addr={addr}) ", from + 10)
            };
            (0..4).map(get).collect()
        };
        let text = format!("pe 0: main 0..100 {{ {} }}\npe 1: main 0..100 {{ {} }}", gets(0), gets(1));
        let diagnosis = partune_engine::analyze(partune_testkit::trace(&text), &Request::default(), &());
        Runs::of(Path::new("array"), diagnosis)
    }

    fn asked(runs: &Runs, query: &str) -> Value {
        let answer = crate::answer(runs, "runs/0/array", query);
        serde_json::from_slice(&answer.unwrap_or_else(|error| panic!("{query}: {error:?}"))).expect("it is JSON")
    }

    #[test]
    fn who_touches_which_part_is_told() {
        let told = asked(&runs(), "");
        assert_eq!((&told["windows"]["local_bytes"], &told["windows"]["remote_bytes"]), (&json!([32]), &json!([32])));
        let array = &told["array"];
        assert_eq!((&array["elements"], &array["element_bytes"], &array["each"]), (&json!(8), &json!(8), &json!(4)));
        assert_eq!(array["touched"], json!([[1, 0, 1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1, 0, 1]]));
        assert_eq!(asked(&runs(), "columns=2")["array"]["touched"], json!([[2, 2], [2, 2]]));
        assert_eq!(asked(&runs(), "rows=1&columns=1")["array"]["touched"], json!([[8]]));
        assert_eq!((&array["recorded_local"], &array["accesses"]), (&json!(4), &json!(8)));
        // One element after the other is what the program does.
        assert_eq!((&array["best_block"], &array["best_local"]), (&json!(1), &json!(8)));
    }

    #[test]
    fn another_distribution_has_another_local_share() {
        let runs = runs();
        for (query, local, largest) in [
            ("", json!(4), 4),
            ("block=1", json!(8), 4),
            ("block=2", json!(4), 4),
            // PE 0 has elements 0, 1, 2 and 6, 7.
            ("block=3", json!(5), 5),
            ("block=8", json!(4), 8),
            ("block=1&pes=1", json!(8), 8),
            ("pes=4&block=1", Value::Null, 2),
        ] {
            let told = asked(&runs, query);
            let array = &told["array"];
            assert_eq!((&array["local"], &array["largest"]), (&local, &json!(largest)), "{query}");
            let cells = array["at_home"].as_array().map(|rows| {
                rows.iter().flat_map(|row| row.as_array().into_iter().flatten()).filter_map(Value::as_u64).sum::<u64>()
            });
            assert_eq!(cells, local.as_u64(), "{query}");
        }
        let told = asked(&runs, "block=5");
        let factors = &told["array"]["factors"];
        let at = factors["block"].as_array().and_then(|it| it.iter().position(|it| it == 5)).expect("it is there");
        assert_eq!(factors["local"][at], told["array"]["local"]);
        for wrong in ["window=7", "block=0", "block=9", "pes=0", "columns=0"] {
            assert!(crate::answer(&runs, "runs/0/array", wrong).is_err(), "{wrong}");
        }
    }
}
