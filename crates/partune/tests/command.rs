//! The command line as a user meets it: exit statuses, messages with a remedy, documents that keep their contract.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::archives::{archives, workspace};

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn bad_input_is_status_1_with_a_remedy_and_bad_usage_is_2() {
    let empty = tempfile::tempdir().expect("there is room for a folder");
    let folder = empty.path().to_string_lossy();
    for args in [&["analyze", "/no/such/archive"][..], &["analyze", file!()], &["analyze", &folder]] {
        let output = partune(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(text(&output.stderr).contains("remedy"), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
    for args in [&["analyze"][..], &["analyze", "x", "--only", "nothing"], &["nonsense"], &["synth"]] {
        assert_eq!(partune(args).status.code(), Some(2), "{args:?}");
    }
}

/// The commands below this one, as its help lists them, each as its words.
fn commands(above: &[String]) -> Vec<Vec<String>> {
    let help = help(above);
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return vec![above.to_vec()] };
    let rows = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.strip_prefix("  "));
    // What a long description has more of stands further in.
    let names = rows.filter(|row| !row.starts_with(' ')).filter_map(|row| row.split_whitespace().next());
    let here = names.filter(|&name| name != "help").map(|name| [above, &[name.to_owned()]].concat());
    std::iter::once(above.to_vec()).chain(here.flat_map(|words| commands(&words))).collect()
}

fn help(command: &[String]) -> String {
    let words: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
    let output = partune(&words);
    assert!(output.status.success(), "{words:?}");
    text(&output.stdout)
}

/// The long options of a command, as its help lists them.
fn options(command: &[String]) -> Vec<String> {
    let help = help(command);
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let long = lines.filter_map(|line| line.split([' ', ',', '[', '=']).find_map(|word| word.strip_prefix("--")));
    long.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn every_command_shows_an_example() {
    for command in commands(&[]) {
        assert!(help(&command).contains("Example"), "{command:?}");
    }
    assert!(help(&[]).starts_with("Record parallel programs and find where they lose time"));
}

/// Runs `scripts/install.sh` for the binary of these tests, into a folder.
fn install(into: &Path, what: &[&str]) -> Output {
    let mut command = Command::new(workspace().join("scripts/install.sh"));
    command.args(what).env("PARTUNE", env!("CARGO_BIN_EXE_partune")).env("PREFIX", "/opt/it").env("DESTDIR", into);
    command.output().expect("bash is here")
}

#[test]
fn what_is_installed_runs_and_its_pages_and_completions_name_every_command_and_option() {
    let folder = tempfile::tempdir().expect("room");
    let installed = folder.path().join("opt/it");
    let output = install(folder.path(), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(installed.join(name)).unwrap_or_else(|_| panic!("{name}"));
    let scripts = [
        "bash-completion/completions/partune",
        "zsh/site-functions/_partune",
        "fish/vendor_completions.d/partune.fish",
    ]
    .map(|name| read(&format!("share/{name}")));
    let commands = commands(&[]);
    assert!(commands.contains(&vec!["model".to_owned(), "estimate".to_owned()]), "{commands:?}");
    assert!(options(&["analyze".to_owned()]).contains(&"no-clock-repair".to_owned()));
    for command in &commands {
        let name = std::iter::once("partune").chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join("-");
        let page = read(&format!("share/man/man1/{name}.1")).replace("\\-", "-");
        assert!(page.contains("Example"), "{name}");
        for option in options(command) {
            assert!(page.contains(&format!("--{option}")), "{name} --{option}");
            // `--name` for bash and zsh, `-l name` for fish.
            assert!(scripts.iter().all(|script| script.contains(&option)), "{name} --{option}");
        }
        for word in command {
            assert!(scripts.iter().all(|script| script.contains(word)), "{name}");
        }
    }
    let pages = std::fs::read_dir(installed.join("share/man/man1")).expect("it is there").count();
    assert_eq!(pages, commands.len(), "a page for each command and no other");
    let runs = Command::new(installed.join("bin/partune")).arg("--version").output().expect("it is there");
    assert!(runs.status.success() && text(&runs.stdout).starts_with("partune "));

    // Removing takes what installing put there, and nothing beside it.
    let other = installed.join("share/man/man1/other.1");
    std::fs::write(&other, "of another program").expect("room");
    assert!(install(folder.path(), &["uninstall"]).status.success());
    assert_eq!(files(&installed), [other]);
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("it is there").map(|entry| entry.expect("it can be read").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn what_is_wrong_is_said_once() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let broken = path("traces.otf2");
    std::fs::write(&broken, b"\x03\0OTF2\0abc").expect("a file is written");
    for args in [
        &["analyze", "/no/such/archive"][..],
        &["analyze", &broken],
        &["convert", &broken, &path("new")],
        &["convert", &broken, &path("new.json")],
        &["compare", &broken, &broken],
        &["report", &broken],
        &["machine", "show", "/no/such/machine.toml"],
        &["machine", "show", &broken],
        &["model", "check", "/no/such/model.pam"],
        &["model", "extract", &broken, "-o", &broken],
        &["record", "--complete", "/no/such/folder"],
    ] {
        let output = partune(args);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {}", text(&output.stderr));
        let said = text(&output.stderr);
        let mut parts: Vec<&str> = said.trim().split([':', '\n']).map(str::trim).filter(|it| it.len() > 12).collect();
        let all = parts.len();
        parts.sort_unstable();
        parts.dedup();
        assert_eq!(parts.len(), all, "{args:?}:\n{said}");
    }
}

#[test]
fn shares_are_between_0_and_1_or_per_cent() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    for option in ["--minimum", "--hotspot"] {
        let output = partune(&["analyze", &ring, option, "5"]);
        let said = text(&output.stderr);
        assert!(
            output.status.code() == Some(2) && said.contains("a share between 0 and 1; 5 % is 0.05 or 5%"),
            "{said}"
        );
        let with = |share: &str| partune(&["analyze", &ring, option, share]).stdout;
        assert!(!with("5%").is_empty() && with("5%") == with("0.05"), "{option}");
    }
}

#[test]
fn an_unknown_extension_is_refused_with_those_that_are_known() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let output = partune(&["convert", &ring, &path("ring.csv")]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(["NAME.otf2", "NAME.json", "--parquet"].iter().all(|known| said.contains(known)), "{said}");
    assert!(!folder.path().join("ring.csv").exists());
    // A folder may have any name.
    assert_eq!(partune(&["convert", &ring, &format!("{}/", path("v1.5"))]).status.code(), Some(0));
    assert!(folder.path().join("v1.5/traces.otf2").exists());
}

#[test]
fn a_file_of_an_archive_is_told_by_what_the_archive_is_opened() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let said = text(&partune(&["analyze", &format!("{ring}/traces.def")]).stderr);
    assert!(
        said.contains(&format!("remedy: give the file that an archive is opened by, {ring}/traces.otf2")),
        "{said}"
    );
}

#[test]
fn a_recording_that_is_complete_is_told_to_be() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    for what in ["--complete", "--gather"] {
        let output = partune(&["record", what, &ring]);
        assert!(output.status.success() && text(&output.stderr).contains("is complete already"), "{what}");
    }
}

#[test]
fn what_is_recorded_is_checked_before_the_run() {
    for (wrong, code, why) in [
        (&["--counters", ""][..], 2, "a value is required"),
        (&["--only", "p2p,lock", "--not", "lock,p2p,file"], 2, "--not leaves nothing"),
        (&["--filter", "/no/such/filter", "-o", "nowhere"], 125, "remedy: name a file with --filter"),
        (&["--sample", "-5"], 2, "is not a rate"),
        (&["--depth", "-1"], 2, "a whole number"),
        (&["--buffer", "99999999999G"], 2, "is too large"),
    ] {
        let output = partune(&[&["record"], wrong, &["--", "true"]].concat());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(code) && said.contains(why), "{wrong:?}: {said}");
        assert!(!Path::new("nowhere").exists());
    }
}

