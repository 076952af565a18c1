//! `partune model` as a user meets it, and the pages of the model library in `docs/model/`.
//!
//! After a change of a model or of what the commands print: `PARTUNE_UPDATE=1 cargo test -p partune model`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::archives::workspace;

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

#[track_caller]
fn text(args: &[&str]) -> String {
    let output = partune(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text is UTF-8")
}

fn library() -> Vec<PathBuf> {
    let folder = workspace().join("crates/partune-model/library");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("there is a library").map(|it| it.expect("a file").path()).collect();
    files.sort();
    files
}

fn file(name: &str) -> String {
    workspace().join("crates/partune-model/library").join(name).display().to_string()
}

/// Compares a page with what it should be, or writes it.
fn check(name: &str, page: &str) {
    let path = workspace().join("docs/model").join(name);
    if std::env::var_os("PARTUNE_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("the folder can be made");
        std::fs::write(&path, page).expect("the page can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == page, "{name} is stale: PARTUNE_UPDATE=1 cargo test -p partune model");
}

fn simulations(path: &str) -> String {
    let document: Value = serde_json::from_str(&text(&["model", "estimate", "--json", path])).expect("it is JSON");
    let names: Vec<String> = match document["alternatives"].as_array() {
        Some(all) => all.iter().map(|it| it["name"].as_str().expect("a name").to_owned()).collect(),
        None => vec![document["name"].as_str().expect("a name").to_owned()],
    };
    let runs = names.iter().map(|name| {
        let run = text(&["model", "simulate", path, "--alt", name]);
        // The busiest queues tell enough.
        let lines: Vec<&str> = run.lines().take(6).collect();
        lines.join("\n") + "\n"
    });
    runs.collect::<Vec<_>>().join("\n")
}

/// The examples of the help run, as far as their models are in the library.
#[test]
fn examples_of_the_help_run() {
    let mut tried = 0;
    for command in ["", "check", "estimate", "simulate", "decide", "emit"] {
        let words: Vec<&str> = ["model", command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = text(&words);
        let examples = help.lines().filter_map(|line| line.trim().strip_prefix("partune model "));
        for example in examples.filter(|line| !line.contains('\'')) {
            let is_model = |word: &&str| Path::new(word).extension().is_some_and(|it| it == "pam");
            let mut words: Vec<String> = ["model"].into_iter().chain(example.split(' ')).map(str::to_owned).collect();
            for word in words.iter_mut().filter(|word| is_model(&word.as_str())) {
                *word = file(word);
            }
            if words.iter().any(|word| is_model(&word.as_str()) && !Path::new(word).exists()) {
                continue;
            }
            text(&words.iter().map(String::as_str).collect::<Vec<_>>());
            tried += 1;
        }
    }
    assert!(tried >= 9, "{tried} examples were tried");
}

#[test]
fn an_unknown_alternative_is_told_with_its_file_and_those_that_are_there() {
    let adi = file("adi.pam");
    for command in ["estimate", "simulate"] {
        let output = partune(&["model", command, &adi, "--alt", "plain"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains("adi.pam: there is no alternative plain"), "{said}");
        assert!(said.contains("remedy: ") && said.contains("pipelined"), "{said}");
    }
    let large = partune(&["model", "estimate", &adi, "-D", "N=1e300"]);
    assert!(String::from_utf8_lossy(&large.stderr).contains("1e300 is too large"));
}

#[test]
fn the_library_is_in_the_book() {
    let mut list = String::from(
        "# Models\n\nContention models of parallel programs in PAMELA: what could run in parallel, and the resources of the machine. \
         [The language](language.md) has the rules; `partune model estimate FILE` gives bounds on the time as formulas, \
         `simulate` runs the model, `decide` says when which alternative is best, and [which for each phase](language.md#plans), `emit` writes that as code, \
         `data` follows what tasks do to data ([what would its data cost?](../model-data.md)), \
         and `tune` and `calibrate` rank changes of a model and fit it to a run ([which change would be best?](../model-tune.md)); `extract` writes [a model of a run](../model-tune.md#a-model-of-a-run). \
         Each gives up after 600 seconds or beyond 4 GiB of memory; `--time-limit SECONDS` and `--memory-limit MIB` allow more or less.\n\n\
         The pages below are made from the models in `crates/partune-model/library/` and show what the commands print for the \
         values that stand in the model; `-D NAME=VALUE` gives others.\n\n| model | what it is |\n|---|---|\n",
    );
    let files = library();
    assert!(files.len() >= 26, "{}", files.len());
    for path in files {
        let name = path.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).expect("it reads");
        let prose: Vec<&str> = source
            .lines()
            .take_while(|line| line.starts_with("//"))
            .map(|line| line.trim_start_matches('/').trim())
            .collect();
        let prose = prose.join(" ");
        let path = path.display().to_string();
        let title = prose.split(['.', ':']).next().unwrap_or_default();
        let _ = writeln!(list, "| [{name}]({name}.md) | {title} |");
        let mut page = format!("# {name}\n\n{prose}\n\n```\n{source}```\n\n## Estimate\n\n```\n");
        page += &text(&["model", "estimate", &path]);
        page += "```\n\n## Simulation\n\n```\n";
        page += &simulations(&path);
        page += "```\n";
        if source.contains("\nplan ") {
            page += "\n## Plan\n\n```\n";
            page += &text(&["model", "decide", &path]);
            page += "```\n";
        }
        check(&format!("{name}.md"), &page);
    }
    check("README.md", &list);
}

#[test]
fn estimates_and_runs_keep_their_contract() {
    for (name, alternative, basic, head_tail, makespan) in [
        ("pipeline.pam", "main", 200, 214, 214),
        ("adi.pam", "horizontal", 282_624, 282_638, 282_638),
        ("adi.pam", "pipelined", 32_768, 33_216, 33_216),
        ("machine_repair.pam", "main", 80, 85, 85),
    ] {
        let path = file(name);
        let estimate: Value =
            serde_json::from_str(&text(&["model", "estimate", "--json", "--alt", alternative, &path]))
                .expect("it is JSON");
        assert_eq!(
            (estimate["basic"].as_i64(), estimate["head_tail"].as_i64()),
            (Some(basic), Some(head_tail)),
            "{name}"
        );
        assert!(estimate["upper"].as_f64() >= estimate["head_tail"].as_f64() && estimate["closed_form"].is_string());
        let run: Value = serde_json::from_str(&text(&["model", "simulate", "--json", "--alt", alternative, &path]))
            .expect("it is JSON");
        assert_eq!(run["makespan"].as_i64(), Some(makespan), "{name}");
    }
    let path = file("adi.pam");
    let twice = || text(&["model", "decide", &path, "--alt", "remap", "--alt", "stripmined", "-D", "P=8"]);
    assert_eq!(twice(), twice());
}

/// What it costs is a number with the digits that count where all has values. A condition that nobody can read is in JSON only.
#[test]
fn a_decision_is_for_people_to_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/adi/adi.pam").display().to_string();
    let values = ["-DP=8", "-DN=32", "-DM=4", "-Dtf=100us", "-Dtl=50us", "-Dtm=100us"];
    let known = text(&[&["model", "decide", &path], &values[..]].concat());
    assert!(known.contains("rows        costs 0.0341\n") && known.contains("strips      costs 0.13795\n"), "{known}");
    let open = text(&["model", "decide", &path]);
    assert!(
        open.lines().all(|line| line.chars().count() < 700) && open.contains("characters: --json has it"),
        "{open}"
    );
    let json: Value = serde_json::from_str(&text(&["model", "decide", "--json", &path])).expect("it is JSON");
    let chosen = json["choices"].as_array().into_iter().flatten().filter_map(|it| it["chosen"].as_str());
    assert!(chosen.map(str::len).max() > Some(600), "{json:#}");
}

/// Formulas are of the parameters also where those have values; what is only a lower bound is no closed form, and what bounds nothing no upper
/// bound. The least of 1000 exponential times of mean 100 has mean 0.1.
#[test]
fn a_formula_is_one_or_null() {
    let json = |args: &[&str]| -> Value {
        serde_json::from_str(&text(&[&["model", "estimate", "--json"], args].concat())).expect("it is JSON")
    };
    let halo = json(&["--alt", "blocking", &file("halo_exchange.pam")]);
    assert_eq!(halo["closed_form"], "T*(2*n*beta + 2*alpha + border + inner)");
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, source: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, source).expect("it is written");
        path.display().to_string()
    };
    let squares = write(
        "squares.pam",
        "param P: int = 4 where P >= 1; resource a[P];\nmain = par (i = 0, 64) use(a[(i*i) mod P], 1);\n",
    );
    let found = json(&[&squares]);
    assert!(found["closed_form"].is_null() && found["closed_forms"]["basic"].is_null(), "{found:#}");
    assert_eq!((&found["basic"], &found["upper"]), (&Value::from(33), &Value::from(65)), "{found:#}");
    assert!(found["at_least"]["head_tail"].is_string() && found["weaker"].as_array().is_some_and(|all| all.len() == 1));
    let drawn = write("drawn.pam", "resource r;\nmain = par (i = 1, 1000) { delay(exp(100)); use(r, 1) };\n");
    let found = json(&[&drawn]);
    assert_eq!((found["basic"].as_f64(), found["head_tail"].as_f64()), (Some(1000.0), Some(1000.1)), "{found:#}");
    assert!(found["upper"].is_null() && found["of_means"] == 1100 && found["random"] == true, "{found:#}");
    assert!(!text(&["model", "estimate", &drawn]).contains("upper"));
}

#[test]
fn simulated_runs_are_archives() {
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let run = |to: &str| text(&["model", "simulate", &file("machine_repair.pam"), "--archive", to]);
    run(&at("a"));
    run(&at("b"));
    assert_eq!(read(&folder.path().join("a")), read(&folder.path().join("b")), "the same seed, the same bytes");
    let document: Value = serde_json::from_str(&text(&["analyze", "--json", &at("a")])).expect("it is JSON");
    assert_eq!((document["pes"].as_u64(), document["duration_s"].as_f64()), (Some(8), Some(85.0)));
    let findings = document["findings"].as_array().expect("findings");
    assert!(findings.iter().any(|it| it["role"] == "lock_acquire"), "{document:#}");
    assert_eq!(
        partune(&["model", "simulate", &file("machine_repair.pam"), "--archive", &at("a")]).status.code(),
        Some(1)
    );
}

fn read(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(read(&path));
        } else {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            files.push((name, std::fs::read(&path).expect("it reads")));
        }
    }
    files.sort();
    files
}

