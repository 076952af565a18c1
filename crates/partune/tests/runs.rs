//! `compare` and `scale` as a user meets them: what is said of several archives, in text and in JSON, and of wrong ones.
//!
//! The runs are hand-made, made by `partune synth`, or recordings of others; text is kept in `tests/snapshots`.

use std::path::Path;
use std::process::{Command, Output};

use partune_engine::{Diagnosis, Mode, Request};
use partune_report::{NamedRun, Style, compare_text, compare_value, scaling_text, scaling_value};
use serde_json::Value;

use crate::archives::{archives, workspace};

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(args: &[&str]) -> Value {
    let output = partune(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

fn diagnosis(text: &str) -> Diagnosis {
    partune_engine::analyze(partune_testkit::trace(text), &Request::default(), &())
}

fn list<'a>(value: &'a Value, field: &str) -> &'a Vec<Value> {
    value[field].as_array().unwrap_or_else(|| panic!("{field} is a list"))
}

/// The halo exchange of two ranks; rank 0 works so long in each of four steps, rank 1 waits for it.
fn halo(work: u32, function: &str) -> Diagnosis {
    let (sent, met) = (work + 5, work + 6);
    diagnosis(&format!(
        "resolution 1000
         pe 0: main@halo.c:1 0..1000 {{ repeat 4 every 200 {{ {function}@halo.c:9 0..{work} MPI_Send^halo.c:20 {work}..{sent} send(to=1, bytes=800) }} }}
         pe 1: main@halo.c:1 0..1000 {{ repeat 4 every 200 {{ {function}@halo.c:9 0..40 MPI_Recv^halo.c:24 40..{met} recv(from=0, bytes=800) }} }}"
    ))
}

/// A tenth of the work is on rank 0 only.
fn amdahl(pes: u32) -> Diagnosis {
    after_serial(pes, 800, 7200 / pes)
}

/// All work so long, once rank 0 has done what it does alone.
fn after_serial(pes: u32, serial: u32, work: u32) -> Diagnosis {
    use std::fmt::Write;
    let end = serial + work;
    let mut text = String::from("resolution 1000\n");
    for pe in 0..pes {
        let begin = if pe == 0 { serial } else { 0 };
        let setup = if pe == 0 { format!("setup@a.c:5 0..{serial}") } else { String::new() };
        let _ = writeln!(
            text,
            "pe {pe}: main@a.c:1 0..{end} {{ {setup} MPI_Barrier^a.c:12 {begin}..{serial} barrier solve@a.c:9 {serial}..{end} \
             MPI_Barrier^a.c:14 {end}..{end} barrier }}"
        );
    }
    diagnosis(&text)
}

fn named<'a>(all: &'a [(&'a str, &'a Diagnosis)]) -> (Vec<&'a Diagnosis>, Vec<NamedRun<'a>>) {
    let runs = all.iter().map(|(archive, diagnosis)| NamedRun { archive, diagnosis });
    (all.iter().map(|it| it.1).collect(), runs.collect())
}

#[test]
fn text_of_a_comparison() {
    let (before, after) = (halo(160, "compute"), halo(60, "compute"));
    let all = [("before", &before), ("after", &after)];
    let (diagnoses, runs) = named(&all);
    let comparison = partune_engine::compare(&diagnoses).expect("there are two");
    insta::assert_snapshot!("compare", compare_text(&comparison, &runs, 10, Style::PLAIN));
    let renamed = halo(160, "kernel");
    let all = [("before", &before), ("again", &before), ("renamed", &renamed)];
    let (diagnoses, runs) = named(&all);
    let comparison = partune_engine::compare(&diagnoses).expect("there are three");
    insta::assert_snapshot!("compare_renamed", compare_text(&comparison, &runs, 10, Style::PLAIN));
}

