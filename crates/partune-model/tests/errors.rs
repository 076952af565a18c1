//! What is wrong with a model is said, in the right place, and nothing panics.

use std::path::Path;

use partune_model::estimate::{bounds, closed_form};
use partune_model::simulate::{Options, simulate};
use partune_model::{Diagnostic, check, parse};

#[path = "../../../fuzz/model.rs"]
mod fuzz;

use crate::support::{Random, exact, model, read, simulated, values};

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
    ("main = delay(2^200);", "too large"),
    ("main = delay(0^(-1));", "division by zero"),
    ("param P: int; main = delay(P^P);", "a power must have"),
    ("main = delay(uniform(3, 1));", "no number lies between 3 and 1"),
    ("main = if (0 | 4) delay(1);", "division by zero"),
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
fn a_name_is_worked_out_once_however_often_it_is_used() {
    // Each twice the one before: 2^50 of the first, if every use were worked out again.
    let names: String = (1..=50).map(|i| format!("let a{i} = a{0} + a{0};\n", i - 1)).collect();
    let source = format!("param x: time;\nlet a0 = x;\n{names}main = delay(a50);");
    assert_eq!(simulated(&model(&source, &[("x", 1)])).makespan, exact(1 << 50));
    let functions: String = (1..=50).map(|i| format!("let f{i}(y) = f{0}(y) + f{0}(y);\n", i - 1)).collect();
    let source = format!("let f0(y) = y;\n{functions}main = delay(f50(1) + f50(2));");
    assert_eq!(simulated(&model(&source, &[])).makespan, exact(3 << 50));
    // What stands in it twice is written out twice: as a formula too large, as a number not.
    let names: String = (1..=39).map(|i| format!("let a{i} = max(a{0} + 1, 2*a{0});\n", i - 1)).collect();
    let source = format!("param x: int;\nlet a0 = x;\n{names}main = delay(a39);");
    let (found, diagnostics) = read(&source, &values(&[]));
    assert!(found.is_none() && diagnostics[0].message.contains("formula that is too large"), "{diagnostics:?}");
    assert!(diagnostics[0].help.contains("-D"), "{diagnostics:?}");
    assert_eq!(simulated(&model(&source, &[("x", 1)])).makespan, exact(1 << 39));
    // Too deep is said, and is not called a circle.
    let names: String = (1..=100).rev().map(|i| format!("let a{i} = a{} + 1;\n", i - 1)).collect();
    let (found, diagnostics) = read(&format!("let a0 = 1;\n{names}main = delay(a100);"), &values(&[]));
    assert!(found.is_none() && diagnostics.iter().any(|one| one.message.contains("each within the next")));
    assert!(diagnostics.iter().all(|one| !one.message.contains("by itself")), "{diagnostics:?}");
}

#[test]
fn errors_at_run_time_are_told() {
    for (source, wanted) in [
        ("resource r[4]; main = par (i = 1, 9) use(r[i], 1);", "indices 0 to 3"),
        ("main = seq (i = 1, 9) delay(5 - i);", "negative"),
        ("main = seq (i = 0, 1) delay(3 div i);", "division by zero"),
        ("main = seq (i = 9000000000000000000, 9000000000000000001) delay(i*i*i);", "38 digits"),
        ("resource r; main = par (i = 1, 1000000000000) { use(r, 1); use(r, 1) };", "more than"),
        ("proc f(n) = if (n >= 0) f(n + 1); main = f(0);", "more than 1000 calls inside each other, the last of `f`"),
        ("resource r * 9000000000000000000; main = use(r, 1);", "at most 4294967295"),
    ] {
        let model = model(source, &[]);
        let options = Options { max_steps: 1_000_000, max_processes: 100_000, max_calls: 1000, ..Options::default() };
        let error = simulate(&model, &model.alternatives[0].term, &options).unwrap_err();
        assert!(error.message.contains(wanted), "{source}: {error:?}");
    }
}

#[test]
fn too_large_is_not_called_a_division_by_zero() {
    for (source, wanted) in [
        ("main = seq (i = 0, 1) delay(3 div i);", "division by zero"),
        ("main = seq (i = 5000000000, 5000000001) delay((i*i*i*i) mod 7);", "a number of more than 38 digits"),
        ("main = seq (i = 200, 201) delay(2^i mod 7);", "a number of more than 38 digits"),
        (
            "resource r[9]; main = seq (i = 5000000000, 5000000001) use(r[i*i], 1);",
            "an integer of 64 bits is needed here, and the value is 25000000000000000000",
        ),
    ] {
        let model = model(source, &[]);
        let term = &model.alternatives[0].term;
        let told = [
            simulate(&model, term, &Options::default()).map(|_| ()).map_err(|error| error.message),
            bounds(&model, term).map(|_| ()).map_err(|error| error.message),
        ];
        assert_eq!(told, [Err(wanted.to_owned()), Err(wanted.to_owned())], "{source}");
    }
}

