//! Events: who waits for what others post; known times, bounds that hold, and models that wait for ever.

use partune_expr::Rat;
use partune_model::decide::decide;
use partune_model::estimate::{Given, bounds, closed_form};
use partune_model::simulate::{Options, Ties, What, break_down, record, simulate};
use partune_model::{format, trace};
use proptest::prelude::*;

use crate::support::{exact, model, rat, read, simulated, values};

#[track_caller]
fn takes(source: &str, time: i64) {
    let model = model(source, &[]);
    for ties in [Ties::Program, Ties::Reverse, Ties::Random] {
        let outcome = simulate(&model, &model.alternatives[0].term, &Options { ties, ..Options::default() });
        assert_eq!(outcome.map(|it| it.makespan), Ok(exact(time)), "{ties:?} {source}");
    }
}

#[test]
fn who_waits_goes_on_when_it_is_posted() {
    takes("event e; main = { delay(5); post e; delay(1) } || { delay(2); await e; delay(4) };", 9);
    // Who comes later does not wait; a second post changes nothing; many may wait.
    takes("event e; main = { delay(1); post e; delay(9); post e } || { delay(3); await e; delay(4) };", 10);
    takes("event e; main = par (i = 1, 100) { await e; delay(i) } || { delay(7); post e };", 107);
    takes(
        "event e[3, 1..2]; main = par (i = 0, 2) { await e[i, 2]; delay(1) } || par (i = 0, 2) { delay(i); post e[i, 2] };",
        3,
    );
    // In a process that calls itself, and behind a parallel term.
    takes(
        "event e[9]; proc f(n) = if (n < 8) { f(n + 1) || { await e[n + 1]; delay(1); post e[n] } } else { delay(1); post e[8] }; main = f(0);",
        9,
    );
    // Rows of blocks through processes, each after the one to the left: P + R - 1 steps.
    let wavefront = |wait: &str| {
        format!(
            "event done[0..7, 1..64]; resource cpu[8]; main = par (p = 0, 7) seq (i = 1, 64) {{ {wait} use(cpu[p], 10); post done[p, i] }};"
        )
    };
    takes(&wavefront("if (p > 0) await done[p - 1, i];"), 10 * (64 + 7));
    takes(&wavefront(""), 640);
}

/// Loops over domains as terms: an index is one process, which waits before its task; an event between loops that go on makes nobody wait for a whole loop.
#[test]
fn loops_over_domains_wait_too() {
    let sweep = |by: &str| {
        format!(
            "domain g = 0..3 x 0..5; data A[g]: f64; event done[4, 6]; decompose g -> 4 by owner(i, j) = {by};
             main = phase sweep forall (i, j in g) {{ if (i > 0) await done[i - 1, j]; task {{ updates A[i, j]; weight 2 }}; post done[i, j] }};"
        )
    };
    takes(&sweep("i"), 18);
    // All cells of a column on one PE: it does them one after the other.
    takes(&sweep("j mod 4"), 16);
    let two = |between: &str| {
        format!(
            "domain d = 0..3; data A[d]: f64; event e; decompose d -> 4 by block;
             main = {{ forall (i in d) nowait task {{ updates A[i]; weight 4*[i = 0] }}; {between}; forall (i in d) task {{ reads A[i]; weight 4*[i = 3] }} }};"
        )
    };
    takes(&two("skip"), 4);
    takes(&two("{ post e; await e }"), 4);
    takes(&two("barrier"), 8);
}

#[test]
fn bounds_leave_waits_out_and_hold() {
    let source = "param N: int where N >= 1; event e; main = { delay(N); post e } || { await e; delay(N) };";
    let general = model(source, &[]);
    let form = closed_form(&general, &general.alternatives[0].term);
    assert!(form.awaits && form.is_closed(), "{form:?}");
    assert_eq!(form.printed(&general), ["N", "N", "2*N"]);
    let with = model(source, &[("N", 5)]);
    let found = bounds(&with, &with.alternatives[0].term).expect("numbers");
    assert_eq!((found.head_tail, found.upper, simulated(&with).makespan), (exact(5), exact(10), exact(10)));
    // Who only posts waits for nobody.
    let alone = model("event e; main = { delay(3); post e } || delay(4);", &[]);
    let form = closed_form(&alone, &alone.alternatives[0].term);
    assert!(!form.awaits);
    assert_eq!(form.upper.to_int(), Some(4));
}