#[test]
fn numbers_are_refused_by_what_is_wanted() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    for (wrong, why) in [
        (&["--threads=-1"][..], "a whole number, at least 0"),
        (&["--threads", "-1"], "a whole number, at least 0"),
        (&["--findings", "abc"], "a whole number, at least 0"),
        (&["--rows", "-1"], "a whole number, at least 0"),
        (&["--from", "-1"], "seconds (1.5)"),
        (&["--memory", "-1"], "is not a size"),
        (&["--memory", "0"], "the least is 64M"),
        (&["--memory", "99999999999G"], "is too large"),
    ] {
        let output = partune(&[&["analyze", &ring], wrong].concat());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{wrong:?}: {said}");
    }
    let plain = partune(&["analyze", &ring]).stdout;
    assert!(!plain.is_empty() && partune(&["analyze", &ring, "--threads", "100000"]).stdout == plain);
}

#[test]
fn no_word_of_findings_where_none_were_looked_for() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let said = |only: &str| text(&partune(&["analyze", &ring, "--only", only]).stdout);
    assert!(!said("profile,matrix").contains("finding"), "{}", said("profile,matrix"));
    // None that is as large as the run, but this analysis looks.
    let high = text(&partune(&["analyze", &ring, "--only", "wait_states", "--minimum", "100%"]).stdout);
    assert!(high.contains("no finding above the threshold"), "{high}");
}

