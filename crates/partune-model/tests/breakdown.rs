//! Where the time of a run went: answers by hand, and laws on random models.

use partune_expr::{Number, Rat};
use partune_model::Model;
use partune_model::simulate::{Breakdown, Options, Outcome, Ties, break_down, record, simulate};

use crate::laws::{looped, term};
use crate::support::{Random, model, rat};

fn of(model: &Model, options: &Options) -> (Outcome, Breakdown) {
    break_down(model, &model.alternatives[0].term, options).expect("a model that ends")
}

fn plain(source: &str) -> (Outcome, Breakdown) {
    of(&model(source, &[]), &Options::default())
}

fn sum(values: impl Iterator<Item = Number>) -> Rat {
    values.fold(Rat::ZERO, |sum, value| sum + rat(value))
}

/// Processes as `name starts time = busy + waiting + par_end`.
fn processes(breakdown: &Breakdown) -> Vec<String> {
    let line = |it: &partune_model::simulate::ProcessTime| {
        let [time, busy, waiting, end] = [it.time, it.busy, it.waiting, it.par_end].map(rat);
        format!("{} x{}: {time} = {busy} + {waiting} + {end}", it.name, it.starts)
    };
    breakdown.processes.iter().map(line).collect()
}

/// Resources as `name: waiting in waits, max_queue`.
fn resources(breakdown: &Breakdown) -> Vec<String> {
    let line = |it: &partune_model::simulate::ResourceTime| {
        format!("{}: {} in {}, {}", it.name, rat(it.waiting), it.waits, it.max_queue)
    };
    breakdown.resources.iter().map(line).collect()
}

/// Parts of the chain as `process resource: time in uses, queued_time in queued_uses`.
fn chain(breakdown: &Breakdown) -> Vec<String> {
    let line = |it: &partune_model::simulate::ChainPart| {
        let resource = it.resource.map_or("delay", |at| &breakdown.resources[at].name);
        let process = &breakdown.processes[it.process].name;
        let (time, queued) = (rat(it.time), rat(it.queued_time));
        format!("{process} {resource}: {time} in {}, {queued} in {}", it.uses, it.queued_uses)
    };
    breakdown.chain.iter().map(line).collect()
}

#[test]
fn two_processes_at_one_resource() {
    let (outcome, found) = plain("resource r; main = { use(r, 3); delay(2) } || use(r, 4);");
    assert_eq!(rat(outcome.makespan), 7.into());
    // The first is done at 5 and waits until 7; the second gets the server at 3.
    assert_eq!(
        processes(&found),
        ["program x1: 0 = 0 + 0 + 0", "branch 1 x1: 7 = 5 + 0 + 2", "branch 2 x1: 7 = 4 + 3 + 0"]
    );
    assert_eq!(resources(&found), ["r: 3 in 1, 1"]);
    assert_eq!(chain(&found), ["branch 1 r: 3 in 1, 0 in 0", "branch 2 r: 4 in 1, 4 in 1"]);
}

#[test]
fn a_pipeline_is_its_first_stage_and_the_last_item() {
    let (outcome, found) = plain("resource u[1..2]; main = par (i = 1, 3) seq (s = 1, 2) use(u[s], 2);");
    assert_eq!(rat(outcome.makespan), 8.into());
    assert_eq!(
        processes(&found),
        ["program x1: 0 = 0 + 0 + 0", "i = 1 x1: 8 = 4 + 0 + 4", "i = 2 x1: 8 = 4 + 2 + 2", "i = 3 x1: 8 = 4 + 4 + 0"]
    );
    // The second stage gets its items as it becomes free: nobody waits for it.
    assert_eq!(resources(&found)[0], "u[1]: 6 in 2, 2");
    assert!(resources(&found)[1].starts_with("u[2]: 0 in 0"), "{:?}", resources(&found));
    assert_eq!(
        chain(&found),
        [
            "i = 1 u[1]: 2 in 1, 0 in 0",
            "i = 2 u[1]: 2 in 1, 2 in 1",
            "i = 3 u[1]: 2 in 1, 2 in 1",
            "i = 3 u[2]: 2 in 1, 0 in 0"
        ]
    );
}