/// What costs less by its bound may take longer for its waits: nothing is said to be better for sure that is not.
#[test]
fn decisions_know_that_waits_are_left_out() {
    let model = model(
        "param c: time; event e; alt a = { delay(c); post e } || { await e; delay(c) }; alt b = delay(3); alt c2 = delay(2*c);",
        &[],
    );
    let decision = decide(&model, &[], None).expect("it can be decided");
    let names: Vec<_> =
        decision.choices.iter().map(|it| (&*it.name, it.form.awaits, it.dominated_by.as_deref())).collect();
    assert_eq!(names, [("a", true, None), ("b", false, None), ("c2", false, Some("a"))], "{decision:#?}");
    assert_eq!(decision.choices[0].chosen.to_string(), "c <= 3/2");
}

#[test]
fn a_breakdown_goes_on_with_who_posted() {
    let model = model("event e; resource r; main = { use(r, 5); post e } || { delay(2); await e; delay(4) };", &[]);
    let (outcome, found) = break_down(&model, &model.alternatives[0].term, &Options::default()).expect("it ends");
    assert_eq!(outcome.makespan, exact(9));
    let times: Vec<_> = found.processes.iter().map(|it| (it.busy, it.waiting, it.par_end)).collect();
    assert_eq!(&times[1..], [(exact(5), exact(0), exact(4)), (exact(6), exact(3), exact(0))], "{found:#?}");
    let chain: Vec<_> = found.chain.iter().map(|part| (part.resource, part.time)).collect();
    assert!(chain.contains(&(Some(0), exact(5))) && chain.contains(&(None, exact(4))), "{chain:?}");
}

#[test]
fn waits_are_in_the_trace() {
    let model = model("event e; main = { delay(5); post e } || { delay(2); await e; delay(4) };", &[]);
    let (_, recording) = record(&model, &model.alternatives[0].term, &Options::default()).expect("it ends");
    let waits: Vec<_> = recording.activities.iter().filter(|it| it.what == What::Await).collect();
    assert_eq!(waits.iter().map(|it| (it.request, it.begin, it.end)).collect::<Vec<_>>(), [(2.0, 2.0, 5.0)]);
    let trace = trace::trace(&recording);
    let visits = |name: &str| -> i64 {
        let streams = trace.streams().as_slice().iter();
        let all = streams.flat_map(|stream| stream.visits.iter());
        let is = |path| trace.strings().get(trace.regions()[trace.paths().region(path)].name) == name;
        all.filter(|visit| is(visit.path)).map(|visit| visit.duration().0).sum()
    };
    assert_eq!((visits("pthread_cond_wait"), visits("delay")), (3_000_000_000, 11_000_000_000));
}