#[test]
fn all_errors_are_told_at_once_with_their_lines() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("bad.pam");
    let source = "param N: int;\nparam M: itn;\nresource r[N;\nmain = par (i = 1, N) use(r[i], -3);\nlet x = 1/0;\n";
    std::fs::write(&path, source).expect("it can be written");
    let output = partune(&["model", "check", &path.display().to_string()]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    for wanted in [":2:10", ":3:13", ":5:11", "param M: itn;", "division by zero"] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    assert_eq!(partune(&["model", "check", "/no/such.pam"]).status.code(), Some(1));
    assert_eq!(partune(&["model", "estimate", &file("adi.pam"), "-D", "N"]).status.code(), Some(2));
    assert_eq!(
        partune(&["model", "estimate", &file("adi.pam"), "-D", "N=100"]).status.code(),
        Some(1),
        "8 does not divide 100"
    );
}

#[test]
fn the_library_is_formatted() {
    for path in library() {
        let source = std::fs::read_to_string(&path).expect("it reads");
        let formatted = text(&["model", "fmt", &path.display().to_string()]);
        assert!(source == formatted, "{}: partune model fmt --write", path.display());
    }
}

#[test]
fn a_breakdown_says_where_the_time_went() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("two.pam");
    std::fs::write(&path, "resource r;\nmain = { use(r, 3); delay(2) } || use(r, 4);\n").expect("it is written");
    let path = path.display().to_string();
    let shown = text(&["model", "simulate", &path, "--breakdown"]);
    let expected = "
  process    starts         time         busy      waiting   at par end
  branch 2        1            7            4            3            0
  branch 1        1            7            5            0            2

  waited for    in queues      waits  max queue
  r                     3          1          1

  critical chain resource                 time   share       uses   from queue
  branch 2       r                           4   57.1%          1            4
  branch 1       r                           3   42.9%          1            0
