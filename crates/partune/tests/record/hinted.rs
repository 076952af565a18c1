//! `partune run --hints` with programs of charm4py that know nothing of hints: objects are where the hints say, and the results are those without.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use partune_trace::Trace;

use super::charm4py::{python, source, start};
use super::launch::{Recorded, alone, record};

/// A file of hints for a program.
fn hints(folder: &Path, program: &str, sections: &str) -> String {
    let path = folder.join("hints.toml");
    fs::write(&path, format!("hints = 1\nprogram = \"python3 {program}\"\n{sections}")).expect("a file is written");
    path.display().to_string()
}

/// Runs a program with hints, and records that.
fn recorded(pes: u32, name: &str, arguments: &[&str], sections: &str) -> Option<Recorded> {
    let python = python()?;
    let folder = tempfile::tempdir().expect("there is room for files");
    let hints = hints(folder.path(), name, sections);
    Some(record(|command| {
        command.args(["--", env!("CARGO_BIN_EXE_partune"), "run", "--hints", &hints, "--"]);
        start(command, python, pes, name, arguments);
    }))
}

/// Runs a program with hints, or without.
fn ran(pes: u32, name: &str, arguments: &[&str], sections: Option<&str>) -> Option<Output> {
    let python = python()?;
    let folder = tempfile::tempdir().expect("there is room for files");
    let _alone = alone();
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "60"]);
    if let Some(sections) = sections {
        let hints = hints(folder.path(), name, sections);
        command.args([env!("CARGO_BIN_EXE_partune"), "run", "--hints", &hints, "--"]);
    }
    start(&mut command, python, pes, name, arguments);
    Some(command.output().expect("timeout is a command of every system"))
}

fn line<'a>(text: &'a str, begin: &str) -> &'a str {
    text.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("no {begin}: {text}"))
}

/// The PE that each object of a class began on, by its index.
fn places(recorded: &Recorded, class: &str) -> BTreeMap<Vec<i32>, u32> {
    let trace: Trace = partune_engine::inside::read(&recorded.anchor, &())
        .unwrap_or_else(|error| panic!("{error}\n{}", recorded.said()));
    let mut places = BTreeMap::new();
    for (pe, stream) in trace.streams().iter_ids() {
        for row in stream.executions.iter().filter(|row| row.object.is_some()) {
            let object = &trace.objects()[row.object];
            if trace.strings().get(object.class) == class {
                places.entry(object.index.to_vec()).or_insert(pe.0);
            }
        }
    }
    places
}

/// The program printed what it prints without hints, and nothing was said of them.
fn check_result(recorded: &Recorded, plain: &Output) {
    let plain = String::from_utf8_lossy(&plain.stdout).into_owned();
    assert!(recorded.output.status.success(), "{}", recorded.said());
    assert_eq!(line(&recorded.said(), "checksum"), line(&plain, "checksum"), "{}", recorded.said());
    assert!(!recorded.said().contains("is not followed"), "{}", recorded.said());
}

const CYCLIC: &str = "[[place]]\narray = \"Row\"\nmap = \"block_cyclic\"\na = [1]\nb = \"P\"\n";

#[test]
fn rows_in_turn_and_pivots_first() {
    let arguments = ["--n", "14"];
    let priorities =
        "[[priority]]\nobject = \"Row\"\nlinear = [1.0]\n[[priority]]\nmessage = \"Row::pivot\"\nlevel = 0\n";
    let Some(recorded) = recorded(3, "gauss.py", &arguments, &format!("{CYCLIC}{priorities}")) else { return };
    check_result(&recorded, &ran(3, "gauss.py", &arguments, None).expect("it ran"));
    let expected: BTreeMap<Vec<i32>, u32> = (0..14).map(|at| (vec![at], at as u32 % 3)).collect();
    assert_eq!(places(&recorded, "Row"), expected);
}

#[test]
fn tiles_in_blocks() {
    let arguments = ["--tiles", "4", "--turns", "3"];
    let sections = "[[place]]\narray = \"Tile\"\nmap = \"block\"\naspect = [1.0, 0.0]\n";
    let Some(recorded) = recorded(4, "jacobi.py", &arguments, sections) else { return };
    check_result(&recorded, &ran(4, "jacobi.py", &arguments, None).expect("it ran"));
    // Blocks are to be long in the first dimension, and the second is said not to communicate.
    let expected: BTreeMap<Vec<i32>, u32> = (0..16).map(|at| (vec![at / 4, at % 4], (at % 4) as u32)).collect();
    assert_eq!(places(&recorded, "Tile"), expected);
}

