//! The tuning story of `examples/crash`: each version moves the gap that its README says, is advised where the one before is recorded, and takes as long as
//! was predicted there.
//!
//! Its work is made of sleep, so times are known by design; what a busy machine adds to a run is what it took beyond that.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::launch::{LAUNCHED, OPEN_MPI, Recorded, run};
use super::openmp::{Built, CLANG};
use super::predict::{json, tried, what_if};

const THREADS: u64 = 4;
const STEPS: u64 = 12;
/// A step takes some 50 ms.
const VIRTUAL: [&str; 6] = ["-w", "40", "-s", "12", "-v", "20000"];
/// A step takes some 600 us: what counts is what barriers cost.
const SHORT: [&str; 6] = ["-w", "16", "-s", "300", "-v", "1000"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crash/crash.c")
}

fn built(compiler: &str) -> Option<Built> {
    Built::of(compiler, &source(), &["-fopenmp", "-finstrument-functions", "-lm"])
}

/// A recorded run with what the program says of itself.
struct Version {
    recorded: Recorded,
    seconds: f64,
    by_design: f64,
    /// Seconds of each thread in the forces phase, and in the update phase.
    threads: Vec<(f64, f64)>,
}

impl Version {
    fn of(built: &Built, name: &str, arguments: &[&str]) -> Version {
        let threads = THREADS.to_string();
        let arguments = [&[name], arguments].concat();
        let recorded = built.record_among(&arguments, &[("OMP_NUM_THREADS", Path::new(&threads))]);
        let said = String::from_utf8_lossy(&recorded.output.stdout).into_owned();
        let after = |line: &str, word: &str| -> f64 {
            let mut words = line.split_whitespace().skip_while(|it| *it != word);
            words.nth(1).and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("no {word} in {line}"))
        };
        let own = |line: &str| (after(line, "contact") + after(line, "bars"), after(line, "update"));
        let threads: Vec<_> = said.lines().filter(|line| line.starts_with("thread ")).map(own).collect();
        assert_eq!(threads.len() as u64, THREADS, "{}", recorded.said());
        let line = said.lines().find(|line| line.starts_with(name)).expect("it says how long it took");
        let energy = line.split_whitespace().skip_while(|it| *it != "energy").nth(2);
        let seconds = energy.and_then(|it| it.parse().ok()).expect("seconds follow the energy");
        Version { seconds, by_design: after(line, "design"), threads, recorded }
    }

    fn added(&self) -> f64 {
        self.seconds - self.by_design
    }

    /// Gaps L and M' of what the threads measured.
    fn measured(&self) -> (f64, f64) {
        let most = |of: fn(&(f64, f64)) -> f64| self.threads.iter().map(of).fold(0.0, f64::max);
        let all = |it: &(f64, f64)| it.0 + it.1;
        let mean = self.threads.iter().map(all).sum::<f64>() / THREADS as f64;
        (most(all) - mean, most(|it| it.0) + most(|it| it.1) - most(all))
    }

    fn gap(&self, name: &str) -> f64 {
        let document = self.recorded.analysis();
        let gaps = document["gaps"].as_array().expect("there are gaps");
        let gap = gaps.iter().find(|gap| gap["name"] == name).and_then(|gap| gap["seconds"].as_f64());
        gap.unwrap_or_else(|| panic!("no gap {name}: {gaps:?}"))
    }

    /// Barriers that a thread came to in a step; that at the end of the only parallel region is no more than one of a run.
    fn barriers(&self) -> u64 {
        let document = self.recorded.analysis();
        let operations = document["operations"].as_array().expect("there are operations");
        let barriers = operations.iter().filter(|it| it["role"] == "group_sync");
        let calls: u64 = barriers.filter_map(|it| it["count"].as_u64()).sum();
        calls / (THREADS * STEPS)
    }

    fn advice(&self) -> Vec<Value> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        let document = json(command.args(["advise", "--all", "--json"]).arg(&self.recorded.anchor));
        document["advice"].as_array().expect("there is a list").clone()
    }

    /// Advice by its change, for which an action stands, first or as an alternative.
    fn advised(&self, action: &str, change: &str) -> Option<Value> {
        let is = |it: &Value| it["alternatives"].as_array().is_some_and(|all| all.iter().any(|id| id == action));
        self.advice().into_iter().find(|it| it["change"] == change && (it["action"] == action || is(it)))
    }

    /// Whether another version takes as long as is predicted for this one under a change, but for what the machine added, and a share of it.
    fn foretells(&self, change: &str, other: &Version, share: f64) -> Result<f64, String> {
        let said = what_if(&self.recorded, &[change.to_owned()]);
        let predicted = said["predicted_run_s"].as_f64().unwrap_or_else(|| panic!("{said:#}"));
        let off = predicted - other.seconds;
        if off.abs() <= share * other.seconds + self.added() + other.added() {
            return Ok(predicted);
        }
        Err(format!("{change}: {predicted:.3} s of {:.3}, and {:.3}", self.seconds, other.seconds))
    }
}

