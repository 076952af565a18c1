//! Laws on random models: bounds in order, single resources, rewriting, determinism, tie policies.

use partune_expr::Number;
use partune_model::Model;
use partune_model::estimate::{ClosedForm, Given, bounds, closed_form};
use partune_model::simulate::{Options, Ties, record, simulate};

use crate::support::{Random, model};

/// How many models the whole law is tried on.
const MODELS: u64 = 10_000;
const TWO_DIMENSIONS: u64 = 500;

/// A random series-parallel term of uses and delays over some resources.
pub(crate) fn term(random: &mut Random, depth: i64, resources: i64) -> String {
    if depth == 0 || random.below(8) == 0 {
        let time = 1 + random.below(10);
        return if random.below(5) == 0 {
            format!("delay({time})")
        } else {
            format!("use(r{}, {time})", random.below(resources.unsigned_abs()))
        };
    }
    let parts: Vec<String> = (0..2 + random.below(3)).map(|_| term(random, depth - 1, resources)).collect();
    let joint = if random.below(2) == 0 { "; " } else { " || " };
    format!("{{{}}}", parts.join(joint))
}

/// The same with loops, conditions and indexed resources.
pub(crate) fn looped(random: &mut Random, depth: i64, outer: &str) -> String {
    let variable = format!("i{depth}");
    if depth == 0 {
        let time = ["1", "2", "5", "i1+1", "[i1>2]*3", "3-[i1=2]"][random.below(6) as usize];
        let index = ["0", "i1", "i1 div 2", "i1 mod 3", "3-i1 div 2", "(i1+1) div 2"][random.below(6) as usize];
        return if random.below(6) == 0 { format!("delay({time})") } else { format!("use(a[{index}], {time})") };
    }
    let body = looped(random, depth - 1, &variable);
    let (lo, hi) = (random.below(2), 1 + random.below(5));
    let inner = match random.below(4) {
        0 => format!("{{{body}; {}}}", looped(random, depth - 1, &variable)),
        1 => format!("{{{body} || {}}}", looped(random, depth - 1, &variable)),
        2 => format!("if ({variable} > {}) {body} else {}", random.below(4), looped(random, depth - 1, &variable)),
        _ => body,
    };
    let _ = outer;
    let what = if random.below(2) == 0 { "seq" } else { "par" };
    format!("{what} ({variable} = {lo}, {hi}) {inner}")
}

fn exact(value: Number) -> partune_expr::Rat {
    match value {
        Number::Exact(value) => value,
        Number::Approx(value) => panic!("{value} is not exact"),
    }
}

fn times(model: &Model, ties: Ties) -> partune_expr::Rat {
    let options = Options { ties, seed: 3, ..Options::default() };
    exact(simulate(model, &model.alternatives[0].term, &options).expect("a model that ends").makespan)
}

#[test]
fn bounds_enclose_every_schedule() {
    let mut random = Random(1);
    let (mut ratios, mut above_two) = (0.0, 0);
    for round in 0..MODELS {
        let resources = 1 + random.below(6);
        let servers: Vec<i64> = (0..resources).map(|_| [1, 1, 2, 3][random.below(4) as usize]).collect();
        let mut source: String = servers.iter().enumerate().map(|(i, m)| format!("resource r{i} * {m}; ")).collect();
        let depth = 2 + random.below(3);
        source += &format!("main = {};", term(&mut random, depth, resources));
        let model = model(&source, &[]);
        let found = bounds(&model, &model.alternatives[0].term).expect("as the test sets up");
        let (basic, head_tail, upper) = (exact(found.basic), exact(found.head_tail), exact(found.upper));
        assert!(basic <= head_tail, "{source}");
        let policies: &[Ties] =
            if round % 8 == 0 { &[Ties::Program, Ties::Reverse, Ties::Random] } else { &[Ties::Program] };
        for ties in policies {
            let time = times(&model, *ties);
            assert!(head_tail <= time && time <= upper, "{ties:?} {time} in {head_tail}..{upper}: {source}");
            if resources == 1 {
                assert!(time <= basic + basic, "{source}");
            }
        }
        let ratio = times(&model, Ties::Program).to_f64() / basic.to_f64();
        ratios += ratio;
        above_two += i64::from(ratio > 2.0);
    }
    // The papers' claim, on average: theory has the numbers.
    assert!(ratios / (MODELS as f64) < 1.2, "{}", ratios / MODELS as f64);
    assert!(above_two as u64 * 100 <= MODELS, "{above_two}");
}

