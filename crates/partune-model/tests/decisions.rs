//! Cross-overs, exact: the papers' decisions and where they are printed wrong.

use partune_expr::{Number, Rat, Symbol};
use partune_model::Model;
use partune_model::decide::{Choice, Reason, decide};
use partune_model::estimate::{Given, closed_form, numbers};

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

/// A case of the choice: what is in the code too, without emitting it.
fn chosen(source: &str, given: &[(&str, i64)]) -> (String, Reason) {
    let open = model(source, &[]);
    let decision = decide(&open, &[], None).expect("as the test sets up");
    let closed = model(source, given);
    let with_values = Model { params: closed.params.clone(), ..open.clone() };
    let cost = |choice: &Choice| {
        let term = &closed.alternative(&choice.name).expect("it is there").term;
        Ok(numbers(&choice.form, &open, &closed, term).expect("as the test sets up").bounds.head_tail)
    };
    let (position, reason) = decision.choose(&Given(&with_values), cost).expect("as the test sets up");
    (decision.choices[position].name.clone(), reason)
}

const STRIDED: &str =
    "param N: int where N >= 1; param P: int where P >= 1; param t: time; resource cpu[P]; resource other;
alt strided = par (i = 0, N-1) use(cpu[INDEX], t);
alt serial = seq (i = 1, N div 2) use(other, t);";

/// 64 iterations. By eights over 8 queues all meet in one: 64, and in a row 32. Over 12 queues, gcd(8, 12) = 4: three queues are used, the first
/// by 22; over 16 two, by 32 each, and equal ones go to the first.
#[test]
fn a_stride_that_meets_itself_is_not_taken_for_spread_out() {
    let source = STRIDED.replace("INDEX", "(8*i) mod P");
    for (p, expected) in [(8, "serial"), (16, "strided"), (12, "strided"), (5, "strided"), (4, "serial")] {
        let found = chosen(&source, &[("N", 64), ("P", p), ("t", 1)]);
        assert_eq!(found, (expected.to_owned(), Reason::Test), "{p}");
    }
}

/// Squares modulo 4 are 0 and 1: of 65 iterations the 33 even ones use queue 0, and in a row it is 32. Modulo 3 of 64 the 42 that 3 does not divide
/// use queue 1. Modulo 16 they are 0, 1, 4, 9, sixteen times each of 64. The averages would be 17, 22 and 4.
#[test]
fn where_only_a_lower_bound_is_known_the_costs_decide() {
    let source = STRIDED.replace("INDEX", "(i*i) mod P");
    for (p, n, expected) in [(4, 65, "serial"), (3, 64, "serial"), (16, 64, "strided")] {
        let found = chosen(&source, &[("N", n), ("P", p), ("t", 1)]);
        assert_eq!(found, (expected.to_owned(), Reason::Costs), "{p}");
    }
    // A row of N instead of N div 2 is never better, however the others meet; nothing is left to compute.
    let long = source.replace("N div 2", "N");
    let decision = decide(&model(&long, &[]), &[], None).expect("as the test sets up");
    assert_eq!(decision.choices[1].dominated_by.as_deref(), Some("strided"));
    assert!(decision.is_closed());
}

/// Times are not negative, and no coefficient of theirs has to be asked for its sign.
#[test]
fn what_the_assumptions_exclude_is_no_part_of_a_decision() {
    let text = ADI.replace(
        "alt remapped = { vertical; remap; vertical };",
        "alt pipelined = par (i = 0, N-1) seq (p = 0, P-1) { if (p > 0) move(p-1, p); use(cpu[p], B*tf) };",
    );
    for variable in [None, Some("P"), Some("N"), Some("tm")] {
        let decision = decide(&model(&text, &[]), &[], variable).expect("as the test sets up");
        for test in decision.pairs.iter().flat_map(|pair| [&pair.less, &pair.at_most]) {
            for dead in ["tm < 0", "tf < 0", "] < 0", "false", "undefined"] {
                assert!(!test.to_string().contains(dead), "{variable:?}: {test}");
            }
        }
    }
}

/// (N/P)*t < c is P > N*t/c. (N/P)*t + P*d < c is quadratic in P: another parameter is solved for, and that is said.
#[test]
fn what_is_divided_by_is_solved_for_or_that_it_is_not_is_said() {
    let linear =
        "param P: int where P >= 1; param N: int where P | N, N >= 1; param t: time; param c: time; resource cpu[P];
        alt spread = par (i = 0, N-1) use(cpu[i mod P], t); alt once = delay(c);";
    let decision = decide(&model(linear, &[]), &[], Some("P")).expect("as the test sets up");
    assert_eq!(decision.pairs[0].less.to_string(), "c > 0 and P >= floor(N*t/c) + 1");
    assert!(decision.pairs[0].solved);
    let quadratic = linear.replace("alt spread = par", "param d: time; alt spread = delay(P*d); par");
    let decision = decide(&model(&quadratic, &[]), &[], Some("P")).expect("as the test sets up");
    assert!(!decision.pairs[0].solved, "{}", decision.pairs[0].less);
}

/// Three steps of at least 9 over five queues: 27, not what two queues that nobody uses seem to wait for.
#[test]
fn queues_that_no_step_uses_wait_for_nothing() {
    let source = "param N: int where N >= 1; param P: int where P >= 1; param t: time; param u: time; resource a[P];
        alt steps = { seq (i = 0, N-1) { delay(2*t) || use(a[i mod P], t+u) } } || delay(t);
        alt long = delay(28);";
    let given = [("N", 3), ("P", 5), ("t", 3), ("u", 6)];
    assert_eq!(chosen(source, &given).0, "steps");
    let (open, closed) = (model(source, &[]), model(source, &given));
    let form = closed_form(&open, &open.alternatives[0].term);
    let found = numbers(&form, &open, &closed, &closed.alternatives[0].term).expect("as the test sets up");
    assert_eq!(found.bounds.head_tail, Number::Exact(Rat::from(27)));
}