fn holds(is: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if is { Ok(()) } else { Err(what()) }
}

#[test]
fn all_versions_of_crash_have_one_result() {
    let Some(built) = built("gcc") else { return };
    let energy = |command: &mut Command| {
        let said = String::from_utf8_lossy(&run(command).stdout).into_owned();
        let words = said.split_whitespace().skip_while(|it| *it != "energy").nth(1).map(str::to_owned);
        words.unwrap_or_else(|| panic!("{said}"))
    };
    let small = ["-w", "24", "-s", "40"];
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let versions = ["SP", "SD", "SD2", "SD3", "SD4", "SD7", "SD8"];
    for version in versions {
        for threads in ["1", "3", "4"] {
            let mut command = Command::new(built.program());
            command.arg(version).args(small).envs([("OMP_NUM_THREADS", threads), ("OMP_WAIT_POLICY", "passive")]);
            let energy = energy(&mut command);
            found.entry(energy).or_default().push(format!("{version} on {threads}"));
        }
    }
    let compiler = OPEN_MPI.command("mpicc");
    if Command::new(&compiler).arg("--version").output().is_ok_and(|it| it.status.success()) {
        let program = built.folder.path().join("of_ranks");
        let flags = ["-O2", "-DUSE_MPI", "-fopenmp", "-lm"];
        run(Command::new(compiler).arg("-o").arg(&program).arg(source()).args(flags));
        for version in versions {
            let mut command = Command::new(OPEN_MPI.command("mpirun"));
            command.args(["-n", "3"]).arg(&program).arg(version).args(small);
            command.envs(LAUNCHED).envs([("OMP_NUM_THREADS", "2"), ("OMP_WAIT_POLICY", "passive")]);
            let energy = energy(&mut command);
            found.entry(energy).or_default().push(format!("{version} on 3 ranks"));
        }
    }
    assert_eq!(found.len(), 1, "{found:#?}");
    // Not that of a sheet that nothing meets: 200 for each of its 24 by 12 elements.
    assert_ne!(found.keys().next().and_then(|it| it.parse().ok()), Some(200.0 * 288.0));
}

#[test]
fn gaps_of_crash_move_as_they_should() {
    for compiler in ["gcc", CLANG] {
        let Some(built) = built(compiler) else { continue };
        for (version, barriers) in [("SP", 4), ("SD3", 4), ("SD4", 2), ("SD8", 1)] {
            let run = Version::of(&built, version, &["-w", "16", "-s", "12", "-v", "1"]);
            assert_eq!(run.barriers(), barriers, "{version} of {compiler}");
        }
        tried(|| {
            let [sp, sd] = ["SP", "SD"].map(|version| Version::of(&built, version, &VIRTUAL));
            for run in [&sp, &sd] {
                let (overall, by_phase) = run.measured();
                for (name, measured) in [("L", overall), ("M'", by_phase)] {
                    let found = run.gap(name);
                    let is_near = (found - measured).abs() < 0.03 * run.seconds + run.added();
                    holds(is_near, || format!("{name} is {found:.3} s and was measured as {measured:.3}"))?;
                }
            }
            let [before, after] = [sp.gap("L"), sd.gap("L")];
            let is_gone = before > 0.2 * sp.seconds && after < 0.1 * before + sd.added();
            holds(is_gone, || {
                format!("L {before:.3} s and {after:.3}, {:.3} and {:.3} added", sp.added(), sd.added())
            })?;
            // Even in all, uneven by phase.
            holds(sd.gap("M'") > 0.01 * sd.seconds, || format!("M' {:.3}", sd.gap("M'")))
        });
    }
}

#[test]
fn versions_of_crash_take_as_long_as_predicted() {
    let Some(built) = built("gcc") else { return };
    tried(|| {
        let of = |version: &str| Version::of(&built, version, &VIRTUAL);
        let [sp, sd, sd4, sd7, sd8] = ["SP", "SD", "SD4", "SD7", "SD8"].map(of);
        // What remains uneven by phase is not in the prediction.
        sp.foretells("balance contact", &sd, 0.06)?;
        sd4.foretells("remove \"forces_phase/omp barrier\"", &sd8, 0.03)?;
        let predicted = sd4.foretells("balance contact", &sd7, 0.03)?;
        let loss = sd7.by_design - sd4.by_design;
        holds(predicted > sd4.seconds + 0.5 * loss && sd7.seconds > sd4.by_design + 0.5 * loss, || {
            format!("SD4 {:.3} s, SD7 {:.3}, predicted {predicted:.3}", sd4.seconds, sd7.seconds)
        })
    });
}