#[test]
fn an_analysis_that_has_nothing_to_show_says_so() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let said = |args: &[&str]| text(&partune(&[&["analyze", &ring][..], args].concat()).stdout);
    let files = said(&["--only", "files"]);
    assert!(files.ends_with("\nfiles: no access to a file was recorded\n"), "{files}");
    for args in [&["--only", "profile,wait_states"][..], &[]] {
        let said = said(args);
        assert!(!said.contains("was recorded") && !said.contains("nothing to show"), "{args:?}: {said}");
    }
    // There are operations, and no machine to hold them against: nothing is said of what was recorded.
    for name in ["above_baseline", "measurement"] {
        let said = said(&["--only", name]);
        assert!(said.contains(&format!("\n{name}: nothing to show of this run (")), "{said}");
    }
}

#[test]
fn several_archives_are_asked_for_as_they_have_to_be_given() {
    for (command, usage) in [("compare", "<BASE> <OTHER>..."), ("scale", "<ARCHIVE> <ARCHIVE>...")] {
        let said = text(&partune(&[command, "--help"]).stdout);
        assert!(said.contains(&format!("Usage: partune {command} [OPTIONS] {usage}\n")), "{said}");
    }
}

#[test]
fn an_archive_without_events_is_an_error() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let empty = folder.path().join("empty");
    let ring = workspace().join("examples/archives/ring");
    // The definitions of an archive, and no event file.
    std::fs::create_dir(&empty).expect("a folder is made");
    for file in ["traces.otf2", "traces.def"] {
        std::fs::copy(ring.join(file), empty.join(file)).expect("a file is copied");
    }
    let empty = empty.display().to_string();
    for args in
        [&["analyze", &empty][..], &["analyze", "--json", &empty], &["report", &empty, "-o", &format!("{empty}.html")]]
    {
        let output = partune(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(
            output.stdout.is_empty() && said.contains("holds no event") && said.contains("remedy: "),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_pipe_gets_plain_text_and_colours_only_if_they_are_forced() {
    let ring = workspace().join("examples/archives/ring").display().to_string();
    let with = |variables: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        let command = command.args(["analyze", &ring]).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        text(&command.envs(variables.iter().copied()).output().expect("the binary runs").stdout)
    };
    let plain = with(&[]);
    assert!(!plain.contains('\u{1b}'));
    assert!(with(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert_eq!(with(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain, "who wants none gets none");
}

#[test]
fn json_keeps_its_contract() {
    for archive in archives() {
        let output = partune(&["analyze", "--json", &archive.anchor.display().to_string()]);
        assert_eq!(output.status.code(), Some(0), "{}: {}", archive.name, text(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_eq!(document["partune"], 1, "{}", archive.name);
        // A profile has no bounds.
        let figures: &[&str] = if document["events"] == 0 { &[] } else { &["efficiency", "bounds", "gaps"] };
        for field in ["archive", "pes", "events", "duration_s", "quality", "findings"].iter().chain(figures) {
            assert!(!document[field].is_null(), "{}: {field}", archive.name);
        }
        for finding in document["findings"].as_array().expect("findings are a list") {
            let seconds = finding["seconds"].as_f64().expect("a finding has seconds");
            let of_pes: f64 =
                finding["pes"].as_array().into_iter().flatten().filter_map(|pe| pe["seconds"].as_f64()).sum();
            assert!((seconds - of_pes).abs() <= 1e-6 * seconds.abs() + 1e-9, "{}: {finding:#}", archive.name);
            let of = |value: &Value| value.as_f64().expect("seconds are a number");
            let causes = finding["causes"].as_array().expect("causes are a list");
            let listed: f64 = causes.iter().map(|cause| of(&cause["seconds"])).sum();
            let (others, unexplained) = (of(&finding["other_causes_s"]), of(&finding["unexplained_s"]));
            let is_all = |sum: f64| (seconds - sum).abs() <= 1e-6 * seconds.abs() + 1e-9 * (1 + causes.len()) as f64;
            if !causes.is_empty() {
                assert!(is_all(listed + others + unexplained), "{}: {finding:#}", archive.name);
                assert!(causes.len() == 5 || is_all(listed + unexplained), "{}: {finding:#}", archive.name);
            }
            for field in ["id", "pattern", "fraction", "count", "role", "construct", "location", "callpath", "causes"] {
                assert!(!finding[field].is_null(), "{}: {field}", archive.name);
            }
        }
    }
}

#[test]
fn the_committed_schema_is_current() {
    let committed = std::fs::read_to_string(workspace().join("docs/analyze.schema.json")).unwrap_or_default();
    let current = text(&partune(&["analyze", "--schema"]).stdout);
    assert!(committed == current, "run: cargo run -p partune -- analyze --schema > docs/analyze.schema.json");
}

#[test]
fn the_summary_fits_one_screen() {
    for archive in archives() {
        let output = partune(&["analyze", &archive.anchor.display().to_string()]);
        let text = text(&output.stdout);
        let summary = text.split("\ndata quality").next().expect("there is a first part");
        assert!(summary.lines().count() <= 40, "{}:\n{text}", archive.name);
    }
}

#[test]
fn synth_writes_what_analyze_finds() {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let late = path("late");
    let output =
        partune(&["synth", "--ranks", "4", "--events", "20K", "--inject", "late-sender:2:2000000:100", "-o", &late]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(Path::new(&late).join("traces.otf2").exists());
    assert_eq!(partune(&["synth", "-o", &late]).status.code(), Some(1), "an archive is not overwritten");
    let output = partune(&["analyze", "--json", &late]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let late_sender = document["findings"].as_array().into_iter().flatten().find(|it| it["pattern"] == "late_sender");
    let late_sender = late_sender.expect("the planted pattern is found");
    let causes = late_sender["causes"].as_array().expect("it has causes");
    assert!(causes.iter().any(|cause| cause["pe"] == 2), "{late_sender:#}");
}

/// Who waits for whom in the reductions of a synthetic run, first of all.
fn slowest(options: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("there is room for an archive");
    let run = folder.path().join("run").display().to_string();
    let output = partune(&[&["synth", "--ranks", "4", "--events", "20K", "-o", &run], options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let output = partune(&["analyze", "--json", &run]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let waits = document["findings"].as_array().into_iter().flatten().find(|it| it["pattern"] == "wait_at_nxn");
    waits.map_or(Value::Null, |finding| finding["causes"][0]["pe"].clone())
}

#[test]
fn everybody_waits_for_a_slow_rank() {
    assert_eq!(slowest(&["--slow", "1:2"]), 1);
    assert_eq!(slowest(&["--slow", "2:2"]), 2);
    for (wrong, why) in [
        (&["--slow", "2"][..], "is not RANK:FACTOR"),
        (&["--slow", "1:-2"], "the factor -2"),
        (&["--slow", "1:nan"], "the factor NaN"),
        (&["--slow", "99:2"], "a slow rank does not exist"),
        (&["--ranks", "0"], "at least 1"),
        (&["--jitter=-1"], "a share between 0 and 1"),
    ] {
        let output = partune(&[&["synth", "-o", "nowhere"], wrong].concat());
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{wrong:?}: {said}");
        assert!(!Path::new("nowhere").exists());
    }
}

/// What `partune run` does with a file of hints, for a command.
fn run_with(hints: &str, command: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("hints.toml");
    std::fs::write(&file, hints).expect("the file can be written");
    partune(&[&["run", "--hints", &file.to_string_lossy(), "--"], command].concat())
}

#[test]
fn a_program_runs_with_its_hints_and_ends_as_it_ends() {
    let hints = "hints = 1\nprogram = \"/bin/sh -c true\"\n[[knob]]\nwhat = \"rank_map\"\nvalue = \"by_node\"\n[[knob]]
        what = \"env:OMP_SCHEDULE\"\nvalue = \"guided\"\nenvironment = { OMP_SCHEDULE = \"guided\" }";
    let output = run_with(hints, &["sh", "-c", "echo $OMP_SCHEDULE; exit 7"]);
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(7), "guided\n"));
    assert!(text(&output.stderr).contains("rank_map is not known"), "{}", text(&output.stderr));

    let other = run_with(hints, &["cat", "/dev/null"]);
    assert_eq!(other.status.code(), Some(125), "these are hints of sh");
    assert!(text(&other.stderr).contains("remedy: partune tune"), "{}", text(&other.stderr));
    let wrong = run_with(&hints.replace("\"guided\" }", "3 }"), &["sh", "-c", "exit 7"]);
    assert_eq!(wrong.status.code(), Some(125));
    assert!(text(&wrong.stderr).contains("that is no text"), "{}", text(&wrong.stderr));
    assert_eq!(run_with(hints, &["/no/such/program"]).status.code(), Some(127));
}
