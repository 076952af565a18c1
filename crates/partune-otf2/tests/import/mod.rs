//! Real archives become traces: nothing is lost on the way, and how the work is split changes nothing.

mod contexts;
mod exported;
mod files;
mod lasting;
mod packed;
mod programs;
mod samples;
mod slices;
mod statistics;
mod tasks;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use partune_import::{Bytes, Contents, Files};
use partune_otf2::import::{import, import_in_runs};
use partune_trace::{Role, Trace};

use crate::codec::archives::archives;

struct Folder(PathBuf);

impl Files for Folder {
    fn open(&self, name: &str) -> std::io::Result<Bytes> {
        Ok(Arc::new(std::fs::read(self.0.join(name))?))
    }
}

fn open(anchor: &Path, run_bytes: Option<usize>) -> Trace {
    let name = anchor.file_name().expect("an anchor is a file").to_string_lossy().into_owned();
    import_in_runs(&Folder(anchor.parent().expect("it has a folder").to_owned()), &name, run_bytes, &|_, _| {})
        .expect("it opens")
}

/// The archive that a script of the Python bindings writes; none where they are not installed.
fn python(script: &str, folder: &Path) -> Option<Trace> {
    let folder = folder.join("python");
    let output = Command::new("/usr/bin/python3").arg("-c").arg(script).arg(&folder).output().ok()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(std::env::var_os("CI").is_none() && said.contains("No module named"), "{said}");
        return None;
    }
    Some(open(&folder.join("traces.otf2"), None))
}

