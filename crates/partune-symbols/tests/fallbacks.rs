//! Without debug data: debug files, symbol tables, and nothing at all.

use std::process::Command;

use partune_symbols::{Address, Error, Module, NoFiles, Origin, Storage};

use crate::programs::{Program, run, source};
use crate::{Answer, answers, answers_with};

fn names(answers: &[Answer]) -> Vec<&str> {
    answers.iter().map(|answer| answer.frames[0].0.as_str()).collect()
}

fn returns(program: &Program) -> Vec<Address> {
    program.return_addresses().into_iter().map(Address::Return).collect()
}

/// A program with its debug data in `program.debug`, linked as `how` says.
fn split(flags: &[&str], compress: &[&str]) -> (Program, Vec<Answer>, Vec<u8>) {
    let program = Program::compile("heat.c", flags);
    let whole = answers(&program.path, &program.bytes, &returns(&program));
    let debug = program.beside("program.debug");
    run(Command::new("objcopy").arg("--only-keep-debug").args(compress).args([&program.path, &debug]));
    let link = format!("--add-gnu-debuglink={debug}");
    let program = program.then("objcopy", &["--strip-all", &link]);
    let bytes = std::fs::read(&debug).unwrap();
    (program, whole, bytes)
}

#[test]
fn a_debug_file_is_as_good_as_debug_data() {
    for (build_id, compress) in [("-Wl,--build-id", ""), ("-Wl,--build-id=none", "--compress-debug-sections=zlib")] {
        let compress: Vec<_> = Some(compress).filter(|flag| !flag.is_empty()).into_iter().collect();
        let (program, whole, debug) = split(&["-g", "-O2", build_id], &compress);
        let storage = Storage::new();
        let open = |path: &str| path.ends_with("/program.debug").then_some(&*debug);
        let found = answers_with(&program.path, &program.bytes, &returns(&program), &open, &storage);
        assert_eq!(found, whole);
        // By its build id alone.
        if compress.is_empty() {
            let by_id = |path: &str| path.starts_with("/usr/lib/debug/.build-id/").then_some(&*debug);
            assert_eq!(answers_with(&program.path, &program.bytes, &returns(&program), &by_id, &storage), whole);
        }
        // The debug file of another build is not believed.
        let (_, _, other) = split(&["-g", "-O1", build_id], &[]);
        let wrong = |_: &str| Some(&*other);
        let without = answers_with(&program.path, &program.bytes, &returns(&program), &wrong, &storage);
        assert!(without.iter().all(|answer| answer.origin > Origin::Symbols));
    }
}

#[test]
fn symbols_name_what_debug_data_do_not() {
    let program = Program::compile("heat.c", &["-O0"]);
    let found = answers(&program.path, &program.bytes, &returns(&program));
    assert!(found.iter().all(|answer| answer.origin == Origin::Symbols && answer.function.2 == 0));
    for name in ["main", "step", "depth", "flux"] {
        assert!(names(&found).contains(&name), "{name}");
    }
}