#[test]
fn text_of_a_series() {
    let runs = [amdahl(1), amdahl(2), amdahl(8)];
    let all = [("run-8", &runs[2]), ("run-1", &runs[0]), ("run-2", &runs[1])];
    let (diagnoses, runs) = named(&all);
    let scaling = partune_engine::scale(&diagnoses, Mode::Strong).expect("three numbers of PEs");
    insta::assert_snapshot!("scale", scaling_text(&scaling, &runs, 5, Style::PLAIN));
    let value = scaling_value(&scaling, &runs);
    assert_eq!((&value["outcome"], &value["limited_by"]), (&"limited".into(), &"load_balance".into()));
    assert!((value["points"][2]["serial_fraction"].as_f64().unwrap_or(0.0) - 0.1).abs() < 1e-12);
    assert_eq!(
        (&value["callpaths"][0]["construct"], &value["callpaths"][0]["growth"]),
        (&"setup".into(), &"serial".into())
    );
    assert_eq!(value["points"][2]["archive"], "run-8");
}

/// Of a problem that grows with the PEs rank 0 does a tenth on one PE alone, and that much for each PE on more; or nothing.
#[test]
fn text_of_a_problem_that_grows() {
    let said = |alone: u32| {
        let (one, two, four) =
            (after_serial(1, alone, 900), after_serial(2, 2 * alone, 900), after_serial(4, 4 * alone, 900));
        let all = [("run-1", &one), ("run-2", &two), ("run-4", &four)];
        let (diagnoses, runs) = named(&all);
        let scaling = partune_engine::scale(&diagnoses, Mode::Weak).expect("three numbers of PEs");
        (scaling_text(&scaling, &runs, 5, Style::PLAIN), scaling_value(&scaling, &runs))
    };
    let (text, value) = said(100);
    assert!(text.starts_with("weak scaling: a problem that grows with the PEs\n"), "{text}");
    // 1 s, 1.1 s and 1.3 s. Gustafson: 4·(1 − 1/1.3)/3.
    let last: Vec<&str> =
        text.lines().find(|it| it.starts_with("  4 ")).expect("four PEs").split_whitespace().collect();
    assert_eq!(last, ["4", "1.30", "s", "3.08", "4.00", "76.9", "%", "0.308", "1.20", "s"], "{text}");
    let end = "76.9 % of the ideal on 4 PEs, most of it by load balance: some PEs have more to do than others, or work stays on \
               one of them. Look first at setup (a.c:5).";
    assert_eq!(value["text"], end);
    let (text, value) = said(0);
    assert_eq!(
        (&value["outcome"], &value["text"]),
        (&"ideal".into(), &"Scales ideally, as far as these runs can tell.".into())
    );
    assert!(!text.contains("code that keeps") && !text.contains("operations that take more"), "{text}");
}

/// One function that sleeps, called by what every PE repeats, which loses most of all places, and by one of two parts that stay on the first PE,
/// which together lose more than that.
#[test]
fn the_place_that_is_named_grows_as_the_limit_does_and_is_told_apart() {
    let run = |pes: u32, repeated: u32, work: u32| {
        let (serial, met) = (repeated + 160, repeated + 160 + 155);
        let end = met + work;
        let line = |pe: u32| {
            let (alone, begin) = match pe {
                0 => (
                    format!(
                        "serial@s.c:7 {repeated}..{serial} {{ sl@s.c:5 {repeated}..{serial} }} setup@s.c:9 {serial}..{met}"
                    ),
                    met,
                ),
                _ => (String::new(), repeated),
            };
            format!(
                "pe {pe}: main@s.c:1 0..{end} {{ repl@s.c:8 0..{repeated} {{ sl@s.c:5 0..{repeated} }} {alone}
                     MPI_Barrier^s.c:20 {begin}..{met} barrier work@s.c:6 {met}..{end} MPI_Barrier^s.c:22 {end}..{end} barrier }}"
            )
        };
        diagnosis(&format!("resolution 1000\n{}", (0..pes).map(line).collect::<Vec<_>>().join("\n")))
    };
    let (one, four) = (run(1, 20, 400), run(4, 130, 100));
    let all = [("run-1", &one), ("run-4", &four)];
    let (diagnoses, runs) = named(&all);
    let scaling = partune_engine::scale(&diagnoses, Mode::Strong).expect("two numbers of PEs");
    let text = scaling_text(&scaling, &runs, 5, Style::PLAIN);
    let value = scaling_value(&scaling, &runs);
    let most = list(&value, "callpaths").iter().find(|row| row["kind"] == "code").expect("code loses time");
    assert_eq!((&value["limited_by"], &most["growth"]), (&"load_balance".into(), &"replicated".into()));
    assert!(
        value["text"].as_str().is_some_and(|it| it.ends_with("Look first at sl (s.c:5), on the path serial > sl."))
    );
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let below =
        |growth: &str| lines.iter().position(|it| it.ends_with(growth)).map(|at| (&lines[at][..10], lines[at + 1]));
    assert_eq!(below("every PE repeats it"), Some(("sl (s.c:5)", "at repl > sl")), "{text}");
    assert_eq!(below("stays on as few PEs"), Some(("sl (s.c:5)", "at serial > sl")), "{text}");
    assert_eq!(
        lines.iter().filter(|it| it.starts_with("at ")).count(),
        2,
        "others are called what nothing else is: {text}"
    );
}

