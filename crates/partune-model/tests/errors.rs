//! What is wrong with a model is said, in the right place, and nothing panics.

use std::path::Path;

use partune_model::estimate::{bounds, closed_form};
use partune_model::simulate::{Options, simulate};

#[path = "../../../fuzz/model.rs"]
mod fuzz;

use crate::support::{Random, model, read, values};

/// A model and what must be said of it.
const WRONG: &[(&str, &str)] = &[
    ("main = use(q, 1);", "no resource `q`"),
    ("resource cpu; main = use(cpi, 1);", "no resource `cpi`"),
    ("main = delay(1/0);", "division by zero"),
    ("main = delay(-1);", "negative"),
    ("main = delay(7 mod 0);", "division by zero"),
    ("let f(x) = f(x); main = delay(f(1));", "defined by itself"),
    ("param N: int; param N: int; main = skip;", "already defined"),
    ("main = choose { 0.5: skip, 0.6: delay(1) };", "sum to"),
    ("main = while (prob(1)) delay(1);", "never ends"),
    ("resource r[4]; main = use(r[4], 1);", "indices 0 to 3"),
    ("resource r[4]; main = use(r[1, 2], 1);", "dimension"),
    ("resource r; main = par (i = 1, 1.5) use(r, 1);", "integer"),
    ("main = delay(99999999999999999999999999999999999999999999);", "38 digits"),
    ("main = delay(2^200);", ""),
    ("param p: prob = 2; main = skip", "`;` expected"),
    ("let x = 3;", "no `main`"),
    ("main = use(r;", "expected"),
    ("table t = [1, 2]; main = delay(t[2]);", "entries 0 to 1"),
    ("main = delay(log2(0));", "logarithm"),
    ("resource r * 0; main = use(r, 1);", "at least one"),
];

#[test]
fn errors_are_told() {
    for (source, wanted) in WRONG {
        let (found, diagnostics) = read(source, &values(&[]));
        assert!(found.is_none() && !diagnostics.is_empty(), "{source}");
        assert!(diagnostics.iter().any(|one| one.message.contains(wanted)), "{source}: {diagnostics:?}");
    }
}

#[test]
fn errors_at_run_time_are_told() {
    for (source, wanted) in [
        ("resource r[4]; main = par (i = 1, 9) use(r[i], 1);", "indices 0 to 3"),
        ("main = seq (i = 1, 9) delay(5 - i);", "negative"),
        ("main = seq (i = 0, 1) delay(3 div i);", "division by zero"),
        ("main = seq (i = 9000000000000000000, 9000000000000000001) delay(i*i*i);", "38 digits"),
        ("resource r; main = par (i = 1, 1000000000000) { use(r, 1); use(r, 1) };", "more than"),
        ("proc f(n) = f(n + 1); main = f(0);", "more than"),
    ] {
        let model = model(source, &[]);
        let options = Options { max_steps: 1_000_000, max_processes: 100_000, ..Options::default() };
        let error = simulate(&model, &model.alternatives[0].term, &options).unwrap_err();
        assert!(error.message.contains(wanted), "{source}: {error:?}");
    }
    let endless = model("proc f(n) = f(n + 1); main = f(0);", &[]);
    assert!(bounds(&endless, &endless.alternatives[0].term).is_err());
    assert!(!closed_form(&endless, &endless.alternatives[0].term).weaker.is_empty());
}

#[test]
fn deep_and_long_inputs_are_errors() {
    for source in [
        format!("main = {}delay(1){};", "{".repeat(100_000), "}".repeat(100_000)),
        format!("main = delay({}1{});", "(".repeat(100_000), ")".repeat(100_000)),
        format!("main = delay(1{});", "+1".repeat(100_000)),
        format!("main = delay({}1);", "-".repeat(100_000)),
        format!("main = {}skip;", "par (i = 1, 2) ".repeat(50_000)),
        format!(
            "proc p0 = delay(1); {} main = p40;",
            (1..=40).map(|i| format!("proc p{i} = p{0}; p{0};", i - 1)).collect::<String>()
        ),
    ] {
        let (found, diagnostics) = read(&source, &values(&[]));
        assert!(found.is_none() && !diagnostics.is_empty(), "{}", &source[..60]);
    }
}

#[test]
fn mutations_of_the_library_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let mut random = Random(11);
    for entry in std::fs::read_dir(folder).expect("as the test sets up") {
        let bytes = std::fs::read(entry.expect("as the test sets up").path()).expect("as the test sets up");
        fuzz::model(&bytes);
        for _ in 0..40 {
            let mut changed = bytes.clone();
            for _ in 0..=random.below(4) {
                if changed.is_empty() {
                    break;
                }
                let at = random.below(changed.len() as u64) as usize;
                match random.below(4) {
                    0 => drop(changed.remove(at)),
                    1 => changed[at] = b" (){}[];|,:=<>+-*/^0123456789abcdefP\n"[random.below(36) as usize],
                    2 => changed.truncate(at.max(1)),
                    _ => changed.insert(at, b"(){}[];|*/-^\"#"[random.below(14) as usize]),
                }
            }
            fuzz::model(&changed);
        }
    }
}
