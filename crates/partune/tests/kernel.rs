//! `partune kernel` with the caches of a machine: loops of a compiled program whose lines can be counted, one that cannot be followed, and files that say too little.

use std::os::unix::fs::PermissionsExt;
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
    assert_eq!(gap["why"], "lines a turn: 0.25 (0.13 stored to) from memory: 7.50 cycles");
    let shown =
        text(&kernel(&at("loops.so"), &["--function", "daxpy", "--elements", "1048576", "--machine", &machine]).stdout);
    assert!(
        shown.contains("MACS 1.00   I 7.50") && shown.contains("lines a turn: 0.25 (0.13 stored to) from memory"),
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

/// Loops under the ceilings of a machine: 1 Gflop/s, and 64 bytes in 20 ns from memory.
#[test]
fn loops_have_their_places_below_the_ceilings() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let at = |name: &str| folder.path().join(name);
    let Some(binary) = built(folder.path(), SOURCE, "-O1") else { return };
    std::fs::write(at("machine.toml"), format!("{MACHINE}{CACHES}")).expect("there is room for a machine");
    let machine = at("machine.toml").display().to_string();
    let picture = at("loops.svg").display().to_string();
    let words = ["--elements", "1048576", "--machine", &machine, "--roofline", &picture];
    let document: Value =
        serde_json::from_slice(&kernel(&binary, &[&words[..], &["--json"]].concat()).stdout).expect("it is JSON");
    near(&document["ceilings"]["peak"], 1e9);
    near(&document["ceilings"]["levels"][3]["load"], 64.0 / 2e-8);
    // 1.33 of what the triad counts moves.
    near(&document["ceilings"]["memory_all"], 4e9 / 3.0);
    let loops = document["loops"].as_array().expect("there are loops");
    let of = |function: &str| loops.iter().find(|it| it["place"]["function"] == function).expect("it has a loop");
    let daxpy = &of("daxpy")["roofline"];
    // Two operations in the 7.5 ns that lines take, which is 24 bytes; all PEs together are slower, as the file has it.
    near(&daxpy["most"], 2.0 / 7.5e-9);
    assert!(daxpy["binds"] == "memory" && daxpy["binds_all"] == "memory", "{daxpy:#}");
    near(&daxpy["levels"][3]["intensity"], 2.0 / 24.0);
    near(&daxpy["most_all"], 4e9 / 3.0 * 2.0 / 24.0);
    near(&daxpy["bound"], 2.0 / 7.5e-9);
    // What cannot be followed has no place.
    assert!(of("gather")["roofline"].is_null());

    let drawn = std::fs::read_to_string(&picture).expect("it was drawn");
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"));
    assert!(
        drawn.matches("<circle").count() == 1 && drawn.contains("1  daxpy (loops.c:2): at most 267 Mflop/s"),
        "{drawn}"
    );
    let shown = text(&kernel(&binary, &words).stdout);
    assert!(
        shown.contains("roofline  at most 267 Mflop/s of 1.00 Gflop/s: memory binds, at 0.083 flop/B from memory"),
        "{shown}"
    );
    // Without caches there is nothing to draw below.
    let output = kernel(&binary, &["--roofline", &picture]);
    assert!(output.status.code() == Some(2) && text(&output.stderr).contains("--elements"), "{}", text(&output.stderr));
}

/// Compiles a source that is left in the folder; says so where that cannot be.
fn built(folder: &Path, source: &str, level: &str) -> Option<std::path::PathBuf> {
    let (from, to) = (folder.join("loops.c"), folder.join("loops.so"));
    std::fs::write(&from, source).expect("there is room for a source");
    let status = Command::new("gcc").args([level, "-g", "-shared", "-fPIC", "-o"]).arg(&to).arg(&from).status();
    if cfg!(target_arch = "x86_64") && status.is_ok_and(|status| status.success()) {
        return Some(to);
    }
    missing("gcc for x86-64");
    None
}

