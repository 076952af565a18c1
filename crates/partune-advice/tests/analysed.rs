//! Candidates of runs that were analysed: small traces with known answers, and archives of other tools.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use partune_advice::{Candidate, Evidence, GapName, Options, Shares, candidates, steps};
use partune_analysis::{
    ANALYSES, AnalysisResult, Finding, Gap, Input, Options as Analysis, Shared, Waits, by_place, once,
};
use partune_base::CallPathId;
use partune_import::{Bytes, Files};
use partune_index::Index;
use partune_otf2::import::import;
use partune_testkit::outside;
use partune_trace::Trace;

/// What all analyses find in a trace, each loss once, and its gaps.
fn analyse(trace: &Trace) -> (Vec<Finding>, Vec<Gap>) {
    let (index, options, shared) = (Index::build(trace), Analysis::default(), Shared::default());
    let waits = Waits::find_with(trace, &index, &options);
    let input = Input { trace, index: &index, waits: &waits, options: &options, shared: &shared };
    let outcomes: Vec<_> = ANALYSES.iter().map(|analysis| (analysis.run)(&input)).collect();
    let results = outcomes.iter().flat_map(|it| &it.sections).filter_map(|section| section.result.as_ref());
    let bounds = results.filter_map(AnalysisResult::bounds);
    let gaps = bounds.flat_map(|it| [Some(&it.run), it.threads.as_ref()]).flatten().flat_map(|it| it.gaps.clone());
    let gaps = gaps.collect();
    let findings = outcomes.into_iter().flat_map(|it| it.findings).collect();
    let findings = by_place(trace, once(trace, findings, 1), options.details);
    (findings, gaps)
}

/// The id of an action and the change for it.
type Told = (String, Option<String>);

/// Findings and candidates of a trace, and these as a text with names of regions.
fn advised(trace: &Trace) -> (Vec<Finding>, Vec<Told>, Vec<Candidate>) {
    let (findings, gaps) = analyse(trace);
    let name = |path: CallPathId| {
        path.some().map(|path| trace.strings().get(trace.regions()[trace.paths().region(path)].name))
    };
    let references: Vec<&Finding> = findings.iter().collect();
    let evidence = Evidence { trace, findings: &references, gaps: &gaps };
    let found = candidates(&evidence, &Options::default());
    assert_eq!(found, candidates(&evidence, &Options::default()));
    let text = |it: &Candidate| {
        let cause = it.cause.and_then(|(_, path)| name(path)).unwrap_or_default();
        let pe = it.cause.map(|(pe, _)| format!("pe:{}", pe.0)).unwrap_or_default();
        let change = it.change.map(|change| change.fill(name(it.place).unwrap_or_default(), cause, &pe));
        (it.action.id.clone(), change)
    };
    let texts = found.iter().map(text).collect();
    (findings, texts, found)
}

fn of(text: &str) -> Vec<Told> {
    advised(&partune_testkit::trace(text)).1
}

fn change<'a>(found: &'a [Told], id: &str) -> Option<&'a str> {
    found.iter().find(|it| it.0 == id).and_then(|it| it.1.as_deref())
}

