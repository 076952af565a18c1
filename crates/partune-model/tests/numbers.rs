//! What numbers and conditions of a model mean, and where its numbers come from.

use partune_expr::{Number, Rat};
use partune_model::estimate::{Origin, bounds, closed_form, numbers};
use partune_model::simulate::{Options, simulate};
use partune_model::{Values, defaults, parse};

use crate::support::{exact, model, read, simulated, values};

/// What a model takes, by simulation, by enumeration and by its formula.
#[track_caller]
fn takes(source: &str, given: &[(&str, i64)]) -> Rat {
    let model = model(source, given);
    let term = &model.alternatives[0].term;
    let found = [
        simulated(&model).makespan,
        bounds(&model, term).expect("as the test sets up").head_tail,
        closed_form(&model, term).head_tail.eval(&|_: &_| None).expect("as the test sets up"),
    ];
    assert!(found.iter().all(|it| *it == found[0]), "{source}: {found:?}");
    match found[0] {
        Number::Exact(value) => value,
        Number::Approx(value) => panic!("{value} is not exact"),
    }
}

#[test]
fn a_quotient_of_written_numbers_is_exact() {
    for (source, wanted) in [
        ("main = delay(3/4);", Rat::new(3, 4)),
        ("main = delay(1 + (-(3))/4);", Rat::new(1, 4)),
        ("main = delay(-3/-4);", Rat::new(3, 4)),
        ("main = delay(8/4);", Rat::from(2)),
        ("main = delay(3/4*2);", Rat::new(3, 2)),
        // Products and names are no numbers as written: the floor.
        ("main = delay(2*3/4);", Rat::from(1)),
        ("let three = 3; main = delay(three/2);", Rat::from(1)),
        ("main = delay(7 div 4);", Rat::from(1)),
        ("main = choose { 1/4: delay(8), 3/4: delay(8) };", Rat::from(8)),
    ] {
        let model = model(source, &[]);
        let found = bounds(&model, &model.alternatives[0].term).map(|it| it.head_tail);
        assert_eq!(found, Ok(Number::Exact(wanted)), "{source}");
    }
    assert_eq!(takes("param P: int; main = delay(P/4);", &[("P", 7)]), Rat::from(1));
    // An index is no fraction.
    assert!(read("resource r[4]; main = use(r[3/2], 1);", &values(&[])).0.is_none());
}

#[test]
fn defaults_are_worked_out_as_all_else_is() {
    let file =
        parse("param a: real = 3/4; param n: int = 7; param k: int = n/2; param t: time = 3; param u: time = t/2;").0;
    let found = defaults(&file, &Values::new());
    let wanted = [("a", Rat::new(3, 4)), ("n", 7.into()), ("k", 3.into()), ("t", 3.into()), ("u", Rat::new(3, 2))];
    assert_eq!(found, wanted.map(|(name, value)| (name.to_owned(), value)).into());
}

#[test]
fn everything_divides_zero_and_zero_nothing() {
    assert_eq!(takes("main = if (2 | 0) delay(1) else delay(5);", &[]), Rat::from(1));
    assert_eq!(takes("param n: int where 4 | n; main = delay(n + 1);", &[("n", 0)]), Rat::from(1));
    assert_eq!(takes("main = seq (i = 0, 4) if (2 | i) delay(1) else delay(100);", &[]), Rat::from(203));
    let source = "main = delay(1); alt b = if (0 | 4) delay(1);";
    let (found, diagnostics) = read(source, &values(&[]));
    assert!(found.is_none() && diagnostics.len() == 1, "{diagnostics:?}");
    assert_eq!(&source[diagnostics[0].span.range()], "0");
}

#[test]
fn logarithms_of_any_number_have_floors() {
    let rounds = "param P: int where P >= 1; resource net; main = seq (k = 1, ceil(log2(P))) use(net, 1);";
    for (pes, wanted) in [(1, 0), (2, 1), (3, 2), (6, 3), (8, 3), (9, 4)] {
        assert_eq!(takes(rounds, &[("P", pes)]), Rat::from(wanted), "{pes}");
    }
    // 0 + 1 + 1 + 2 + 2 + 2 + 2 + 3 one after the other.
    assert_eq!(takes("main = seq (p = 1, 8) delay(floor(log2(p)));", &[]), Rat::from(13));
    assert_eq!(takes("main = par (p = 1, 8) delay(floor(log2(p)));", &[]), Rat::from(3));
    let time = simulated(&model("main = delay(log2(3));", &[])).makespan.to_f64();
    assert!((time - 3_f64.log2()).abs() < 1e-12, "{time}");
}

