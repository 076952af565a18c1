//! Real archives: every region of a programming model is recognised with a role that fits what its producer says, no other is.
//!
//! `otf2-print` (Debian package otf2-tools)
//! reads them, so that these tests do not depend on our own reader.

use partune_paradigm::recognise;
use partune_testkit::outside::{self, missing};
use partune_trace::Role::{self, *};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Region {
    name: String,
    role: String,
    paradigm: String,
}

#[test]
fn regions_of_real_archives() {
    let Some(folder) = outside::traces() else { return };
    let mut anchors = Vec::new();
    collect_anchors(&folder, &mut anchors);
    assert!(!anchors.is_empty(), "no archives in {}", folder.display());
    anchors.sort();
    let mut models = 0;
    for anchor in &anchors {
        let Some(regions) = regions(anchor) else {
            return missing("otf2-print (Debian package otf2-tools)");
        };
        assert!(!regions.is_empty(), "no regions in {}", anchor.display());
        for region in &regions {
            models += usize::from(check(region, anchor));
        }
    }
    assert!(models > 1000, "only {models} regions of programming models");
}

/// Checks one region and says whether it is one of a programming model.
fn check(region: &Region, anchor: &Path) -> bool {
    let place = format!("{} ({}, {}) in {}", region.name, region.paradigm, region.role, anchor.display());
    let found = recognise(&region.name, Some(&region.paradigm));
    let named = recognise(&region.name, None);
    assert_eq!(found, named, "{place}: these producers' names need no hint");
    let kernel = region.role == "FUNCTION" || region.role.starts_with("INVALID");
    match region.paradigm.as_str() {
        "CUDA" | "HIP" if kernel => assert_eq!(found, None, "{place}"),
        "MPI" | "OPENMP" | "OpenMP" | "OMPT" | "OpenSHMEM" | "SHMEM" | "PTHREAD" | "UPC" | "CUDA" | "HIP" => {
            let found = found.unwrap_or_else(|| panic!("{place}"));
            let role = found.construct.role;
            // Score-P calls an exchange among neighbours an all-to-all; nobody waits for those who are no neighbours.
            let among_neighbours = region.name.to_lowercase().contains("neighbor") && role == SendRecv;
            assert!(fits(&region.role, role) || among_neighbours, "{place}: {role:?}");
            return true;
        }
        // Instrumented by a compiler: never a construct.
        "COMPILER" => assert_eq!(found, None, "{place}"),
        // The recorder itself, and the program, which it calls by its file's name.
        "MEASUREMENT_SYSTEM" => {
            let role = found.map_or(User, |found| found.construct.role);
            assert!(matches!(role, Measurement | User), "{place}: {role:?}");
        }
        // Said to be the user's: EZTrace says so of all.
        _ => {
            let construct =
                ["MPI_", "mpi_", "pthread_", "OpenMP "].iter().any(|prefix| region.name.starts_with(prefix));
            match found {
                Some(found) => assert_eq!(construct, !matches!(found.construct.role, Measurement | User), "{place}"),
                None => assert!(!construct, "{place}"),
            }
            return construct;
        }
    }
    false
}

/// Whether our role is a reading of the region role of OTF2.
fn fits(otf2: &str, role: Role) -> bool {
    match otf2 {
        "BARRIER" | "IMPLICIT_BARRIER" => matches!(role, GroupSync | GroupNotify | CommSync | DeviceWait),
        "COLL_ONE2ALL" => role == OneToAll,
        "COLL_ALL2ONE" => role == AllToOne,
        "COLL_ALL2ALL" => role == AllToAll,
        "COLL_OTHER" => matches!(role, Scan | GlobalAlloc),
        "POINT2POINT" => matches!(role, Send | Recv | SendRecv | Probe | CommSync),
        "RMA" => matches!(role, Put | Get),
        "ATOMIC" => matches!(role, Atomic | Put | LockAcquire),
        "FILE_IO" => role == Io,
        "FILE_IO_METADATA" => matches!(role, Io | GlobalAlloc),
        "ALLOCATE" | "REALLOCATE" | "DEALLOCATE" => matches!(role, GlobalAlloc | Management),
        "PARALLEL" => role == Parallel,
        "LOOP" | "SECTIONS" | "SECTION" | "SINGLE" | "MASTER" | "WORKSHARE" => role == WorkSharing,
        "TASK" => matches!(role, TaskRun | Parallel),
        "TASK_CREATE" => role == TaskCreate,
        "TASK_WAIT" | "CODE" => role == TaskWait,
        "CRITICAL" => role == LockAcquire,
        "CRITICAL_SBLOCK" | "ORDERED_SBLOCK" => role == User,
        "ORDERED" => role == WaitOnValue,
        "FLUSH" => matches!(role, CommSync | Measurement),
        "ARTIFICIAL" => matches!(role, Measurement | User | WaitOnValue),
        // Wrappers of functions without a role of their own in OTF2.
        "FUNCTION" | "WRAPPER" => !role.is_transparent(),
        "UNKNOWN" => true,
        _ => false,
    }
}

fn collect_anchors(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect_anchors(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "otf2") {
            into.push(path);
        }
    }
}

/// The region definitions of an archive; none where the program that prints them is absent.
fn regions(anchor: &Path) -> Option<Vec<Region>> {
    let printed = Command::new("otf2-print").arg("-G").arg(anchor).output().ok()?;
    Some(String::from_utf8_lossy(&printed.stdout).lines().filter_map(region).collect())
}

/// `REGION 3 Name: "MPI_Send" <12> (Aka. …), Descr.: …, Role: …, Paradigm: "MPI" <4>, Flags: …`
fn region(line: &str) -> Option<Region> {
    let (_, rest) = line.strip_prefix("REGION ")?.split_once("Name: \"")?;
    let (name, rest) = rest.split_once("\" <")?;
    let (_, rest) = rest.split_once(", Role: ")?;
    let (role, rest) = rest.split_once(", Paradigm: ")?;
    let (paradigm, _) = rest.split_once(", Flags: ")?;
    let paradigm = paradigm.split(" <").next()?.trim_matches('"');
    Some(Region { name: name.to_owned(), role: role.to_owned(), paradigm: paradigm.to_owned() })
}