/// PE 1 computes 80 where PE 0 computes 20, and PE 0 waits 60 at the barrier.
#[test]
fn uneven_work_before_a_barrier_is_balanced() {
    let found = of("resolution 1000
        pe 0: main 0..100 { solve 0..20 MPI_Barrier 20..81 barrier rest 81..90 MPI_Barrier 90..91 barrier }
        pe 1: main 0..100 { solve 0..80 MPI_Barrier 80..81 barrier rest 81..90 MPI_Barrier 90..91 barrier }");
    assert_eq!(change(&found, "A-28"), Some("balance solve"));
    assert_eq!(change(&found, "A-31"), Some("p2p MPI_Barrier"));
    assert_eq!(change(&found, "A-30"), Some("nonblocking MPI_Barrier"));
    assert_eq!(change(&found, "remove-barrier"), Some("remove MPI_Barrier"), "of two in a row");
}

/// What computes is in a library that the program's own code calls: that is what can be shared out.
#[test]
fn code_of_libraries_is_advised_on_as_the_function_that_calls_it() {
    let run = |step: &str, sine: &str| {
        let pe = |own: u32| {
            format!(
                "main@/home/a.c:1 0..100 {{ {step} 0..{own} {{ {sine} 0..{own} }} MPI_Barrier {own}..81 barrier rest@/home/a.c:9 81..90 MPI_Barrier 90..91 barrier }}"
            )
        };
        of(&format!("resolution 1000\n pe 0: {}\n pe 1: {}", pe(20), pe(80)))
    };
    assert_eq!(change(&run("step@/home/a.c:5", "sin@./math/sin.c:7"), "A-28"), Some("balance step"));
    assert_eq!(change(&run("step@/home/a.c:5", "sin"), "A-28"), Some("balance step"));
    assert_eq!(change(&run("step@/home/a.c:5", "own@/home/b.c:3"), "A-28"), Some("balance own"));
    // All that is known of the program is its outermost function.
    assert_eq!(change(&run("step", "sin"), "A-28"), Some("balance sin"));
}

/// PE 1 is late since it deletes a file, not for its little code around that.
#[test]
fn code_is_not_changed_where_an_operation_is_what_takes_long() {
    let changes_code = |delete: u32| {
        let found = of(&format!(
            "resolution 1000
             pe 0: main 0..100 {{ solve 0..2 MPI_Barrier 2..82 barrier rest 82..90 MPI_Barrier 90..91 barrier }}
             pe 1: main 0..100 {{ solve 0..{} MPI_File_delete {}..80 MPI_Barrier 80..82 barrier rest 82..90 MPI_Barrier 90..91 barrier }}",
            80 - delete,
            80 - delete
        ));
        found.iter().any(|it| it.1.as_deref().is_some_and(|change| change.contains("solve")))
    };
    assert!(!changes_code(70));
    assert!(changes_code(10));
}

/// PE 1 computes 60 before it sends; PE 0 waits for it.
#[test]
fn a_late_sender_is_moved_relieved_or_waited_for_later() {
    let found = of("resolution 1000
        pe 0: main 0..100 { MPI_Recv 0..61 recv(from=1, tag=1, bytes=8) after 61..100 }
        pe 1: main 0..100 { compute 0..60 MPI_Send 60..61 send(to=0, tag=1, bytes=8) after 61..100 }");
    assert_eq!(change(&found, "double-buffer"), Some("nonblocking MPI_Recv"));
    assert_eq!(change(&found, "late-work"), Some("delay-wait MPI_Recv past compute"));
    assert_eq!(change(&found, "relieve-late-pe"), Some("balance compute"));
    assert_eq!(change(&found, "dedicate-master"), Some("dedicate pe:1"));
}

/// Two PEs that do the same at the same time, and wait for nobody.
#[test]
fn a_run_without_losses_gets_no_advice() {
    let found = of("resolution 1000
        pe 0 1: main 0..10000 { solve 0..9990 MPI_Barrier 9990..9991 barrier rest 9991..10000 }");
    assert_eq!(found, []);
}

/// Two threads, two turns: one waits 40 in the first part of each. With `update` there is a second barrier in a turn.
fn in_turns(update: &str) -> Vec<Told> {
    let turn = |from: u32, work: u32| {
        let (worked, met, updated, end) = (from + work, from + 51, from + 60, from + 70);
        let second = update.replace("FROM", &updated.to_string()).replace("TO", &end.to_string());
        format!(
            "forces {from}..{met} {{ solve {from}..{worked} \"!$omp barrier\" {worked}..{met} }} next {met}..{end} {{ {second} }}"
        )
    };
    let team = |work: u32| format!("\"!$omp parallel\" 0..150 team(two) {{ {} {} }}", turn(0, work), turn(75, work));
    of(&format!(
        "resolution 1000
         team two = 0 0.1
         pe 0: main 0..150 {{ \"!$omp parallel\" 0..150 fork join {{ {} }} }}
         pe 0.1: {}",
        team(10),
        team(50)
    ))
}

/// Two threads of a region do this until 10 and until 50, and meet at its end.
fn uneven_region(part: &str) -> Vec<&'static str> {
    let (_, _, found) = advised(&uneven_threads(part));
    let ids = |it: &Candidate| it.alternatives.iter().chain([&it.action]).map(|it| it.id.as_str()).collect::<Vec<_>>();
    found.iter().flat_map(ids).collect()
}

fn uneven_threads(part: &str) -> Trace {
    two_threads([10, 50].map(|end| {
        let part = part.replace("HALF", &(end / 2).to_string()).replace("END", &end.to_string());
        format!("{part} \"!$omp implicit barrier\" {end}..61")
    }))
}

/// A region until 61 in a function of the program's.
fn two_threads([first, second]: [String; 2]) -> Trace {
    let region = |facts: &str, part: &str| format!("\"!$omp parallel\" 0..61 {facts} {{ {part} }}");
    partune_testkit::trace(&format!(
        "resolution 1000
         team two = 0 0.1
         pe 0: main@/home/a.c:1 0..150 {{ step@/home/a.c:5 0..150 {{ {} }} }}
         pe 0.1: {}",
        region("fork join", &first),
        region("team(two)", &second)
    ))
}

/// Where a loop does several things, its schedule hands out all of them, so what it gains at most is that of all; where it does one, it is that.
#[test]
fn another_schedule_is_that_of_the_whole_loop() {
    let of = |part| advised(&uneven_threads(part)).1;
    let found = of("\"!$omp for\" 0..END { solve 0..END }");
    assert!(found.iter().any(|it| it.1.as_deref() == Some("balance solve")), "{found:?}");
    assert!(found.iter().all(|it| it.1.as_deref() != Some("balance !$omp for")), "{found:?}");
    let found = of("\"!$omp for\" 0..END { flux 0..HALF update HALF..END }");
    assert_eq!(change(&found, "loop-schedule"), Some("balance !$omp for"), "{found:?}");
    let found = of("flux 0..HALF update HALF..END");
    assert_eq!(change(&found, "loop-schedule"), Some("balance !$omp parallel"), "{found:?}");
    // What is even has a part in it too, if it is more than a little.
    let found = of("\"!$omp for\" 0..END { update 0..6 flux 6..END }");
    assert_eq!(change(&found, "loop-schedule"), Some("balance !$omp for"), "{found:?}");
    let found = of("update 0..6 flux 6..END");
    assert_eq!(change(&found, "loop-schedule"), Some("balance !$omp parallel"), "{found:?}");
    // So has what the others do who wait, though it makes nobody wait.
    let beside = |update: u32| {
        let threads = [(update, 10), (0, 50)].map(|(update, end)| {
            let update =
                if update > 0 { format!("update 0..{update} flux {update}..{end}") } else { format!("flux 0..{end}") };
            format!("\"!$omp for\" 0..{end} {{ {update} }} \"!$omp implicit barrier\" {end}..61")
        });
        advised(&two_threads(threads)).1
    };
    let found = beside(9);
    assert_eq!(change(&found, "loop-schedule"), Some("balance !$omp for"), "{found:?}");
    let found = beside(1);
    assert!(found.iter().any(|it| it.1.as_deref() == Some("balance flux")), "{found:?}");
    assert!(found.iter().all(|it| it.1.as_deref() != Some("balance !$omp for")), "{found:?}");
    // So has what stands in it, and in no function of its own.
    let part = |end: u32| format!("\"!$omp for\" 0..{end} \"!$omp implicit barrier\" {end}..61");
    let found = advised(&two_threads([50, 10].map(part))).1;
    assert_eq!(change(&found, "loop-schedule"), Some("balance !$omp for"), "{found:?}");
}

/// A region has several loops that are not recorded: what comes after a barrier is another one.
#[test]
fn a_loop_that_is_not_recorded_ends_at_a_barrier() {
    let of = |before: u32| {
        let part = |(before, end): (u32, u32)| {
            format!(
                "limit 0..{before} flux {before}..{end} \"!$omp barrier\" {end}..51 update 51..60 \"!$omp implicit barrier\" 60..61"
            )
        };
        advised(&two_threads([(before, 10), (0, 40)].map(part))).1
    };
    let is_of_region = |found: &[Told]| found.iter().any(|it| it.1.as_deref() == Some("balance !$omp parallel"));
    let found = of(0);
    assert!(!is_of_region(&found) && found.iter().any(|it| it.1.as_deref() == Some("balance flux")), "{found:?}");
    let found = of(6);
    assert!(is_of_region(&found), "{found:?}");
}

/// Loops have schedules; tasks, sections and what threads do by their number have none.
#[test]
fn another_schedule_is_advised_of_loops() {
    let has_schedule = |part| {
        let advised = uneven_region(part);
        assert!(advised.contains(&"A-28"), "{part}: {advised:?}");
        advised.contains(&"loop-schedule")
    };
    assert!(has_schedule("\"!$omp for\" 0..END { solve 0..END }"));
    // A static loop may look like this.
    assert!(has_schedule("solve 0..END"));
    for part in [
        "\"!$omp sections\" 0..END { solve 0..END }",
        "\"!$omp single\" 0..1 solve 1..END",
        "\"!$omp create task\" 0..1 solve 1..END",
        "\"!$omp for\" 0..END { \"!$omp task\" 1..END { solve 1..END } }",
        "\"!$omp parallel\" 0..END { solve 0..END }",
    ] {
        assert!(!has_schedule(part), "{part}");
    }
}

/// The end of a parallel region is a barrier that has to be.
#[test]
fn a_region_ends_with_a_barrier_that_stays() {
    let part = |first: u32, second: u32, from: u32| {
        let (worked, end, more, last) = (from + first, from + 51, from + 51 + second, from + 72);
        format!(
            "\"!$omp parallel\" {from}..{last} team(two) {{ solve {from}..{worked} step {worked}..{end} {{ \"!$omp barrier\" {worked}..{end} }}
             \"!$omp for\" {end}..{last} {{ more {end}..{more} \"!$omp implicit barrier\" {more}..{last} }} }}"
        )
    };
    let turns = |first: u32, second: u32| [0, 75].map(|from| part(first, second, from));
    let forks = |parts: [String; 2]| {
        let [one, two] = parts;
        format!("\"!$omp parallel\" 0..72 fork join {{ {one} }} \"!$omp parallel\" 75..147 fork join {{ {two} }}")
    };
    let found = of(&format!(
        "resolution 1000
         team two = 0 0.1
         pe 0: main 0..150 {{ {} }}
         pe 0.1: {}",
        forks(turns(10, 20)),
        turns(50, 5).join(" ")
    ));
    assert_eq!(change(&found, "double-buffer"), Some("remove !$omp barrier"), "{found:?}");
    assert!(found.iter().all(|it| it.1.as_deref() != Some("remove !$omp implicit barrier")), "{found:?}");
}

/// Of two barriers in turns one may only keep a buffer; the only one of a turn keeps the turns in order.
#[test]
fn double_buffering_is_advised_where_another_barrier_keeps_the_order() {
    let found = in_turns("\"!$omp barrier\" FROM..TO");
    assert_eq!(change(&found, "double-buffer"), Some("remove !$omp barrier"));
    let found = in_turns("");
    assert!(found.iter().any(|it| it.1.as_deref() == Some("balance solve")), "{found:?}");
    assert!(found.iter().all(|it| it.0 != "double-buffer"), "{found:?}");
}

/// What the analysis of bounds calls its gaps is known here; of a profile the rest is no single cause.
#[test]
fn gaps_of_the_analysis_have_names_here() {
    let trace = partune_testkit::trace(
        "pe 0: main 0..30 { a 0..10 MPI_Barrier 10..20 barrier }
         pe 1: main 0..30 { a 0..20 MPI_Barrier 20..20 barrier }",
    );
    let (_, gaps) = analyse(&trace);
    assert_eq!(gaps.len(), 8);
    for gap in &gaps {
        assert!(GapName::ALL.iter().any(|known| known.name() == gap.name), "{}", gap.name);
    }
    let sum: f64 = GapName::ALL.iter().map(|gap| Shares::of(&gaps).share(*gap)).sum();
    let of_gaps: f64 = gaps.iter().map(|gap| gap.fraction).sum();
    assert!((sum - of_gaps).abs() < 1e-12);
}

struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, name: &str) -> io::Result<Bytes> {
        Ok(Arc::new(std::fs::read(self.0.join(name))?))
    }
}

/// What holds of the advice on any run.
fn check(folder: &Path) {
    let Ok(trace) = import(&Folder(folder.to_owned()), "traces.otf2", &|_, _| {}) else { return };
    let (findings, texts, found) = advised(&trace);
    let (_, gaps) = analyse(&trace);
    let tuned = steps(&Shares::of(&gaps), &|_| None, &Options::default());
    assert!(tuned.windows(2).all(|pair| pair[0].step.id < pair[1].step.id));
    let told: usize = found.iter().filter(|it| it.change.is_some()).count();
    assert!(told <= Options::default().predicted && found.len() - told <= Options::default().unpredicted);
    assert!(found[..told].iter().all(|it| it.change.is_some()));
    assert!(found[..told].windows(2).all(|pair| pair[0].loss >= pair[1].loss));
    for (candidate, (id, change)) in found.iter().zip(&texts) {
        let lost: i64 = candidate.findings.iter().map(|at| findings[*at].time.0).sum();
        assert_eq!(candidate.loss.0, lost, "{id}");
        assert!(candidate.caused <= candidate.loss, "{id}");
        let change = change.as_deref().unwrap_or("none");
        assert!(!change.contains(['{', '}']) && !change.contains("  ") && !change.ends_with(' '), "{id}: {change}");
    }
    if findings.iter().any(|finding| finding.causes.iter().any(|cause| cause.path.is_some())) {
        assert!(!found.is_empty(), "{}: findings with causes, and nothing to do", folder.display());
    }
}

#[test]
fn advice_holds_on_recorded_archives() {
    for own in ["ring", "addresses"] {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives").join(own));
    }
    let Some(traces) = outside::traces() else { return };
    let Ok(folders) = std::fs::read_dir(traces.join("otf2")) else { return };
    let mut folders: Vec<PathBuf> = folders.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    // Larger ones take minutes.
    let size = |folder: &PathBuf| -> u64 {
        let files = std::fs::read_dir(folder.join("traces")).into_iter().flatten().flatten();
        files.filter_map(|file| file.metadata().ok()).map(|it| it.len()).sum()
    };
    folders
        .iter()
        .filter(|folder| folder.join("traces.otf2").exists() && size(folder) < 4 << 20)
        .for_each(|it| check(it));
}
