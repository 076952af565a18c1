//! All analyses on traces that have next to nothing, or nonsense; and the same results on any number of threads.

use partune_analysis::{ANALYSES, Analysis, Input, Options, Outcome, Shared, Values, Waits};
use partune_index::{Index, Ties};
use partune_trace::{Trace, TraceBuilder};

fn all(trace: &Trace) -> Vec<Outcome> {
    let index = Index::build(trace);
    let waits = Waits::find(trace, &index);
    let options = Options::default();
    let shared = Shared::default();
    let input = Input { trace, index: &index, waits: &waits, options: &options, shared: &shared };
    Shared::prepare(&input, Ties::build(trace, &index));
    let run = |analysis: &&Analysis| {
        let outcome = (analysis.run)(&input);
        let alone = (analysis.run)(&Input { shared: &Shared::default(), ..input });
        assert_eq!(format!("{outcome:?}"), format!("{alone:?}"), "it is the same whoever asks first");
        outcome
    };
    ANALYSES.iter().map(run).collect()
}

/// Numbers are numbers, columns of a table are of one length, findings are sound.
fn check(outcome: &Outcome) {
    for section in &outcome.sections {
        assert!(section.scalars.iter().all(|scalar| scalar.value.is_finite()), "{section:?}");
        for table in &section.tables {
            let lengths = table.columns.iter().map(|column| match &column.values {
                Values::Number(_, values) => {
                    assert!(values.iter().all(|value| value.is_finite()), "{} {}", table.name, column.name);
                    values.len()
                }
                Values::Count(values) => values.len(),
                Values::Pe(values) => values.len(),
                Values::Group(values) => values.len(),
                Values::Region(values) | Values::Construct(values) => values.len(),
                Values::Metric(values) => values.len(),
                Values::Name(values) => values.len(),
                Values::Path(values) => values.len(),
                Values::Word(values) => values.len(),
            });
            let lengths: Vec<usize> = lengths.collect();
            assert!(lengths.iter().all(|length| *length == lengths[0]), "{}: {lengths:?}", table.name);
        }
    }
    for finding in &outcome.findings {
        assert!(finding.time.0 >= 0 && finding.facts.iter().all(|fact| fact.1.is_finite()), "{finding:?}");
        assert_eq!(finding.pes.iter().map(|(_, time)| time.0).sum::<i64>(), finding.time.0, "{finding:?}");
    }
}

#[test]
fn empty_traces() {
    all(&TraceBuilder::default().seal()).iter().for_each(check);
    for text in [
        "pe 0: main 0..0",
        "pe 0: main 0..10",
        "pe 0: MPI_Barrier 0..0 barrier",
        "pe 0: main 0..10 { MPI_Init 0..10 init }",
        "pe 0: main 0..10 { MPI_Finalize 0..10 finalize }\n pe 1: main 5..5",
        "pe 0: MPI_Finalize 0..1 finalize MPI_Init 9..10 init",
        "pe 0: main 0..10 { MPI_Recv 0..10 recv(from=1) }\n pe 1: main 3..4",
        "pe 0: main 0..10 { MPI_Send 1..2 send(to=0) MPI_Recv 2..3 recv(from=0) }",
        "pe 0: shmem_putmem 0..1 put(to=1)\n pe 1: shmem_barrier_all 0..1 barrier",
        "metric M accumulated s\n pe 0: main 0..10 metric(M=nan) metric(M=5)@3 metric(M=1)@4",
    ] {
        let without_nan = text.replace("nan", "3");
        all(&partune_testkit::trace(&without_nan)).iter().for_each(check);
    }
}

#[test]
fn messages_that_run_in_circles() {
    // Each receives before it sends: no order of steps does this.
    let text = "pe 0: main 0..100 { repeat 20 every 5 { MPI_Recv 0..2 recv(from=1) MPI_Send 2..4 send(to=1) } }
                pe 1: main 0..100 { repeat 20 every 5 { MPI_Recv 0..2 recv(from=0) MPI_Send 2..4 send(to=0) } }";
    let outcomes = all(&partune_testkit::trace(text));
    outcomes.iter().for_each(check);
    let notes = |outcome: &Outcome| {
        outcome.sections.iter().flat_map(|section| section.notes.clone()).collect::<Vec<_>>().concat()
    };
    assert!(outcomes.iter().any(|outcome| notes(outcome).contains("circles")));
}

const BUSY: &str = "
    metric CYC accumulated cycles
    pe 0 1 2 3 4 5 6 7: main 0..10000 { MPI_Init 0..10 init
        repeat 9 every 1000 {
            work 10..400 metric(CYC=7) MPI_Isend 400..401 send(to=+1, req=1, bytes=8) MPI_Irecv 401..402 posted(2)
            MPI_Wait 402..403 done(1) MPI_Wait 403..450 recv(from=-1, req=2, bytes=8)
            shmem_putmem 450..460 put(to=+1, bytes=8) MPI_Allreduce 500..520 allreduce MPI_Bcast 530..540 bcast(root=2)
            MPI_Scan 550..560 scan MPI_Reduce 570..580 reduce(root=1) more 600..990 MPI_Barrier 990..1000 barrier
        }
        MPI_Finalize 9990..10000 finalize
    }";

#[test]
fn the_same_on_any_number_of_threads() {
    let trace = partune_testkit::trace(BUSY);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        format!("{:?}", pool.install(|| all(&trace)))
    };
    let one = run(1);
    all(&trace).iter().for_each(check);
    for threads in [2, 3, 8] {
        assert!(one == run(threads), "{threads} threads differ from one");
    }
}

#[test]
fn names_are_unique_and_documented() {
    let mut keys: Vec<&str> = Vec::new();
    for outcome in all(&partune_testkit::trace(BUSY)) {
        for section in &outcome.sections {
            keys.extend(section.tables.iter().map(|table| table.name));
            keys.extend((!section.scalars.is_empty()).then_some(section.name));
        }
    }
    keys.sort_unstable();
    assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");
    let mut names: Vec<&str> = ANALYSES.iter().map(|analysis| analysis.name).collect();
    assert!(ANALYSES.iter().all(|analysis| analysis.docs.len() > 200 && !analysis.title.ends_with('.')));
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
}
