//! Every call of every program against `addr2line -fipC` of binutils.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};

use partune_symbols::{Address, Origin};

use crate::programs::{Program, run, source};
use crate::{Answer, answers};

/// What binutils says about each address: frames, innermost first.
fn truth(path: &str, addresses: &[u64]) -> Vec<Vec<(String, String, u32)>> {
    let mut child = Command::new("addr2line")
        .args(["-fipCa", "-e", path])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let questions: Vec<_> = addresses.iter().map(|address| format!("{address:#x}")).collect();
    let writer = std::thread::spawn(move || writeln!(input, "{}", questions.join("\n")));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let mut answers: Vec<Vec<_>> = Vec::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let inlined = line.trim_start().strip_prefix("(inlined by) ");
        let frame = inlined.unwrap_or_else(|| {
            answers.push(Vec::new());
            line.split_once(": ").unwrap().1
        });
        let (name, place) = frame.rsplit_once(" at ").unwrap();
        let place = place.split(" (discriminator").next().unwrap();
        let (file, line) = place.rsplit_once(':').unwrap();
        answers.last_mut().unwrap().push((name.to_owned(), file.to_owned(), line.parse().unwrap_or(0)));
    }
    assert_eq!(answers.len(), addresses.len());
    answers
}

/// Names without what the two demanglers write differently: blanks, suffixes of numbers, and pieces of functions.
fn plain(name: &str) -> String {
    let pieces = [" [clone", ".cold", ".constprop", ".isra", ".part", ".localalias"];
    let end = pieces.iter().filter_map(|piece| name.find(piece)).filter(|&at| at > 0).min();
    let mut name: String = name[..end.unwrap_or(name.len())].chars().filter(|c| !c.is_whitespace()).collect();
    for digit in '0'..='9' {
        name = name.replace(&format!("{digit}ul"), &digit.to_string());
    }
    name
}

/// A name without the arguments of the function: the two demanglers differ in those of template functions, where
/// `cpp_demangle` drops the first one of a constructor and the `&&` of a pack.
fn bare(name: &str) -> &str {
    let name = name.strip_suffix("const").unwrap_or(name);
    if !name.ends_with(')') {
        return name;
    }
    let mut depth = 0;
    let open = name.char_indices().rev().find(|&(_, c)| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        depth == 0
    });
    open.map_or(name, |(at, _)| &name[..at])
}

/// Equal but for arguments. A function that is local to its file has no linkage name, and one of the two knows it by
/// scopes and types, the other by its name.
fn same(ours: &str, theirs: &str) -> bool {
    bare(ours) == bare(theirs) || last(ours) == last(theirs)
}

/// The name itself: without types, scopes, template arguments.
fn last(name: &str) -> &str {
    let name = bare(name);
    let mut depth = 0;
    let mut part = 0..name.len();
    for (at, c) in name.char_indices() {
        match c {
            '<' | '(' | '{' => {
                if depth == 0 {
                    part.end = at;
                }
                depth += 1;
            }
            '>' | ')' | '}' => depth -= 1,
            ':' if depth == 0 => part = at + 1..name.len(),
            _ => {}
        }
    }
    &name[part]
}

/// The name that debug data give to what binutils calls by its symbol.
fn fortran(name: &str) -> String {
    let name = name.strip_suffix(".0").unwrap_or(name);
    match name.strip_prefix("__").and_then(|name| name.split_once("_MOD_")) {
        Some((module, procedure)) => format!("{module}::{procedure}"),
        None if name == "MAIN__" => "waves".to_owned(),
        None => name.strip_suffix('_').unwrap_or(name).to_owned(),
    }
}

/// The path as binutils and we agree on: without `./` and folders that are left again.
fn clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Where symbols of a plain name begin.
fn symbols(path: &str) -> HashMap<String, Vec<u64>> {
    let mut starts: HashMap<_, Vec<_>> = HashMap::new();
    for line in run(Command::new("nm").args(["-C", "--defined-only", path])).lines() {
        let (at, rest) = line.split_once(' ').unwrap();
        starts.entry(plain(&rest[2..])).or_default().push(u64::from_str_radix(at, 16).unwrap());
    }
    starts
}

