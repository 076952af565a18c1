//! Measuring this machine, for a moment. What it measures with MPI is tested through the command line, which the
//! launchers start.
#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]

use partune_machine::{read, write};
use partune_microbench::{LaunchError, MODELS, Settings, alone, launch};

fn settings(launch: &[&str]) -> Settings {
    Settings {
        budget_s: 0.2,
        library: None,
        threads: Some(2),
        only: MODELS.to_vec(),
        launch: launch.iter().map(|&word| word.to_owned()).collect(),
    }
}

#[test]
fn one_process_has_rates_and_overheads() {
    let machine = alone(&settings(&[]));
    let rates = machine.rates;
    for rate in [rates.flops_one, rates.flops_all, rates.memory_one, rates.memory_all] {
        assert!(rate > 1e6 && rate.is_finite(), "{rates:?}");
    }
    let overheads = machine.overheads;
    assert!(overheads.timer_s > 0.0 && overheads.timer_s < 1e-3, "{overheads:?}");
    assert!(overheads.event_s > 0.0 && overheads.event_s < 1e-3, "{overheads:?}");
    assert!(machine.links.is_empty());
    // Where the system describes no caches that is said, and nothing else.
    let said = machine.notes.iter().any(|note| note.starts_with("caches were not measured"));
    assert_eq!(machine.caches.is_none(), said, "{:?}", machine.notes);
    if let Some(caches) = &machine.caches {
        // A core does between a thousandth and ten additions in a nanosecond, and loads no line in less than a hundredth of that.
        assert!((1e-10..1e-6).contains(&caches.cycle_s), "{caches:?}");
        let costs = caches.levels.iter().flat_map(|it| [it.load_s, it.store_s]);
        let costs = costs.chain([caches.memory.load_s, caches.memory.store_s]);
        assert!(costs.into_iter().all(|it| it > 1e-11 && it < 1e-3), "{caches:?}");
    }
    for model in MODELS {
        // What needs a launch line, or is not installed, is said.
        let measured = machine.baselines.iter().any(|it| it.paradigm.as_deref() == Some(model.name));
        let said = machine.notes.iter().any(|note| note.starts_with(&format!("{} was not measured", model.name)));
        let launched = model.is_launched();
        assert_eq!([measured, said], [!launched, launched], "{}: {:?}", model.name, machine.notes);
    }
    assert_eq!(read(&write(&machine)).unwrap(), machine);
}

#[test]
fn a_launch_line_that_does_not_work_is_told() {
    let error = launch(&settings(&["no-such-launcher"]), |_| Vec::new()).unwrap_err();
    assert!(matches!(&error, LaunchError::Start { program, .. } if program == "no-such-launcher"), "{error}");
    let error = launch(&settings(&["echo"]), |_| vec!["hello".to_owned()]).unwrap_err();
    assert!(matches!(error, LaunchError::Nothing { .. }));
    assert!(error.to_string().contains("it said: hello") && error.to_string().contains("remedy"), "{error}");
}