/// What the source of `daxpy` asks for, as LLVM writes it.
const IR: &str = r#"
define void @daxpy(ptr %0, ptr %1, i64 %2) !dbg !10 {
  br label %4, !dbg !13

4:
  %.0 = phi i64 [ 0, %3 ], [ %13, %12 ], !dbg !14
  %5 = icmp slt i64 %.0, %2, !dbg !14
  br i1 %5, label %6, label %14, !dbg !14

6:
  %7 = getelementptr inbounds double, ptr %1, i64 %.0, !dbg !14
  %8 = load double, ptr %7, align 8, !dbg !14
  %9 = getelementptr inbounds double, ptr %0, i64 %.0, !dbg !14
  %10 = load double, ptr %9, align 8, !dbg !14
  %11 = call double @llvm.fmuladd.f64(double 3.000000e+00, double %8, double %10), !dbg !14
  store double %11, ptr %9, align 8, !dbg !14
  br label %12, !dbg !14

12:
  %13 = add nsw i64 %.0, 1, !dbg !14
  br label %4, !dbg !14

14:
  ret void, !dbg !14
}

!1 = !DIFile(filename: "loops.c", directory: "")
!10 = distinct !DISubprogram(name: "daxpy", scope: !1, file: !1, line: 2, unit: !0)
!13 = !DILocation(line: 2, column: 73, scope: !10)
!14 = !DILocation(line: 2, scope: !10)
"#;

#[test]
fn m_and_ma_are_of_the_source_where_it_is_given() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let Some(binary) = built(folder.path(), SOURCE, "-O1") else { return };
    let ir = folder.path().join("loops.ll").display().to_string();
    let write = |what: &str| std::fs::write(&ir, what).expect("there is room for a text");
    write(IR);
    let document: Value =
        serde_json::from_slice(&kernel(&binary, &["--ir", &ir, "--json"]).stdout).expect("it is JSON");
    let loops = document["loops"].as_array().expect("there are loops");
    let of = |function: &str| loops.iter().find(|it| it["place"]["function"] == function).expect("it has a loop");
    let daxpy = of("daxpy");
    assert_eq!(daxpy["from"], "source");
    // Two of 24 operations a cycle; eight bytes stored of 32.
    near(&daxpy["M"], 2.0 / 24.0);
    near(&daxpy["MA"], 0.25);
    assert!(daxpy["source"]["loaded_bytes"] == 16 && daxpy["source"]["stored_bytes"] == 8, "{daxpy:#}");
    assert!(of("gather")["from"] == "machine code" && of("gather")["source"].is_null());
    let shown = text(&kernel(&binary, &["--ir", &ir]).stdout);
    assert!(shown.contains("what the source asks for, and where it says so"), "{shown}");
    assert_eq!(shown.matches("; M and MA of the machine code").count(), 1, "{shown}");
    let shown = text(&kernel(&binary, &["--ir", &ir, "--function", "daxpy"]).stdout);
    assert!(
        shown.contains("M and MA\ncount what the source asks for.")
            || shown.contains("count what the source asks for.")
    );
    assert!(!shown.contains("machine code"), "{shown}");

    let refused = |said: &str| {
        let output = kernel(&binary, &["--ir", &ir]);
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(1) && message.contains(said), "{message}");
    };
    write(&IR.replace("loops.c", "others.c"));
    refused("none of the loops that were chosen is at a line of others.c");
    write(SOURCE);
    refused("no text of LLVM's intermediate representation");
}

