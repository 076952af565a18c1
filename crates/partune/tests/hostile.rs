//! Archives whose files are not what they should be, or that ask for more than they hold: pipes, holes, huge claims.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;

use partune_otf2::codec::definition::{
    CallingContext, ClockProperties, Comm, Definition, Group, Location, LocationGroup, Region, SourceCodeLocation,
    SystemTreeNode, Text,
};
use partune_otf2::codec::view::Array;
use partune_otf2::codec::{Anchor, DefinitionWriter, Event, EventWriter};
use partune_testkit::outside;
use serde_json::{Value, json};

use crate::archives::workspace;

fn partune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_partune")).args(args).output().expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A copy of an archive of the examples.
fn copy(to: &Path) -> PathBuf {
    let from = workspace().join("examples/archives/ring");
    std::fs::create_dir_all(to.join("traces")).expect("a folder is made");
    for folder in ["", "traces"] {
        for file in std::fs::read_dir(from.join(folder)).expect("the archive is there").flatten() {
            if file.path().is_file() {
                std::fs::copy(file.path(), to.join(folder).join(file.file_name())).expect("a file is copied");
            }
        }
    }
    to.to_owned()
}

fn analyze(archive: &Path) -> Value {
    let output = partune(&["analyze", "--json", &archive.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

#[test]
fn a_pipe_in_place_of_a_file_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let whole = analyze(&copy(&folder.path().join("whole")));
    for name in ["traces.otf2", "traces.def", "traces/0.def", "traces/0.evt"] {
        let archive = copy(&folder.path().join(name.replace('/', "-")));
        let pipe = archive.join(name);
        // A local definition file need not be there.
        let _ = std::fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        if name.starts_with("traces.") {
            let anchor = archive.join("traces.otf2").display().to_string();
            let to = folder.path().join("copy").display().to_string();
            for args in [&["analyze", &anchor][..], &["convert", &anchor, &to], &["compare", &anchor, &anchor]] {
                let output = partune(args);
                assert_eq!(output.status.code(), Some(1), "{args:?}");
                assert!(text(&output.stderr).contains("it is a pipe and not a file"), "{}", text(&output.stderr));
            }
        } else {
            let document = analyze(&archive);
            assert!(document["quality"].to_string().contains("it is a pipe and not a file"), "{}", document["quality"]);
            let lost = whole["events"].as_u64() > document["events"].as_u64();
            assert_eq!(lost, name == "traces/0.evt", "{name}");
        }
    }
}

#[test]
fn a_hole_of_a_tebibyte_behind_the_events_changes_nothing() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let archive = copy(&folder.path().join("ring"));
    let whole = analyze(&archive);
    for name in ["traces/0.evt", "traces.def"] {
        let file = File::options().write(true).open(archive.join(name)).expect("it is there");
        file.set_len(1 << 40).expect("files may be sparse");
    }
    assert_eq!(analyze(&archive), whole);
}

#[test]
fn an_event_file_of_holes_is_refused_and_the_others_are_read() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let archive = copy(&folder.path().join("ring"));
    let whole = analyze(&archive);
    let file = File::options().write(true).open(archive.join("traces/0.evt")).expect("it is there");
    file.set_len(1 << 40).expect("files may be sparse");
    std::os::unix::fs::FileExt::write_all_at(&file, b"end", 1 << 40).expect("it is written");
    let document = analyze(&archive);
    assert!(document["quality"].to_string().contains("holes"), "{}", document["quality"]);
    assert!(document["events"].as_u64() < whole["events"].as_u64());
}

