//! All tables of the paper: each relative error and average is computed from the printed times, and those that do not agree are exactly the known ones.

use partune_coupling::predict::{is_in_hull, relative_error};
use serde::Deserialize;

#[derive(Deserialize)]
struct Tables {
    coupling: Vec<Couplings>,
    prediction: Vec<Predictions>,
    inconsistency: Vec<Inconsistency>,
}

#[derive(Deserialize)]
struct Couplings {
    table: String,
    benchmark: String,
    class: String,
    chain_length: usize,
    procs: Vec<u32>,
    row: Vec<Chain>,
}

#[derive(Deserialize)]
struct Chain {
    chain: Vec<String>,
    c: Vec<f64>,
}

#[derive(Deserialize)]
struct Predictions {
    table: String,
    benchmark: String,
    class: String,
    procs: Vec<u32>,
    actual_s: Vec<f64>,
    row: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    method: String,
    chain_length: usize,
    time_s: Vec<f64>,
    err_pct: Vec<f64>,
    avg_err_pct_stated: Option<f64>,
}

#[derive(Deserialize)]
struct Inconsistency {
    table: String,
    row: String,
    r#where: String,
    printed: String,
    recomputed: String,
}

fn tables() -> Tables {
    toml::from_str(include_str!("tables.toml")).unwrap()
}

/// Half a unit of the last printed digit, and what rounding does to it.
const PRINTED: f64 = 0.005 + 1e-9;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn errors_and_averages() {
    let tables = tables();
    let (mut wrong, mut checked, mut averages) = (Vec::new(), 0, 0);
    for table in &tables.prediction {
        for row in &table.row {
            assert_eq!([row.time_s.len(), row.err_pct.len(), table.procs.len()], [table.actual_s.len(); 3]);
            let errors: Vec<f64> = row
                .time_s
                .iter()
                .zip(&table.actual_s)
                .map(|(time, actual)| 100.0 * relative_error(*time, *actual))
                .collect();
            let mut tell = |place: String, printed: f64, computed: f64| {
                wrong.push((
                    table.table.clone(),
                    format!("{} k={}", row.method, row.chain_length),
                    place,
                    printed,
                    computed,
                ));
            };
            for ((printed, computed), procs) in row.err_pct.iter().zip(&errors).zip(&table.procs) {
                checked += 1;
                if (printed - computed).abs() > PRINTED {
                    tell(format!("{procs} procs"), *printed, *computed);
                }
            }
            if let Some(stated) = row.avg_err_pct_stated {
                averages += 1;
                // Of errors, or of errors as printed.
                if [mean(&errors), mean(&row.err_pct)].iter().all(|computed| (stated - computed).abs() > PRINTED) {
                    tell("average".to_owned(), stated, mean(&errors));
                }
            }
        }
    }
    assert_eq!((tables.prediction.len(), checked, averages), (9, 82, 16));
    assert_eq!(wrong.len(), tables.inconsistency.len(), "{wrong:?}");
    for known in &tables.inconsistency {
        let is_it = |it: &&(String, String, String, f64, f64)| {
            (&it.0, &it.1, &it.2) == (&known.table, &known.row, &known.r#where)
        };
        let Some((.., printed, computed)) = wrong.iter().find(is_it) else {
            panic!("{} {} {} agrees", known.table, known.row, known.r#where);
        };
        assert_eq!(*printed, known.printed.parse::<f64>().unwrap());
        assert!((computed - known.recomputed.parse::<f64>().unwrap()).abs() < 5.1e-5, "{computed}");
    }
}

/// Predictions lie between the least and the largest printed coupling of their column; what is done once is not printed, and too little to matter.
#[test]
fn predictions_lie_between_their_couplings() {
    let tables = tables();
    let mut checked = 0;
    for couplings in &tables.coupling {
        assert!(
            couplings
                .row
                .iter()
                .all(|row| row.chain.len() == couplings.chain_length && row.c.len() == couplings.procs.len())
        );
        let is_it = |it: &&Predictions| (&it.benchmark, &it.class) == (&couplings.benchmark, &couplings.class);
        let table = tables.prediction.iter().find(is_it).unwrap();
        let row = |length: usize| table.row.iter().find(|row| row.chain_length == length).unwrap();
        for at in 0..couplings.procs.len() {
            let column = || couplings.row.iter().map(|row| row.c[at]);
            let hull = (column().fold(f64::INFINITY, f64::min), column().fold(0.0, f64::max));
            let share = row(couplings.chain_length).time_s[at] / row(1).time_s[at];
            assert!(is_in_hull(share, hull, 0.0), "{} {at}: {share} {hull:?}", couplings.table);
            checked += 1;
        }
    }
    assert_eq!(checked, 11);
}
