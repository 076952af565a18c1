//! The closed forms of the papers' examples, by structure, and enumeration at random points.

use partune_expr::{Expr, Number, Rat, Symbol};
use partune_model::Model;
use partune_model::estimate::{ClosedForm, Given, bounds, closed_form};
use partune_model::simulate::{Options, simulate};

use crate::support::{Random, model};

const MACHINE: &str = "
param P: int where P >= 2;
param N: int where P | N, N >= 2*P;
param tf: time; param tm: time;
let B = N/P;
resource cpu[P]; resource l[P];
proc move(s, r) = use(l[s], [s != r]*tm) || use(l[r], [s != r]*tm);
";

const PIPELINE: &str = "
param S: int where S >= 1; param N: int where N >= 1; param tc: time;
resource u[1..S];
";

const REPAIR: &str = "
param P: int where P >= 1; param N: int where N >= 1; param tl: time; param ts: time;
resource s;
";

/// Terms with the head-tail estimate and, where it differs, the basic one, as the papers or the theory have them.
const FORMS: &[(&str, &str, &str, &str)] = &[
    (PIPELINE, "par (i = 1, N) seq (s = 1, S) use(u[s], tc)", "(S+N-1)*tc", "max(S,N)*tc"),
    (
        REPAIR,
        "par (p = 1, P) seq (i = 1, N) { delay(tl); use(s, ts) }",
        "max(N*(tl+ts), tl+P*N*ts)",
        "max(N*(tl+ts), P*N*ts)",
    ),
    (MACHINE, "seq (i = 1, N-2) par (j = 0, N-1) use(cpu[j div B], tf)", "(N-2)*(N/P)*tf", ""),
    (MACHINE, "seq (i = 1, N-2) par (j = 0, N-1) use(cpu[i div B], tf)", "(N-2)*N*tf", ""),
    (
        MACHINE,
        "seq (i = 1, N-2) par (j = 0, N-1) { move(j div B, j div B); move(j div B, j div B); use(cpu[j div B], tf) }",
        "(N-2)*(N/P)*tf",
        "",
    ),
    (
        MACHINE,
        "seq (j = 1, N-2) par (i = 0, N-1) { move((j-1) div B, j div B); move((j+1) div B, j div B); use(cpu[j div B], tf) }",
        "(N-2*P)*N*tf + 2*(P-1)*(tm+tf+(N-1)*max(tm,tf))",
        "(N-2*P)*N*tf + 2*(P-1)*max(N*tm, N*tf, tm+tf)",
    ),
    (MACHINE, "seq (j = 1, N-2) par (i = 0, N-1) use(cpu[j div B], tf)", "(N-2)*N*tf", ""),
    (MACHINE, "par (i = 0, N-1) par (j = 0, N-1) move(j div B, i div B)", "2*(N/P)*(N-N/P)*tm", ""),
    (MACHINE, "seq (p = 0, P-1) par (i = 0, N-1) use(cpu[p], B*tf)", "N^2*tf", ""),
    (MACHINE, "par (i = 0, N-1) seq (p = 0, P-1) use(cpu[p], B*tf)", "(N+P-1)*(N/P)*tf", "N*(N/P)*tf"),
];

/// An expression in a model's own words.
fn written(prelude: &str, text: &str) -> Expr {
    let model = model(&format!("{prelude} main = delay({text});"), &[]);
    let form = closed_form(&model, &model.alternatives[0].term);
    form.head_tail
}

fn form(prelude: &str, term: &str) -> (Model, ClosedForm) {
    let model = model(&format!("{prelude} main = {term};"), &[]);
    let form = closed_form(&model, &model.alternatives[0].term);
    (model, form)
}

#[test]
fn the_papers_examples_have_the_papers_forms() {
    for (prelude, term, head_tail, basic) in FORMS {
        let (model, form) = form(prelude, term);
        assert!(form.weaker.is_empty(), "{term}: {:?}", form.weaker);
        assert_eq!(form.head_tail, written(prelude, head_tail), "{term}: {}", form.printed(&model)[1]);
        let basic = if basic.is_empty() { head_tail } else { basic };
        let expected = written(prelude, basic);
        if form.basic != expected {
            // The form may differ; the values may not.
            same_at_random_points(&model, &form.basic, &expected, term);
        }
    }
}

fn same_at_random_points(model: &Model, a: &Expr, b: &Expr, term: &str) {
    let mut random = Random(7);
    let mut below = |n: u64| random.below(n);
    for _ in 0..64 {
        let (p, b_, s) = (2 + below(30), 2 + below(30), 1 + below(40));
        let times: Vec<i64> = (0..4).map(|_| below(100)).collect();
        let at = |symbol: &Symbol| {
            Some(Number::Exact(Rat::from(match &*symbol.name {
                "P" => p,
                "N" => p * b_,
                "N/P" => b_,
                "S" => s,
                "tf" => times[0],
                "tm" => times[1],
                _ => times[2],
            })))
        };
        assert_eq!(a.eval(&at).expect("a value"), b.eval(&at).expect("a value"), "{term}: {a} and {b}");
    }
    let _ = model;
}