#[test]
fn a_process_that_cannot_end_is_told_before_it_runs() {
    let itself = "`f` never ends: whichever way it goes, it calls itself";
    for (source, place, wanted) in [
        ("proc f(n) = f(n + 1); main = f(0);", "f(n + 1)", itself),
        ("resource r; proc f(n) = { use(r, 1) || f(n + 1) }; main = f(0);", "f(n + 1)", itself),
        ("proc f(n) = if (n > 3) f(n - 1) else f(n + 1); main = f(0);", "f(n - 1)", itself),
        ("proc f(n) = choose { 0.5: f(n), 0.5: { delay(1); f(n + 1) } }; main = f(0);", "f(n)", itself),
        ("proc f(n) = par (i = 1, 2) f(n - i); main = f(9);", "f(n - i)", itself),
        (
            "proc f(n) = g(n); proc g(n) = f(n); main = f(0);",
            "g(n)",
            "`f` never ends: whichever way it goes, it calls `g`",
        ),
    ] {
        let (found, diagnostics) = read(source, &values(&[]));
        assert!(found.is_none(), "{source}");
        let told = diagnostics.iter().find(|one| one.message == wanted);
        let told = told.unwrap_or_else(|| panic!("{source}: {diagnostics:?}"));
        assert!(
            source[told.span.range()] == *place && told.help.contains("`if (n > 0) f(n - 1)`"),
            "{source}: {told:?}"
        );
    }
    for source in [
        "proc f(n) = if (n > 0) f(n - 1); main = f(3);",
        "proc f(n) = par (i = 1, n - 1) f(n - i); main = f(3);",
        "proc f(n) = { g(n); delay(1) }; proc g(n) = if (n > 0) f(n - 1); main = f(3);",
        "proc f(n) = if (prob(0.5)) f(n + 1); main = f(0);",
        "proc f(n) = while (prob(0.5)) f(n + 1); main = f(0);",
        "proc f(n) = while (iter < n) f(n - 1); main = f(3);",
    ] {
        simulated(&model(source, &[]));
    }
}

#[test]
fn calls_go_deep_and_those_without_end_are_told() {
    // Terms within each other in each of many calls: more than the stack of a thread holds, and more than is followed.
    let nested = |levels: u32, calls: u32| {
        let begin: String = (0..levels).map(|level| format!("delay(1); if (n > -{level}) {{ ")).collect();
        let end = "}".repeat(levels as usize);
        model(&format!("proc f(n) = if (n > 0) {{ {begin} f(n - 1) {end} }}; main = f({calls});"), &[])
    };
    let deep = nested(10, 390);
    let term = &deep.alternatives[0].term;
    assert_eq!(bounds(&deep, term).map(|it| it.basic), Ok(exact(3900)));
    assert_eq!(simulated(&deep).makespan, exact(3900));
    assert!(!closed_form(&deep, term).is_closed());
    let deeper = nested(40, 390);
    let error = bounds(&deeper, &deeper.alternatives[0].term).unwrap_err();
    assert!(error.message.starts_with("more than 10000 terms inside each other"), "{error:?}");
    // More calls than an estimate follows, and than a simulation does.
    let endless = model("proc f(n) = if (n >= 0) { delay(1); f(n + 1) }; main = f(0);", &[]);
    let term = &endless.alternatives[0].term;
    let told = [bounds(&endless, term).unwrap_err(), simulate(&endless, term, &Options::default()).unwrap_err()];
    for (error, most) in told.iter().zip([400, 1_000_000]) {
        assert_eq!(error.message, format!("more than {most} calls inside each other, the last of `f`"));
        assert!(error.help.contains("`if (n > 0) f(n - 1)`"), "{error:?}");
    }
    assert!(!closed_form(&endless, term).weaker.is_empty());
}

/// What `partune model check` says.
fn checked(source: &str, given: &[(&str, i64)]) -> Vec<Diagnostic> {
    check(source, &parse(source).0, &values(given), &|name| Err(format!("no file {name} in tests"))).1
}

