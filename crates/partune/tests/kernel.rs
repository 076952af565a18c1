//! `partune kernel` with the caches of a machine: loops of a compiled program whose lines can be counted, one that cannot be followed, and files that say too little.

use std::path::Path;
use std::process::{Command, Output};

use partune_testkit::outside::missing;
use serde_json::Value;

const SOURCE: &str = "
void daxpy(double *restrict y, const double *restrict x, long n) { for (long i = 0; i < n; ++i) y[i] += 3.0 * x[i]; }
double gather(const double *x, const int *at, long n) { double sum = 0; for (long i = 0; i < n; ++i) sum += x[at[i]]; return sum; }
";

/// 32 KiB, 1 MiB and 8 MiB; a cycle is a nanosecond.
pub(crate) const MACHINE: &str = r#"
partune_machine = 1
provenance = { date = "", hosts = [], cpu = "", cores = 1, kernel = "", launch = [], pes = 1, partune = "", took_s = 0.0 }
overheads = { timer_s = 1e-9, timer_step_s = 1e-9, event_s = 1e-9 }
rates = { flops_one = 1e9, flops_all = 1e9, memory_one = 1e9, memory_all = 1e9 }
"#;
pub(crate) const CACHES: &str = "
[caches]
cycle_s = 1e-9
memory = { load_s = 2e-8, store_s = 4e-8 }
level = [
    { bytes = 32768, line = 64, ways = 8, load_s = 1e-9, store_s = 1e-9 },
    { bytes = 1048576, line = 64, ways = 8, load_s = 2e-9, store_s = 4e-9 },
    { bytes = 8388608, line = 64, ways = 16, load_s = 4e-9, store_s = 8e-9 },
]
";

fn kernel(binary: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    command.arg("kernel").arg(binary).args(["--core", "zen4"]).args(words).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn near(is: &Value, should: f64) {
    let number = is.as_f64().unwrap_or_else(|| panic!("{is} is a number"));
    assert!((number - should).abs() <= 0.01 * should.max(0.01), "{number} for {should}");
}

#[test]
fn caches_add_what_lines_cost_and_say_where_they_cannot_know() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("loops.c"), SOURCE).expect("there is room for a source");
    std::fs::write(at("machine.toml"), format!("{MACHINE}{CACHES}")).expect("there is room for a machine");
    let built =
        Command::new("gcc").args(["-O1", "-shared", "-fPIC", "-o"]).arg(at("loops.so")).arg(at("loops.c")).status();
    if !cfg!(target_arch = "x86_64") || !built.is_ok_and(|status| status.success()) {
        return missing("gcc for x86-64");
    }
    let machine = at("machine.toml").display().to_string();
    let document = |function: &str, elements: &str| -> Value {
        let words = ["--function", function, "--elements", elements, "--machine", &machine, "--json"];
        let output = kernel(&at("loops.so"), &words);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let mut document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        document["loops"][0].take()
    };

    // 8 MiB of each array: of 8 turns each a line of x is loaded, and one of y stored to.
    let far = document("daxpy", "1048576");
    near(&far["I"], (20.0 + 40.0) / 8.0);
    let memory = &far["caches"]["lines"][2];
    assert_eq!(memory["from"], "memory");
    near(&memory["loaded"], 0.125);
    near(&memory["stored"], 0.125);
    let gap = far["gaps"].as_array().into_iter().flatten().find(|gap| gap["name"] == "$").expect("there is a gap");
    near(&gap["cycles"], 7.5 - far["MACS"].as_f64().expect("it has MACS"));
    assert_eq!(gap["why"], "lines a turn: 0.25 (0.12 stored to) from memory: 7.50 cycles");
    let shown =
        text(&kernel(&at("loops.so"), &["--function", "daxpy", "--elements", "1048576", "--machine", &machine]).stdout);
    assert!(
        shown.contains("MACS 1.00   I 7.50") && shown.contains("lines a turn: 0.25 (0.12 stored to) from memory"),
        "{shown}"
    );
    assert!(shown.contains("again and again with 1048576 turns"), "{shown}");

    // What fits the first cache has no gap.
    let inside = document("daxpy", "1000");
    assert!(inside["I"].is_number() && inside["I"] == inside["MACS"], "{inside:#}");
    assert!(inside["caches"]["lines"].as_array().is_some_and(|lines| lines.iter().all(|it| it["cycles"] == 0.0)));

    // Where elements lie is in their data.
    let scattered = document("gather", "1048576");
    assert!(scattered["I"].is_null() && scattered["caches"].is_null() && scattered["MACS"].is_number());
    assert!(scattered["not_followed"].as_str().is_some_and(|why| why.contains("do not move by a constant")));
    assert!(scattered["gaps"].as_array().is_some_and(|gaps| gaps.iter().all(|gap| gap["name"] != "$")));

    // Nothing is guessed.
    let refused = |words: &[&str], said: &str| {
        let output = kernel(&at("loops.so"), words);
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(1) && output.stdout.is_empty(), "{message}");
        assert!(
            message.contains(said) && message.contains("remedy") && message.contains("partune machine measure"),
            "{message}"
        );
    };
    refused(&["--elements", "10"], "--elements needs --machine");
    let written = |what: &str| std::fs::write(at("machine.toml"), what).expect("it was written before");
    written(MACHINE);
    refused(&["--elements", "10", "--machine", &machine], "what lines of its caches cost was not measured");
    written(&format!("{MACHINE}{}", CACHES.replace("cycle_s = 1e-9", "cycle_s = 0.0")));
    refused(&["--elements", "10", "--machine", &machine], "caches.cycle_s: must be a positive number");
    let output = kernel(&at("loops.so"), &["--machine", &machine]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--elements"), "{}", text(&output.stderr));
}
