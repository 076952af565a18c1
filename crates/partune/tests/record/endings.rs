//! How runs end that do not end in order: who died first, where all stood, and who waited for whom.

use std::process::Command;

use serde_json::{Value, json};

use super::expect::line_of;
use super::launch::{Built, MPICH, OPEN_MPI, Recorded, record_all, run};

const SOURCE: &str = include_str!("endings/ends.c");

/// Records the program as it ends in a way, with each MPI that is here; its `ending` in JSON and the text of `analyze`.
fn ended(way: &str) -> Vec<(Value, String)> {
    ends(&built(), way)
}

fn built() -> Vec<Built<'static>> {
    [&OPEN_MPI, &MPICH].into_iter().filter_map(|mpi| Built::new(mpi, "endings/ends.c", &[])).collect()
}

/// All at a time: they hang, most of the time.
fn ends(all: &[Built<'_>], way: &str) -> Vec<(Value, String)> {
    let add = |built| move |command: &mut Command| Built::add(built, command, &[], &[], &[way]);
    let recorded = record_all(all.iter().map(add));
    recorded.iter().map(|it| (it.analysis()["ending"].clone(), text(it))).collect()
}

fn text(recorded: &Recorded) -> String {
    let output = run(Command::new(env!("CARGO_BIN_EXE_partune")).arg("analyze").arg(&recorded.anchor));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A way, the chain of PEs that wait, whether that is a cycle, and whom each PE waits for.
type Waits = (&'static str, &'static [u32], bool, [&'static [u32]; 3]);

/// As the program's text has it.
const WAITS: [Waits; 12] = [
    ("cycle", &[0, 1, 2], true, [&[1], &[2], &[0]]),
    ("split", &[0, 1, 2], true, [&[1], &[2], &[0]]),
    ("sends", &[0, 2, 1], true, [&[2], &[0], &[1]]),
    ("chain", &[2, 1, 0], false, [&[], &[0], &[1]]),
    ("requests", &[0, 1, 2], true, [&[1], &[2], &[0]]),
    ("any", &[1, 0], false, [&[], &[0], &[]]),
    ("isends", &[0, 2, 1], true, [&[2], &[0], &[1]]),
    ("persistent", &[2, 1, 0], false, [&[], &[0], &[1]]),
    // Rank 0 receives from anybody.
    ("anybody", &[0, 1], true, [&[1, 2], &[0], &[0]]),
    ("busy", &[1, 0], false, [&[1, 2], &[0], &[]]),
    ("collectives", &[1, 2], true, [&[1, 2], &[0, 2], &[1]]),
    ("file", &[1, 0], false, [&[], &[0], &[0]]),
];

#[test]
fn who_waits_for_whom() {
    let all = built();
    for (way, chain, is_cycle, waits) in WAITS {
        for (ending, text) in ends(&all, way) {
            let said = format!("{way}: {ending:#}\n{text}");
            assert_eq!((&ending["chain"], &ending["cycle"]), (&json!(chain), &json!(is_cycle)), "{said}");
            assert_eq!(ending["deadlock"], json!(is_cycle), "{said}");
            let of = |pe: usize| &ending["pes"][pe];
            let is_anybody = ["anybody", "busy", "collectives"].contains(&way);
            assert_eq!(of(0)["from_anybody"], is_anybody, "{said}");
            assert!((1..3).all(|pe| of(pe)["from_anybody"] == false), "{said}");
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let all_wait = "0 → 1 → 0; 0 would take a message from anybody, and all who could send one wait as well";
            assert_eq!(words.contains(all_wait), way == "anybody", "{said}");
            assert_eq!(words.contains("1 → 0; PE 0 waits for a message from anybody"), way == "busy", "{said}");
            let busy = match way {
                "chain" | "persistent" | "file" => Some(0),
                "any" | "busy" => Some(2),
                _ => None,
            };
            for (pe, awaits) in waits.iter().enumerate() {
                assert_eq!((&of(pe)["pe"], &of(pe)["waits_for"]), (&json!(pe), &json!(awaits)), "{said}");
                assert_eq!(of(pe)["inside"], busy != Some(pe), "{said}");
            }
            if let Some(busy) = busy {
                // Two samples or more before the alarm, and after the others came to wait.
                let functions = of(busy)["functions"].as_array().expect("a list");
                assert!(functions[0].as_str().is_some_and(|it| it.starts_with("forever (ends.c:")), "{said}");
                assert!(functions[1].as_str().is_some_and(|it| it.starts_with("main (ends.c:")), "{said}");
                assert!(of(busy)["seen_s"].as_f64() > of(busy)["since_s"].as_f64(), "{said}");
            } else {
                assert!((0..3).all(|pe| of(pe)["seen_s"].is_null()), "{said}");
            }
            assert_eq!(ending["first_known"], false, "{said}");
            let hows = ending["processes"].as_array().into_iter().flatten().map(|it| &it["how"]);
            assert_eq!(hows.collect::<Vec<_>>(), ["killed"; 3], "{said}");
            // The command ended later than all that was recorded, and when it ended is known of all.
            let last = (0..3).flat_map(|pe| [of(pe)["since_s"].as_f64(), of(pe)["seen_s"].as_f64()]).flatten();
            let last = last.fold(0.0, f64::max);
            let over = |it: &Value| it["at_s"].as_f64().is_some_and(|over| over >= last);
            assert!(ending["processes"].as_array().is_some_and(|all| all.iter().all(over)), "{said}");
        }
    }
}

/// A run that is killed while all is well.
#[test]
fn a_cycle_of_short_waits_is_no_deadlock() {
    for (ending, text) in ended("lively") {
        let said = format!("{ending:#}\n{text}");
        assert_eq!((&ending["chain"], &ending["cycle"]), (&json!([0, 1, 2]), &json!(true)), "{said}");
        assert_eq!(ending["deadlock"], false, "{said}");
        assert!(text.contains("no deadlock is claimed") && !text.contains("  deadlock"), "{said}");
    }
}

#[test]
fn which_thread_waits_for_which() {
    let Some(built) = super::threads::built("gcc", "hangs.c") else { return };
    let ways = ["cycle", "forever", "itself", "handed", "condition", "spin"];
    for (way, recorded) in ways.into_iter().zip(built.record_all(&ways)) {
        let ending = recorded.analysis()["ending"].clone();
        let told = format!("{way}: {ending:#}\n{}", text(&recorded));
        assert_eq!(ending["processes"][0]["how"], "killed", "{told}");
        let stands = ending["pes"].as_array().expect("a list");
        // The PEs of threads with a function; in what they wait or waited last comes second.
        let of =
            |function: &str| -> Vec<&Value> { stands.iter().filter(|it| it["operation"][0] == function).collect() };
        let one = |function: &str| of(function).first().map_or_else(|| panic!("{function} {told}"), |it| *it);
        let waits = |by: &str, of: &[&str]| {
            let expected: Vec<&Value> = of.iter().map(|function| &one(function)["pe"]).collect();
            assert_eq!(one(by)["waits_for"], json!(expected), "{by}: {told}");
        };
        assert_eq!((&one("main")["operation"][1], &one("main")["inside"]), (&json!("pthread_join"), &json!(true)));
        let first = format!("{way}_1");
        waits("main", &[&first]);
        let shown = |chain: &[&str], is_cycle: bool| {
            let chain: Vec<&Value> = chain.iter().map(|function| &one(function)["pe"]).collect();
            assert_eq!((&ending["chain"], &ending["cycle"]), (&json!(chain), &json!(is_cycle)), "{told}");
        };
        match way {
            "cycle" => {
                waits("cycle_1", &["cycle_2"]);
                waits("cycle_2", &["cycle_1"]);
                // It begins with the PE that has the lowest number.
                let first_is_lower = one("cycle_1")["pe"].as_u64() < one("cycle_2")["pe"].as_u64();
                shown(if first_is_lower { &["cycle_1", "cycle_2"] } else { &["cycle_2", "cycle_1"] }, true);
                let lines = [1, 2].map(|it| format!("hangs.c:{}", built.line(&format!("SECOND {it}"))));
                assert!(lines.iter().all(|line| told.contains(line)), "{lines:?} {told}");
            }
            "forever" => {
                waits("forever_2", &["forever_1"]);
                waits("forever_1", &["forever_3"]);
                waits("forever_3", &[]);
                shown(&["main", "forever_1", "forever_3"], false);
            }
            "itself" => {
                waits("itself_1", &["itself_1"]);
                waits("itself_2", &[]);
                shown(&["itself_1"], true);
                assert!(told.contains("waits for what only itself can give"), "{told}");
            }
            "handed" => {
                // One of two got the lock that the first gave back; the other waits for that one, and no more for the first.
                let (waiting, holding): (Vec<&Value>, Vec<&Value>) =
                    of("handed_to").into_iter().partition(|it| it["inside"] == true);
                assert_eq!((waiting.len(), holding.len()), (1, 1), "{told}");
                assert_eq!(waiting[0]["waits_for"], json!([holding[0]["pe"]]), "{told}");
                waits("handed_1", &[]);
            }
            // Nobody knows who would give a sign, or who holds such a lock.
            _ => {
                let others = || stands.iter().filter(|it| it["operation"][0] != "main");
                assert!(others().count() == 2 && others().all(|it| it["waits_for"] == json!([])), "{told}");
            }
        }
    }
}

#[test]
fn the_first_to_die_is_told_with_its_place() {
    for (ending, text) in ended("fault") {
        let said = format!("{ending:#}\n{text}");
        let first = &ending["processes"][0];
        assert_eq!(ending["first_known"], true, "{said}");
        assert_eq!(
            (&first["rank"], &first["how"], &first["signal"]),
            (&json!(1), &json!("signal"), &json!(11)),
            "{said}"
        );
        let functions = first["functions"].as_array().expect("a list");
        assert_eq!(
            functions[0],
            format!("fault (ends.c:{})", line_of(SOURCE, "FAULT").expect("it is there")),
            "{said}"
        );
        assert!(functions[1].as_str().is_some_and(|it| it.starts_with("main (ends.c:")), "{said}");
        assert_eq!(functions.len(), 2, "{said}");
        // Half a second after the others came to the barrier, and the start of the run before it.
        let since = ending["pes"][0]["since_s"].as_f64().expect("a number");
        assert!(first["at_s"].as_f64().is_some_and(|at| at > 0.5 && at < since + 60.0), "{said}");
        assert_eq!(ending["chain"], json!([0, 1]), "{said}");
        assert_eq!(ending["pes"][2]["waits_for"], json!([1]), "{said}");
        let begin: Vec<&str> = text.lines().skip(1).take(3).collect();
        assert_eq!(begin[..2], ["", "how it ended"], "{said}");
        assert!(begin[2].starts_with("  first      rank 1 died of SIGSEGV"), "{said}");
    }
}

#[test]
fn who_aborts_is_told() {
    for (ending, text) in ended("abort") {
        let said = format!("{ending:#}\n{text}");
        let first = &ending["processes"][0];
        assert_eq!(
            (&first["rank"], &first["how"], &first["signal"]),
            (&json!(2), &json!("abort"), &Value::Null),
            "{said}"
        );
        let operation = ending["pes"][2]["operation"].as_array().expect("a list");
        assert!(operation.ends_with(&[json!("give_up"), json!("MPI_Abort")]), "{said}");
        let told = format!("in MPI_Abort in give_up (ends.c:{})", line_of(SOURCE, "ABORT").expect("it is there"));
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("first rank 2 aborted the program at ") && text.contains(&told), "{said}");
        // These two wait for each other, besides.
        assert_eq!((&ending["chain"], &ending["cycle"]), (&json!([0, 1]), &json!(true)), "{said}");
    }
}

#[test]
fn of_runs_in_order_nothing_is_told() {
    for (ending, text) in ended("orderly") {
        assert_eq!(ending, Value::Null);
        assert!(!text.contains("how it ended"), "{text}");
    }
}
