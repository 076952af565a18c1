//! Decisions against the numbers that they stand for, on random models with open parameters: `mod`, `div`, conditions, chance.
//!
//! Ordinary runs try a hundred models and compile the code of a few; `-- --ignored` tries ten thousand, compiles the code of a thousand,
//! and prints how often simulation would have chosen otherwise.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use partune_expr::{Number, Rat};
use partune_model::decide::{Decision, Reason, decide};
use partune_model::emit::{Language, emit};
use partune_model::estimate::{ClosedForm, Given, bounds, numbers};
use partune_model::simulate::{Options, simulate};
use partune_model::{Model, Values};

use crate::support::{Random, model, read};

/// Points at which every model is tried.
const POINTS: usize = 4;
/// Models whose code is compiled as one program.
const BATCH: usize = 100;

fn pick<'a>(random: &mut Random, list: &[&'a str]) -> &'a str {
    list[random.below(list.len() as u64) as usize]
}

/// A term over the parameters N, P, t, u, the queues a[P] and b, and the loop variables so far.
fn term(random: &mut Random, depth: usize, loops: usize, chance: bool) -> String {
    // A variable of a loop, or what stands for one outside.
    let v = match loops {
        0 => "N".to_owned(),
        _ => format!("i{}", random.below(loops as u64)),
    };
    if depth == 0 || random.below(8) == 0 {
        let time = pick(
            random,
            &["t", "u", "2*t", "t+u", "[$ mod 2 = 0]*t", "($+1)*u", "t*($ mod 3)", "t/($+1)", "[$ > 2]*u + t"],
        );
        let index = pick(
            random,
            &[
                "$ mod P",
                "($+1) mod P",
                "(2*$) mod P",
                "(8*$) mod P",
                "(3*$+1) mod P",
                "($ div 2) mod P",
                "($*$) mod P",
                "P-1",
                "0",
                "P-1-$ mod P",
                "min($, P-1)",
                "(5*$) mod P",
                "($ div P) mod P",
                "(6*$) mod P",
            ],
        );
        let (time, index) = (time.replace('$', &v), index.replace('$', &v));
        if chance && random.below(3) == 0 {
            return format!("{{ delay(exp({time})); use(a[{index}], t) }}");
        }
        return match random.below(5) {
            0 => format!("delay({time})"),
            1 => format!("use(b, {time})"),
            _ => format!("use(a[{index}], {time})"),
        };
    }
    let inner = |random: &mut Random| term(random, depth - 1, loops, chance);
    match random.below(if chance { 8 } else { 7 }) {
        0 => format!("{{ {}; {} }}", inner(random), inner(random)),
        1 => format!("{{ {} || {} }}", inner(random), inner(random)),
        2 => {
            let condition = pick(
                random,
                &[
                    "$ mod 3 = 0",
                    "$ > N div 2",
                    "N mod 2 = 0",
                    "2 | $",
                    "N > P",
                    "$ = 1",
                    "$ < 2 or $ > 4",
                    "$ mod P = 0",
                ],
            );
            format!(
                "if ({}) {} else {}",
                condition.replace('$', &v),
                inner(random),
                pick(random, &["skip", "delay(t)", "use(b, u)"])
            )
        }
        7 => format!("if (prob(1/4)) {} else {}", inner(random), inner(random)),
        _ => {
            let what = if random.below(3) == 0 { "seq" } else { "par" };
            let (lo, hi) = (random.below(2), pick(random, &["N", "P", "N-1", "P-1", "N div 2", "3", "N+P", "2*N-1"]));
            format!("{what} (i{loops} = {lo}, {hi}) {}", term(random, depth - 1, loops + 1, chance))
        }
    }
}

fn source(random: &mut Random) -> String {
    let divides = random.below(4) == 0;
    let chance = random.below(8) == 0;
    let mut text = format!(
        "param P: int where P >= 1; param N: int where N >= 1{}; param t: time; param u: time; resource a[P] * {}; resource b;\n",
        if divides { ", P | N" } else { "" },
        1 + random.below(2),
    );
    for name in ["first", "second", "third"].iter().take(2 + random.below(2) as usize) {
        let depth = 1 + random.below(3) as usize;
        let _ = writeln!(text, "alt {name} = {};", term(random, depth, 0, chance));
    }
    text
}

struct Case {
    source: String,
    open: Model,
    decision: Decision,
    forms: Vec<ClosedForm>,
}

/// Values of P, N, t and u, and the costs there.
type Point = ([i64; 4], Vec<Number>);

/// What is counted over all models.
#[derive(Debug, Default)]
struct Tally {
    models: u64,
    points: u64,
    closed_forms: u64,
    forms: u64,
    by_costs: u64,
    simulated: u64,
    otherwise: u64,
    /// What following the estimate cost there, over what the best would have taken.
    regret: f64,
    worst: f64,
}