/// A process and a location for each of `pes`, and as many functions; then whatever `more` defines. Each PE has the events of `visits`: a
/// region and whether it is entered.
fn archive(
    folder: &Path,
    (pes, functions): (u64, u32),
    visits: &dyn Fn(u64) -> Vec<(u32, bool)>,
    more: &dyn Fn(&mut Definitions),
) -> String {
    std::fs::create_dir_all(folder.join("traces")).expect("a folder is made");
    let file = Rc::new(RefCell::new(Vec::new()));
    let chunks = Rc::clone(&file);
    let sink: Chunks = Box::new(move |chunk| chunks.borrow_mut().extend_from_slice(chunk));
    let mut to = Definitions { writer: DefinitionWriter::new(4 << 20, sink).expect("a chunk size"), strings: 0 };
    let clock = ClockProperties {
        timer_resolution: 1_000_000_000,
        global_offset: 0,
        trace_length: 1 << 40,
        realtime_timestamp: None,
    };
    to.put(clock);
    let (name, later) = (to.text("node"), Some(u32::MAX));
    to.put(SystemTreeNode { id: 0, name, class_name: name, parent: u32::MAX });
    for pe in 0..pes {
        let (id, name) = (pe as u32, to.text(&format!("Rank {pe}")));
        to.put(LocationGroup {
            id,
            name,
            location_group_type: 1,
            system_tree_parent: 0,
            creating_location_group: later,
        });
        to.put(Location { id: pe, name, location_type: 1, number_of_events: 0, location_group: id });
    }
    for id in 0..functions {
        let name = to.text(&format!("function {id}"));
        to.put(Region {
            id,
            name,
            description: name,
            region_type: 0,
            source_file: u32::MAX,
            begin_line_number: 0,
            end_line_number: 0,
            canonical_name: Some(name),
            region_role: Some(0),
            paradigm: Some(0),
            region_flags: Some(0),
        });
    }
    more(&mut to);
    let global_definitions = to.writer.finish();
    std::fs::write(folder.join("traces.def"), &*file.borrow()).expect("definitions are written");
    let anchor = Anchor { locations: pes, global_definitions, ..Anchor::default() };
    std::fs::write(folder.join("traces.otf2"), anchor.write()).expect("the anchor is written");
    for pe in 0..pes {
        let mut bytes = Vec::new();
        let mut events =
            EventWriter::new(1 << 20, |chunk: &[u8]| bytes.extend_from_slice(chunk)).expect("a chunk size");
        for (time, (region, enters)) in (1..).zip(visits(pe)) {
            let event = if enters { Event::Enter { region } } else { Event::Leave { region } };
            events.write(time, &event).expect("it fits");
        }
        events.finish();
        std::fs::write(folder.join(format!("traces/{pe}.evt")), bytes).expect("events are written");
    }
    folder.display().to_string()
}

type Chunks = Box<dyn FnMut(&[u8])>;

struct Definitions {
    writer: DefinitionWriter<Chunks>,
    strings: u32,
}

impl Definitions {
    fn put<'a>(&mut self, definition: impl Into<Definition<'a>>) {
        self.writer.write(definition).expect("it fits");
    }

    fn text(&mut self, text: &str) -> u32 {
        let id = self.strings;
        self.put(Text { id, string: text.as_bytes() });
        self.strings += 1;
        id
    }
}

/// All functions, each in the one before.
fn nested(functions: u32) -> Vec<(u32, bool)> {
    (0..functions).map(|it| (it, true)).chain((0..functions).rev().map(|it| (it, false))).collect()
}

/// Runs a command within so much address space, in MiB: what does not fit is a failure. The bytes that it printed.
#[track_caller]
fn bounded(mib: u64, args: &[&str]) -> Vec<u8> {
    let limited = format!("ulimit -v {}; exec \"$0\" \"$@\"", mib << 10);
    // Each thread reserves address space of its own.
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_partune")]).args(args);
    let output = command.env("RAYON_NUM_THREADS", "2").env("MALLOC_ARENA_MAX", "2").output().expect("the binary runs");
    assert!(output.status.success(), "{args:?}: {}: {}", output.status, text(&output.stderr));
    output.stdout
}

