//! What is written from a trace is that trace when it is read again, and an archive to the C library.

use std::io::{self, Write};

use partune_base::{CallPathId, Time};
use partune_otf2::copy::Sink;
use partune_otf2::export::export;
use partune_trace::{LockKind, Role, Stream, Trace};

use super::{open, printed_events};
use crate::codec::archives::archives;

/// An archive in a folder.
pub(super) struct To(pub(super) std::path::PathBuf);

impl Sink for To {
    fn create(&self, name: &str) -> io::Result<Box<dyn Write + std::marker::Send>> {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in the folder"))?;
        Ok(Box::new(std::fs::File::create(path)?))
    }
}

/// Functions from the innermost one on.
fn names(trace: &Trace, path: CallPathId) -> Vec<String> {
    let name = |path| trace.strings().get(trace.regions()[trace.paths().region(path)].name).to_owned();
    trace.paths().ancestors(path).map(name).collect()
}

/// The stream with what an archive cannot hold taken out: addresses, attempts to get locks and their numbers, values in other units.
fn comparable(stream: &Stream, zero: Time) -> Stream {
    let mut stream = stream.clone();
    stream.events = 0;
    stream.visits.path.clear();
    stream.map_times(|time| Time(time.0 - zero.0));
    stream.transfers.iter_mut().for_each(|row| row.address = None);
    stream.locks.retain(|row| [LockKind::Acquired, LockKind::Released].contains(&row.kind));
    stream.locks.iter_mut().for_each(|row| (row.lock, row.shared) = (0, false));
    stream.metrics.iter_mut().for_each(|row| row.value = 0.0);
    stream
}

/// Where the texts of two streams begin to differ.
fn difference(before: &Stream, after: &Stream) -> String {
    let (before, after) = (format!("{before:?}"), format!("{after:?}"));
    let same = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let near = |text: &str| text.chars().skip(same.saturating_sub(200)).take(400).collect::<String>();
    format!("\n{}\n{}", near(&before), near(&after))
}

/// What `otf2-print` has to say against an archive.
fn complaints(anchor: &std::path::Path) -> String {
    let output = std::process::Command::new("otf2-print").arg(anchor).output().expect("otf2-print is installed");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_is_written_is_read_again() {
    for archive in archives() {
        let name = &archive.name;
        let trace = open(&archive.path, None).with_command("mpirun -n 4 './an app'");
        if trace.profile().is_some() || trace.pes().is_empty() {
            continue;
        }
        let folder = tempfile::tempdir().expect("there is room");
        let written = export(&trace, &To(folder.path().to_owned()), "new.otf2").expect("it is written");
        let anchor = folder.path().join("new.otf2");
        let again = open(&anchor, None);
        assert_eq!(again.command(), Some("mpirun -n 4 './an app'"), "{name}");
        assert_eq!(again.provenance().began, trace.provenance().began, "{name}");
        assert_eq!((written.events, written.locations as usize), (again.events(), trace.pes().len()), "{name}");
        assert_eq!(printed_events(&anchor), again.events(), "{name}: the C library reads what we do");
        assert_eq!(complaints(&anchor), "", "{name}");
        assert_eq!(again.begin() == again.end(), trace.begin() == trace.end(), "{name}");
        let zero = trace.begin().min(Time::ZERO);
        for pe in trace.pes().ids() {
            let (before, after) = (&trace.streams()[pe], &again.streams()[pe]);
            for (visit, (a, b)) in before.visits.path.iter().zip(&after.visits.path).enumerate() {
                assert_eq!(names(&trace, *a), names(&again, *b), "{name}: visit {visit} of {pe:?}");
            }
            let (before, after) = (comparable(before, zero), comparable(after, Time::ZERO));
            assert_eq!(before.visits, after.visits, "{name}: visits of {pe:?}");
            assert_eq!(before.operations, after.operations, "{name}: operations of {pe:?}");
            assert!(before == after, "{name}: facts of {pe:?}: {}", difference(&before, &after));
        }
        for (group, row) in trace.groups().iter_ids() {
            let other = &again.groups()[group];
            assert_eq!((row.kind, &row.members), (other.kind, &other.members), "{name}: {group:?}");
        }
        for (region, row) in trace.regions().iter_ids() {
            let other = &again.regions()[region];
            // OTF2 has one role for accesses of which no name says what they are.
            let role = |role| if role == Role::Get { Role::Put } else { role };
            let text = trace.strings().get(row.name);
            assert_eq!(
                (role(row.role), row.kind, row.line),
                (role(other.role), other.kind, other.line),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn names_are_short_and_whole_and_constructs_one_by_any_binding() {
    let whole = "double app::Solver<3>::step<float>(std::vector<float, std::allocator<float> > const&, int) const";
    let text = format!(
        "pe 0: main 0..99 {{ \"{whole}\" 0..50 {{ mpi_sendrecv_ 0..9 MPI_SENDRECV 10..19 mpi_sendrecv_f08ts_ 20..29 MPI_Sendrecv 30..39 }} \
         phase \"step (fine)\" 50..60 }}"
    );
    let trace = partune_testkit::trace(&text);
    let folder = tempfile::tempdir().expect("there is room");
    export(&trace, &To(folder.path().to_owned()), "new.otf2").expect("it is written");
    let again = open(&folder.path().join("new.otf2"), None);
    for trace in [&trace, &again] {
        let text = |id| trace.strings().get(id);
        let region = |name: &str| trace.regions().iter().find(|it| text(it.name) == name);
        let step = region("app::Solver<…>::step<…>").expect("it is short");
        assert_eq!([text(step.whole), text(step.construct)], [whole, "app::Solver<…>::step<…>"]);
        assert!(region("step (fine)").is_some(), "what a user wrote stays");
    }
    let sendrecv = again.regions().iter().filter(|it| again.strings().get(it.construct) == "MPI_Sendrecv");
    let names: Vec<&str> = sendrecv.map(|it| again.strings().get(it.name)).collect();
    assert_eq!(names, ["MPI_Sendrecv"]);
}

/// A name that only its paradigm makes a construct, of a paradigm that OTF2 has no number for.
#[test]
fn a_paradigm_without_a_number_is_told_by_name() {
    let mut builder = partune_testkit::builder("pe 0: main 0..9 { _gfortran_caf_send 1..2 put 3..4 }");
    for region in builder.regions.iter_mut().filter(|region| region.role == Role::Put) {
        (region.name, region.whole) = (region.construct, region.construct);
    }
    let trace = builder.seal();
    let folder = tempfile::tempdir().expect("there is room");
    export(&trace, &To(folder.path().to_owned()), "new.otf2").expect("it is written");
    let again = open(&folder.path().join("new.otf2"), None);
    let rows = |trace: &Trace| -> Vec<(String, String, Role)> {
        let text = |id| trace.strings().get(id).to_owned();
        let paradigm = |region: &partune_trace::Region| region.paradigm.some().map_or_else(String::new, text);
        let regions = trace.regions().iter().filter(|region| text(region.name) == "put");
        regions.map(|region| (text(region.construct), paradigm(region), region.role)).collect()
    };
    let both = [("put".to_owned(), "CAF".to_owned(), Role::Put), ("put".to_owned(), String::new(), Role::User)];
    assert_eq!([rows(&trace), rows(&again)], [both.to_vec(), both.to_vec()], "the user's function is none");
}