fn case(random: &mut Random) -> Case {
    let source = source(random);
    let open = model(&source, &[]);
    let variable = [None, Some("P"), Some("N")][random.below(3) as usize];
    let decision = decide(&open, &[], variable).unwrap_or_else(|error| panic!("{source}\n{error:?}"));
    let forms = decision.choices.iter().map(|choice| choice.form.clone()).collect();
    Case { source, open, decision, forms }
}

/// Values that the assumptions allow; parameters in their order: P, N, t, u.
fn point(random: &mut Random, divides: bool) -> [i64; 4] {
    let p = 1 + random.below(7);
    let n = if divides { p * (1 + random.below(4)) } else { 1 + random.below(13) };
    [p, n, 1 + random.below(8), 1 + random.below(8)]
}

fn values(point: [i64; 4]) -> Values {
    ["P", "N", "t", "u"].iter().zip(point).map(|(name, value)| ((*name).to_owned(), Rat::from(value))).collect()
}

/// Tries a model at its points: its closed forms, and what is chosen. Gives the points with the costs.
fn tried(case: &Case, random: &mut Random, tally: &mut Tally) -> Vec<Point> {
    let Case { source, open, decision, forms } = case;
    let mut points = Vec::new();
    tally.models += 1;
    tally.forms += forms.len() as u64;
    tally.closed_forms += forms.iter().filter(|form| form.is_closed()).count() as u64;
    for _ in 0..POINTS {
        let at = point(random, source.contains("P | N"));
        let given = read(source, &values(at)).0.unwrap_or_else(|| panic!("{source} {at:?}"));
        let with_values = Model { params: given.params.clone(), ..open.clone() };
        let (mut costs, mut times) = (Vec::new(), Vec::new());
        for (form, alternative) in forms.iter().zip(&given.alternatives) {
            let place =
                || format!("{} at {at:?}: {source}{:#?} {:?}", alternative.name, form.printed(open), form.weaker);
            let found = bounds(&given, &alternative.term).unwrap_or_else(|error| panic!("{error:?} {}", place()));
            let time = (!found.random).then(|| {
                let run = simulate(&given, &alternative.term, &Options::default());
                run.unwrap_or_else(|error| panic!("{error:?} {}", place())).makespan
            });
            assert!(form.random || !found.random, "{}", place());
            // Fractions too fine for 128 bits are doubles.
            let at_most = |a: Number, b: Number| a.compare(b).is_le() || a.to_f64() <= b.to_f64() * (1.0 + 1e-12);
            let equal = |a: Number, b: Number| at_most(a, b) && at_most(b, a);
            if form.is_closed() {
                let closed = form.eval(&Given(&with_values)).unwrap_or_else(|error| panic!("{error:?} {}", place()));
                let same = equal(closed.basic, found.basic) && equal(closed.upper, found.upper);
                assert!(same && at_most(found.head_tail, closed.head_tail), "{closed:?} {found:?} {}", place());
                costs.push(closed.head_tail);
            } else {
                let cost = numbers(form, open, &given, &alternative.term)
                    .unwrap_or_else(|error| panic!("{error:?} {}", place()));
                costs.push(cost.bounds.head_tail);
            }
            if let Some(time) = time {
                assert!(at_most(costs[costs.len() - 1], time), "{costs:?} above {time}: {}", place());
                assert!(at_most(time, found.upper), "{found:?} below {time}: {}", place());
            }
            times.push(time);
        }
        let position = |name: &str| given.alternatives.iter().position(|own| own.name == name).expect("as decided");
        let (chosen, reason) = decision
            .choose(&Given(&with_values), |choice| Ok(costs[position(&choice.name)]))
            .unwrap_or_else(|error| panic!("{error:?} {source}"));
        for (other, cost) in costs.iter().enumerate() {
            assert!(
                costs[chosen].to_f64() <= cost.to_f64() * (1.0 + 1e-12),
                "{chosen} by {reason:?}, not {other}, of {costs:?} at {at:?}: {source}{:#?}",
                decision
                    .choices
                    .iter()
                    .map(|choice| (choice.chosen.to_string(), &choice.dominated_by))
                    .collect::<Vec<_>>()
            );
        }
        tally.points += 1;
        tally.by_costs += u64::from(reason == Reason::Costs);
        if let Some(times) = times.into_iter().map(|time| time.map(Number::to_f64)).collect::<Option<Vec<f64>>>() {
            let best = times.iter().copied().fold(f64::INFINITY, f64::min);
            tally.simulated += 1;
            if times[chosen] > best * (1.0 + 1e-9) {
                tally.otherwise += 1;
                tally.regret += times[chosen] / best - 1.0;
                tally.worst = tally.worst.max(times[chosen] / best);
            }
        }
        points.push((at, costs));
    }
    points
}