#[test]
fn stripped_libraries_still_name_what_they_export() {
    let library = Program::compile("heat.c", &["-O2", "-shared", "-fPIC"]);
    let symbols = run(Command::new("nm").args(["--defined-only", &library.path]));
    let begin = |name: &str| {
        let line = symbols.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    // `step` is static: nobody knows it, and nobody claims it is what stands before it.
    let (main, step, depth) = (begin("main"), begin("step"), begin("depth"));
    let (before, name) = if depth < step { (depth, "depth") } else { (main, "main") };
    assert!(before < step);
    let expected = format!("~{name}+{:#x}", step - before);
    let library = library.then("strip", &[]);
    let found = answers(&library.path, &library.bytes, &returns(&library));
    let of = |origin| found.iter().filter(|answer| answer.origin == origin).collect::<Vec<_>>();
    assert!(of(Origin::DynamicSymbols).iter().any(|answer| answer.frames[0].0 == "depth"));
    assert!(of(Origin::Nothing).iter().any(|answer| answer.frames[0].0 == expected), "{expected}: {found:?}");
    // What is in another section of code is not after it.
    let init = answers(&library.path, &library.bytes, &[Address::Exact(begin("_init"))]);
    assert_eq!(names(&init), [format!("program+{:#x}", begin("_init"))]);
}

#[test]
fn a_function_far_behind_is_not_named_after_one() {
    let far = Program::compile("far.c", &["-O0", "-shared", "-fPIC"]);
    let symbols = run(Command::new("nm").args(["--defined-only", &far.path]));
    let begin = |name: &str| {
        let line = symbols.lines().find(|line| line.ends_with(&format!(" {name}"))).unwrap();
        u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
    };
    let (first, near, far_away) = (begin("first"), begin("near"), begin("far_away"));
    let far = far.then("strip", &[]);
    let found = answers(&far.path, &far.bytes, &[near, far_away].map(Address::Exact));
    assert_eq!(names(&found), [format!("~first+{:#x}", near - first), format!("program+{far_away:#x}")]);
}

/// The stubs of a program as `objdump` names them: their begins, and what they call.
fn stubs(program: &Program) -> Vec<(u64, String)> {
    let listing = run(Command::new("objdump").args(["-d", &program.path]));
    let heads = listing.lines().filter_map(|line| line.strip_suffix("@plt>:")?.split_once(" <"));
    // One that points to what has no name, as the one that calls the loader, is `*ABS*+0x1234@plt`, or named after what stands before it.
    let heads = heads.filter(|(_, name)| !name.contains(['*', '+', '-']));
    heads.map(|(start, name)| (u64::from_str_radix(start, 16).unwrap(), format!("{name}@plt"))).collect()
}

#[test]
fn stubs_are_named_after_what_they_call() {
    for flags in [
        &["-O2"][..],
        &["-O2", "-fcf-protection=none", "-Wl,-z,lazy"],
        &["-O2", "-fcf-protection", "-Wl,-z,lazy"],
        &["-O2", "-fcf-protection", "-Wl,-z,now", "-no-pie"],
        &["-g", "-O0", "-shared", "-fPIC"],
    ] {
        let program = Program::compile("heat.c", flags).then("strip", &["--strip-unneeded"]);
        let known = stubs(&program);
        let (starts, expected): (Vec<u64>, Vec<_>) = known.into_iter().unzip();
        for name in ["sin@plt", "qsort@plt", "rand@plt"] {
            assert!(expected.iter().any(|it| it == name), "{flags:?}: {name} of {expected:?}");
        }
        // Anywhere in a stub, whether it runs or has called the loader.
        for inside in [0, 5] {
            let asked: Vec<_> = starts.iter().map(|start| Address::Exact(start + inside)).collect();
            let found = answers(&program.path, &program.bytes, &asked);
            assert_eq!(names(&found), expected, "{flags:?} {inside}");
            assert!(found.iter().all(|answer| answer.origin == Origin::DynamicSymbols));
        }
    }
}

#[test]
fn a_stub_of_another_file_s_symbol_is_readable() {
    let library = Program::compile("calls.cc", &["-O1", "-shared", "-fPIC"]);
    let calls = stubs(&library);
    let starts: Vec<_> = calls.iter().map(|(start, _)| Address::Exact(*start)).collect();
    let found = answers(&library.path, &library.bytes, &starts);
    assert!(names(&found).contains(&"mesh::smooth(double*, int)@plt"), "{calls:?} {found:?}");
}

#[test]
fn of_several_names_there_is_the_one_that_people_know() {
    const NAMES: [&str; 5] = ["peak", "rest", "wide", "_alone", "plain"];
    let script = format!("-Wl,--version-script={}", source("aliases.map"));
    let compile = || Program::compile("aliases.c", &["-O1", "-shared", "-fPIC", &script]);
    // From the dynamic symbols alone, and from all, whose versions are part of their names.
    for program in [compile().then("strip", &[]), compile()] {
        let listing = run(Command::new("nm").args(["-D", "--defined-only", &program.path]));
        let asked = NAMES.map(|name| {
            let is = |line: &&str| line.rsplit([' ', '@']).any(|it| it == name);
            let start = listing.lines().find(is).and_then(|line| line.split(' ').next()).unwrap();
            Address::Exact(u64::from_str_radix(start, 16).unwrap())
        });
        assert_eq!(names(&answers(&program.path, &program.bytes, &asked)), NAMES, "{listing}");
    }
}

/// The debug data of an assembler have its symbols, whichever they are.
#[test]
fn of_several_names_in_assembly_there_is_the_one_that_people_know() {
    let program = Program::compile("peak.S", &["-g", "-shared", "-nostdlib"]);
    let listing = run(Command::new("nm").args(["-D", "--defined-only", &program.path]));
    let start = listing.lines().find(|line| line.ends_with(" peak")).and_then(|line| line.split(' ').next()).unwrap();
    let start = u64::from_str_radix(start, 16).unwrap();
    let found = answers(&program.path, &program.bytes, &[Address::Exact(start)]);
    assert_eq!((names(&found), found[0].origin), (vec!["peak"], Origin::Debug));
    assert!(found[0].frames[0].1.ends_with("peak.S") && found[0].frames[0].2 == 14, "{found:?}");
}

#[test]
fn stripped_programs_give_module_and_begin_of_the_function() {
    let whole = Program::compile("heat.c", &["-O0", "-no-pie"]);
    let storage = Storage::new();
    let module = Module::parse(&whole.path, &whole.bytes, &NoFiles, &storage).expect("a module");
    // What the compiler adds has no unwind tables.
    let own = |address: &u64| {
        let functions = module.functions().iter().filter(|it| ["main", "step", "depth", "flux"].contains(&it.name));
        functions.into_iter().find(|it| (it.start..it.end).contains(&(address - 1))).map(|it| it.start)
    };
    let (asked, starts): (Vec<Address>, Vec<String>) = whole
        .return_addresses()
        .iter()
        .filter_map(|address| Some((Address::Return(*address), format!("program+{:#x}", own(address)?))))
        .unzip();
    assert!(asked.len() > 4);
    let program = Program::compile("heat.c", &["-O0", "-no-pie"]).then("strip", &[]);
    let found = answers(&program.path, &program.bytes, &asked);
    assert_eq!(names(&found), starts);
    assert!(found.iter().all(|answer| answer.origin == Origin::Nothing));
    // The header names where the program begins.
    let header = run(Command::new("readelf").args(["-h", &program.path]));
    let entry = header.lines().find_map(|line| line.trim().strip_prefix("Entry point address:")).unwrap().trim();
    let entry = u64::from_str_radix(entry.trim_start_matches("0x"), 16).unwrap();
    assert_eq!(names(&answers(&program.path, &program.bytes, &[Address::Return(entry + 9)])), ["_start"]);
    // Without unwind tables there is the address.
    let bare = program.then("objcopy", &["--remove-section=.eh_frame_hdr"]);
    let address = whole.return_addresses()[0];
    let found = answers(&bare.path, &bare.bytes, &[Address::Return(address), Address::Exact(address)]);
    assert_eq!(names(&found), [format!("program+{:#x}", address - 1), format!("program+{address:#x}")]);
}

#[test]
fn addresses_out_of_any_function_have_no_name() {
    let program = Program::compile("heat.c", &["-g", "-O0"]);
    let found =
        answers(&program.path, &program.bytes, &[Address::Exact(0), Address::Return(0), Address::Exact(u64::MAX)]);
    assert_eq!(names(&found), ["program+0x0", "program+0x0", "program+0xffffffffffffffff"]);
    assert!(answers(&program.path, &program.bytes, &[]).is_empty());
}

#[test]
fn answers_come_in_the_order_of_the_questions() {
    let program = Program::compile("heat.c", &["-g", "-O2"]);
    let mut asked = returns(&program);
    let mut forth = answers(&program.path, &program.bytes, &asked);
    asked.reverse();
    asked.push(asked[0]);
    let back = answers(&program.path, &program.bytes, &asked);
    forth.reverse();
    forth.push(forth[0].clone());
    assert_eq!(back, forth);
}

#[test]
fn functions_and_offsets_are_those_of_the_file() {
    let program = Program::compile("heat.c", &["-g", "-O0"]);
    let storage = Storage::new();
    let module = Module::parse(&program.path, &program.bytes, &NoFiles, &storage).unwrap();
    assert!(module.has_debug_data());
    let symbols = run(Command::new("nm").args(["-S", "--defined-only", &program.path]));
    let line = symbols.lines().find(|line| line.ends_with(" depth")).unwrap();
    let numbers: Vec<_> = line.split(' ').take(2).map(|hex| u64::from_str_radix(hex, 16).unwrap()).collect();
    let depth = module.functions().iter().find(|function| function.name == "depth").unwrap();
    assert_eq!((depth.start, depth.end), (numbers[0], numbers[0] + numbers[1]));
    // The text segment of a default link is loaded at its own offset.
    assert_eq!(module.address_of(depth.start), Some(depth.start));
    assert_eq!(module.address_of(u64::MAX), None);
}

#[test]
fn what_is_no_module_is_said() {
    let storage = Storage::new();
    let error = Module::parse("/tmp/notes.txt", b"notes", &NoFiles, &storage).err();
    assert!(matches!(error, Some(Error::NotElf { path, .. }) if path == "/tmp/notes.txt"));
}

/// With its flags, as `readelf` prints them; of a stripped program what the compiler leaves in each.
#[test]
fn what_a_program_was_compiled_with() {
    let compilers = |program: &Program| {
        let storage = Storage::new();
        Module::parse(&program.path, &program.bytes, &NoFiles, &storage).expect("it is a program").compilers()
    };
    let program = Program::compile("heat.c", &["-g", "-O2"]);
    let printed =
        Command::new("readelf").args(["--debug-dump=info", &program.path]).output().expect("readelf runs").stdout;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let found = compilers(&program);
    assert!(!found.is_empty());
    for compiler in found {
        assert!(compiler.contains(" -O2") && printed.contains(&compiler), "{compiler}");
    }
    let stripped = program.then("strip", &[]);
    let dumped =
        Command::new("readelf").args(["-p", ".comment", &stripped.path]).output().expect("readelf runs").stdout;
    let found = compilers(&stripped);
    assert!(matches!(&*found, [one] if String::from_utf8_lossy(&dumped).contains(one.as_str())), "{found:?}");
    assert_eq!(compilers(&stripped.then("objcopy", &["--remove-section=.comment"])), [""; 0]);
}