#[test]
fn closed_forms_are_never_above_the_time_and_equal_enumeration_where_they_say_so() {
    let mut random = Random(2);
    let mut equal = 0;
    for _ in 0..1_500 {
        let source = format!("resource a[-1..9] * {}; main = {};", 1 + random.below(2), looped(&mut random, 2, ""));
        let source = source.replace("i1 div 2", "(i1 div 2)");
        let model = model(&source, &[]);
        let term = &model.alternatives[0].term;
        let form = closed_form(&model, term);
        let (closed, found) = (
            form.eval(&Given(&model)).expect("as the test sets up"),
            bounds(&model, term).expect("as the test sets up"),
        );
        let time = times(&model, Ties::Program);
        assert!(exact(closed.head_tail) <= time && time <= exact(closed.upper), "{closed:?} {time}: {source}");
        assert!(exact(closed.basic) <= exact(closed.head_tail), "{closed:?}: {source}");
        if form.weaker.is_empty() {
            equal += 1;
            // Parts of a loop that was taken apart are bounded on their own, so a head-tail bound may be sharper.
            assert_eq!((closed.basic, closed.upper), (found.basic, found.upper), "{source}");
            assert!(exact(closed.head_tail) >= exact(found.head_tail), "{closed:?} {found:?}: {source}");
        } else {
            assert!(exact(closed.head_tail) <= exact(found.head_tail).max(time), "{source}");
        }
    }
    assert!(equal > 700, "{equal} of 1500 had a closed form");
}

/// Loops over a resource of two dimensions, with open parameters P and N.
fn dealt(random: &mut Random, depth: u64, loops: u64) -> String {
    let mut variable = || match random.below(loops + 1) {
        0 => "P".to_owned(),
        number => format!("i{number}"),
    };
    let (v, w) = (variable(), variable());
    if depth == 0 {
        let mut index = || {
            let all = [
                "$",
                "$ mod 2",
                "$ mod 3",
                "$ div 2",
                "$ mod P",
                "$ div P",
                "($+1) mod 2",
                "($+1) mod P",
                "($+1) div P",
                "(2*$) mod P",
                "3-$",
                "P-1",
                "1",
                "($+#) mod P",
                "$+#",
                "($+#) div 2",
                "$ mod 2 + # mod 3",
                "($ div P) mod 2",
            ];
            all[random.below(all.len() as u64) as usize].replace('$', &v).replace('#', &w)
        };
        let (first, second) = (index(), index());
        let time = ["t", "2*t", "($+1)*t", "[$ > 2]*t", "[2 | $]*t"][random.below(5) as usize].replace('$', &v);
        return format!("use(g[{first}, {second}], {time})");
    }
    match random.below(5) {
        0 => format!("{{ {}; {} }}", dealt(random, depth - 1, loops), dealt(random, depth - 1, loops)),
        1 => format!("{{ {} || {} }}", dealt(random, depth - 1, loops), dealt(random, depth - 1, loops)),
        _ => {
            let what = ["seq", "par", "par"][random.below(3) as usize];
            let hi = ["N", "N-1", "P", "P-1", "N*P-1", "2*P-1", "3", "4"][random.below(8) as usize];
            let (name, lo) = (loops + 1, random.below(2));
            format!("{what} (i{name} = {lo}, {hi}) {}", dealt(random, depth - 1, loops + 1))
        }
    }
}

/// At values of P and N, with the formula of open parameters.
#[track_caller]
fn two_dimensions_hold(source: &str) -> bool {
    let open = model(source, &[]);
    let form = closed_form(&open, &open.alternatives[0].term);
    for (p, n) in [(1, 1), (1, 4), (2, 1), (2, 3), (3, 2), (3, 5), (4, 3), (5, 1)] {
        let given = model(source, &[("P", p), ("N", n), ("t", 2)]);
        let with_values = Model { params: given.params.clone(), ..open.clone() };
        let term = &given.alternatives[0].term;
        let (found, time) = (bounds(&given, term).expect("as the test sets up"), times(&given, Ties::Program));
        let lower = |form: &ClosedForm, model: &Model| {
            [&form.basic, &form.head_tail].map(|it| it.eval(&Given(model)).expect("as the test sets up"))
        };
        let (own, general) = (lower(&closed_form(&given, term), &given), lower(&form, &with_values));
        for [basic, head_tail] in [[found.basic, found.head_tail], own, general] {
            let place = || format!("at {p}, {n}: {source}\n{:?}", form.printed(&open));
            assert!(exact(basic) <= exact(head_tail), "{basic} > {head_tail} {}", place());
            assert!(exact(head_tail) <= time, "{head_tail} > {time} {}", place());
        }
        if form.is_closed() {
            assert_eq!(general[0], found.basic, "at {p}, {n}: {source}\n{:?}", form.printed(&open));
        }
    }
    form.is_closed()
}

