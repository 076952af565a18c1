//! The options of `partune record`, and what it says when there is nothing to record.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{SystemTime, UNIX_EPOCH};

use partune_testkit::outside;
use serde_json::json;

use super::launch::{Built, LAUNCHED, MPICH, OPEN_MPI, Recorded, alone, run};
use super::printed::{counts, depths};
use super::programs::check_counts;

fn built(file: &str) -> impl Iterator<Item = Built<'static>> {
    [&OPEN_MPI, &MPICH].into_iter().filter_map(move |mpi| Built::new(mpi, file, &[]))
}

#[test]
fn a_small_buffer_loses_nothing() {
    for built in built("programs/many.c") {
        check_counts(&built, &["--buffer", "128K"], &[]);
    }
}

/// What `analyze` and `report` give, without another command; and nothing else, if that is all that is wanted.
#[test]
fn what_is_found_is_said_at_once_and_may_be_all_that_is_kept() {
    for built in built("programs/master_worker.c") {
        let recorded = built.record(&["--analyze"], &[]);
        let said = recorded.said();
        let beside = |name: &str| recorded.anchor.with_file_name(name);
        let analysed = run(Command::new(env!("CARGO_BIN_EXE_partune")).arg("analyze").arg(&recorded.anchor));
        let first = String::from_utf8_lossy(&analysed.stdout).into_owned();
        assert!(first.lines().count() > 10 && first.lines().all(|line| said.contains(line)), "{first}\n{said}");
        let json = std::fs::read_to_string(beside("analysis.json")).expect("it was written");
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(json, recorded.analysis());
        assert!(std::fs::read_to_string(beside("report.html")).expect("it was written").contains("<title>"));

        let recorded = built.record(&["--analyze", "--discard"], &[]);
        let folder = recorded.anchor.parent().expect("a folder");
        let names = std::fs::read_dir(folder).expect("it is there").map(|it| it.expect("an entry").file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["analysis.json", "report.html"], "{}", recorded.said());
    }
}

#[test]
fn how_far_a_recording_is_is_said_on_a_terminal() {
    let folder = tempfile::tempdir().expect("there is room");
    let command = format!("'{}' record -o recorded -- sleep 3", env!("CARGO_BIN_EXE_partune"));
    let said = |terminal: &mut Command| {
        let output = terminal.current_dir(folder.path()).output().expect("it is on every Linux");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let line = "partune: after 2 s: no process has begun to record";
    let on_terminal = said(Command::new("script").args(["-qec", &command, "/dev/null"]));
    assert!(on_terminal.contains(line), "{on_terminal}");
    let elsewhere = said(Command::new("sh").args(["-c", &command]));
    assert!(!elsewhere.contains("after 2 s"), "{elsewhere}");
}

#[test]
fn paths_are_as_deep_as_asked_for() {
    for built in built("programs/recursion.c") {
        let deepest = |options: &[&str]| {
            let recorded = check_counts(&built, options, &[]);
            depths(&recorded.anchor, "MPI_Allreduce")
        };
        // One call each ten levels, from `main` down to level 0, and the construct itself.
        let all: Vec<usize> = (0..=20).map(|level| 3 + 10 * level).collect();
        assert_eq!(deepest(&["--depth", "300"]), all);
        assert_eq!(deepest(&["--depth", "5"]), [3, 6], "the innermost five frames, where there are more");
        assert_eq!(deepest(&["--depth", "0"]), [1]);
    }
}

/// Each of the 1,024 leaves is on a path of its own, which has to be walked.
#[test]
fn paths_that_cost_more_than_their_budget_get_shallower() {
    for built in built("programs/varied.c") {
        // `main`, the levels, and the construct; a thousandth of a second's hundredth is less than a few hundred walks take anywhere.
        let (leaf, bottom) = (13, 15);
        for mode in [&[][..], &["--profile"]] {
            let recorded = check(&built, &[mode, &["--budget", "0.001%"]].concat());
            let said = recorded.said();
            let note =
                said.lines().find_map(|line| line.split("call paths are ").nth(1)).unwrap_or_else(|| panic!("{said}"));
            let least: usize =
                note.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("{note}"));
            assert!(least < leaf && note.contains("deeper ones took more than 0.001 % of the run"), "{note}");
            // The operation at the bottom comes last, so its path is as deep as it is said of its rank.
            let bottoms = depths(&recorded.anchor, "MPI_Barrier");
            assert!(
                bottoms.iter().all(|depth| *depth < bottom) && bottoms.contains(&(least + 1)),
                "{bottoms:?}: {note}"
            );
            let document = recorded.analysis();
            let notes = document["quality"].as_array().expect("quality is a list").iter();
            assert_eq!(notes.filter(|it| it["code"] == "shallow-call-paths").count(), 1, "{document:#}");
        }
        for mode in [&[][..], &["--profile"]] {
            let recorded = check(&built, &[mode, &["--budget", "off"]].concat());
            assert!(!recorded.said().contains("deep from"), "{}", recorded.said());
            assert_eq!(depths(&recorded.anchor, "MPI_Allreduce"), [leaf]);
            assert_eq!(depths(&recorded.anchor, "MPI_Barrier"), [bottom]);
        }
    }
    // A program with some twenty paths, whatever the machine does meanwhile: an interruption is no walk.
    for built in built("programs/recursion.c") {
        let recorded = check_counts(&built, &["--depth", "300"], &[]);
        assert!(!recorded.said().contains("deep from"), "{}", recorded.said());
        assert_eq!(depths(&recorded.anchor, "MPI_Allreduce").last(), Some(&203));
    }
}