/// Compiles the code of many models into one program, runs it at their points, and compares what it chooses and costs.
fn compiled(folder: &Path, cases: &[(Case, Vec<Point>)]) {
    let (mut modules, mut calls) = (String::new(), String::new());
    for (number, (case, points)) in cases.iter().enumerate() {
        let instance = |values: &Values| read(&case.source, values).0;
        let text = emit(&case.open, &case.decision, Language::Rust, "random", &instance)
            .unwrap_or_else(|error| panic!("{error:?} {}", case.source));
        std::fs::write(folder.join(format!("m{number}.rs")), text).expect("as the test sets up");
        let _ = writeln!(modules, "#[path = \"m{number}.rs\"] mod m{number};");
        let _ = writeln!(calls, "fn f{number}() {{");
        for (index, ([p, n, t, u], _)) in points.iter().enumerate() {
            let args = format!("{p}, {n}, {t}.0, {u}.0");
            let costs = case.decision.choices.iter().map(|choice| format!("m{number}::cost_{}({args})", choice.name));
            let costs = costs.collect::<Vec<_>>().join(", ");
            let _ = writeln!(
                calls,
                "    println!(\"{number} {index} {{}} {{:?}}\", m{number}::choose({args}) as usize, [{costs}]);"
            );
        }
        calls.push_str("}\n");
    }
    let each: String = (0..cases.len()).map(|number| format!("    f{number}();\n")).collect();
    let main = folder.join("main.rs");
    std::fs::write(&main, format!("{modules}{calls}fn main() {{\n{each}}}\n")).expect("as the test sets up");
    let binary = folder.join("main.exe");
    let output = Command::new("rustc")
        .args(["--edition", "2021", "-C", "debuginfo=0", "-C", "opt-level=0", "-A", "warnings", "-o"])
        .arg(&binary)
        .arg(&main)
        .output()
        .expect("there is a compiler");
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", told.chars().take(4000).collect::<String>());
    let output = Command::new(&binary).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut seen = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.splitn(4, ' ');
        let mut number = || words.next().and_then(|word| word.parse::<usize>().ok()).expect("a number");
        let (case, index, chosen) = (number(), number(), number());
        seen.insert((case, index), chosen);
        let (own, points) = &cases[case];
        let costs: Vec<f64> = points[index].1.iter().map(|cost| cost.to_f64()).collect();
        let told: Vec<f64> = words
            .next()
            .expect("costs")
            .trim_matches(['[', ']'])
            .split(", ")
            .map(|cost| cost.parse().expect("a cost"))
            .collect();
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
        let place = || format!("{:?}: {told:?}, not {costs:?}: {}", points[index].0, own.source);
        assert!(costs.iter().zip(&told).all(|(a, b)| near(*a, *b)), "{}", place());
        assert!(costs.iter().all(|cost| costs[chosen] <= *cost || near(costs[chosen], *cost)), "{chosen} {}", place());
    }
    assert_eq!(seen.len(), cases.len() * POINTS);
}

/// Tries so many models, and compiles the code of every so manieth.
fn run(seed: u64, models: u64, compile_each: u64) -> Tally {
    let mut random = Random(seed);
    let mut tally = Tally::default();
    let folder = tempfile::tempdir().expect("as the test sets up");
    let mut cases = Vec::new();
    for round in 0..models {
        let case = case(&mut random);
        let points = tried(&case, &mut random, &mut tally);
        if round % compile_each == 0 {
            cases.push((case, points));
        }
        if cases.len() == BATCH || round + 1 == models {
            compiled(folder.path(), &cases);
            cases.clear();
        }
    }
    tally
}

#[test]
fn what_is_chosen_is_never_the_worse() {
    let tally = run(11, 120, 10);
    // Both ways are tried.
    assert!(tally.by_costs * 40 > tally.points && tally.by_costs * 2 < tally.points, "{tally:?}");
    assert!(tally.closed_forms * 2 > tally.forms, "{tally:?}");
}

#[test]
#[ignore = "minutes"]
#[allow(clippy::print_stdout)] // what it is run for
fn of_ten_thousand_models_none_is_decided_for_the_worse() {
    let shards: Vec<Tally> = std::thread::scope(|scope| {
        let runs: Vec<_> = (12..16).map(|seed| scope.spawn(move || run(seed, 2_500, 10))).collect();
        runs.into_iter().map(|run| run.join().expect("no model fails")).collect()
    });
    let mut all = Tally::default();
    for own in shards {
        all.models += own.models;
        all.points += own.points;
        all.forms += own.forms;
        all.closed_forms += own.closed_forms;
        all.by_costs += own.by_costs;
        all.simulated += own.simulated;
        all.otherwise += own.otherwise;
        all.regret += own.regret;
        all.worst = all.worst.max(own.worst);
    }
    println!("{all:#?}");
    println!("mean loss where simulation would choose otherwise: {:.3}", all.regret / all.otherwise as f64);
}