#[test]
fn a_series_that_is_ideal_is_said_to_be_and_no_place_is_named() {
    let run = |pes: u32| {
        let ranks: Vec<String> = (0..pes).map(|pe| pe.to_string()).collect();
        let (end, ranks) = (8000 / pes, ranks.join(" "));
        diagnosis(&format!(
            "resolution 1000\npe {ranks}: main 0..{end} {{ solve 0..{end} {{ MPI_Barrier {end}..{end} barrier }} }}"
        ))
    };
    let runs = [run(1), run(4)];
    let all = [("run-1", &runs[0]), ("run-4", &runs[1])];
    let (diagnoses, runs) = named(&all);
    let scaling = partune_engine::scale(&diagnoses, Mode::Strong).expect("two numbers of PEs");
    let text = scaling_text(&scaling, &runs, 5, Style::PLAIN);
    assert!(text.contains("Scales ideally,") && !text.contains("solve") && !text.contains("Look first"), "{text}");
}

/// Four turns of 100 s. On two PEs, one computes 60 s and one 40, which then waits 20 of the 30 s that it is in the barrier; on four, one computes
/// 60 s and three 20, which wait 40 of 50 s each. The barrier takes 4 · (10 + 30) / 2 = 80 s a PE, 4 · 20 / 2 = 40 of them waiting; then
/// 4 · (10 + 3 · 50) / 4 = 160 s a PE, 4 · 3 · 40 / 4 = 120 of them waiting.
#[test]
fn runs_of_different_sizes_are_compared_on_one_base() {
    let turn = |ranks: &str, work: u32| {
        format!("pe {ranks}: main 0..400 {{ repeat 4 every 100 {{ f 0..{work} MPI_Barrier {work}..70 barrier }} }}")
    };
    let run = |pes: &[(&str, u32)]| {
        let lines: Vec<String> = pes.iter().map(|(ranks, work)| turn(ranks, *work)).collect();
        diagnosis(&format!("resolution 1\n{}", lines.join("\n")))
    };
    let (two, four) = (run(&[("0", 60), ("1", 40)]), run(&[("0", 60), ("1 2 3", 20)]));
    let all = [("two", &two), ("four", &four)];
    let (diagnoses, runs) = named(&all);
    let comparison = partune_engine::compare(&diagnoses).expect("there are two");
    let value = compare_value(&comparison, &runs);
    assert_eq!(value["per_pe"], true);
    let barrier =
        list(&value, "callpaths").iter().find(|row| row["construct"] == "MPI_Barrier").expect("it is a place");
    let of = |field: &str| [0, 1].map(|run| barrier["runs"][run][field].as_f64().unwrap_or_default());
    assert_eq!((of("exclusive_s"), of("compared_s"), of("waiting_s")), ([160.0, 640.0], [80.0, 160.0], [80.0, 480.0]));
    assert_eq!(barrier["changes"][0]["difference_s"], 80.0);
    // Whatever the base: a change is the difference of what is shown.
    for row in ["callpaths", "regions", "findings"].into_iter().flat_map(|field| list(&value, field)) {
        let compared = [0, 1].map(|run| row["runs"][run]["compared_s"].as_f64().unwrap_or_default());
        let difference = row["changes"][0]["difference_s"].as_f64().unwrap_or(f64::NAN);
        assert!((compared[1] - compared[0] - difference).abs() < 1e-9, "{row}");
    }
    let text = compare_text(&comparison, &runs, 10, Style::PLAIN);
    assert!(text.contains("mean over PEs") && text.contains("as fast as A"), "{text}");
    // Not 480 s of waiting in 160 s; and every PE still visits it four times, so of visits nothing is said.
    assert!(text.contains("waiting 40.0 s → 120 s") && !text.contains("visits"), "{text}");
}