/// The model of the example says what each version does; SP says what a unit of its work takes, and from that the model what the next ones take, and which
/// gap moves. No number of them but the times of functions in SP is in it.
#[test]
fn a_model_calibrated_by_one_version_predicts_the_next_ones() {
    let Some(built) = built("gcc") else { return };
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/crash/model/crash.pam");
    let versions: [(&str, &[&str]); 4] = [
        ("SP", &["-Dsubdomains=0", "-Drecord=3", "-Dbarriers=2"]),
        ("SD", &["-Drecord=3", "-Dbarriers=2"]),
        ("SD4", &[]),
        ("SD8", &["--alt", "SD8"]),
    ];
    let asked = |command: &str, run: Option<&Path>, more: &[&str]| -> Value {
        let mut asked = Command::new(env!("CARGO_BIN_EXE_partune"));
        json(asked.args(["model", command, "--json"]).arg(&model).args(run).args(more))
    };
    tried(|| {
        let runs = versions.map(|(version, _)| Version::of(&built, version, &VIRTUAL));
        let more = [versions[0].1, &["--phase", "contact_phase=contact"]].concat();
        let fitted = asked("calibrate", Some(&runs[0].recorded.anchor), &more);
        let unit = fitted["classes"][0]["value"].as_f64().unwrap_or_else(|| panic!("{fitted:#}"));
        holds(fitted["classes"].as_array().is_some_and(|all| all.len() == 1), || format!("{fitted:#}"))?;
        let value = format!("-Dunit={unit}");
        let mut uneven = Vec::new();
        for ((version, more), run) in versions.iter().zip(&runs) {
            let said = asked("data", None, &[*more, &[value.as_str()][..]].concat());
            let predicted = said["run_s"].as_f64().unwrap_or_else(|| panic!("{said:#}"));
            holds((predicted - run.seconds).abs() < 0.1 * run.seconds, || {
                format!("{version}: {predicted:.3} s predicted, {:.3} measured, a unit of {unit}", run.seconds)
            })?;
            let part = |name: &str| said["bounds"][name].as_f64().unwrap_or_default();
            uneven.push((part("imbalance_s"), part("phases_s")));
        }
        // L goes with subdomains, M' with the second buffer: in the model as in the runs.
        let gaps: Vec<(f64, f64)> = runs.iter().map(|run| (run.gap("L"), run.gap("M'"))).collect();
        for all in [&uneven, &gaps] {
            holds(all[1].0 < 0.2 * all[0].0 && all[3].1 < 0.5 * all[2].1, || format!("{uneven:?} {gaps:?}"))?;
        }
        Ok(())
    });
}

#[test]
fn the_next_version_of_crash_is_advised() {
    let Some(built) = built("gcc") else { return };
    tried(|| {
        let sp = Version::of(&built, "SP", &VIRTUAL);
        let saves = sp.advised("A-28", "balance contact").and_then(|it| it["saves_s"].as_f64());
        holds(saves.is_some_and(|it| it > 0.2 * sp.seconds), || format!("A-28 saves {saves:?}"))?;
        holds(sp.advice().iter().any(|it| it["action"] == "A-1"), || format!("{:#?}", sp.advice()))?;
        let sd3 = Version::of(&built, "SD3", &SHORT);
        for phase in ["forces_phase", "update_phase"] {
            let change = format!("remove \"{phase}/omp barrier\"");
            let advice = sd3.advised("remove-barrier", &change);
            holds(advice.is_some_and(|it| it["action"] == "remove-barrier"), || format!("{change} is not advised"))?;
        }
        let [sd4, sd8] = ["SD4", "SD8"].map(|version| Version::of(&built, version, &VIRTUAL));
        let advice = sd4.advised("double-buffer", "remove \"forces_phase/omp barrier\"");
        let is_told = advice.is_some_and(|it| it["upper_limit"] == true && it["saves_s"].as_f64() > Some(0.0));
        holds(is_told, || format!("{:#?}", sd4.advice()))?;
        // Its only barrier must stay.
        let removes = |it: &Value| it["change"].as_str().is_some_and(|change| change.starts_with("remove"));
        holds(!sd8.advice().iter().any(removes), || format!("{:#?}", sd8.advice()))
    });
}