/// Counts are exact; those of events where there are some.
fn check(built: &Built<'static>, options: &[&str]) -> Recorded {
    if !options.contains(&"--profile") {
        return check_counts(built, options, &[]);
    }
    let recorded = built.record(options, &[]);
    assert!(recorded.output.status.success(), "{}", recorded.said());
    // Start-up, shut-down, the leaves and the bottom of two ranks.
    assert!(recorded.said().contains(" 2054 calls "), "{}", recorded.said());
    recorded
}

#[test]
fn counters_are_read_at_each_call() {
    for built in built("programs/modes.c") {
        let recorded = check_counts(&built, &["--counters", "cpu-time,page-faults"], &[]);
        for counts in counts(&recorded.anchor) {
            // Two counters where a call begins and where it ends.
            assert!(counts["counters"] >= 4 * counts["MPI_Send"], "{counts:#?}");
        }
    }
}

/// An event of PAPI that the program itself defines, which is there without counters of a processor; and one that nobody has.
#[test]
fn counters_of_papi_are_read_where_it_is_installed() {
    if !Path::new("/usr/include/sde_lib.h").exists() {
        outside::missing("libpapi-dev with sde_lib.h");
        return;
    }
    for built in built("options/papi.c") {
        let recorded = built.record(&["--counters", "sde:::Work::steps,cpu-time,PAPI_NO_SUCH"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        assert!(recorded.said().contains("the counter PAPI_NO_SUCH is none of partune's"), "{}", recorded.said());
        let analysis = recorded.analysis();
        let steps = |function: &str| -> u64 {
            let rows = analysis["counters"].as_array().into_iter().flatten();
            let rows = rows.filter(|it| it["metric"] == "sde:::Work::steps" && it["callpath"] == json!([function]));
            rows.filter_map(|it| it["inclusive"].as_f64()).sum::<f64>() as u64
        };
        // 10 turns of 7 and 8 steps; the other threads' 5 may be seen by those that wait for them, too.
        assert_eq!(steps("other"), 10, "{:#}", analysis["counters"]);
        assert!((150..=160).contains(&steps("main")), "{:#}", analysis["counters"]);
    }
}

#[test]
fn a_profile_counts_the_same_calls_and_has_no_events() {
    for built in built("waits/late_sender.c") {
        let recorded = built.record(&["--profile"], &[]);
        assert!(recorded.output.status.success(), "{}", recorded.said());
        assert!(counts(&recorded.anchor).iter().all(|counts| counts.keys().eq(["threads"])), "no events");
        let document = recorded.analysis();
        assert_eq!((&document["events"], &document["pes"]), (&0.into(), &2.into()));
    }
}

/// Open MPI hands variables on in one of two ways, and refuses both at once. MPICH hands on all, and the option is the program's.
#[test]
fn options_of_the_launcher_and_of_the_program_stay_what_they_are() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let script = folder.path().join("job.sh").display().to_string();
    std::fs::write(&script, "mpirun.openmpi -x PARTUNE_TEST=5 -n 2 \"$@\"\n").expect("a file can be written");
    for built in built("waits/late_sender.c") {
        let program = built.program().display().to_string();
        let ways: &[&[&str]] = match built.mpi.name {
            "openmpi" => &[
                &["mpirun.openmpi", "-x", "PARTUNE_TEST=5", "-n", "2", &program],
                &["mpirun.openmpi", "-n", "2", &program, "-x", "5"],
                &["sh", &script, &program],
            ],
            _ => &[&["mpirun.mpich", "-n", "2", &program, "-x", "5"]],
        };
        for command in ways {
            let archive = tempfile::tempdir().expect("there is room for a folder");
            let output = record(archive.path(), command);
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            let counts = counts(&archive.path().join("traces.otf2"));
            assert!(counts.len() == 2 && counts.iter().all(|rank| rank["MPI_Init"] == 1), "{command:?}: {counts:#?}");
        }
    }
}

/// All processes of a job have to be recorded. Who waits for one that is not says so.
#[test]
fn a_job_of_which_a_part_is_not_recorded_says_why_it_waits() {
    let Some(built) = Built::new(&OPEN_MPI, "waits/late_sender.c", &[]) else { return };
    let program = built.program().display().to_string();
    let archive = tempfile::tempdir().expect("there is room for a folder");
    let _alone = alone();
    let output = Command::new("timeout")
        .args(["14", env!("CARGO_BIN_EXE_partune"), "record", "-o"])
        .arg(archive.path())
        .args(["--", "mpirun.openmpi", "-n", "1", &program, ":", "-n", "1", "env", "-u", "LD_PRELOAD", &program])
        .envs(LAUNCHED)
        .output()
        .expect("timeout is a command of every system");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("must reach all nodes"), "{said}");
}

