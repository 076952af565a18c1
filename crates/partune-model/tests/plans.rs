//! Plans: ADI as worked out by hand, loops whose turns differ, against trying everything, and when data must stay where they are.

use std::fmt::Write;

use partune_expr::Number;
use partune_model::decide::decide;
use partune_model::estimate::{closed_form, numbers};
use partune_model::plan::{Act, Chosen, plan, term, with_plans};
use partune_model::simulate::{Options, simulate};
use partune_model::{Diagnostic, Model};

use crate::support::{Random, model, read, values};

const ADI: &str = include_str!("../library/adi_sweeps.pam");

fn chosen(model: &Model) -> Result<Chosen, Diagnostic> {
    let mut cost = |term: &_| Ok(numbers(&closed_form(model, term), model, model, term)?.bounds.head_tail);
    plan(model, &model.plans[0], &mut cost)
}

/// What is done, in one line: `s=1..9(down_whole across_cut)`.
fn written(model: &Model, acts: &[Act]) -> String {
    let one = |act: &Act| match act {
        Act::Other(_) => "other".to_owned(),
        Act::Run { alternative, .. } => model.alternatives[*alternative].name.clone(),
        Act::Redistribute { redistribution, .. } => {
            let it = &model.redistributions[*redistribution];
            format!("{}->{}", model.mappings[it.from], model.mappings[it.to])
        }
        Act::Turns { range, first, last, turns } => {
            let turns: Vec<String> = turns.iter().map(|turn| written(model, turn)).collect();
            format!("{}={first}..{last}({})", range.variable.name, turns.join(" | "))
        }
    };
    acts.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn cost(found: &Chosen) -> i64 {
    found.cost.to_int().expect("times are integers here")
}

fn adi(given: &[(&str, i64)]) -> (Model, Chosen) {
    let usual = [("N", 512), ("P", 8), ("tf", 1), ("tm", 4), ("S", 10)];
    let all: Vec<_> =
        usual.iter().filter(|(name, _)| given.iter().all(|it| it.0 != *name)).chain(given).copied().collect();
    let model = model(ADI, &all);
    let found = chosen(&model).expect("as the test sets up");
    (model, found)
}

/// By hand: a whole sweep takes (N/P)(N-2) tf = 32640, down cut lines N (N-2) tf = 261120, across cut lines 282638, a redistribution 2 (N/P)(N-N/P) tm =
/// 229376. Rows are cheaper than columns by 282638 - 261120 in each sweep, and by 229376 more where data are in columns for the way down and are redistributed
/// then. So they go to rows once, in the first sweep, and stay.
#[test]
fn adi_redistributes_once() {
    let (model, found) = adi(&[]);
    assert_eq!(cost(&found), 32640 + 229_376 + 32640 + 9 * (261_120 + 32640));
    let once = "s=1..1(down_whole columns->rows across_whole)";
    assert_eq!(written(&model, &found.acts), format!("{once} s=2..10(down_cut across_whole)"));
    let stays: Vec<_> = found.stays.iter().map(|it| it.map(|it| it.to_int().expect("an integer"))).collect();
    assert_eq!(stays, [Some(10 * (32640 + 282_638)), Some(229_376 + 10 * (261_120 + 32640))]);
    let (model, found) = adi(&[("S", 1)]);
    assert_eq!(written(&model, &found.acts), once);
}

/// N = 64, P = 4, tf = 2, tm = 1: whole 1984, down cut 7936, a redistribution 1536. There and back is less than what cut lines cost more, so every sweep redistributes
/// twice but the first.
#[test]
fn adi_redistributes_in_every_sweep_where_moves_are_cheap() {
    let (model, found) = adi(&[("N", 64), ("P", 4), ("tf", 2), ("tm", 1)]);
    assert_eq!(cost(&found), 20 * 1984 + 19 * 1536);
    let rest = "s=2..10(rows->columns down_whole columns->rows across_whole)";
    assert_eq!(written(&model, &found.acts), format!("s=1..1(down_whole columns->rows across_whole) {rest}"));
    let whole = term(&model, &found.acts);
    let run = simulate(&model, &whole, &Options::default()).expect("it ends");
    assert_eq!(run.makespan, found.cost, "phases are simulated as they are bounded here");
}

/// Where data must be in columns again, or two sweeps do not gain what a redistribution costs, they stay; then nothing is redistributed. At tm = 5, S = 2: 644892 in columns,
/// 645760 with one redistribution.
#[test]
fn adi_stays_where_redistributing_does_not_pay() {
    let back = ADI.replace("from columns =", "from columns to columns =");
    for (source, tm, sweeps) in [(back.as_str(), 4, 10), (ADI, 5, 2), (ADI, 50, 2)] {
        let model = model(source, &[("N", 512), ("P", 8), ("tf", 1), ("tm", tm), ("S", sweeps)]);
        let found = chosen(&model).expect("as the test sets up");
        assert_eq!(written(&model, &found.acts), format!("s=1..{sweeps}(down_whole across_cut)"), "{tm}");
        assert_eq!(Some(found.cost), found.stays[0]);
        assert!(tm != 5 || cost(&found) == 644_892);
    }
}

/// By formulas, of all choices in which sweeps are alike: the same cross-over as for one sweep, where there is one; for many, 2 S - 1 redistributions
/// against S cut sweeps.
#[test]
fn choices_of_plans_are_alternatives() {
    let open = with_plans(&model(ADI, &[("N", 512), ("P", 8)])).expect("there are few");
    let names: Vec<&str> =
        open.alternatives.iter().filter(|it| it.stage.is_none()).map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        ["down_whole, across_whole", "down_whole, across_cut", "down_cut, across_whole", "down_cut, across_cut"]
    );
    let decision = decide(&open, &[names[0].to_owned(), names[1].to_owned()], None).expect("as the test sets up");
    for (s, tm, is_less) in
        [(1, 4, true), (1, 5, false), (2, 2, true), (2, 3, false), (10, 2, true), (10, 3, false), (1000, 2, true)]
    {
        let at = move |symbol: &partune_expr::Symbol| {
            let value = match &*symbol.name {
                "S" => s,
                "tm" => tm,
                _ => 1,
            };
            Some(Number::Exact(value.into()))
        };
        assert_eq!(decision.pairs[0].less.condition().eval(&at), Ok(is_less), "{s} {tm}: {}", decision.pairs[0].less);
        // 250014 - 16 is what a cut sweep takes more than a whole one at tm = 4, and so on.
        let costs =
            [0, 1].map(|which| decision.choices[which].form.head_tail.eval(&at).expect("it has a value").to_int());
        assert_eq!(costs[0], Ok(2 * s * 32640 + (2 * s - 1) * 57344 * tm));
    }
}