/// A model, and what is said; `check` or the simulation says it.
const WRONG: &[(&str, &str)] = &[
    ("event e; main = await f;", "no event `f`"),
    ("event e[3]; main = post e;", "`e` has 1 dimension(s), not 0"),
    ("event e[3]; main = post e[3];", "`e` has indices 0 to 2, not 3"),
    ("event e[3]; main = seq (i = 2, 3) post e[i];", "`e` has indices 0 to 2, and 3 is used"),
    ("event e; main = delay(e);", "`e` is no value"),
    ("event e; resource e; main = skip;", "already defined"),
    ("resource r; main = await r;", "no event `r`"),
    ("event e; main = use(e, 1);", "no resource `e`"),
    ("event e[100000, 100000]; main = post e[0, 0];", "events in all"),
    ("event e[0-9223372036854775807..9223372036854775807, 0]; main = seq (i = 0, 0) post e[0, i];", "events in all"),
    (
        "event e[0..4611686018427387904, 4611686018427387904, 0]; main = seq (i = 0, 0) post e[5, i, i];",
        "events in all",
    ),
    (
        "resource r[0-9223372036854775807..9223372036854775807, 0]; main = seq (i = 0, 0) use(r[0, i], 1);",
        "resources in all",
    ),
    ("event e[5, 0]; main = seq (i = 0, 0) post e[3, i];", "`e` has indices 0 to -1, and 0 is used"),
    ("event e; main = await e;", "`e` is awaited for ever"),
    ("event e[2]; main = { await e[0]; post e[1] } || { delay(1); await e[1]; post e[0] };", "is awaited for ever"),
    ("event e; main = { { delay(1) || await e }; post e };", "`e` is awaited for ever"),
];

#[test]
fn what_is_wrong_with_events_is_told() {
    for (source, text) in WRONG {
        let (model, told) = read(source, &values(&[]));
        let told = match &model {
            None => told,
            Some(model) => vec![
                simulate(model, &model.alternatives[0].term, &Options::default()).expect_err("it cannot be simulated"),
            ],
        };
        assert!(told.iter().any(|one| one.message.contains(text)), "{source}\n{text}\n{told:#?}");
        assert!(told.iter().all(|one| source.get(one.span.range()).is_some()), "{told:#?}");
    }
}

/// Processes that work on a few resources and wait for events of those before them, so that all of it ends.
fn any_model() -> impl Strategy<Value = String> {
    let step = (0..5_u8, 0..3_u8, 1..9_u8, 0..8_u8);
    let process = prop::collection::vec(step, 1..6);
    prop::collection::vec(process, 2..6).prop_map(|processes| {
        let branch = |(own, steps): (usize, Vec<(u8, u8, u8, u8)>)| {
            let mut all: Vec<String> = steps
                .into_iter()
                .map(|(kind, resource, time, of)| match kind {
                    0 if own > 0 => format!("await e[{}]", usize::from(of) % own),
                    1 => format!("delay({time})"),
                    2 => format!("par (i = 1, 2) use(r[{resource}], {time})"),
                    3 => format!("use(s, {time})"),
                    _ => format!("use(r[{resource}], {time})"),
                })
                .collect();
            all.push(format!("post e[{own}]"));
            format!("{{ {} }}", all.join("; "))
        };
        let branches: Vec<String> = processes.into_iter().enumerate().map(branch).collect();
        format!("event e[6]; resource r[3]; resource s * 2;\nmain = {};\n", branches.join(" || "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn times_are_within_their_bounds(source in any_model()) {
        let model = model(&source, &[]);
        let term = &model.alternatives[0].term;
        let found = bounds(&model, term).expect("numbers");
        let closed = closed_form(&model, term).eval(&Given(&model)).expect("a formula");
        for ties in [Ties::Program, Ties::Reverse, Ties::Random] {
            let options = Options { ties, ..Options::default() };
            let time = simulate(&model, term, &options).expect("all is posted in the end").makespan;
            for it in [found, closed] {
                prop_assert!(it.basic.compare(it.head_tail).is_le() && it.head_tail.compare(time).is_le(), "{:?} {}: {}", it, time, source);
                prop_assert!(time.compare(it.upper).is_le(), "{:?} {}: {}", it, time, source);
            }
        }
        let (outcome, broken) = break_down(&model, term, &Options::default()).expect("it ends");
        let chain = broken.chain.iter().fold(Rat::ZERO, |sum, part| sum + rat(part.time));
        prop_assert_eq!(chain, rat(outcome.makespan), "{}", source);
        let formatted = format(&source).expect("it is a model");
        prop_assert_eq!(simulated(&self::model(&formatted, &[])).makespan, outcome.makespan);
    }
}