#[test]
fn nothing_recorded_is_said() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let at = |name: &str| folder.path().join(name);

    // The exit status is the command's; 125 is for what partune itself cannot do, 127 for what it cannot start.
    for (command, status, reason) in [
        (&["true"][..], 0, "the program did not initialise MPI"),
        (&["sh", "-c", "exit 42"], 42, "the command failed (exit status: 42)"),
        (&["sh", "-c", "kill -9 $$"], 128 + 9, "the command failed (signal: 9"),
        (&["/no/such/program"], 127, "/no/such/program cannot be started"),
    ] {
        let output = record(&at("made"), command);
        assert_eq!(output.status.code(), Some(status), "{command:?}: {}", said(&output));
        let first = said(&output).lines().next().map(str::to_owned).unwrap_or_default();
        assert!(first.contains(reason), "{command:?}: {}", said(&output));
        assert!(!at("made").exists(), "{command:?}: no archive that is none, and no folder for it");
    }

    // A folder that cannot be made: a file in its place, or above it, and where nobody may.
    std::fs::write(at("taken"), "").expect("there is room for a file");
    for (place, remedy) in [
        (at("taken"), "a file is in the way: choose another folder with -o"),
        (at("taken/inside"), "a file is in the way: choose another folder with -o"),
        ("/sys/made".into(), "choose a folder with -o where you may write"),
    ] {
        let output = record(&place, &["true"]);
        assert_eq!(output.status.code(), Some(125), "{}: {}", place.display(), said(&output));
        let told = format!("{}: cannot be made: ", place.display());
        assert!(
            said(&output).contains(&told) && said(&output).contains(&format!("\n  remedy: {remedy}")),
            "{}",
            said(&output)
        );
    }

    for (name, text, remedy) in [
        ("plain", "true\n", "remedy: a script begins with the line #!/bin/sh"),
        ("lost", "#!/no/such/shell\ntrue\n", "remedy: the file is there, but not what runs it"),
    ] {
        let script = at(name);
        std::fs::write(&script, text).expect("there is room for a script");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let output = record(&at("made"), &[&script.display().to_string()]);
        assert_eq!(output.status.code(), Some(127), "{name}: {}", said(&output));
        assert!(said(&output).contains(remedy), "{name}: {}", said(&output));
    }

    let output = record(&at("usage"), &[]);
    assert_eq!(output.status.code(), Some(2), "a command is needed: {}", said(&output));
}