#[test]
fn a_source_is_translated_by_an_installed_compiler() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let source = SOURCE.replace("3.0", "FACTOR");
    let defined = format!("#ifndef FACTOR\n#define FACTOR 3.0\n#endif\n{source}");
    let Some(binary) = built(folder.path(), &defined, "-O3") else { return };
    let file = folder.path().join("loops.c").display().to_string();
    let words = ["--source", &file, "--clang", "clang-14"];
    let output = kernel(&binary, &[&words[..], &["--flags", "-DFACTOR=5.0 -Wall", "--json"]].concat());
    let message = text(&output.stderr);
    if message.contains("cannot be started") {
        return missing("clang-14 and llvm-14");
    }
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {message}"));
    let loops = document["loops"].as_array().expect("there are loops");
    let of = |function: &'static str| loops.iter().filter(move |it| it["place"]["function"] == function);
    // The vectors' loop and those that do the rest of the turns are one loop of the source.
    assert!(of("daxpy").all(|it| it["from"] == "source" && it["source"]["flops"] == 2.0), "{document:#}");
    assert!(of("daxpy").count() >= 1 && of("gather").all(|it| it["source"]["scattered_bytes"] == 8), "{document:#}");
    let output = kernel(&binary, &[&words[..], &["--flags", "-DFACTOR=("]].concat());
    let message = text(&output.stderr);
    assert!(output.status.code() == Some(1) && message.contains("clang-14 ended with"), "{message}");
    // Without a name it is `clang`, else the newest, of those with their `opt` beside them if there are any.
    let says = |programs: &[&str]| {
        let folder = tempfile::tempdir().expect("there is room for programs");
        let whole = folder.path().join("whole");
        std::fs::create_dir(&whole).expect("there is room");
        for program in programs {
            let path = folder.path().join(program);
            std::fs::write(&path, "#!/bin/sh\nexit 3\n").expect("there is room for a program");
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
        }
        let path = std::env::join_paths([folder.path(), &whole]).expect("they are paths");
        let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
        command.args(["kernel", "--core", "zen4", "--source", &file]).arg(&binary).env("PATH", path);
        text(&command.output().expect("the binary runs").stderr)
    };
    assert!(says(&["clang-14", "clang-19"]).contains(": clang-19 ended with"));
    assert!(says(&["clang-19", "clang-14", "clang"]).contains(": clang ended with"));
    assert!(says(&["clang-19", "whole/clang-14", "whole/opt"]).contains(": clang-14 ended with"));
    assert!(says(&[]).contains("clang: cannot be started"));
}

/// Nothing tells which of two loops in a line is which of the program's, so they keep what the machine code says; the same loop twice is no riddle.
#[test]
fn loops_that_share_their_lines_are_not_mixed_up() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let source = "void two(long *l, double *w, const double *x) { for (int i = 0; i < 1000; ++i) l[i] += 3; for (int i = 0; i < 1000; ++i) w[i] = w[i] * 2 + x[i]; }
void alike(double *v, double *w) { for (int i = 0; i < 1000; ++i) v[i] *= 3; for (int i = 0; i < 1000; ++i) w[i] *= 3; }
";
    let Some(binary) = built(folder.path(), source, "-O3") else { return };
    let file = folder.path().join("loops.c").display().to_string();
    let output = kernel(&binary, &["--source", &file, "--clang", "clang-14", "--json"]);
    let message = text(&output.stderr);
    if message.contains("cannot be started") {
        return missing("clang-14 and llvm-14");
    }
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {message}"));
    let from = |function: &str| -> Vec<&str> {
        let loops = document["loops"].as_array().into_iter().flatten();
        loops.filter(|it| it["place"]["function"] == function).filter_map(|it| it["from"].as_str()).collect()
    };
    let (two, alike) = (from("two"), from("alike"));
    assert!(two.len() >= 2 && two.iter().all(|from| *from == "machine code"), "{document:#}");
    assert!(alike.len() >= 2 && alike.iter().all(|from| *from == "source"), "{document:#}");
}