/// Algorithms that leave data elsewhere: turn by turn the other one is at hand. What does not depend on mappings is the same for all.
#[test]
fn turns_may_come_in_pairs() {
    let source = "resource r; param S: int;
        redistribute a -> b = delay(10); redistribute b -> a = delay(10);
        alt forth of turn on a -> b = delay(1); alt back of turn on b -> a = delay(2); alt stay of turn on a = delay(4);
        alt quick of check = delay(7); alt slow of check = delay(8);
        plan all from a = { seq (s = 1, S) { turn; seq (k = s, s) delay(s); check }; delay(5) };";
    let found = |s: i64| {
        let model = model(source, &[("S", s)]);
        let found = chosen(&model).expect("as the test sets up");
        let run = simulate(&model, &term(&model, &found.acts), &Options::default()).expect("it ends");
        assert_eq!(run.makespan, found.cost);
        (written(&model, &found.acts), cost(&found), found.others.to_int())
    };
    assert_eq!(found(0), ("other".to_owned(), 5, Ok(5)));
    let pair = "forth other quick | back other quick";
    assert_eq!(
        found(5),
        (format!("s=1..4({pair}) s=5..5(forth other quick) other"), 3 * 3 - 2 + 5 * 7 + 15 + 5, Ok(20))
    );
    assert_eq!(found(1000).0, format!("s=1..1000({pair}) other"));
    let long = model(source, &[("S", 2_000_000)]);
    let error = chosen(&long).expect_err("too long");
    assert!(error.message.contains("1000000 turns"), "{error:?}");
}

/// The first phase of a plan without `from` takes data where they are; where they cannot get, that is said.
#[test]
fn data_go_by_way_of_others_or_not_at_all() {
    let source = "redistribute a -> b = delay(1); redistribute b -> c = delay(1); redistribute a -> c = delay(3);
        alt first of p on a = skip; alt last of q on c = delay(1);
        plan all = { p; q };";
    let one = model(source, &[]);
    let found = chosen(&one).expect("as the test sets up");
    assert_eq!((written(&one, &found.acts), cost(&found)), ("first a->b b->c last".to_owned(), 3));
    assert_eq!(found.stays, [None, None, None]);
    let cut = model(&source.replace("redistribute b -> c = delay(1);", "").replace("a -> c", "c -> b"), &[]);
    let error = chosen(&cut).expect_err("c is out of reach");
    assert!(error.message.contains("cannot get") && error.help.contains("redistribute"), "{error:?}");
}