";
    assert!(shown.ends_with(expected), "{shown}");
    let json = |args: &[&str]| -> Value {
        let all = [&["model", "simulate", "--json"], args].concat();
        serde_json::from_str(&text(&all)).expect("it is JSON")
    };
    let found = json(&[&path, "--breakdown"]);
    let sum: i64 =
        found["breakdown"]["chain"].as_array().expect("a list").iter().filter_map(|it| it["time"].as_i64()).sum();
    assert_eq!(Some(sum), found["makespan"].as_i64());
    assert_eq!(found["breakdown"]["processes"][2]["waiting"], 3);
    assert_eq!(found["breakdown"]["resources"][0]["waits"], 1);
    // Not asked for, not there; and the rest is the same.
    let plain = json(&[&path]);
    assert!(plain.get("breakdown").is_none());
    assert_eq!(plain["resources"], found["resources"]);
    // Nobody waits: that is said. Many parts of a chain are summed by resource.
    let still = dir.path().join("still.pam");
    std::fs::write(&still, "main = par (i = 1, 2) delay(i);\n").expect("it is written");
    let calm = text(&["model", "simulate", &still.display().to_string(), "--breakdown"]);
    assert!(calm.contains("nobody waited for a resource"), "{calm}");
    let many = text(&["model", "simulate", &file("adi.pam"), "--alt", "horizontal", "--breakdown"]);
    assert!(many.contains("processes") && many.contains("and 500 more, which waited less"), "{many}");
}