/// A program of Fortran has a name that no symbol has. What is not linked is refused, and so is a source that Clang does not translate.
#[test]
fn a_program_of_fortran_has_its_name() {
    let folder = tempfile::tempdir().expect("there is room for a program");
    let at = |name: &str| folder.path().join(name);
    let source = "program waves\n  real(8) :: a(100)\n  integer :: i\n  call random_number(a)\n  do i = 2, 100\n    a(i) = a(i) + 0.5d0 * a(i - 1)\n  end do\n  print *, a(100)\nend program\n";
    std::fs::write(at("waves.f90"), source).expect("there is room for a source");
    let compiled = |words: &[&str], to: &str| {
        let mut command = Command::new("gfortran");
        command.args(["-g", "-O1"]).args(words).arg(at("waves.f90")).arg("-o").arg(at(to)).status()
    };
    if !compiled(&[], "waves").is_ok_and(|status| status.success()) {
        return missing("gfortran");
    }
    for name in ["waves", "main", "MAIN__"] {
        let output = kernel(&at("waves"), &["--function", name]);
        assert!(text(&output.stdout).contains("waves (waves.f90:5)"), "{name}: {}", text(&output.stderr));
    }
    let refused = |words: &[&str], of: &str, said: &str| {
        let output = kernel(&at(of), words);
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(1) && message.contains(said) && message.contains("remedy: "), "{message}");
    };
    refused(&["--function", "wave"], "waves", "there is no function wave; ");
    refused(&["--source", &at("waves.f90").display().to_string()], "waves", "Fortran is not translated");
    assert!(compiled(&["-c"], "waves.o").is_ok_and(|status| status.success()));
    refused(&[], "waves.o", "this is not linked");
}

#[test]
fn a_program_runs_with_the_arguments_after_two_dashes_also_with_none() {
    const RUNS: &str = "
int main(int argc, char **argv) { volatile double sum = 0; for (int i = 0; i < 1000 * argc; ++i) sum += i; return argv[0] == 0; }
";
    let folder = tempfile::tempdir().expect("there is room for a program");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("runs.c"), RUNS).expect("there is room for a source");
    let built = Command::new("gcc").args(["-O1", "-g", "-o"]).arg(at("runs")).arg(at("runs.c")).status();
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok_and(|it| it.status.success());
    if !cfg!(target_arch = "x86_64") || !has_valgrind || !built.is_ok_and(|status| status.success()) {
        return missing("gcc and valgrind for x86-64");
    }
    let turns = |after: &[&str]| {
        let output = kernel(&at("runs"), &[&["--function", "main", "--json"], after].concat());
        let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        document["loops"][0]["executed"].as_f64()
    };
    assert_eq!(turns(&[]), None);
    assert_eq!(turns(&["--"]), Some(1000.0));
    assert_eq!(turns(&["--", "one", "two"]), Some(3000.0));
}

/// Compiles a source with its lines, as `compiler` with these flags does; none where that is not installed.
fn compiled(folder: &Path, source: &str, compiler: &str, flags: &[&str]) -> Option<std::path::PathBuf> {
    let (from, to) = (folder.join("turns.c"), folder.join("turns.so"));
    std::fs::write(&from, source).expect("there is room for a source");
    let mut command = Command::new(compiler);
    let status = command.args(flags).args(["-g", "-shared", "-fPIC", "-o"]).arg(&to).arg(&from).status();
    if cfg!(target_arch = "x86_64") && status.is_ok_and(|status| status.success()) {
        return Some(to);
    }
    missing("gcc and clang-14 for x86-64");
    None
}

/// Products of complex numbers call what knows infinite ones, unless the flags say that there are none. The loop is at lines of that source all the same; those of others are not.
#[test]
fn a_loop_of_the_source_that_calls_something_is_found() {
    const COMPLEX: &str = "
#include <complex.h>
void products(complex double *restrict a, const complex double *b, const complex double *c, long n)
{
    for (long i = 0; i < n; ++i)
        a[i] = b[i] * c[i];
}
";
    let folder = tempfile::tempdir().expect("there is room for a program");
    let Some(binary) = compiled(folder.path(), COMPLEX, "gcc", &["-O2", "-ffast-math"]) else { return };
    let of = |name: &str| {
        let source = folder.path().join(name).display().to_string();
        kernel(&binary, &["--source", &source, "--clang", "clang-14", "--function", "products"])
    };
    let output = of("turns.c");
    if text(&output.stderr).contains("cannot be started") {
        return missing("clang-14 and llvm-14");
    }
    let shown = text(&output.stdout);
    assert!(shown.contains("M and MA of the machine code, since the source's loop calls something"), "{shown}");
    std::fs::write(folder.path().join("other.c"), SOURCE).expect("there is room for a source");
    let output = of("other.c");
    let message = text(&output.stderr);
    assert!(output.status.code() == Some(1) && message.contains("none of the loops that were chosen"), "{message}");
}