/// Number of events that `otf2-print` lists.
fn printed_events(anchor: &Path) -> u64 {
    let output = Command::new("otf2-print").arg(anchor).output().expect("otf2-print is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let is_event = |line: &&str| {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or("");
        let numbers = words.take(2).filter(|word| word.bytes().all(|byte| byte.is_ascii_digit())).count();
        !line.starts_with(' ')
            && numbers == 2
            && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    text.lines().filter(is_event).count() as u64
}

#[test]
fn every_event_that_otf2_print_lists_is_counted() {
    for archive in archives() {
        let trace = open(&archive.path, None);
        let printed = printed_events(&archive.path);
        assert_eq!(trace.events(), printed, "{}", archive.name);
    }
}

#[test]
fn the_trace_does_not_depend_on_how_the_file_was_cut_into_runs() {
    for archive in archives() {
        let whole = open(&archive.path, Some(usize::MAX));
        let cut = open(&archive.path, Some(1));
        assert_eq!(whole.streams(), cut.streams(), "{}", archive.name);
        assert_eq!(whole.paths(), cut.paths(), "{}", archive.name);
    }
}

#[test]
fn visits_nest() {
    for archive in archives() {
        let trace = open(&archive.path, Some(1));
        for stream in trace.streams() {
            let mut open_until = Vec::new();
            for visit in stream.visits.iter() {
                while open_until.last().is_some_and(|exit| *exit <= visit.enter) && !open_until.is_empty() {
                    open_until.pop();
                }
                assert!(visit.enter <= visit.exit, "{}", archive.name);
                open_until.push(visit.exit);
            }
        }
    }
}

#[test]
fn operations_have_the_right_roles() {
    let role_count = |name: &str, role: Role| -> Option<usize> {
        let archive =
            archives().iter().find(|archive| archive.path.components().any(|part| part.as_os_str() == name))?;
        let trace = open(&archive.path, None);
        let of_pe =
            |pe| trace.streams()[pe].operations.iter().filter(|visit| trace.role_of(pe, **visit) == role).count();
        Some(trace.pes().ids().map(of_pe).sum())
    };
    if archives().is_empty() {
        return;
    }
    assert_eq!(role_count("scorep84-ats-barrier-4", Role::GroupSync), Some(20));
    assert_eq!(role_count("eztrace-ats-late_sender-4", Role::Recv), Some(10));
    assert!(role_count("scorep84-prk-shmem-p2p-4", Role::WaitOnValue) > Some(0));
    assert!(role_count("scorep84-prk-shmem-p2p-4", Role::Put) > Some(0));
    assert!(role_count("scorep84-npb-omp-cg.S-4t", Role::GroupSync) > Some(0));
}

/// Contexts are no processes and no nodes, kernels are user code whatever role their producer gives them, copies have visits.
#[test]
fn devices_belong_to_processes() {
    let find = |name: &str| archives().iter().find(|it| it.path.components().any(|part| part.as_os_str() == name));
    let visits = |trace: &Trace, name: &str| {
        let is_it = |pe, visit: &partune_trace::VisitIx| trace.strings().get(trace.region_of(pe, *visit).name) == name;
        let of_pe = |pe: partune_base::PeId| {
            let stream = &trace.streams()[pe];
            (0..stream.visits.len() as u32).filter(|at| is_it(pe, &partune_trace::VisitIx(*at))).count()
        };
        trace.pes().ids().map(of_pe).collect::<Vec<_>>()
    };
    let role = |trace: &Trace, name: &str| {
        trace.regions().iter().find(|region| trace.strings().get(region.name) == name).map(|region| region.role)
    };
    if let Some(archive) = find("fastotf2-mi300") {
        let trace = open(&archive.path, None);
        assert_eq!(
            (trace.processes().len(), trace.cpu_pes().count(), trace.device_pes().count(), trace.devices()),
            (1, 1, 2, 2)
        );
        assert_eq!(trace.strings().get(trace.processes()[partune_base::ProcessId(0)].node), "faraday.ftpn.ornl.gov");
        assert_eq!(role(&trace, "heavy_kernel"), Some(Role::User));
        assert_eq!(role(&trace, "hipEventSynchronize"), Some(Role::DeviceWait));
        // The host's thread, then streams, then sources of metrics.
        assert_eq!(visits(&trace, "heavy_kernel")[..3], [0, 1, 0]);
    }
    if let Some(archive) = find("casita-2_cuda_simple") {
        for run_bytes in [None, Some(1)] {
            let trace = open(&archive.path, run_bytes);
            assert_eq!(
                (trace.processes().len(), trace.cpu_pes().count(), trace.device_pes().count(), trace.devices()),
                (2, 4, 2, 2)
            );
            assert_eq!(visits(&trace, "copy to the device"), [0, 0, 22, 0, 0, 22]);
            assert_eq!(visits(&trace, "copy from the device"), [0, 0, 21, 0, 0, 21]);
            for stream in trace.device_pes().map(|pe| &trace.streams()[pe]) {
                let inside = stream.transfers.iter().zip(&stream.completions).all(|(start, end)| {
                    stream.visits.get(start.visit).is_some_and(|it| (it.enter, it.exit) == (start.time, end.time))
                });
                assert!(inside && stream.operations.len() == 43);
            }
        }
    }
}

#[test]
fn what_is_no_archive_is_refused_with_a_remedy() {
    let files = std::collections::BTreeMap::from([("a.otf2".to_owned(), b"hello".to_vec())]);
    let error = import(&files, "a.otf2", &|_, _| {}).expect_err("it is not an archive").to_string();
    assert!(error.contains("remedy"), "{error}");
    assert!(import(&files, "b.otf2", &|_, _| {}).expect_err("it is not there").to_string().contains("b.otf2"));
}

/// An archive whose event files become shorter, or fail, once they are open.
struct Failing {
    folder: Folder,
    /// Bytes that can be read.
    until: u64,
    /// What comes then: an error, or the end.
    error: Option<std::io::ErrorKind>,
}

struct FailingFile {
    whole: Bytes,
    until: u64,
    error: Option<std::io::ErrorKind>,
}

impl Files for Failing {
    fn open(&self, name: &str) -> std::io::Result<Bytes> {
        let whole = self.folder.open(name)?;
        let is_events = Path::new(name).extension().is_some_and(|it| it == "evt");
        Ok(if is_events { Arc::new(FailingFile { whole, until: self.until, error: self.error }) } else { whole })
    }
}

impl Contents for FailingFile {
    fn size(&self) -> u64 {
        self.whole.size()
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> std::io::Result<usize> {
        let room = self.until.saturating_sub(at).min(into.len() as u64) as usize;
        match self.error {
            Some(kind) if room == 0 => Err(kind.into()),
            _ => self.whole.read_at(at, &mut into[..room]),
        }
    }
}

#[test]
fn a_file_that_shrinks_or_fails_while_it_is_read_is_told_and_costs_only_what_is_lost() {
    for archive in
        archives().iter().filter(|it| ["scorep84-npb-bt.S-4", "scorep84-npb-lu.S-4"].contains(&it.name.as_str()))
    {
        let folder = || Folder(archive.path.parent().expect("it has a folder").to_owned());
        let name = archive.path.file_name().expect("an anchor is a file").to_string_lossy().into_owned();
        let read = |until, error, run_bytes| {
            let files = Failing { folder: folder(), until, error };
            import_in_runs(&files, &name, run_bytes, &|_, _| {}).expect("it opens")
        };
        let told = |trace: &Trace| -> Vec<String> {
            trace.quality().entries().iter().map(|entry| entry.message.clone()).collect()
        };
        let whole = open(&archive.path, None);
        let same = read(u64::MAX, Some(std::io::ErrorKind::StaleNetworkFileHandle), None);
        assert_eq!((same.streams(), told(&same)), (whole.streams(), told(&whole)), "{}", archive.name);
        for run_bytes in [None, Some(1)] {
            // All that is after byte 1,000 has gone.
            let shorter = read(1000, None, run_bytes);
            assert!(0 < shorter.events() && shorter.events() < whole.events(), "{}", archive.name);
            assert!(told(&shorter).iter().any(|it| it.contains("without an end mark")), "{:?}", told(&shorter));
            let failed = read(1000, Some(std::io::ErrorKind::StaleNetworkFileHandle), run_bytes);
            assert!(failed.events() < whole.events(), "{}", archive.name);
            let what = "event files cannot be read to their end: stale network file handle";
            assert!(told(&failed).iter().any(|it| it == what), "{:?}", told(&failed));
            assert!(!told(&whole).iter().any(|it| it == what));
        }
    }
}