#[test]
fn what_is_printed_grows_with_rows_and_not_with_rows_times_depth() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let of = |depth: u32| archive(&folder.path().join(depth.to_string()), (1, depth), &|_| nested(depth), &|_| ());
    let (short, long) = (of(2000), of(20_000));
    // Tables have at most 1,000 rows, so ten times the depth is as long.
    let printed = |archive: &str| bounded(1024, &["analyze", "--full", "--json", archive]).len();
    let (of_short, of_long) = (printed(&short), printed(&long));
    assert!(of_long < of_short * 3 / 2 && of_long < 8 << 20, "{of_short}, {of_long} bytes");
    // Compared, each place has a row: ten times as many.
    let compared = |archive: &str| bounded(1024, &["compare", "--json", archive, archive]).len();
    let (of_short, of_long) = (compared(&short), compared(&long));
    assert!(of_long < of_short * 12, "{of_short}, {of_long} bytes");
    let page = folder.path().join("page.html").display().to_string();
    bounded(1024, &["report", &long, "-o", &page]);
    assert!(std::fs::metadata(page).expect("a page").len() < 8 << 20);
}

#[test]
fn a_deep_call_path_is_shown_by_its_innermost_names() {
    let folder = tempfile::tempdir().expect("there is room for files");
    for (depth, first) in [(128, "function 0"), (129, "… 1 more"), (1000, "… 872 more")] {
        let archive = archive(&folder.path().join(depth.to_string()), (1, depth), &|_| nested(depth), &|_| ());
        let output = partune(&["analyze", "--full", "--json", &archive]);
        let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
        let rows = document["callpaths"].as_array().expect("a table");
        let innermost = format!("function {}", depth - 1);
        let path = rows
            .iter()
            .filter_map(|row| row["callpath"].as_array())
            .find(|path| path.last() == Some(&json!(innermost)));
        let path = path.expect("the innermost function has a row");
        let elided = usize::from(depth > 128);
        assert_eq!((path[0].as_str(), path.len()), (Some(first), 128 + elided), "{depth}");
        assert_eq!(path[elided], json!(format!("function {}", depth - 128)), "{depth}");
    }
}

#[test]
fn members_of_a_group_are_kept_once_for_all_its_communicators() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let communicators = |to: &mut Definitions| {
        const MPI: u8 = 4;
        let members: Vec<u64> = vec![0; 100_000];
        let name = to.text("MPI");
        for (id, kind) in [(0, 4), (1, 5)] {
            to.put(Group {
                id,
                name,
                group_type_pre12: 0,
                members: Array::new(&members),
                group_type: Some(kind),
                paradigm: Some(MPI),
                group_flags: Some(0),
            });
        }
        for id in 0..20_000 {
            to.put(Comm { id, name, group: 1, parent: u32::MAX, flags: Some(0) });
        }
    };
    let archive = archive(&folder.path().join("run"), (2, 1), &|_| nested(1), &communicators);
    // Not shared, they were 8 GB.
    bounded(1024, &["analyze", "--full", "--json", &archive]);
    bounded(1024, &["report", &archive, "-o", &folder.path().join("page.html").display().to_string()]);
}

#[test]
fn no_memory_is_locations_times_call_paths() {
    let folder = tempfile::tempdir().expect("there is room for files");
    // Each location is in functions of its own: 6,000 × 24,000 times of eight bytes were more than a gigabyte.
    let own = |pe: u64| nested(4).into_iter().map(|(it, enters)| (it + 4 * pe as u32, enters)).collect();
    let archive = archive(&folder.path().join("run"), (6000, 24_000), &own, &|_| ());
    bounded(1024, &["analyze", "--full", &archive]);
}

#[test]
fn thumbnails_that_are_not_there_cost_nothing_and_are_told() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let whole = copy(&folder.path().join("ring"));
    let mut anchor = Anchor::read(&std::fs::read(whole.join("traces.otf2")).expect("an anchor")).expect("an anchor");
    anchor.thumbnails = u32::MAX;
    std::fs::write(whole.join("traces.otf2"), anchor.write()).expect("the anchor is written");
    let to = folder.path().join("copy");
    let output = partune(&["convert", &whole.display().to_string(), &to.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("thumbnails are missing (4294967295 times)"), "{}", text(&output.stdout));
    let copied = Anchor::read(&std::fs::read(to.join("traces.otf2")).expect("an anchor")).expect("an anchor");
    assert_eq!(copied.thumbnails, 0);
}

