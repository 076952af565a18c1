//! The functions of the fuzz targets that need the whole tool, over mutations of examples: so they run without a nightly compiler.

#[path = "../../../fuzz/diagnosis.rs"]
mod diagnosis;
#[path = "../../../fuzz/paraver.rs"]
mod paraver;
#[path = "../../../fuzz/projections.rs"]
mod projections;
#[path = "../../../fuzz/texts.rs"]
mod texts;

use partune_testkit::mutate::Random;
use rayon::prelude::*;

use crate::archives::{load, workspace};

/// Rounds for each example.
fn rounds() -> u64 {
    if std::env::var_os("PARTUNE_THOROUGH").is_some() { 20_000 } else { 300 }
}

#[test]
fn archives_with_changed_records() {
    for name in ["ring", "ring_profile", "addresses"] {
        let anchor = workspace().join("examples/archives").join(name).join(diagnosis::ANCHOR);
        let (_, archive) = load(&anchor);
        // What is packed is what comes out, and nothing is wrong with it.
        assert_eq!(diagnosis::unpack(&diagnosis::pack(&archive)), archive);
        diagnosis::diagnosis(&diagnosis::pack(&archive));
        let changed = (0..rounds()).into_par_iter().map(|round| {
            let (mut random, mut archive) = (Random::new(round), archive.clone());
            let before = archive.clone();
            diagnosis::change(&mut archive, &mut random);
            diagnosis::diagnosis(&diagnosis::pack(&archive));
            u64::from(archive != before)
        });
        let changed = changed.sum::<u64>();
        assert!(changed > rounds() / 10, "{name}: records were changed in {changed} of {} rounds", rounds());
    }
}

#[test]
fn machines_and_filters() {
    let machine = include_str!("../../../fuzz/seeds/texts/machine.toml");
    let filter = include_str!("../../../fuzz/seeds/texts/filter");
    let changes = include_str!("../../../fuzz/seeds/texts/changes");
    assert!(partune_machine::read(machine).is_ok(), "the seed is a machine");
    for text in [machine, filter, changes] {
        texts::texts(text.as_bytes());
        for round in 0..rounds() {
            let mut random = Random::new(round);
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random.below(4) {
                let (at, end) = (random.below(bytes.len()), random.below(bytes.len()));
                match random.below(3) {
                    0 => bytes[at] = b" \n=.-9e[]\"'#*"[random.below(13)],
                    1 => drop(bytes.drain(at.min(end)..at.max(end).min(at.min(end) + 20))),
                    _ => {
                        let piece = bytes[at.min(end)..at.max(end)].to_vec();
                        bytes.splice(at..at, piece.into_iter().take(30));
                    }
                }
            }
            texts::texts(&bytes);
        }
    }
}

/// Changes of an example, a line end after each: characters of `letters` put in, pieces lost and doubled, and long numbers.
fn changed_texts(example: &[u8], letters: &[u8], run: impl Fn(&[u8]) + Sync) {
    run(example);
    (0..rounds()).into_par_iter().for_each(|round| {
        let mut random = Random::new(round);
        let mut bytes = example.to_vec();
        for _ in 0..=random.below(12) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes[at] = letters[random.below(letters.len())],
                1 => drop(bytes.drain(at..bytes.len().min(at + 1 + random.below(30)))),
                2 => {
                    let piece = bytes[at..bytes.len().min(at + 40)].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
                _ => bytes.splice(at..at, *b"99999999999999").for_each(drop),
            }
            bytes.push(b'\n');
        }
        run(&bytes);
    });
}

#[test]
fn paraver_traces() {
    let folder = workspace().join("examples/archives/paraver");
    let mut example = std::fs::read(folder.join("trace.prv")).expect("the trace is there");
    example.push(0);
    example.extend(std::fs::read(folder.join("trace.pcf")).expect("its names are there"));
    changed_texts(&example, b"0123456789:\n-# c_(),\0", paraver::paraver);
}

#[test]
fn projections_logs() {
    let example = std::fs::read(workspace().join("fuzz/seeds/projections/steps")).expect("the seed is there");
    changed_texts(&example, b"0123456789 \n-.\"\0", projections::projections);
}