#[test]
fn a_fork_in_a_fork() {
    let (outcome, found) =
        plain("resource r; main = delay(1); { delay(2) || { delay(1); { delay(3) || delay(5) } } }; use(r, 4);");
    assert_eq!(rat(outcome.makespan), 11.into());
    // The second branch has one strand from 1 to 2, two from 2 to 7, of which one waits from 5 on.
    assert_eq!(
        processes(&found),
        ["program x1: 5 = 5 + 0 + 0", "branch 1 x1: 6 = 2 + 0 + 4", "branch 2 x1: 11 = 9 + 0 + 2"]
    );
    assert_eq!(resources(&found), ["r: 0 in 0, 0"]);
    assert_eq!(
        chain(&found),
        ["program delay: 1 in 1, 0 in 0", "program r: 4 in 1, 0 in 0", "branch 2 delay: 6 in 2, 0 in 0"]
    );
}

#[test]
fn branches_that_a_loop_starts_again_are_one_process() {
    let (_, found) = plain("resource r; main = seq (k = 1, 3) par (i = 1, 2) use(r, i);");
    assert_eq!(processes(&found), ["program x1: 0 = 0 + 0 + 0", "i = 1 x3: 9 = 3 + 0 + 6", "i = 2 x3: 9 = 6 + 3 + 0"]);
    assert_eq!(chain(&found), ["i = 1 r: 3 in 3, 0 in 0", "i = 2 r: 6 in 3, 6 in 3"]);
    // Two parallel terms: which one is said first. Fractions stay exact.
    let (_, found) = of(
        &model("param t: time; main = { par (i = 1, 2) delay(i*t/3) }; { delay(t) || delay(2*t) };", &[("t", 1)]),
        &Options::default(),
    );
    assert_eq!(
        processes(&found),
        [
            "program x1: 0 = 0 + 0 + 0",
            "par 1, i = 1 x1: 2/3 = 1/3 + 0 + 1/3",
            "par 1, i = 2 x1: 2/3 = 2/3 + 0 + 0",
            "par 2, branch 1 x1: 2 = 1 + 0 + 1",
            "par 2, branch 2 x1: 2 = 2 + 0 + 0"
        ]
    );
    assert_eq!(chain(&found), ["par 1, i = 2 delay: 2/3 in 1, 0 in 0", "par 2, branch 2 delay: 2 in 1, 0 in 0"]);
}

#[test]
fn where_nobody_waits_nothing_is_said_of_waiting() {
    let (outcome, found) = plain("main = seq (i = 1, 3) delay(2);");
    assert_eq!(processes(&found), ["program x1: 6 = 6 + 0 + 0"]);
    assert_eq!((resources(&found), chain(&found)), (vec![], vec!["program delay: 6 in 3, 0 in 0".to_owned()]));
    assert_eq!(rat(outcome.makespan), 6.into());
    let (_, found) = plain("main = skip;");
    assert_eq!((processes(&found).len(), found.chain.len()), (1, 0));
    // Two servers for two: no wait, and the chain stays with the longer.
    let (_, found) = plain("resource r * 2; main = use(r, 3) || use(r, 4);");
    assert_eq!(
        (resources(&found), chain(&found)),
        (vec!["r: 0 in 0, 0".into()], vec!["branch 2 r: 4 in 1, 0 in 0".into()])
    );
}

/// What holds for every run.
fn laws(source: &str, model: &Model, options: &Options) -> Breakdown {
    let (outcome, found) = of(model, options);
    assert_eq!(sum(found.chain.iter().map(|it| it.time)), rat(outcome.makespan), "{source}");
    for it in &found.processes {
        let parts = sum([it.busy, it.waiting, it.par_end].into_iter());
        assert_eq!(parts, rat(it.time), "{} of {source}", it.name);
    }
    let waiting = sum(found.resources.iter().map(|it| it.waiting));
    assert_eq!(sum(found.processes.iter().map(|it| it.waiting)), waiting, "{source}");
    for it in &found.resources {
        assert_eq!(it.waits > 0, rat(it.waiting) > Rat::ZERO, "{source}");
        assert!(it.max_queue > 0 || it.waits == 0, "{source}");
    }
    for part in &found.chain {
        assert!(part.queued_uses <= part.uses && rat(part.queued_time) <= rat(part.time), "{source}");
        // Only who waited can have got the server from another.
        let waits = part.resource.map_or(0, |at| found.resources[at].waits);
        assert!(part.queued_uses <= waits, "{source}");
    }
    // What a recording of the same run says.
    let (recorded, recording) = record(model, &model.alternatives[0].term, options).expect("a model that ends");
    assert_eq!((recorded.makespan, recorded.uses), (outcome.makespan, outcome.uses), "{source}");
    let total =
        |of: &dyn Fn(&partune_model::simulate::Recorded) -> f64| recording.activities.iter().map(of).sum::<f64>();
    let close = |value: f64, exact: Rat| assert!((value - exact.to_f64()).abs() < 1e-6, "{value} {exact}: {source}");
    close(total(&|it| it.begin - it.request), waiting);
    close(total(&|it| it.end - it.begin), sum(found.processes.iter().map(|it| it.busy)));
    found
}