/// Compares all calls; at least `least` of them must have debug data.
#[track_caller]
fn check(name: &str, flags: &[&str], least: usize) -> Vec<Answer> {
    let program = Program::compile(name, flags);
    let returns = program.return_addresses();
    let before: Vec<u64> = returns.iter().map(|address| address - 1).collect();
    let asked: Vec<_> = returns.iter().map(|&address| Address::Return(address)).collect();
    let ours = answers(&program.path, &program.bytes, &asked);
    let starts = symbols(&program.path);
    let of = |name: &str| starts.get(name).map_or(&[][..], Vec::as_slice);
    let alias = |name: &str, other: &str| of(name).iter().any(|start| of(other).contains(start));
    let source_path = source(name);
    let length = std::fs::read_to_string(&source_path).unwrap().lines().count() as u32;
    let mut compared = 0;
    let mut arguments = 0;
    let mut differ = Vec::new();
    for ((address, truth), answer) in before.iter().zip(truth(&program.path, &before)).zip(&ours) {
        let theirs: Vec<_> = truth
            .iter()
            .map(|(function, file, line)| {
                let function = if name.ends_with("f90") { fortran(function) } else { function.clone() };
                (plain(&function), clean(file), *line)
            })
            .collect();
        if answer.origin != Origin::Debug {
            // Code of the C library's start files: names only.
            let (ours, theirs_name) = (plain(&answer.frames[0].0), &theirs[0].0);
            if theirs[0].2 != 0 || !(same(&ours, theirs_name) || theirs_name == "??" || alias(&ours, theirs_name)) {
                differ.push(format!("{address:#x}\n  ours   {answer:?}\n  theirs {theirs:?}"));
            }
            continue;
        }
        compared += 1;
        let mut frames: Vec<_> =
            answer.frames.iter().map(|(name, file, line)| (plain(name), clean(file), *line)).collect();
        // Binutils calls an inlined function without linkage name by the symbol of the function around it.
        if frames.len() > 1 && same(&frames[frames.len() - 1].0, &theirs[0].0) {
            frames[0].0.clone_from(&theirs[0].0);
        }
        for ((name, file, line), (their_name, their_file, _)) in frames.iter_mut().zip(&theirs) {
            if name != their_name && same(name, their_name) {
                arguments += usize::from(bare(name) == bare(their_name));
                name.clone_from(their_name);
            }
            // Binutils 2.40 takes the name of the unit for that of another file now and then: with link-time
            // optimisation, and for lines that the source does not have.
            if their_file.ends_with("/<artificial>") || *their_file == clean(&source_path) && *line > length {
                assert_ne!(clean(&source_path).as_str() == file, *line > length, "{name} {file}:{line}");
                file.clone_from(their_file);
            }
        }
        if frames != theirs {
            differ.push(format!("{address:#x}\n  ours   {frames:?}\n  theirs {theirs:?}"));
        }
    }
    let shown = differ.iter().take(8).cloned().collect::<Vec<_>>().join("\n");
    assert!(differ.is_empty(), "{name} {flags:?}: {} of {} differ\n{shown}", differ.len(), returns.len());
    assert!(arguments * 4 <= compared, "{name} {flags:?}: arguments of {arguments} of {compared} names differ");
    assert!(compared >= least, "{name} {flags:?}: only {compared} calls with debug data");
    ours
}

#[test]
fn c() {
    for level in ["-O0", "-O2"] {
        check("heat.c", &["-g", level], 8);
        check("heat.c", &["-g", level, "-no-pie", "-fno-pie"], 8);
        check("heat.c", &["-g", level, "-shared", "-fPIC"], 8);
        check("heat.c", &["-gdwarf-4", level], 8);
        check("heat.c", &["-g", "-gz=zlib", level], 8);
        check("heat.c", &[level], 0);
    }
    check("heat.c", &["-g", "-O2", "-flto"], 8);
    check("heat.c", &["-g", "-O2", "-static"], 8);
}

#[test]
fn cpp() {
    for level in ["-O0", "-O2"] {
        check("shapes.cc", &["-g", level], 50);
        check("shapes.cc", &["-g", level, "-no-pie", "-fno-pie"], 50);
        check("shapes.cc", &["-g", level, "-shared", "-fPIC"], 50);
        check("shapes.cc", &["-gdwarf-4", level], 50);
        check("shapes.cc", &[level], 0);
    }
}

#[test]
fn fortran_programs() {
    for level in ["-O0", "-O2"] {
        check("waves.f90", &["-g", level], 15);
        check("waves.f90", &["-g", level, "-no-pie", "-fno-pie"], 15);
        check("waves.f90", &["-gdwarf-4", level], 15);
    }
}

#[test]
fn rust() {
    for level in ["opt-level=0", "opt-level=2"] {
        check("ring.rs", &["-g", "-C", level], 50);
    }
}

#[test]
fn declarations_are_those_of_the_source() {
    let declared = |answers: &[Answer], name: &str, file: &str, text: &str| {
        let found =
            answers.iter().find(|answer| answer.function.0 == name).unwrap_or_else(|| panic!("{name} is called"));
        let lines = std::fs::read_to_string(source(file)).unwrap();
        let line = lines.lines().position(|line| line.contains(text)).unwrap() as u32 + 1;
        assert!(found.function.1.ends_with(file) && found.function.2 == line, "{name}, {line}: {:?}", found.function);
    };
    let c = check("heat.c", &["-g", "-O2"], 8);
    declared(&c, "step", "heat.c", "void step(");
    declared(&c, "main", "heat.c", "int main(");
    // `flux` does not exist on its own: its call of `abort` is in `step`.
    let names = |answer: &Answer| answer.frames.iter().map(|frame| frame.0.clone()).collect::<Vec<_>>();
    assert!(c.iter().any(|answer| names(answer) == ["flux", "update", "step"]), "{c:#?}");
    let cpp = check("shapes.cc", &["-g", "-O0"], 50);
    declared(&cpp, "geometry::Box<int>::Box(int, int)", "shapes.cc", "Box(Number width");
    declared(&cpp, "plain", "shapes.cc", "int plain(");
    let fortran = check("waves.f90", &["-g", "-O0"], 15);
    declared(&fortran, "solver::energy", "waves.f90", "function energy(");
    declared(&fortran, "report", "waves.f90", "subroutine report(");
    declared(&fortran, "shorten", "waves.f90", "function shorten(");
    declared(&fortran, "waves", "waves.f90", "program waves");
    let rust = check("ring.rs", &["-g", "-C", "opt-level=0"], 50);
    declared(&rust, "ring::main", "ring.rs", "fn main(");
}