#[test]
fn what_is_wrong_with_plans_is_told() {
    let alternatives = "alt x of p on a = delay(1); alt y of p on b = delay(2);";
    for (rest, wanted) in [
        ("plan all = { p || p };", "one after the other"),
        ("plan all = if (1 < 2) p;", "one after the other"),
        ("plan all = p(3);", "takes no arguments"),
        ("plan all = delay(1);", "has no phases"),
        ("plan all = q;", "no process `q`"),
        ("plan all from c = p;", "no mapping `c`"),
        ("plan all = seq (s = 1, 3) seq (k = 1, s) p;", "same turns"),
        ("redistribute a -> a = skip; plan all = p;", "need no redistribution"),
        ("redistribute a -> b = skip; redistribute a -> b = skip; plan all = p;", "defined already"),
        ("proc p = delay(1); plan all = p;", "already defined"),
        ("plan x = p;", "already defined"),
        ("main = p;", "no process `p`"),
        ("alt plan of p = skip;", "a word of the language"),
    ] {
        let (found, diagnostics) = read(&format!("{alternatives} {rest}"), &values(&[]));
        assert!(found.is_none(), "{rest}");
        assert!(diagnostics.iter().any(|one| one.message.contains(wanted)), "{rest}: {diagnostics:?}");
    }
}

/// A random plan with three mappings: its source, and its phases in the order in which they are done.
fn random_plan(random: &mut Random, depth: u32, phases: &mut Vec<i64>, text: &mut String) {
    let count = 1 + random.below(2);
    for at in 0..count {
        text.push_str(if at == 0 { "{ " } else { "; " });
        if depth > 0 && random.below(2) == 0 {
            let turns = random.below(4);
            let _ = write!(text, "seq (i = 1, {turns}) ");
            let before = phases.len();
            random_plan(random, depth - 1, phases, text);
            let turn = phases.split_off(before);
            (0..turns).for_each(|_| phases.extend(&turn));
        } else {
            let phase = random.below(2);
            let _ = write!(text, "p{phase}");
            phases.push(phase);
        }
    }
    text.push_str(" }");
}

/// Against trying all alternatives of all phases, one by one.
#[test]
fn nothing_is_cheaper() {
    let mut random = Random(21);
    let (mut compared, mut impossible, mut moved) = (0, 0, 0);
    while compared < 400 {
        let mut text = String::new();
        let mut ways = [[None; 3]; 3];
        for (from, row) in ways.iter_mut().enumerate() {
            for (to, way) in row.iter_mut().enumerate() {
                if from == to {
                    *way = Some(0);
                } else if random.below(3) > 0 {
                    let cost = random.below(6);
                    *way = Some(cost);
                    let _ = writeln!(text, "redistribute m{from} -> m{to} = delay({cost});");
                }
            }
        }
        for by in 0..3 {
            for from in 0..3 {
                for to in 0..3 {
                    let found = ways[from][by].zip(ways[by][to]).map(|(a, b): (i64, i64)| a + b);
                    ways[from][to] = [ways[from][to], found].into_iter().flatten().min();
                }
            }
        }
        let mut alternatives = Vec::new();
        for phase in 0..2 {
            for at in 0..=random.below(3) {
                let (needs, leaves, cost) = (random.below(3), random.below(3), random.below(8));
                let _ = writeln!(text, "alt a{phase}{at} of p{phase} on m{needs} -> m{leaves} = delay({cost});");
                alternatives.push((phase, needs as usize, leaves as usize, cost));
            }
        }
        let mut phases = Vec::new();
        let mut body = String::new();
        random_plan(&mut random, 2, &mut phases, &mut body);
        if phases.len() > 7 {
            continue;
        }
        compared += 1;
        // All mappings are known, whichever are used.
        let all = "alt z of unused on m0 -> m1 = skip; alt zz of unused on m2 = skip;";
        let source = format!("{text}{all}\nplan all from m0 to m1 = {body};");
        let model = model(&source, &[]);
        let least = tried(&phases, 0, &alternatives, &ways);
        match (chosen(&model), least) {
            (Ok(found), Some(least)) => {
                assert_eq!(cost(&found), least, "{source}");
                let run = simulate(&model, &term(&model, &found.acts), &Options::default()).expect("it ends");
                assert_eq!(run.makespan, found.cost, "{source}\n{}", written(&model, &found.acts));
                moved += i32::from(written(&model, &found.acts).contains("->"));
            }
            (Err(_), None) => impossible += 1,
            (found, least) => panic!("{source}: {found:?}, {least:?}"),
        }
    }
    assert!(impossible > 10 && moved > 100, "{impossible} {moved}");
}

/// The least cost of phases with data in a mapping before them and in m1 after them.
fn tried(phases: &[i64], at: usize, all: &[(i64, usize, usize, i64)], ways: &[[Option<i64>; 3]; 3]) -> Option<i64> {
    let [phase, rest @ ..] = phases else { return ways[at][1] };
    let of = all.iter().filter(|it| it.0 == *phase);
    of.filter_map(|&(_, needs, leaves, cost)| Some(ways[at][needs]? + cost + tried(rest, leaves, all, ways)?)).min()
}