#[test]
fn an_archive_of_which_nothing_can_be_read_is_not_converted() {
    let folder = tempfile::tempdir().expect("there is room for files");
    for name in ["traces.def", "traces/*.evt"] {
        let archive = copy(&folder.path().join(name.replace(['/', '*'], "-")));
        let (anchor, to) = (archive.join("traces.otf2").display().to_string(), folder.path().join("to"));
        for rank in 0..4 {
            let path = archive.join(name.replace('*', &rank.to_string()));
            std::fs::write(path, b"these are no records").expect("a file is written");
        }
        let output = partune(&["convert", &anchor, &to.display().to_string()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        let said = text(&output.stderr);
        assert!(said.contains("nothing in it could be read") && said.contains("is damaged, first at byte 0"), "{said}");
        assert!(output.stdout.is_empty() && !to.join("traces.otf2").exists());
        assert_eq!(partune(&["analyze", &anchor]).status.code(), Some(1));
    }
    // Of which some can be read, that is copied, and what was lost is told.
    let archive = copy(&folder.path().join("some"));
    std::fs::write(archive.join("traces/0.evt"), b"these are no records").expect("a file is written");
    let (archive, to) = (archive.display().to_string(), folder.path().join("copied").display().to_string());
    let output = partune(&["convert", &archive, &to]);
    assert!(output.status.success() && text(&output.stdout).contains("is damaged"), "{}", text(&output.stdout));
}

#[test]
fn times_beyond_all_clocks_are_told() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let make = |name: &str, last: u64| {
        let whole = archive(&folder.path().join(name), (1, 1), &|_| nested(1), &|_| ());
        let mut bytes = Vec::new();
        let mut events =
            EventWriter::new(1 << 20, |chunk: &[u8]| bytes.extend_from_slice(chunk)).expect("a chunk size");
        events.write(1, &Event::Enter { region: 0 }).expect("it fits");
        events.write(last, &Event::Leave { region: 0 }).expect("it fits");
        events.finish();
        std::fs::write(Path::new(&whole).join("traces/0.evt"), bytes).expect("events are written");
        analyze(Path::new(&whole))["quality"].to_string()
    };
    assert!(!make("near", (1 << 61) - 1).contains("2^61"));
    let told = make("far", (1 << 61) + 5);
    assert!(told.contains("more than 2^61 ticks from the begin of the trace"), "{told}");
}

#[test]
fn a_copy_does_not_crash_the_tools_of_otf2() {
    let Ok(_) = Command::new("otf2-print").arg("--version").output() else {
        return outside::missing("otf2-print");
    };
    let folder = tempfile::tempdir().expect("there is room for files");
    // Nodes of the machine without a name, with one that nobody defines, and with one that is defined behind them.
    let strange = |to: &mut Definitions| {
        for (id, name) in [(1, u32::MAX), (2, 70_000), (3, 50_000)] {
            to.put(SystemTreeNode { id, name, class_name: name, parent: 0 });
        }
        to.put(Text { id: 50_000, string: b"late" });
        // A call from a place in a file that nobody defines.
        to.put(SourceCodeLocation { id: 0, file: 80_000, line_number: 7 });
        to.put(CallingContext { id: 0, region: 0, source_code_location: 0, parent: u32::MAX });
    };
    let archive = archive(&folder.path().join("run"), (1, 1), &|_| nested(1), &strange);
    let to = folder.path().join("copy").display().to_string();
    let output = partune(&["convert", &archive, &to]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("the copy calls them (undefined) (3 times)"), "{}", text(&output.stdout));
    let print = |archive: &str| {
        let anchor = Path::new(archive).join("traces.otf2");
        Command::new("otf2-print").arg("-G").arg(anchor).output().expect("it starts")
    };
    // Which is what the copy is for: of the original it crashes.
    assert_eq!(print(&archive).status.code(), None);
    let printed = print(&to);
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    let nodes = text(&printed.stdout);
    assert!(nodes.contains("(undefined)") && nodes.matches("\"late\"").count() >= 2, "{nodes}");
}
