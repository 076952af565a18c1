//! The closed forms of the papers' examples, by structure, and enumeration at random points.

use partune_expr::{Expr, Number, Rat, Symbol};
use partune_model::Model;
use partune_model::estimate::{ClosedForm, closed_form};

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