/// MPICH comes as an archive too; what it calls itself need not be there, since the program is only looked at.
#[test]
fn mpi_that_is_a_part_of_the_program_is_the_reason() {
    const INSIDE: [&str; 4] = ["-Wl,-Bstatic", "-lmpich", "-Wl,-Bdynamic", "-Wl,--unresolved-symbols=ignore-all"];
    let Some(shared) = Built::new(&MPICH, "waits/late_sender.c", &[]) else { return };
    let inside = Built::new(&MPICH, "waits/late_sender.c", &INSIDE).expect("the same compiler");
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let why = |ends: &str, program: &Path| {
        let output = record(&folder.path().join("made"), &[ends, &program.display().to_string()]);
        assert!(!folder.path().join("made").exists(), "no folder for it");
        (output.status.code(), said(&output))
    };
    let reason = format!("the MPI library is linked into {} statically", inside.program().display());
    let (code, text) = why("true", &inside.program());
    assert!(code == Some(0) && text.contains(&reason), "{code:?} {text}");
    let (code, text) = why("false", &inside.program());
    assert!(code == Some(1) && text.contains(&format!("(exit status: 1), and {reason}")), "{code:?} {text}");
    let (code, text) = why("true", &shared.program());
    assert!(code == Some(0) && text.contains("the program did not initialise MPI"), "{code:?} {text}");
}

/// A launcher that starts nothing has said why; that the program does not use MPI would be a guess, and a wrong one.
#[test]
fn a_launcher_that_fails_is_the_reason() {
    for built in built("waits/late_sender.c") {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let launcher = format!("mpirun.{}", built.mpi.name);
        let output = record(&folder.path().join("made"), &[&launcher, "-n", "1", "/no/such/program"]);
        assert!(!matches!(output.status.code(), Some(0 | 125) | None), "{}", said(&output));
        let own = said(&output).lines().find(|line| line.starts_with("partune: ")).map(str::to_owned);
        assert!(own.is_some_and(|it| it.contains("the command failed (exit status: ")), "{}", said(&output));
    }
}

#[test]
fn a_recording_is_not_overwritten() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("mine");
    std::fs::write(&file, "mine").expect("a file can be written");
    let output = record(folder.path(), &["true"]);
    assert_eq!(output.status.code(), Some(125), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(&file).expect("it is still there"), "mine");
}

#[test]
fn a_command_is_repeated_until_it_fails() {
    for built in built("waits/late_sender.c") {
        let folder = tempfile::tempdir().expect("there is room");
        let launch = format!("mpirun.{} -n {} {}", built.mpi.name, built.expected.ranks, built.program().display());
        let repeated = |name: &str, script: &str| {
            let _alone = alone();
            let archive = folder.path().join(name);
            let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
            partune
                .args(["record", "--repeat", "3", "-o"])
                .arg(&archive)
                .args(["--", "sh", "-c", script])
                .envs(LAUNCHED);
            let output = partune.output().expect("partune runs");
            let runs = (1..=4).filter(|run| archive.join(format!("{run}/traces.otf2")).exists()).count();
            (output.status.code(), runs, said(&output))
        };
        let (code, runs, text) = repeated("all", &launch);
        assert!((code, runs) == (Some(0), 3) && text.contains("partune: 3 runs: median "), "{code:?} {runs} {text}");
        // What is there is not mixed with other runs.
        let (code, runs, text) = repeated("all", &launch);
        assert!((code, runs) == (Some(125), 3) && text.contains("holds something already"), "{code:?} {runs} {text}");
        // The second run is the first that finds two folders.
        let second = format!("{launch} && [ $(ls {} | wc -l) -lt 2 ] || exit 7", folder.path().join("some").display());
        let (code, runs, text) = repeated("some", &second);
        assert!((code, runs) == (Some(7), 2) && text.contains("run 2 of 3 failed"), "{code:?} {runs} {text}");
        assert!(text.contains("partune: 1 run: "), "{text}");
        // The one that failed is kept, and no repeat of the other; of three that did not, all are taken, or the median one.
        let analysed = |name: &str| {
            let partune = |command: &str| {
                let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
                partune.arg(command).arg(folder.path().join(name)).output().expect("partune runs")
            };
            let (analyze, what_if) = (partune("analyze"), partune("whatif"));
            assert!(analyze.status.success() && what_if.status.success(), "{}{}", said(&analyze), said(&what_if));
            let said_it =
                |text: &[u8]| String::from_utf8_lossy(text).matches("one of 3 runs, the one with the median").count();
            (said_it(&analyze.stdout), said_it(&what_if.stderr))
        };
        assert_eq!((analysed("all"), analysed("some")), ((1, 1), (0, 0)));
    }
}