#[test]
fn numbers_say_where_they_come_from() {
    let source = "param n: int; proc f(i) = { delay(1); if (i > 0) f(i - 1) }; main = f(n);";
    let (open, given) = (model(source, &[]), model(source, &[("n", 3)]));
    let (term, own) = (&given.alternatives[0].term, closed_form(&given, &given.alternatives[0].term));
    let general = closed_form(&open, &open.alternatives[0].term);
    assert!(!general.is_closed() && own.is_closed());
    let origin = |form, of| numbers(form, of, &given, term).map(|it| (it.bounds.head_tail, it.origin));
    assert_eq!(origin(&own, &given), Ok((exact(4), Origin::Formula)));
    assert_eq!(origin(&general, &open), Ok((exact(4), Origin::Enumeration)));
}

#[test]
fn no_formula_is_trusted_where_no_run_gets_through() {
    for (source, wrong) in [
        ("param P: int; resource cpu[P]; main = par (p = 0, P) use(cpu[p], 1);", true),
        ("param P: int; resource cpu[P]; main = par (p = 0, P-1) use(cpu[p], 1);", false),
        ("param P: int; resource r; main = seq (i = 1, P + 1) use(r, P - i);", true),
        ("param P: int; resource r; main = seq (i = 1, P) use(r, P - i);", false),
        ("param P: int; event e[P]; main = seq (i = 0, P) post e[i];", true),
        ("param P: int; event e[P]; main = seq (i = 0, P-1) post e[i];", false),
    ] {
        let open = model(source, &[]);
        let form = closed_form(&open, &open.alternatives[0].term);
        for pes in [4, 1000] {
            let given = model(source, &[("P", pes)]);
            let term = &given.alternatives[0].term;
            let found = numbers(&form, &open, &given, term).map(|it| it.bounds.head_tail);
            assert_eq!(found, simulate(&given, term, &Options::default()).map(|it| it.makespan), "{source}");
            assert_eq!(found.is_err(), wrong, "{source}");
        }
        // Of a long loop the ends tell.
        let given = model(source, &[("P", 1_000_000_000)]);
        assert_eq!(numbers(&form, &open, &given, &given.alternatives[0].term).is_err(), wrong, "{source}");
    }
}

#[test]
fn what_is_large_on_the_way_only_has_its_value() {
    for (source, wanted) in [
        // Of 5000000000, which is 2 more than a multiple of 7, and the next two the squares have 20 digits.
        ("main = seq (i = 5000000000, 5000000002) delay((i*i) mod 7);", 4 + 2 + 2),
        ("main = seq (i = 5000000000, 5000000002) if (7 | i*i + 3) delay(1) else delay(10);", 1 + 10 + 10),
        ("main = seq (i = 5000000000, 5000000002) if (i*i > 5000000001*i) delay(1) else delay(10);", 10 + 10 + 1),
        ("main = seq (i = 1, 3) delay((9223372036854775807 + i) div 4611686018427387904);", 2 + 2 + 2),
        ("main = seq (i = 1, 3) if (5 | i + 9223372036854775807) delay(1) else delay(10);", 10 + 10 + 1),
        ("main = par (i = 5000000000, 5000000002) delay(max(i*i, 3) - i*i + 1);", 1),
    ] {
        assert_eq!(takes(source, &[]), Rat::from(wanted), "{source}");
    }
    let source = "param N: int where N >= 1; main = seq (i = 1, N) delay(i*i);";
    let open = model(source, &[]);
    let form = closed_form(&open, &open.alternatives[0].term);
    let found = |n| {
        let given = model(source, &[("N", n)]);
        numbers(&form, &open, &given, &given.alternatives[0].term).map(|it| it.bounds.basic).map_err(|it| it.message)
    };
    let sum = Rat::int(333_333_333_333_833_333_333_333_500_000_000_000);
    assert_eq!(found(1_000_000_000_000), Ok(Number::Exact(sum)));
    assert_eq!(found(10_000_000_000_000), Err("a number of more than 38 digits".to_owned()));
}