#[test]
fn how_much_faster_is_said_with_what_is_known_of_noise() {
    // A second and 0.8: 1.25 times; one visit a PE has no spread.
    let run = |end: u32| diagnosis(&format!("resolution 1000\npe 0: main 0..{end} {{ f 0..{end} }}"));
    let (long, short) = (run(1000), run(800));
    let said = |a, b| {
        let all = [("a", a), ("b", b)];
        let (diagnoses, runs) = named(&all);
        compare_text(&partune_engine::compare(&diagnoses).expect("there are two"), &runs, 10, Style::PLAIN)
    };
    let (faster, slower) = (said(&long, &short), said(&short, &long));
    assert!(faster.contains(", 1.25× faster, and no spread to tell whether that is noise\n"), "{faster}");
    assert!(slower.contains(", 1.25× slower"), "{slower}");
}

#[test]
fn better_than_ideal_is_superlinear() {
    // 16 s on one PE, 3.75 on four: a speed-up of 4.27 of 4, 107 %.
    let run = |pes: &str, end: u32| diagnosis(&format!("resolution 1000\npe {pes}: main 0..{end} {{ f 0..{end} }}"));
    let (one, four) = (run("0", 16_000), run("0 1 2 3", 3_750));
    let all = [("one", &one), ("four", &four)];
    let (diagnoses, runs) = named(&all);
    let scaling = partune_engine::scale(&diagnoses, Mode::Strong).expect("two numbers of PEs");
    let text = scaling_text(&scaling, &runs, 5, Style::PLAIN);
    assert!(text.contains("Superlinear: 107 % of ideal on 4 PEs"), "{text}");
}

/// Every archive against itself: nothing differs, whatever was recorded.
#[test]
fn an_archive_does_not_differ_from_itself() {
    for archive in archives() {
        let opened = partune_engine::open(&archive.anchor, &()).expect("the archive opens");
        let diagnosis = partune_engine::analyze(opened, &Request::default(), &());
        let all = [("a", &diagnosis), ("b", &diagnosis)];
        let (diagnoses, runs) = named(&all);
        let comparison = partune_engine::compare(&diagnoses).expect("there are two");
        let value = compare_value(&comparison, &runs);
        let rows = ["callpaths", "regions", "findings"].into_iter().flat_map(|field| list(&value, field));
        let changes = rows.chain(list(&value, "runs").iter().skip(1)).flat_map(|row| match &row["changes"] {
            Value::Array(changes) => changes.clone(),
            _ => vec![row["change"].clone()],
        });
        for change in changes {
            assert!(change["verdict"] == "same" && change["difference_s"] == 0.0, "{}: {change}", archive.name);
        }
        let text = compare_text(&comparison, &runs, 10, Style::PLAIN);
        assert!(!text.contains("→") && !text.contains('×'), "{}:\n{text}", archive.name);
        assert!(partune_engine::scale(&diagnoses, Mode::Strong).is_err(), "{}", archive.name);
    }
}

/// The same program, once with work that is spread evenly and once not, as Score-P recorded it.
#[test]
fn planted_imbalance_of_real_archives_is_the_difference() {
    let found = archives();
    let anchor = |name: &str| found.iter().find(|it| it.name == name).map(|it| it.anchor.display().to_string());
    for (balanced, imbalance, finding) in [
        ("scorep84-otfcpt-mpi-balanced-4", "scorep84-otfcpt-mpi-imbalance-4", "load_imbalance"),
        ("scorep84-otfcpt-omp-balanced-4t", "scorep84-otfcpt-omp-imbalance-4t", "wait_at_barrier"),
    ] {
        let (Some(balanced), Some(imbalance)) = (anchor(balanced), anchor(imbalance)) else { continue };
        let document = json(&["compare", "--json", &balanced, &imbalance]);
        let figure = |name: &str| {
            let figures = list(&document, "figures").iter();
            let mut named = figures.filter(|figure| figure["section"] == "efficiency" && figure["name"] == name);
            named.next().map(|figure| figure["values"].clone()).expect("there are efficiencies")
        };
        let balance = figure("load_balance");
        assert!(balance[0].as_f64() > Some(0.9) && balance[1].as_f64() < Some(0.7), "{balance}");
        let worse = |row: &&Value| row["changes"][0]["verdict"] == "grown" || row["changes"][0]["verdict"] == "new";
        let found = list(&document, "findings").iter().filter(worse).any(|row| row["pattern"] == finding);
        assert!(found, "{}", document["findings"]);
    }
}