#[test]
fn ranges_of_a_tree_within_the_pes_of_their_creators() {
    let arguments = ["--n", "400", "--grain", "50"];
    let sections = "[[tree]]\nkind = \"uniform\"\nbranch = 2\nratios = [0.5, 0.5]\n";
    let Some(recorded) = recorded(4, "factorial.py", &arguments, sections) else { return };
    check_result(&recorded, &ran(4, "factorial.py", &arguments, None).expect("it ran"));
    let trace = partune_engine::inside::read(&recorded.anchor, &()).expect("it opens");
    let command = trace.command().expect("it was kept");
    assert!(command.contains(" run --hints ") && command.ends_with("factorial.py --n 400 --grain 50"), "{command}");
    let places = places(&recorded, "Range");
    let expected: BTreeMap<Vec<i32>, u32> = [(1, 0), (2, 0), (3, 2), (4, 0), (5, 1), (6, 2), (7, 3)]
        .into_iter()
        .chain((8..16).map(|at| (at, (at as u32 - 8) / 2)))
        .map(|(at, pe)| (vec![at], pe))
        .collect();
    assert_eq!(places, expected);
}

/// What an object makes on its own PE is made after what it sent has left; only what the runtime copies while it sends it is made at once.
#[test]
fn a_branch_on_the_pe_of_its_creator_keeps_no_other_waiting() {
    let sections = "[[tree]]\nkind = \"uniform\"\nbranch = 2\nratios = [0.5, 0.5]\n";
    let Some(output) = ran(2, "branch.py", &[], Some(sections)) else { return };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("PEs ") || line.starts_with("other ")).collect();
    let expected = [
        "PEs [0, 0, 1, 0, 0] told [(2, 3), (3, 3)]",
        "other branch waited False",
        "PEs [0, 0, 1, 0, 0] told [(2, 1000), (3, 1000)]",
        "other branch waited True",
    ];
    assert_eq!(lines, expected, "{said}");
}

#[test]
fn values_that_are_sent_together() {
    let arguments = ["--n", "40", "--rounds", "2"];
    let sections =
        "[[combine]]\nmessage = \"Sum::value\"\ndest = \"single\"\ncount = \"n_local\"\ntimeout_us = 1000000\n";
    let Some(recorded) = recorded(2, "collect.py", &arguments, sections) else { return };
    check_result(&recorded, &ran(2, "collect.py", &arguments, None).expect("it ran"));
    let trace = partune_engine::inside::read(&recorded.anchor, &()).expect("it opens");
    let count = |method: &str| {
        let of_stream = |stream: &partune_trace::Stream| {
            let is_it = |row: &&partune_trace::Execution| {
                let path = stream.visits.get(row.visit).expect("a visit").path;
                let name = trace.strings().get(trace.regions()[trace.paths().region(path)].name);
                name.split('(').next() == Some(method)
            };
            stream.executions.iter().filter(is_it).count()
        };
        trace.streams().iter().map(of_stream).sum::<usize>()
    };
    assert_eq!(count("Sum::value"), 80, "{}", recorded.said());
    // Each PE has 20 values, which go together unless it found nothing else to do before.
    assert!((4..40).contains(&count("Sum::_partune_combined")), "{}", count("Sum::_partune_combined"));
}

/// What goes together and what cannot keep their order, and the program has timers left.
#[test]
fn calls_of_one_method_do_not_overtake_each_other() {
    for count in ["3", "2", "\"n_local\""] {
        let sections = format!(
            "[[combine]]\nmessage = \"Sink::value\"\ndest = \"single\"\ncount = {count}\ntimeout_us = 1000000\n"
        );
        let Some(output) = ran(3, "together.py", &[], Some(&sections)) else { return };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        assert_eq!((line(&text, "overtaken"), line(&text, "checksum")), ("overtaken 0", "checksum 2160"), "{said}");
    }
}

/// The lines about one of the two trees of `twice.py`.
fn grown(text: &str, tree: u32) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with(&format!("tree {tree} "))).collect()
}

/// Of two arrays of a class each has its own hints: the second one a light child before a heavy one, on the PEs of two roots.
#[test]
fn arrays_of_one_class_are_told_apart() {
    let hints = |array: &str| {
        format!(
            "[[tree]]\narray = \"Node{array}\"\nkind = \"uniform_branch\"\nratios = [0.25, 0.75]\nroots = [0.5, 0.5]\n\
             [[priority]]\nobject = \"Item{array}\"\nlinear = [-1.0]\n"
        )
    };
    let Some(plain) = ran(6, "twice.py", &[], None) else { return };
    let plain = String::from_utf8_lossy(&plain.stdout).into_owned();
    let pes = [0, 3, 0, 1, 3, 4, 1, 2, 4, 5];
    let expected = |tree: u32| -> Vec<String> {
        let objects = [1, 2, 11, 12, 21, 22, 121, 122, 221, 222];
        objects.iter().zip(pes).map(|(at, pe)| format!("tree {tree} object {at} PE {pe}")).collect()
    };
    for (own, other) in [(2, 1), (1, 2)] {
        let output = ran(6, "twice.py", &[], Some(&hints(if own == 2 { "#2" } else { "" }))).expect("it ran");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let said = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && !said.contains("is not followed"), "{said}");
        assert_eq!(grown(&text, own), expected(own), "{said}");
        assert_eq!(grown(&text, other), grown(&plain, other), "{said}");
        // What has no priority comes before, and in the order in which it was sent.
        let noted = |tree, at: [u32; 4]| at.map(|at| format!("({tree}, {at})")).join(", ");
        let noted = format!("noted [{}, {}]", noted(other, [0, 1, 2, 3]), noted(own, [3, 2, 1, 0]));
        assert_eq!(line(&text, "noted"), noted, "{said}");
    }
}