/// The loader's list of libraries has spaces and colons between them: the library lies elsewhere then.
#[test]
fn a_folder_may_have_any_name_and_is_completed_once() {
    for built in built("waits/late_sender.c") {
        let folder = tempfile::tempdir().expect("there is room");
        let archive = folder.path().join("a run: the second; $HOME");
        let (mpirun, program) = (format!("mpirun.{}", built.mpi.name), built.program().display().to_string());
        let output = record(&archive, &[&mpirun, "-n", &built.expected.ranks.to_string(), &program]);
        assert!(output.status.success(), "{}", said(&output));
        let anchor = archive.join("traces.otf2");
        assert_eq!(counts(&anchor).len(), built.expected.ranks, "{}", said(&output));
        let before = std::fs::read(&anchor).expect("an anchor");
        let complete = |folder: &Path| {
            let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
            partune.args(["record", "--complete"]).arg(folder).output().expect("partune runs")
        };
        let again = complete(&archive);
        assert!(again.status.success() && said(&again).contains("is complete already"), "{}", said(&again));
        assert_eq!(std::fs::read(&anchor).expect("an anchor"), before);
        // What is wrong is said once, and is no success.
        let nothing = complete(folder.path());
        assert_eq!(nothing.status.code(), Some(1), "{}", said(&nothing));
        assert_eq!(said(&nothing).matches("there is no recording").count(), 1, "{}", said(&nothing));
    }
}

/// A script may start several jobs: each is a world, whose ranks are not those of another.
#[test]
fn launches_below_one_recording_are_worlds_of_it() {
    for built in built("programs/modes.c") {
        let folder = tempfile::tempdir().expect("there is room");
        let archive = folder.path().join("archive");
        let launch = format!("mpirun.{} -n {} {}", built.mpi.name, built.expected.ranks, built.program().display());
        let output = record(&archive, &["sh", "-c", &format!("{launch} && {launch}")]);
        assert!(output.status.success(), "{}", said(&output));
        let found = counts(&archive.join("traces.otf2"));
        assert_eq!(found.len(), 2 * built.expected.ranks, "{}", said(&output));
        let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
        let output = run(analyze.args(["analyze", "--json"]).arg(&archive));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        let quality = || document["quality"].as_array().expect("quality is a list").iter();
        let complaints: Vec<_> = quality().filter(|it| it["severity"] != "info").collect();
        assert!(complaints.is_empty(), "{}: {complaints:#?}", built.mpi.name);
        let jobs: Vec<_> = quality().filter(|it| it["code"] == "separate-jobs").map(|it| &it["message"]).collect();
        let path = built.program();
        let program = path.file_name().expect("it has a name").to_string_lossy();
        let said = format!(
            "2 jobs that never met are in one recording; they begin with {program}: MPI Rank 0, {program}: MPI Rank 0"
        );
        assert_eq!(jobs, [&said]);
    }
}