#[test]
fn documents_keep_their_contract() {
    let folder = tempfile::tempdir().expect("there is room for archives");
    let path = |name: &str| folder.path().join(name).display().to_string();
    for (ranks, name) in [("2", "two"), ("4", "four")] {
        let output = partune(&["synth", "--ranks", ranks, "--events", "4K", "-o", &path(name)]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
    let compare = json(&["compare", "--json", &path("two"), &path("four")]);
    assert_eq!(
        (&compare["partune"], &compare["kind"], &compare["per_pe"]),
        (&1.into(), &"compare".into(), &true.into())
    );
    assert!(
        list(&compare, "callpaths").iter().all(|row| list(row, "runs").len() == 2 && list(row, "changes").len() == 1)
    );
    let scale = json(&["scale", "--weak", "--json", &path("four"), &path("two")]);
    assert_eq!((&scale["partune"], &scale["kind"], &scale["mode"]), (&1.into(), &"scale".into(), &"weak".into()));
    assert_eq!(list(&scale, "points").iter().map(|point| point["pes"].clone()).collect::<Vec<_>>(), [2, 4]);
    for (command, name) in [("compare", "compare"), ("scale", "scaling")] {
        let committed =
            std::fs::read_to_string(workspace().join(format!("docs/{name}.schema.json"))).unwrap_or_default();
        let current = text(&partune(&[command, "--schema"]).stdout);
        assert!(committed == current, "run: cargo run -p partune -- {command} --schema > docs/{name}.schema.json");
    }
}

#[test]
fn what_cannot_be_put_together_is_said_with_a_remedy() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    for command in ["compare", "scale"] {
        assert_eq!(partune(&[command, &ring]).status.code(), Some(2), "{command}: one archive is wrong usage");
        assert_eq!(partune(&[command]).status.code(), Some(2), "{command}");
        let output = partune(&[command, &ring, "/no/such/archive"]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        let message = text(&output.stderr);
        assert!(message.contains("/no/such/archive") && message.contains("remedy"), "{command}: {message}");
        assert!(output.stdout.is_empty());
        let help = text(&partune(&[command, "--help"]).stdout);
        assert!(help.contains("Example"), "{command}");
    }
    let output = partune(&["scale", &ring, &ring]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("all runs have 4 PEs\n  remedy"), "{}", text(&output.stderr));
    assert!(Path::new(&ring).exists());
}

#[test]
fn one_thread_and_eight_compare_alike() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let profile = workspace().join("examples/archives/ring_profile").display().to_string();
    let document = |threads: &str| partune(&["compare", "--json", "--threads", threads, &ring, &profile]).stdout;
    assert!(document("1") == document("8"));
}

/// Four PEs; the third of the second run has a fifth more of one function's work, of which all together have a twentieth more.
#[test]
fn the_pe_with_more_work_is_named_at_its_function() {
    let run = |third: u32| {
        let line = |pe: u32| {
            let work = if pe == 2 { third } else { 100 };
            format!(
                "pe {pe}: main@a.c:1 0..2000 {{ repeat 10 every 200 {{ solve@a.c:3 0..{work} MPI_Barrier^a.c:9 {work}..{} barrier }} }}\n",
                third + 10
            )
        };
        diagnosis(&format!("resolution 1000\n{}", (0..4).map(line).collect::<String>()))
    };
    let (before, after) = (run(100), run(120));
    let told = |a: &Diagnosis, b: &Diagnosis| {
        let all = [("before", a), ("after", b)];
        let (diagnoses, runs) = named(&all);
        let comparison = partune_engine::compare(&diagnoses).expect("there are two");
        (compare_text(&comparison, &runs, 10, Style::PLAIN), compare_value(&comparison, &runs))
    };
    let (text, value) = told(&before, &after);
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("  solve (a.c:3)")).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(lines[at + 1].trim(), "most on PE 2: +200 ms (+20.0 %)", "{text}");
    let solve = list(&value, "callpaths").iter().find(|row| row["construct"] == "solve").expect("it has a row");
    let most = &solve["most_on"][0];
    assert_eq!((&most["pe"], &most["ratio"], &most["noise_s"]), (&2.into(), &1.2.into(), &0.0.into()));
    let (text, value) = told(&before, &before);
    assert!(!text.contains("most on PE"), "{text}");
    assert!(list(&value, "callpaths").iter().all(|row| row["most_on"][0].is_null()));
}