#[test]
fn sums_hold_on_random_models() {
    let mut random = Random(11);
    let mut waited = 0;
    for round in 0..2_000 {
        let resources = 1 + random.below(4);
        let servers: Vec<i64> = (0..resources).map(|_| [1, 1, 2, 3][random.below(4) as usize]).collect();
        let mut source: String = servers.iter().enumerate().map(|(i, m)| format!("resource r{i} * {m}; ")).collect();
        if round % 2 == 0 {
            let depth = 2 + random.below(3);
            source += &format!("main = {};", term(&mut random, depth, resources));
        } else {
            source = format!("resource a[-1..9] * {}; main = {};", servers[0], looped(&mut random, 2, ""));
            source = source.replace("i1 div 2", "(i1 div 2)");
        }
        let model = model(&source, &[]);
        let ties = [Ties::Program, Ties::Reverse, Ties::Random][round as usize % 3];
        let found = laws(&source, &model, &Options { ties, seed: 5, ..Options::default() });
        waited += u64::from(found.resources.iter().any(|it| it.waits > 0));
    }
    assert!(waited > 1_000, "{waited} of 2000 models have waits");
}

#[test]
fn the_time_of_a_branch_without_branches_is_the_makespan() {
    let mut random = Random(12);
    for _ in 0..500 {
        let branch = |random: &mut Random| {
            let uses = (0..=random.below(6)).map(|_| format!("use(r{}, {})", random.below(3), 1 + random.below(9)));
            format!("{{ {} }}", uses.collect::<Vec<_>>().join("; "))
        };
        let branches: Vec<String> = (0..2 + random.below(5)).map(|_| branch(&mut random)).collect();
        let source = format!("resource r0; resource r1; resource r2 * 2; main = {};", branches.join(" || "));
        let model = model(&source, &[]);
        let found = laws(&source, &model, &Options::default());
        let makespan = sum(found.chain.iter().map(|it| it.time));
        assert_eq!(found.processes.len(), branches.len() + 1);
        assert!(found.processes.iter().skip(1).all(|it| rat(it.time) == makespan), "{source}");
    }
}

#[test]
fn chains_are_bounded_and_so_are_names() {
    // Every use is on the chain, and no two neighbours are of the same process.
    let (outcome, found) = plain("resource r; main = par (i = 1, 4) seq (k = 1, 100000) use(r, 1);");
    assert_eq!(rat(outcome.makespan), 400_000.into());
    assert!(found.links <= 1 << 16, "{}", found.links);
    let parts = chain(&found);
    assert_eq!(parts[0], "i = 1 r: 100000 in 100000, 99999 in 99999");
    assert_eq!(parts[3], "i = 4 r: 100000 in 100000, 100000 in 100000");
    // A limit that cannot be kept is told.
    let model = model("resource r[1..100]; main = par (i = 1, 100) use(r[i], i);", &[]);
    let options = Options { max_record: 10, ..Options::default() };
    let error = break_down(&model, &model.alternatives[0].term, &options).expect_err("too many links");
    assert!(error.message.contains("more than 10 links"), "{}", error.message);
    let (_, found) = plain("main = par (i = 1, 10005) delay(1);");
    assert_eq!(found.processes.len(), 10_002);
    assert_eq!(processes(&found)[10_001], "others x5: 5 = 5 + 0 + 0");
}

#[test]
fn a_breakdown_is_of_the_same_run() {
    let source = "resource r * 2; main = par (i = 1, 20) seq (k = 1, 30) {
        { use(r, 1) || delay(exp(2)) }; choose { 0.3: use(r, uniform(1, 2)), 0.7: { while (prob(0.5)) use(r, 1) } } };";
    let model = model(source, &[]);
    let options = Options { seed: 5, ..Options::default() };
    let (outcome, found) = of(&model, &options);
    let alone = simulate(&model, &model.alternatives[0].term, &options).expect("a model that ends");
    assert_eq!((outcome.makespan, outcome.uses, &outcome.resources), (alone.makespan, alone.uses, &alone.resources));
    assert_eq!(of(&model, &options).1, found);
    // With doubles, sums are right up to rounding.
    let total: f64 = found.chain.iter().map(|it| it.time.to_f64()).sum();
    assert!((total / outcome.makespan.to_f64() - 1.0).abs() < 1e-9, "{total} {}", outcome.makespan);
}