/// Events are on another disk while the program runs. The second command hides them at its end, as another node would.
#[test]
fn events_come_from_the_disks_of_nodes() {
    for built in built("programs/many.c") {
        let folder = tempfile::tempdir().expect("there is room");
        let (archive, scratch) = (folder.path().join("archive"), folder.path().join("scratch"));
        std::fs::create_dir(&scratch).expect("it is new");
        let launch = format!("mpirun.{} -n {} {}", built.mpi.name, built.expected.ranks, built.program().display());
        let partune = |arguments: &[&OsStr]| {
            let _alone = alone();
            let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
            partune.arg("record").args(arguments).envs(LAUNCHED).output().expect("partune runs")
        };
        let record = |archive: &Path, command: String| {
            let shell = ["--", "sh", "-c", &command].map(OsStr::new);
            partune(
                &[&["--scratch".as_ref(), scratch.as_os_str(), "-o".as_ref(), archive.as_os_str()], &shell[..]]
                    .concat(),
            )
        };
        let alter = |option: &str| {
            let output = partune(&[option.as_ref(), archive.as_os_str()]);
            (output.status.code(), said(&output))
        };
        let is_link = "find $PARTUNE_DIR/parts -name '*.lane' -type l | grep -q .";
        let output = record(&folder.path().join("near"), format!("{launch} && {is_link}"));
        assert!(output.status.success(), "{}", said(&output));
        let near = counts(&folder.path().join("near/traces.otf2"));
        let left = || std::fs::read_dir(&scratch).expect("it is there").count();
        assert_eq!(left(), 0, "nothing is left there");

        let output = record(&archive, format!("{launch} && mv {}/* {}", scratch.display(), folder.path().display()));
        assert_eq!(output.status.code(), Some(125), "{}", said(&output));
        assert!(said(&output).contains("events are still on the disks of "), "{}", said(&output));
        let (code, why) = alter("--complete");
        assert!(code == Some(1) && why.contains("--gather"), "{why}");
        let moved = format!("mv {}/partune-* {}", folder.path().display(), scratch.display());
        run(Command::new("sh").args(["-c", &moved]));
        let (code, why) = alter("--gather");
        assert!(code == Some(0) && why.contains(" files gathered into "), "{why}");
        assert_eq!((alter("--complete").0, left()), (Some(0), 0));
        assert_eq!(counts(&archive.join("traces.otf2")), near);
    }
}

/// A program under the launcher of another library finds nobody.
#[test]
fn processes_that_did_not_find_each_other_are_said() {
    let Some(built) = Built::new(&MPICH, "programs/many.c", &[]) else { return };
    let folder = tempfile::tempdir().expect("there is room");
    let archive = folder.path().join("archive");
    let program = built.program().display().to_string();
    record(&archive, &["mpirun.openmpi", "-n", "2", &program]);
    let mut analyze = Command::new(env!("CARGO_BIN_EXE_partune"));
    let output = run(analyze.args(["analyze", "--json"]).arg(&archive));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let mut quality = document["quality"].as_array().expect("quality is a list").iter();
    let found = quality.find(|it| it["code"] == "separate-jobs").map(|it| &it["message"]);
    assert_eq!(found, Some(&"2 processes are alone, each in a world of its own".into()));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn record(folder: &Path, command: &[&str]) -> Output {
    let _alone = alone();
    let mut partune = Command::new(env!("CARGO_BIN_EXE_partune"));
    partune.args(["record", "-o"]).arg(folder).arg("--").args(command).envs(LAUNCHED).output().expect("partune runs")
}

/// What ran, when, with which library, and compiled by what.
#[test]
fn an_archive_says_where_it_comes_from() {
    for mpi in [&OPEN_MPI, &MPICH] {
        let Some(built) = Built::new(mpi, "programs/bytes.c", &["-g", "-O1"]) else { continue };
        let since_1970 = || SystemTime::now().duration_since(UNIX_EPOCH).expect("it is later").as_nanos() as u64;
        let before = since_1970();
        let recorded = built.record(&[], &[]);
        let trace = partune_engine::inside::read(&recorded.anchor, &()).expect("it opens");
        let provenance = trace.provenance();
        let texts = |ids: &[_]| ids.iter().map(|id| trace.strings().get(*id).to_owned()).collect::<Vec<_>>();
        let producer = texts(provenance.producer.as_slice());
        assert_eq!(producer, [concat!("partune ", env!("CARGO_PKG_VERSION"))]);
        assert!(trace.command().is_some_and(|it| it.contains(" -n ")), "{:?}", trace.command());
        assert!(provenance.began.is_some_and(|it| (before..since_1970()).contains(&it)), "{:?}", provenance.began);
        let (libraries, compilers) = (texts(&provenance.libraries), texts(&provenance.compilers));
        let library = if mpi.name == "mpich" { "MPICH Version" } else { "Open MPI v" };
        assert!(matches!(&*libraries, [one] if one.contains(library)), "{libraries:?}");
        assert!(matches!(&*compilers, [one] if one.contains("GNU C") && one.contains("-O1")), "{compilers:?}");
    }
}