#[test]
fn every_command_ends_at_its_limits() {
    let folder = tempfile::tempdir().expect("there is room for a model");
    let path = folder.path().join("long.pam").display().to_string();
    std::fs::write(&path, "main = seq (i = 1, 1000000000000) delay(1);\n").expect("a model is written");
    let run = |limit: [&str; 2]| {
        let args = ["model", "simulate", &path, "--max-steps", "1000000000000", "--breakdown"];
        let output = partune(&[&args[..], &limit].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{limit:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let said = run(["--time-limit", "1"]);
    assert!(said.contains("not done after 1 s") && said.contains("remedy"), "{said}");
    let said = run(["--memory-limit", "1"]);
    assert!(said.contains("more than 1 MiB of memory are needed"), "{said}");
    // Before and behind the name of the command, and not at all.
    text(&["model", "--time-limit", "100", "check", &path]);
    text(&["model", "check", &path, "--time-limit", "0", "--memory-limit", "0"]);
}

#[test]
fn what_is_wrong_with_a_model_is_said_once() {
    let folder = tempfile::tempdir().expect("there is room for a model");
    let path = folder.path().join("wrong.pam").display().to_string();
    for (model, wrong) in
        [("main = seq (i = 1, 9) delay(5 - i);\n", "negative"), ("main = delay(1/0);\n", "division by zero")]
    {
        std::fs::write(&path, model).expect("a model is written");
        let output = partune(&["model", "simulate", &path]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.matches(wrong).count()), (Some(1), 1), "{said}");
        assert!(said.contains("wrong.pam: 1 error"), "{said}");
    }
}

/// The crash example as data: the parts of the run that its README measured, and what its versions change.
#[test]
fn data_of_a_model_are_followed() {
    let path = workspace().join("examples/crash/model/crash.pam").display().to_string();
    let followed = |more: &[&str]| -> Value {
        let all = [&["model", "data", "--json", &path], more].concat();
        serde_json::from_str(&text(&all)).expect("it is JSON")
    };
    let version = |subdomains: &str, record: &str, unbound: &str, barriers: &str| {
        let values = [("subdomains", subdomains), ("record", record), ("unbound", unbound), ("barriers", barriers)];
        let values: Vec<String> = values.iter().map(|(name, value)| format!("-D{name}={value}")).collect();
        followed(&values.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let part = |it: &Value, name: &str| it["bounds"][name].as_f64().expect("a number");
    let count = |it: &Value, name: &str| it["counts"][name].as_u64().expect("a number");
    let (sp, sd) = (version("0", "3", "1", "2"), version("1", "3", "1", "2"));
    let (sd2, sd3) = (version("1", "8", "1", "2"), version("1", "8", "0", "2"));
    let (sd4, sd8) = (version("1", "8", "0", "1"), followed(&["--alt", "SD8"]));
    // Facets, bars and updates of twelve steps at 20 µs, on four PEs: 0.61 s; what was recorded of SP has an imbalance of 0.46 s, of SD a gap M' of 31 ms.
    for it in [&sp, &sd, &sd2, &sd3, &sd4, &sd8] {
        assert!((part(it, "ideal_s") - 0.609).abs() < 0.001, "{:#}", it["bounds"]);
        let sum: f64 = it["bounds"].as_object().expect("parts").values().filter_map(Value::as_f64).sum();
        assert!((sum - it["run_s"].as_f64().expect("a number")).abs() < 1e-9);
    }
    let uneven = |it: &Value| part(it, "imbalance_s") + part(it, "phases_s") + part(it, "turns_s");
    assert!((uneven(&sp) - 0.46).abs() < 0.01 && uneven(&sd) < 0.05, "{:#} {:#}", sp["bounds"], sd["bounds"]);
    assert!((part(&sd3, "phases_s") - 0.0307).abs() < 0.001, "{:#}", sd3["bounds"]);
    assert!(part(&sd, "communication_s") < part(&sp, "communication_s"));
    assert!(count(&sd, "false_sharing") > count(&sp, "false_sharing"));
    assert_eq!((count(&sd2, "false_sharing"), count(&sd3, "false_sharing")), (0, 0));
    assert!(count(&sd2, "migrated") > 0 && count(&sd3, "migrated") == 0);
    assert!((2.0 * part(&sd4, "synchronisation_s") - part(&sd3, "synchronisation_s")).abs() < 1e-12);
    assert!((2.0 * part(&sd8, "synchronisation_s") - part(&sd4, "synchronisation_s")).abs() < 1e-12);
    assert!(part(&sd8, "phases_s") < 0.1 * part(&sd4, "phases_s"), "{:#} {:#}", sd4["bounds"], sd8["bounds"]);
    // Places of elements are cut as crash.c cuts them.
    assert_eq!(version("3", "8", "0", "1"), version("1", "8", "0", "1"));
    let shown = text(&["model", "data", &path, "-Drecord=3"]);
    for line in ["where the time goes", "misses of lines by their cause", "false sharing: PEs write", "velocity"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // All other readings of the same text: nobody is faster than the bounds.
    let estimate: Value =
        serde_json::from_str(&text(&["model", "estimate", "--json", "--alt", "main", &path])).expect("it is JSON");
    assert!(estimate["head_tail"].as_f64() <= sd4["run_s"].as_f64(), "{estimate:#}");
    assert!(estimate["head_tail"].as_f64() > Some(0.6), "{estimate:#}");
    let source = std::fs::read_to_string(&path).expect("it reads");
    assert!(source == text(&["model", "fmt", &path]), "partune model fmt --write {path}");
}

/// Another way to the same bounds: the run of the model is written as an archive, and analysed as one that was recorded.
#[test]
fn a_model_that_is_followed_is_an_archive() {
    let path = workspace().join("examples/crash/model/crash.pam").display().to_string();
    let folder = tempfile::tempdir().expect("there is room");
    let sp = ["-Dsubdomains=0", "-Drecord=3", "-Dunbound=1", "-Dbarriers=2"];
    for (name, version) in
        [("SP", &sp[..]), ("SD4", &[]), ("SD8", &["--alt", "SD8"]), ("one", &["-DP=1", "-Dsubdomains=3"])]
    {
        let to = folder.path().join(name).display().to_string();
        let followed = text(&[&["model", "data", &path, "--json", "--archive", &to], version].concat());
        let followed: Value = serde_json::from_str(&followed).expect("it is JSON");
        let analysed: Value = serde_json::from_str(&text(&["analyze", "--json", &to])).expect("it is JSON");
        let part = |name: &str| followed["bounds"][name].as_f64().expect("a number");
        let bounds = analysed["bounds"].as_array().expect("bounds");
        let bound = |name: &str| {
            let found =
                bounds.iter().find(|bound| bound["name"] == name).unwrap_or_else(|| panic!("{name}: {bounds:?}"));
            found["seconds"].as_f64().expect("a number")
        };
        let shared = ["ideal_s", "communication_s", "false_sharing_s", "migration_s"].map(part).iter().sum::<f64>();
        let gaps = [
            (shared, bound("IPCO")),
            (part("imbalance_s"), bound("IPCOL") - bound("IPCO")),
            (part("phases_s"), bound("IPCOLM") - bound("IPCOL")),
            (part("turns_s"), bound("IPCOLMD") - bound("IPCOLM")),
            (part("synchronisation_s"), bound("actual") - bound("IPCOLMD")),
        ];
        // A nanosecond for each time that is rounded.
        assert!(gaps.iter().all(|(model, trace)| (model - trace).abs() < 1e-6), "{name}: {gaps:?}");
        let lost: f64 =
            analysed["findings"].as_array().expect("findings").iter().filter_map(|it| it["seconds"].as_f64()).sum();
        assert_eq!(lost > 0.0, name != "one", "{name}: {lost}");
        let regions = analysed["regions"].to_string();
        assert!(regions.contains("first use of lines") && regions.contains("contact_phase"), "{regions}");
    }
    let again = partune(&["model", "data", &path, "--archive", &folder.path().join("SP").display().to_string()]);
    assert_eq!(again.status.code(), Some(1), "nothing is written over");
}

#[test]
fn what_is_wrong_with_data_is_told_at_its_place() {
    let folder = tempfile::tempdir().expect("there is room for a model");
    let path = folder.path().join("wrong.pam").display().to_string();
    let model = "domain d = 0..9; data A[d]: f64;\ndecompose d -> 2 by block;\nmain = forall (i in d) task { reads A[i + 1] };\n";
    std::fs::write(&path, model).expect("a model is written");
    let output = partune(&["model", "data", &path]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("`A` has indices 0 to 9, not 10") && said.contains("wrong.pam:3:37"), "{said}");
    std::fs::write(&path, "main = delay(1);\n").expect("a model is written");
    let output = partune(&["model", "data", &path]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && said.contains("says nothing of data"), "{said}");
}

/// The crash example as it was first: the changes that made its versions are ranked by what they saved, and what would break it is no gain.
#[test]
fn changes_of_a_model_are_ranked() {
    let path = workspace().join("examples/crash/model/crash.pam").display().to_string();
    let tries = [
        "subdomains = 1",
        "record = 8",
        "machine { barrier 10us }",
        "fuse contact_phase, bars",
        "remove barrier after bars",
    ];
    let mut args = vec!["model", "tune", &path, "-Dsubdomains=0", "-Drecord=3"];
    tries.iter().for_each(|it| args.extend(["--try", it]));
    let shown = text(&args);
    let document: Value = serde_json::from_str(&text(&[&args[..], &["--json"]].concat())).expect("it is JSON");
    let names: Vec<&str> =
        document["tries"].as_array().expect("a list").iter().filter_map(|it| it["try"].as_str()).collect();
    assert_eq!((names[0], names[4]), ("subdomains = 1", "remove barrier after bars"), "{names:?}");
    assert_eq!(document["best"], "subdomains = 1");
    let of = |name: &str| {
        document["tries"].as_array().into_iter().flatten().find(|it| it["try"] == name).expect("it is there")
    };
    // Subdomains saved 0.43 s where it was measured, of imbalance.
    let best = of("subdomains = 1");
    assert!(best["saves_s"].as_f64().is_some_and(|it| (it - 0.43).abs() < 0.01), "{best:#}");
    assert_eq!(best["is_sound"], true);
    assert!(["turns", "imbalance", "phases"].contains(&best["moves"][0]["part"].as_str().expect("a part")), "{best:#}");
    // A loop over both makes neighbours' positions no less the old ones; without the barrier they are whichever.
    assert_eq!(of("fuse contact_phase, bars")["is_sound"], true);
    let broken = of("remove barrier after bars");
    assert_eq!((&broken["is_sound"], &broken["conflicts"][0]["data"]), (&Value::from(false), &Value::from("position")));
    // Text and JSON say the same.
    for name in names {
        assert!(shown.contains(name), "{name}: {shown}");
    }
    for line in [
        "tries, by predicted time",
        "where the time would go",
        "best: subdomains = 1",
        "is no gain, for nothing orders this",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let none = text(&["model", "tune", &path, "--try", "machine { memory 81ns }"]);
    assert!(none.contains("no try is better"), "{none}");
    // What is wrong is told in the try, and where it is one of the model, there.
    let output = partune(&["model", "tune", &path, "--try", "record = 8", "--try", "layout positions: pad 3 -> 4"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}");
    for line in
        ["nothing to change: `record` is 8", "did you mean `position`?", "--try:1:8", "2 errors in what is tried"]
    {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert_eq!(partune(&["model", "tune", &path]).status.code(), Some(2));
}

/// Two functions whose work is known: the model finds what a unit of each takes, and what is left is gap X.
#[test]
fn a_model_is_calibrated_by_a_run() {
    let folder = tempfile::tempdir().expect("room");
    let at = |name: &str| folder.path().join(name).display().to_string();
    // In ms: 6 and 22 facets of 2 and an update of 5 an element; 6 ms of something else.
    let run = "resolution 1000
        pe 0: main 0..70 { contact 0..12 MPI_Barrier 12..44 barrier update 44..64 }
        pe 1: main 0..70 { contact 0..44 MPI_Barrier 44..44 barrier update 44..64 }";
    let request = partune_engine::WhatIfRequest { changes: Vec::new(), machine: None, keeps_run: true };
    let followed = partune_engine::what_if(partune_testkit::trace(run), &request, &()).expect("it can be followed");
    followed.write(&folder.path().join("run")).expect("there is a run").expect("it is written");
    let model = "param facet: time = 1ms;\nparam unit: time;\ndomain elem = 0..7;\ndata A[elem]: f64;\ndecompose elem -> 2 by block;
        main = { phase forces forall (e in elem) task { writes A[e]; weight e*facet };
                 phase update forall (e in elem) task { reads A[e]; weight unit } };\n";
    std::fs::write(at("it.pam"), model).expect("it is written");
    let (model, run) = (at("it.pam"), at("run"));
    let args = ["model", "calibrate", &model, &run, "--phase", "forces=contact"];
    let document: Value = serde_json::from_str(&text(&[&args[..], &["--json"]].concat())).expect("it is JSON");
    let value = |at: usize| document["classes"][at]["value"].as_f64().expect("a number");
    assert!((value(0) - 2e-3).abs() < 1e-9 && (value(1) - 5e-3).abs() < 1e-9, "{document:#}");
    let run_of = |name: &str| document["run"][name].as_f64().expect("a number");
    assert!((run_of("predicted_s") - 0.064).abs() < 1e-9 && (run_of("x_s") - 0.006).abs() < 1e-9, "{document:#}");
    let shown = text(&args);
    for line in [
        "a unit takes",
        "gap X, which the model does not explain, is 6.00 ms",
        "8.57 % of the run",
        "-D facet=0.002 -D unit=0.005",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    // Without the name nothing is known of forces; update is called so.
    let less = text(&["model", "calibrate", &model, &run]);
    assert!(less.contains("nothing was measured of phase forces"), "{less}");
    for (more, wanted) in [
        (["--phase", "forces=nobody"], "nothing is called nobody"),
        (["--phase", "force=contact"], "no phase force in the model"),
        (["--fit", "e"], "`e` is no parameter of the model that is a time"),
    ] {
        let output = partune(&[&["model", "calibrate", &model, &run][..], &more].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(wanted), "{wanted}: {said}");
    }
}

/// Blocks of 30 and 20 ms, three times; one PE has half of the work in the first. The model is as long as the run without what its barriers keep PEs, which is nothing here.
#[test]
fn a_model_is_made_of_a_run() {
    let folder = tempfile::tempdir().expect("room");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let turn = |pe: u64, begin: u64| {
        let (contact, end) = (begin + if pe == 0 { 15 } else { 30 }, begin + 30);
        format!(
            "contact {begin}..{contact} MPI_Barrier {contact}..{end} barrier update {end}..{} MPI_Barrier {}..{} barrier ",
            end + 20,
            end + 20,
            end + 20
        )
    };
    let pe =
        |pe: u64| format!("pe {pe}: main 0..150 {{ {} }}\n", (0..3).map(|it| turn(pe, 50 * it)).collect::<String>());
    let run = format!("resolution 1000\n{}{}", pe(0), pe(1));
    let request = partune_engine::WhatIfRequest { changes: Vec::new(), machine: None, keeps_run: true };
    let followed = partune_engine::what_if(partune_testkit::trace(&run), &request, &()).expect("it can be followed");
    followed.write(&folder.path().join("run")).expect("there is a run").expect("it is written");
    let (run, model) = (at("run"), at("run.pam"));
    let output = partune(&["model", "extract", &run, "-o", &model]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains("blocks: 6, phases: 1, PEs: 2; 0.150000 s of the 0.150000 s that the run took"), "{said}");
    assert_eq!(text(&["model", "extract", &run]), std::fs::read_to_string(&model).expect("it is written"));
    assert_eq!(text(&["model", "fmt", &model]), std::fs::read_to_string(&model).expect("it is written"));
    let data: Value = serde_json::from_str(&text(&["model", "data", "--json", &model])).expect("it is JSON");
    assert!((data["run_s"].as_f64().expect("seconds") - 0.15).abs() < 1e-9, "{data:#}");
    // What one PE alone would take.
    let tried = text(&["model", "tune", &model, "--try", "P = 1"]);
    assert!(tried.contains("255 ms"), "{tried}");
    let none = partune(&["model", "extract", &at("nothing")]);
    assert!(none.status.code() == Some(1) && String::from_utf8_lossy(&none.stderr).contains("remedy"));
    let profile = workspace().join("examples/archives/ring_profile").display().to_string();
    let refused = partune(&["model", "extract", &profile]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && said.contains("record without --profile"), "{said}");
}
