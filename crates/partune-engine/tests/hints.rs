//! Hints, from logs to the file: simulated runs whose best placement is known, recorded ones, and runs that have no objects.

use std::path::{Path, PathBuf};

use partune_engine::hints_file::{MapKind, Size, Urgency};
use partune_engine::{HintEntry, Hinted, hints, open, read_hints};
use partune_objects::graph::EventGraph;
use partune_objects::map::Map;
use partune_objects::programs::{ELEMENT, MACHINE, gauss, relaxation};
use partune_objects::random::Random;
use partune_objects::simulate::{Plan, simulate};

use super::logs;

fn of(path: &Path) -> Hinted {
    hints(open(path, &()).unwrap(), None, "app", &()).unwrap()
}

/// Logs of a program that ran placed like this.
fn logged(graph: &EventGraph, class: &str, pes: u32, placement: Vec<u32>) -> Hinted {
    let plan = Plan { pes, placement: Some(placement.into()), ..Plan::default() };
    let run = simulate(graph, &MACHINE, &plan).unwrap().retimed(graph).unwrap();
    let folder = tempfile::tempdir().unwrap();
    logs::write(&run, &[class], folder.path());
    of(folder.path())
}

/// From blocks and from a random placement, of two sizes on two numbers of PEs: the same map and the same order of rows, and the run is followed. What is written is read.
#[test]
fn logs_of_an_elimination_say_what_its_graph_says() {
    for (rows, pes) in [(64_u32, 4), (96, 8)] {
        let graph = gauss(rows, ELEMENT * 100, 7).unwrap();
        let mut dealt: Vec<u32> = (0..rows).map(|row| row % pes).collect();
        Random::new(2).shuffle(&mut dealt);
        for placement in [(0..rows).map(|row| row * pes / rows).collect(), dealt] {
            let found = logged(&graph, "Row", pes, placement).objects.unwrap();
            assert!(found.off < 0.05, "{rows} on {pes}: {} off", found.off);
            let [place] = found.file.place.as_slice() else { panic!("one array: {:?}", found.tried) };
            assert_eq!((place.array.as_str(), place.map), ("Row", MapKind::BlockCyclic), "{place:?}");
            assert_eq!((place.a.as_slice(), place.b.as_slice()), (&[Size::Of(1)][..], &[Size::Pes][..]));
            assert!(found.hinted_s < found.followed.run_s);
            assert_eq!(found.file.program, "./app 64");
            let phases = found.file.phases.as_ref().unwrap();
            assert_eq!((phases.kind.as_str(), phases.varying), ("initiation", true));
            let order = found.tried.iter().find_map(|it| match &it.entry {
                HintEntry::Priority(several) => several.first().map(|it| it.of.clone()),
                _ => None,
            });
            let Some(Urgency::Object { linear, r2, .. }) = order else { panic!("an order: {:?}", found.tried) };
            assert!((linear[0] - 1.0).abs() < 0.1 && r2 > 0.9, "{linear:?} {r2}");
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("hints.toml");
            std::fs::write(&path, found.file.to_string()).unwrap();
            assert_eq!(read_hints(&path).unwrap().file, found.file);
        }
    }
}

#[test]
fn logs_of_a_grid_that_is_right_say_nothing() {
    let graph = relaxation(&[8, 8], 12, 2_000_000).unwrap();
    let block = Map::Block { aspect: vec![0.5, 0.5] }.on(&[8, 8], 16);
    let right = graph.objects().iter().map(|object| block.pe(&object.at)).collect();
    let found = logged(&graph, "Grid", 16, right).objects.unwrap();
    assert!(found.file.is_empty(), "{:?}", found.tried);
}

fn shared(name: &str) -> Option<PathBuf> {
    partune_testkit::outside::traces().map(|folder| folder.join("projections").join(name))
}

/// Placement of the recorded Jacobi is right; each of its 90 steps takes 0.13 s on the way and microseconds of work, and ends with a reduction.
#[test]
fn a_recorded_grid_gets_no_hint() {
    let Some(path) = shared("charm-local-jacobi2d-8-gz") else { return };
    let found = of(&path).objects.unwrap();
    assert!(found.file.is_empty(), "{:?}", found.tried);
    let phases = found.file.phases.as_ref().unwrap();
    assert_eq!((phases.kind.as_str(), phases.varying), ("synchronous", false), "{phases:?}");
}

/// The recorded elimination has eight blocks of rows and next to no work: its time is that of multicasts, which go by way of PE 0 to the sender's own PE too. So the run is followed, and
/// no placement saves anything for certain.
#[test]
fn a_recorded_elimination_varies() {
    let Some(path) = shared("charm-local-ge-4") else { return };
    let found = of(&path).objects.unwrap();
    let phases = found.file.phases.as_ref().unwrap();
    assert_eq!((phases.kind.as_str(), phases.varying), ("initiation", true));
    let tried =
        found.tried.iter().find_map(|it| if let HintEntry::Place(place) = &it.entry { Some(place) } else { None });
    let place = tried.unwrap();
    assert_eq!(
        (place.array.as_str(), place.map, place.locality.as_deref()),
        ("Rows", MapKind::BlockCyclic, Some("all_to_all"))
    );
    let of_run = |replayed_s: f64| (replayed_s / found.followed.run_s - 1.0).abs();
    assert!(of_run(found.followed.replayed_s) < 0.02 && of_run(found.redrawn_s) < 0.1, "{found:?}");
    assert!(found.file.is_empty(), "{:?}", found.tried);
}

#[test]
fn runs_without_objects_have_no_hints() {
    let ring = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives/ring");
    assert!(of(&ring).objects.is_none());
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/archives/ring_profile");
    assert!(hints(open(&profile, &()).unwrap(), None, "app", &()).is_err());
}
