//! Cross-overs, exact: the papers' decisions and where they are printed wrong.

use partune_expr::{Number, Rat, Symbol};
use partune_model::decide::decide;

use crate::support::model;

const VECTOR: &str = "
param S: int where S >= 2; param N: int where N >= 1; param tc: time; param tf: time;
resource u[1..S]; resource s;
alt vector = par (i = 1, N) seq (k = 1, S) use(u[k], tc);
alt scalar = par (i = 1, N) use(s, tf);
";

/// S, tc, tf, and from which N on the vector unit is faster, and not slower.
const FROM: &[([i64; 3], i64, i64)] =
    &[([10, 1, 5], 3, 3), ([8, 1, 2], 8, 7), ([5, 1, 3], 3, 2), ([6, 2, 5], 4, 4), ([10, 1, 4], 4, 3)];

#[test]
fn vectorisation_pays_from_an_exact_length_on() {
    for ([s, tc, tf], less, at_most) in FROM {
        let model = model(VECTOR, &[("S", *s), ("tc", *tc), ("tf", *tf)]);
        let decision = decide(&model, &[], None).expect("as the test sets up");
        let pair = &decision.pairs[0];
        assert_eq!(pair.less.to_string(), format!("N >= {less}"));
        assert_eq!(pair.at_most.to_string(), format!("N >= {at_most}"));
    }
    let slow = model(VECTOR, &[("S", 4), ("tc", 3), ("tf", 3)]);
    assert_eq!(decide(&slow, &[], None).expect("as the test sets up").pairs[0].less.to_string(), "never");
    let open = model(VECTOR, &[]);
    let decision = decide(&open, &[], Some("N")).expect("as the test sets up");
    assert_eq!(decision.pairs[0].less.to_string(), "tc < tf and N >= floor((S - 1)*tc/(tf - tc)) + 1");
}

/// The paper prints the time of the vertical phase on one side only; it is on both, so it does not matter.
const ADI: &str = "
param P: int where P >= 2; param N: int where P | N, N >= 2*P;
param tf: time; param tm: time;
let B = N/P;
resource cpu[P]; resource l[P];
proc move(s, r) = use(l[s], [s != r]*tm) || use(l[r], [s != r]*tm);
proc vertical = seq (i = 1, N-2) par (j = 0, N-1) use(cpu[j div B], tf);
proc horizontal = seq (j = 1, N-2) par (i = 0, N-1) {
  move((j-1) div B, j div B); move((j+1) div B, j div B); use(cpu[j div B], tf) };
proc remap = par (i = 0, N-1) par (j = 0, N-1) move(j div B, i div B);
alt remapped = { vertical; remap; vertical };
alt plain = { vertical; horizontal };
";

#[test]
fn remapping_pays_up_to_an_exact_ratio() {
    let cases: &[(i64, i64, &str)] = &[
        (512, 8, "tm < 15809*tf/3584"),
        (64, 4, "tm < 433*tf/192"),
        (1024, 16, "tm < 31681*tf/3072"),
        (512, 32, "always"),
    ];
    for (n, p, expected) in cases {
        let model = model(ADI, &[("N", *n), ("P", *p)]);
        let decision = decide(&model, &[], Some("tm")).expect("as the test sets up");
        let test = &decision.pairs[0].less;
        let at = |tm: Rat| {
            let point = move |symbol: &Symbol| Some(Number::Exact(if &*symbol.name == "tm" { tm } else { Rat::ONE }));
            test.condition().eval(&point).expect("as the test sets up")
        };
        match expected.split_once("< ") {
            Some((_, ratio)) => {
                let ratio = Rat::parse(&ratio.replace("*tf", "")).expect("as the test sets up");
                let step = Rat::new(1, 1_000_000);
                assert!(test.to_string().contains(expected), "{n} {p}: {test}");
                assert!(at(ratio - step) && !at(ratio) && !at(ratio + step), "{n} {p}: {test}");
            }
            None => assert!((1..200).all(|tm| at(Rat::from(tm))), "{n} {p}: {test}"),
        }
    }
    // Below tf another line counts: N = 512, P = 2 crosses at 0.99611.
    let model = model(ADI, &[("N", 512), ("P", 2)]);
    let test = &decide(&model, &[], Some("tm")).expect("as the test sets up").pairs[0].less;
    let at = |tm: f64| {
        let point = move |symbol: &Symbol| Some(Number::Approx(if &*symbol.name == "tm" { tm } else { 1.0 }));
        test.condition().eval(&point).expect("as the test sets up")
    };
    assert!(at(0.9961) && !at(0.9962), "{test}");
}

#[test]
fn pipelining_is_always_better_from_eight_processors_on() {
    let text = ADI.replace(
        "alt remapped = { vertical; remap; vertical };",
        "alt pipelined = par (i = 0, N-1) seq (p = 0, P-1) use(cpu[p], B*tf);",
    );
    let text = text.replace(
        "alt plain = { vertical; horizontal };",
        "alt plain = seq (j = 1, N-2) par (i = 0, N-1) use(cpu[j div B], tf);",
    );
    let open = decide(&model(&text, &[]), &[], Some("N")).expect("as the test sets up");
    assert_eq!(open.pairs[0].less.to_string(), "tf > 0 and N >= floor((3*P - 1)/(P - 1)) + 1");
    let eight = decide(&model(&text, &[("P", 8)]), &[], None).expect("as the test sets up");
    assert_eq!(eight.pairs[0].less.to_string(), "tf > 0");
    assert_eq!(eight.choices[1].dominated_by.as_deref(), Some("pipelined"));
}