#[test]
fn bounds_of_resources_of_two_dimensions_are_never_above_the_time() {
    let head = "param P: int where P >= 1; param N: int where N >= 1; param t: time; resource g[-30..60, -30..60];";
    // Each task has a queue of its own, and takes t; the third has two tasks on a queue.
    for (index, closes) in [
        ("i mod 2, i div 2", false),
        ("i mod P, i div P", false),
        ("(i + 1) mod P, i mod P", true),
        ("i, i div 2", true),
        ("i mod P, 1", true),
    ] {
        let source = format!("{head} main = par (i = 0, N*P-1) use(g[{index}], t);");
        assert_eq!(two_dimensions_hold(&source), closes, "{index}");
    }
    let mut random = Random(7);
    let mut closed = 0;
    for round in 0..TWO_DIMENSIONS {
        let source = format!("{head} main = {};", dealt(&mut random, 1 + round % 3, 0));
        closed += u64::from(two_dimensions_hold(&source));
    }
    assert!(closed * 4 > TWO_DIMENSIONS, "{closed}");
}

/// Pairs of terms that take the same time and have the same bounds.
const SAME: &[(&str, &str)] = &[
    ("skip; use(r, 3)", "use(r, 3)"),
    ("use(r, 3) || skip", "use(r, 3)"),
    ("use(r, 0); delay(2)", "delay(2)"),
    ("delay(0); use(r, 1)", "use(r, 1)"),
    ("delay(2); delay(3)", "delay(5)"),
    ("use(r, 1) || use(r, 2) || delay(4)", "delay(4) || use(r, 2) || use(r, 1)"),
    ("par (i = 1, 0) use(r, 1)", "skip"),
    ("seq (i = 3, 2) use(r, 1)", "skip"),
    ("seq (i = 1, 3) use(r, i)", "use(r, 1); use(r, 2); use(r, 3)"),
    ("use(rho, 4)", "delay(4)"),
    ("par (i = 1, 2) { use(r, 1) ∥ use(q, 2) }", "par (i = 1, 2) use(r, 1) || par (i = 1, 2) use(q, 2)"),
];

#[test]
fn laws_keep_time_and_bounds() {
    for (left, right) in SAME {
        let of = |term: &str| {
            let model = model(&format!("resource r; resource q; main = {term};"), &[]);
            (times(&model, Ties::Program), bounds(&model, &model.alternatives[0].term).expect("as the test sets up"))
        };
        assert_eq!(of(left), of(right), "{left} = {right}");
    }
    // Two uses in a row are not one: the process asks again, behind the other.
    let of = |term: &str| {
        times(&model(&format!("resource r; main = {{ {term} }} || {{ use(r, 3); delay(9) }};"), &[]), Ties::Program)
    };
    assert_eq!((of("use(r, 2); use(r, 2)"), of("use(r, 4)")), (14.into(), 16.into()));
    // A use of no time does not wait for a busy resource.
    assert_eq!(of("use(r, 0); delay(1)"), 12.into());
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let source = "resource r * 2; main = par (i = 1, 20) seq (k = 1, 30) {
        delay(exp(2)); choose { 0.3: use(r, uniform(1, 2)), 0.7: { while (prob(0.5)) use(r, erlang(2, 1)); delay(normal(3, 1)) } } };";
    let model = model(source, &[]);
    let run = |seed| {
        record(&model, &model.alternatives[0].term, &Options { seed, ..Options::default() })
            .expect("as the test sets up")
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5).0.makespan, run(6).0.makespan);
    let plain = simulate(&model, &model.alternatives[0].term, &Options { seed: 5, ..Options::default() })
        .expect("as the test sets up");
    assert_eq!(plain.makespan, run(5).0.makespan);
    let mean = (0..40).map(|seed| run(seed).0.makespan.to_f64()).sum::<f64>() / 40.0;
    let found = bounds(&model, &model.alternatives[0].term).expect("as the test sets up");
    assert!(found.head_tail.to_f64() <= mean, "{} {mean}", found.head_tail);
}