/// Function, turns and whether they are known, of each loop.
fn turns_of(binary: &Path, words: &[&str]) -> Vec<(String, u64, bool)> {
    let output = kernel(binary, &[words, &["--json"]].concat());
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let of = |it: &Value| {
        let name = it["place"]["function"].as_str().unwrap_or_default().to_owned();
        (name, it["turns"].as_u64().unwrap_or(0), it["knows_turns"] == true)
    };
    document["loops"].as_array().expect("there are loops").iter().map(of).collect()
}

/// A product of complex numbers is a vector, of which the code does not show whether it is one turn or two; the source does. Factors of a structure are seen in the
/// program's data.
#[test]
fn turns_are_those_of_the_source_where_it_is_given() {
    const COMPLEX: &str = "
struct number { double re, im; };
void products(struct number *restrict a, const struct number *restrict b, const struct number *restrict c, long n)
{
    for (long i = 0; i < n; ++i) {
        a[i].re = b[i].re * c[i].re - b[i].im * c[i].im;
        a[i].im = b[i].re * c[i].im + b[i].im * c[i].re;
    }
}
struct point { double x, y, z, m; };
void each(struct point *restrict p)
{
    for (long i = 0; i < 100; ++i) {
        p[i].x *= 2.0;
        p[i].y *= 3.0;
        p[i].z *= 5.0;
        p[i].m *= 7.0;
    }
}
void alike(double *restrict a)
{
    for (long i = 0; i < 400; ++i)
        a[i] *= 2.0;
}
";
    let folder = tempfile::tempdir().expect("there is room for a program");
    let Some(binary) = compiled(folder.path(), COMPLEX, "gcc", &["-O2", "-ffast-math"]) else { return };
    let of = |words: &[&str], function: &str| {
        let mut all = turns_of(&binary, words).into_iter().filter(|(name, ..)| name == function);
        all.next().map(|(_, turns, is_known)| (turns, is_known))
    };
    assert_eq!(of(&[], "products"), Some((1, false)));
    assert_eq!(of(&[], "each"), Some((1, true)));
    assert_eq!(of(&[], "alike"), Some((2, true)));
    let shown = text(&kernel(&binary, &["--function", "products"]).stdout);
    assert!(shown.contains("turns not known: bounds are for one turn of the machine's loop"), "{shown}");

    let source = folder.path().join("turns.c").display().to_string();
    let words = ["--source", &source, "--clang", "clang-14", "--function", "products"];
    if text(&kernel(&binary, &words).stderr).contains("cannot be started") {
        return missing("clang-14 and llvm-14");
    }
    assert_eq!(of(&words, "products"), Some((1, true)));
}

/// Clang makes vectors of what is gathered, several to a turn, and loops that do the rest: how many turns each does is its additions.
#[test]
fn turns_are_told_by_the_loop_that_does_the_rest() {
    const GATHER: &str = "
double gather(const double *x, const int *at, long n)
{
    double sum = 0;
    for (long i = 0; i < n; ++i)
        sum += x[at[i]];
    return sum;
}
";
    let folder = tempfile::tempdir().expect("there is room for a program");
    let Some(binary) = compiled(folder.path(), GATHER, "clang-14", &["-O3", "-ffast-math", "-mavx2"]) else { return };
    let output = kernel(&binary, &["--function", "gather", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let loops = document["loops"].as_array().expect("there are loops");
    assert!(loops.len() > 1 && loops.iter().any(|it| it["turns"].as_u64() > Some(4)), "{document:#}");
    assert!(loops.iter().all(|it| it["knows_turns"] == true && it["flops"] == 1.0), "{document:#}");
}