#[test]
fn that_a_run_lost_data_is_said_before_its_figures() {
    let run = |loses: bool| {
        let mut builder = partune_testkit::builder("resolution 1000 pe 0: main@a.c:1 0..900 { f 0..300 }");
        if loses {
            let message = "the event file of location 0 ends early";
            builder.quality.add(partune_diag::Diagnostic::data_loss(partune_diag::Code::DamagedFile, message, ""));
        }
        partune_engine::analyze(builder.seal(), &Request::default(), &())
    };
    let (whole, cut) = (run(false), run(true));
    let text = |a: &Diagnosis, b: &Diagnosis| {
        let all = [("a", a), ("b", b)];
        let (diagnoses, runs) = named(&all);
        compare_text(&partune_engine::compare(&diagnoses).expect("there are two"), &runs, 10, Style::PLAIN)
    };
    let said = text(&whole, &cut);
    let (note, figures) = (said.find("note: B lost data").expect("it is said"), said.find("places").expect("a table"));
    assert!(note < figures && said.matches("lost data").count() == 1, "{said}");
    assert!(!text(&whole, &whole).contains("lost data"));
}

/// On two PEs a receive waits for 240 of 400 ms, so it takes 160 more itself; a send after it, which waits for nobody, takes 100.
fn on_two_pes() -> Diagnosis {
    diagnosis(
        "resolution 1000
         pe 0: main@a.c:1 0..1060 { work@a.c:2 0..740 MPI_Send^a.c:5 740..750 send(to=1, bytes=8) MPI_Allreduce^a.c:9 750..1060 allreduce }
         pe 1: main@a.c:1 0..1060 { work@a.c:2 0..500 MPI_Recv^a.c:6 500..900 recv(from=0, bytes=8) MPI_Send^a.c:7 900..1000
                                    MPI_Allreduce^a.c:9 1000..1060 allreduce }",
    )
}

fn verdict_of(one: &Diagnosis, two: &Diagnosis) -> String {
    let all = [("run-1", one), ("run-2", two)];
    let (diagnoses, runs) = named(&all);
    let scaling = partune_engine::scale(&diagnoses, Mode::Strong).expect("two numbers of PEs");
    scaling_value(&scaling, &runs)["text"].as_str().expect("words").to_owned()
}

#[test]
fn what_a_place_takes_itself_is_held_against_others_though_it_waits_more() {
    let one = diagnosis("resolution 1000 pe 0: main@a.c:1 0..1240 { work@a.c:2 0..1240 }");
    let text = verdict_of(&one, &on_two_pes());
    assert!(
        text.contains("most of it by transfer") && text.ends_with("Look first at MPI_Recv in main (a.c:6)."),
        "{text}"
    );
}

/// What analyze finds first is what the series says.
#[test]
fn pes_that_share_processors_are_what_limits() {
    let one = diagnosis("resolution 1000 pe 0: main@a.c:1 0..1240 { work@a.c:2 0..1240 }");
    let mut two = on_two_pes();
    let mut first = two.findings[0].clone();
    first.finding.pattern = partune_engine::Pattern::WaitForProcessor;
    first.finding.facts = vec![("pes", 2.0), ("processors", 1.0), ("slowdown", 1.9)];
    first.fraction = 0.5;
    two.findings.insert(0, first);
    let text = verdict_of(&one, &two);
    let said = "50.0 % of the run lost by waiting for processors: 2 PEs share 1 processor, 1.90 times slower than its CPU time";
    assert!(text.contains(said) && !text.contains("transfer"), "{text}");
    // Where something else costs more, that is said.
    two.findings.swap(0, 1);
    assert!(verdict_of(&one, &two).contains("most of it by transfer"));
}