#[test]
fn what_cannot_be_followed_is_said_and_changes_nothing() {
    let n = ["--n", "10"];
    let missing = "[[place]]\narray = \"Line\"\nmap = \"cyclic\"\n[[combine]]\nmessage = \"no_such\"\ndest = \"single\"\ncount = 2\ntimeout_us = 100\n";
    let wrong = "[[place]]\narray = \"Row\"\nmap = \"multipartition\"\na = [1, 1]\nb = [\"P\", 1]\n";
    let Some(plain) = ran(2, "gauss.py", &n, None) else { return };
    let checksum = String::from_utf8_lossy(&plain.stdout).into_owned();
    let some = format!("{CYCLIC}{missing}");
    let said_of = [
        (
            2,
            missing,
            &[
                "its hints about objects are of another program: this one has none of the arrays and methods that they name",
                "place of Line is not followed: the program made no such array",
                "combine of no_such is not followed",
            ][..],
        ),
        (2, some.as_str(), &["place of Line is not followed: the program made no such array"]),
        (2, wrong, &["place of Row is not followed: it has 1 dimensions, and the hint 3"]),
        (1, CYCLIC, &["there is one PE"]),
    ];
    for (pes, sections, said) in said_of {
        let output = ran(pes, "gauss.py", &n, Some(sections)).expect("it ran");
        let text = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.iter().all(|it| text.contains(it)),
            "{}: {text}{printed}",
            output.status
        );
        assert_eq!(line(&printed, "checksum"), line(&checksum, "checksum"), "{printed}");
        // One that it has is enough to be of this program.
        assert_eq!(text.contains("of another program"), sections == missing, "{text}");
    }
}

/// Where an array has fewer objects a PE than a hint is known to gain from, and more where PEs share processors, it is as without it.
#[test]
fn few_objects_a_pe_stay_where_they_were() {
    let n = ["--n", "15"];
    let said = |pes: u32, least: &str, shared: &str| {
        let sections = format!("{CYCLIC}least_per_pe = {least}\nleast_per_pe_shared = {shared}\n");
        let output = ran(pes, "gauss.py", &n, Some(&sections))?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        Some((text, line(&String::from_utf8_lossy(&output.stdout), "checksum").to_owned()))
    };
    let Some((text, few)) = said(3, "5.1", "5.1") else { return };
    assert!(text.contains("place of Row is not followed: 15 objects on 3 PEs are fewer than the 5.1 a PE"), "{text}");
    let (text, enough) = said(3, "5", "5").expect("it ran before");
    assert!(!text.contains("is not followed"), "{text}");
    assert_eq!(few, enough);
    let processors = std::thread::available_parallelism().map_or(1, |it| it.get() as u32);
    if (2..8).contains(&processors) {
        let (text, _) = said(processors, "0", "99").expect("it ran before");
        assert!(!text.contains("is not followed"), "{text}");
        let (text, _) = said(processors + 1, "0", "99").expect("it ran before");
        assert!(text.contains("the 99 a PE from which it is known to gain where PEs share processors"), "{text}");
    }
}

#[test]
fn hints_that_are_of_something_else_are_refused() {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let run = |program: &str, sections: &str, command: &[&str]| {
        let hints = hints(folder.path(), program, sections);
        let mut run = Command::new(env!("CARGO_BIN_EXE_partune"));
        run.args(["run", "--hints", &hints, "--"]).args(command).output().expect("the binary runs")
    };
    let script = source("gauss.py").display().to_string();
    let other = run("jacobi.py", CYCLIC, &["python3", &script]);
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(
        other.status.code() == Some(125)
            && said.contains("its hints are of another program (python3 jacobi.py), so nothing was started"),
        "{said}"
    );
    assert!(said.contains("and partune hints RUN -o FILE"), "{said}");
    let wrong = run("gauss.py", "[[place]]\narray = 3\nmap = \"block\"\n", &["python3", &script]);
    let said = String::from_utf8_lossy(&wrong.stderr);
    assert!(wrong.status.code() == Some(125) && said.contains("line 4: place 1: `array` is no text"), "{said}");
    let none = run("true", CYCLIC, &["sh", "-c", "exit 7"]);
    assert_eq!(none.status.code(), Some(125), "sh is not what the hints are of");
    let none = run("sh", CYCLIC, &["sh", "-c", "exit 7"]);
    let said = String::from_utf8_lossy(&none.stderr);
    assert!(none.status.code() == Some(7) && said.contains("no program of charm4py ran"), "{said}");
}