#[test]
fn what_defaults_and_runs_would_break_is_told() {
    // A model, what is said of it, and the text that it is said of.
    for (source, wanted, place) in [
        ("param P: int = 4 where P >= 5; main = delay(P);", "the values given contradict `P >= 5` (P = 4)", "P >= 5"),
        ("param N: int = 3.5; main = seq (i = 1, N) delay(1);", "N = 7/2 is not an integer of 64 bits", "N"),
        (
            "param P: int = 4; resource cpu[P]; main = par (p = 0, P) use(cpu[p], 1);",
            "`cpu` has indices 0 to 3, and 4 is used",
            "use(cpu[p], 1)",
        ),
        ("resource r; main = seq (i = 1, 3) use(r, 2-i);", "a negative duration: -1", "use(r, 2-i)"),
        (
            "resource r; table t = [1, 2]; main = seq (i = 0, 2) use(r, t[i]);",
            "`t[2]`: there is no such entry",
            "use(r, t[i])",
        ),
    ] {
        let told = checked(source, &[]);
        assert_eq!(told.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(), [wanted], "{source}");
        assert_eq!(&source[told[0].span.range()], place, "{source}");
    }
    for (source, given) in [
        ("param P: int = 5 where P >= 5; resource cpu[P]; main = par (p = 0, P-1) use(cpu[p], 1);", &[][..]),
        ("param P: int = 4 where P >= 5; main = delay(P);", &[("P", 5)][..]),
        // Without a value nobody knows.
        ("param P: int; resource cpu[4]; main = par (p = 0, P) use(cpu[p], 1);", &[][..]),
        // What a condition leaves out; more steps than are looked at; more calls than are followed.
        ("param P: int = 1000; resource cpu[P]; main = seq (i = 0, P) if (i < P) use(cpu[i], 1);", &[][..]),
        (
            "main = seq (a = 0, 99) seq (b = 0, 99) seq (c = 0, 99) seq (d = 0, 99) seq (e = 0, 99) delay(a+b+c+d+e);",
            &[][..],
        ),
        ("proc f(n) = if (n > 0) f(n - 1); main = f(1000);", &[][..]),
    ] {
        let told = checked(source, given);
        assert!(told.is_empty(), "{source}: {told:?}");
    }
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

/// No text keeps an estimate busy: the limit is far above what a model of this size needs, without optimisation and on a busy machine.
fn quickly(bytes: &[u8]) {
    let begin = std::time::Instant::now();
    fuzz::model(bytes);
    assert!(begin.elapsed().as_secs() < 60, "{}", String::from_utf8_lossy(bytes));
}

#[test]
fn estimates_end() {
    // Ranges that are not known to be empty or not, powers of loop variables, and products of all of it.
    for source in [
        "param k: int; main = seq (d = 1, k) par (j = 1, 2^(k-d)) delay(1);",
        "param k: int; param n: int where n >= 1; resource cpu[n]; main = seq (d = 1, k) par (j = 1, 2^(k-d)) par (i = 1, 2^(d-1))
             seq (m = 1, 2^(k-i)) { use(cpu[(j*i) mod n], d*j); delay(2^j) };",
        "param n: int; resource r[n]; main = par (a = 1, n*n) seq (b = a, a*n) par (c = b div n, a mod 7)
             { if (c | a) use(r[a div c], a*b*c); if (a - b*c = n) use(r[c], a^3) else delay(max(a, b, c, n)) };",
        "param n: int; param m: int; main = par (a = n, m) par (b = m, a) par (c = a, b) par (d = b, c) par (e = c, d)
             delay(max(a*b, b*c, c*d, d*e, e*a, n*m) + abs(a - b + c - d + e));",
        "param n: int; resource r[2^n]; main = seq (a = 0, n) par (b = 0, 2^(n-a)-1) { use(r[b], 2^a); use(r[b*2^a], a) };",
        "param n: int; main = delay((n + 1)^60 * max(n^2 - 3*n, 7)^9);",
        "param n: int; param p: prob; main = par (i = 1, n) while (prob(p)) choose { p: delay(i), 1-p: par (j = i, n) delay(j^2) };",
    ] {
        quickly(source.as_bytes());
        assert!(read(source, &values(&[])).0.is_some(), "{source}: {:?}", read(source, &values(&[])).1);
    }
}

#[test]
fn a_tree_of_unknown_height_has_its_closed_form() {
    let source = "param k: int where k >= 1; param t: time; resource cpu[2^k];
        main = seq (d = 1, k) par (j = 1, 2^(k-d)) use(cpu[j-1], t);";
    let tree = model(source, &[]);
    let form = closed_form(&tree, &tree.alternatives[0].term);
    assert_eq!((form.head_tail.to_string(), form.weaker.len()), ("k*t".to_owned(), 0));
    let small = model(source, &[("k", 5), ("t", 3)]);
    assert_eq!(bounds(&small, &small.alternatives[0].term).map(|bounds| bounds.head_tail), Ok(exact(15)));
    assert_eq!(simulated(&small).makespan, exact(15));
}

#[test]
fn what_has_no_closed_form_says_so_and_claims_no_upper_bound() {
    let endless = model("param n: int; proc f(i) = { delay(1); if (i > 0) f(i - 1) }; main = f(n);", &[]);
    let form = closed_form(&endless, &endless.alternatives[0].term);
    assert!(form.upper.is_undefined() && form.weaker.iter().any(|reason| reason.contains("stays numeric")));
}

#[test]
fn mutations_of_the_library_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
    let mut random = Random(11);
    for entry in std::fs::read_dir(folder).expect("as the test sets up") {
        let bytes = std::fs::read(entry.expect("as the test sets up").path()).expect("as the test sets up");
        quickly(&bytes);
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
            quickly(&changed);
        }
    }
}