/// The busiest queue of a cycle, by hand: iterations over queues that are used, rounded up. gcd(8, 12) = 4 leaves 3 of 12 queues,
/// gcd(6, 9) = 3 leaves 3 of 9; from 5 to 21 are 17 iterations.
#[test]
fn cycles_of_any_step_and_begin_are_closed() {
    // P, N, and the uses of the busiest queue.
    type Busiest = (i64, i64, i64);
    let cases: &[(&str, &[Busiest])] = &[
        (
            "par (i = 0, N-1) use(a[(8*i) mod P], 1)",
            &[(8, 64, 64), (12, 64, 22), (5, 64, 13), (6, 64, 22), (128, 64, 4), (1, 7, 7)],
        ),
        ("par (i = 0, N-1) use(a[(6*i+5) mod P], 1)", &[(9, 10, 4), (7, 15, 3), (12, 9, 5)]),
        ("par (i = 5, N) use(a[i mod P], 1)", &[(4, 21, 5), (30, 21, 1), (17, 21, 1), (16, 21, 2)]),
        ("par (i = 0, N-1) use(a[P-1-(3*i) mod P], 1)", &[(6, 8, 4), (5, 8, 2)]),
    ];
    for (term, values) in cases {
        let (_, form) = form("param P: int where P >= 1; param N: int where N >= 1; resource a[P];", term);
        assert!(form.is_closed(), "{term}: {:?}", form.weaker);
        for (p, n, expected) in *values {
            let at = |symbol: &Symbol| Some(Number::Exact(Rat::from(if &*symbol.name == "P" { *p } else { *n })));
            assert_eq!(form.basic.eval(&at), Ok(Number::Exact(Rat::from(*expected))), "{term} {p} {n}");
            assert_eq!(form.head_tail.eval(&at), Ok(Number::Exact(Rat::from(*expected))), "{term} {p} {n}");
        }
    }
    // Where the factor is not known nor is the divisor: that is said.
    let (_, form) = form(
        "param P: int where P >= 1; param c: int where c >= 1; resource a[P];",
        "par (i = 0, 9) use(a[(c*i) mod P], 1)",
    );
    assert!(!form.is_closed());
}

/// Of what is drawn, heads and tails are what is certain, and of exponential times the mean of the least.
#[test]
fn heads_and_tails_of_drawn_times_do_not_overshoot() {
    // Term, basic, head-tail, and whether something is drawn.
    let cases: &[(&str, i64, Rat, bool)] = &[
        // The least of 1000 draws of mean 100 has mean 0.1.
        ("par (i = 1, 1000) { delay(exp(100)); use(r, 1) }", 1000, Rat::new(10_001, 10), true),
        ("par (i = 1, 1000) { use(r, 1); delay(exp(100)) }", 1000, Rat::new(10_001, 10), true),
        // Means of 6 and 3: the rates add up to 1/2, so the least has mean 2; then both uses.
        ("{ delay(exp(6)); use(r, 10) } || { delay(exp(3)); use(r, 10) }", 20, Rat::from(22), true),
        // 3 at least before, nothing certain after.
        ("par (i = 1, 10) { delay(uniform(3, 5)); use(r, 1); delay(normal(4, 1)) }", 10, Rat::from(13), true),
        ("par (i = 1, 10) { delay(erlang(2, 4)); use(r, 1) }", 10, Rat::from(10), true),
        // A fixed time stands in one of two cases only; one in both is certain.
        ("par (i = 1, 10) { if (prob(1/2)) delay(4) else skip; use(r, 1) }", 10, Rat::from(10), true),
        ("par (i = 1, 10) { if (prob(1/2)) delay(4) else delay(2); use(r, 1) }", 10, Rat::from(12), true),
        // Nothing is drawn: heads and tails count whole.
        ("par (i = 1, 10) { delay(4); use(r, 1); delay(2) }", 10, Rat::from(16), false),
    ];
    for (term, basic, head_tail, random) in cases {
        let model = model(&format!("resource r; main = {term};"), &[]);
        let found = bounds(&model, &model.alternatives[0].term).expect("as the test sets up");
        assert_eq!(
            (found.basic, found.head_tail),
            (Number::Exact(Rat::from(*basic)), Number::Exact(*head_tail)),
            "{term}"
        );
        assert_eq!(found.random, *random, "{term}");
        let form = closed_form(&model, &model.alternatives[0].term);
        let closed = form.eval(&Given(&model)).expect("as the test sets up");
        assert!(closed.head_tail.compare(found.head_tail).is_le() && form.random == *random, "{term}");
        assert_eq!(closed == found, form.is_closed(), "{term}: {:?}", form.weaker);
        let mean = (0..200).map(|seed| {
            let options = Options { seed, ..Options::default() };
            simulate(&model, &model.alternatives[0].term, &options).expect("as the test sets up").makespan.to_f64()
        });
        let mean = mean.sum::<f64>() / 200.0;
        assert!(found.head_tail.to_f64() <= mean * 1.005, "{term}: {} above {mean}", found.head_tail);
    }
}

#[test]
fn reasons_speak_of_conditions_only_where_there_are_some() {
    let prelude = "param S: int; param N: int; table t = [3, 1, 5, 2]; resource u[S];";
    let (_, plain) = form(prelude, "par (i = 1, N) seq (s = 0, S-1) use(u[s], t[s])");
    assert_eq!(plain.weaker, ["of uses whose time may be zero, heads and tails count all the same"]);
    let (_, chosen) = form(prelude, "par (i = 1, N) seq (s = 0, S-1) if (t[s] > 2) use(u[s], 1)");
    let wanted = "of uses that conditions or empty ranges leave out, heads and tails count all the same";
    assert!(chosen.weaker.iter().any(|reason| reason == wanted), "{:?}", chosen.weaker);
    let (_, closed) = form(prelude, "par (i = 1, N) seq (s = 0, S-1) use(u[s], 1)");
    assert!(closed.weaker.is_empty(), "{:?}", closed.weaker);
}
