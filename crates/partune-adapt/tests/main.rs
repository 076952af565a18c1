//! Choices in virtual time: what an execution takes is a function of the setting and of how many came before.

use partune_adapt::{Choice, Tally};

/// Runs so many executions. What all took, and what all would have taken with the program's own setting.
fn run(choice: &mut Choice, executions: u64, mut takes: impl FnMut(usize, u64) -> f64) -> [f64; 2] {
    let begun: u64 = choice.tally().executions.iter().sum();
    let mut took = [0.0; 2];
    for execution in begun..begun + executions {
        let setting = choice.next();
        let time = takes(setting, execution);
        choice.took(time);
        took[0] += time;
        took[1] += takes(0, execution);
    }
    took
}

/// Between -1 and 1, as if at random.
fn noise(execution: u64, salt: u64) -> f64 {
    let mut word = execution.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(salt.wrapping_mul(0xbf58_476d_1ce4_e5b9));
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn changes(tally: &Tally) -> Vec<usize> {
    tally.changes.iter().map(|change| change.to).collect()
}

#[test]
fn a_faster_setting_is_kept_and_what_it_saves_is_known() {
    for salt in 0..50 {
        let mut choice = Choice::new(4);
        let base = [10.0, 12.0, 8.0, 9.5];
        let takes = |setting: usize, execution| base[setting] * (1.0 + 0.05 * noise(execution, salt));
        let [took, own] = run(&mut choice, 2000, takes);
        assert_eq!(choice.kept(), 2, "{salt}: {:?}", choice.tally());
        let tally = choice.tally();
        assert!((tally.took - took).abs() < 1e-6 && tally.executions.iter().sum::<u64>() == 2000);
        assert!((tally.saved - (own - took)).abs() < 0.2 * (own - took), "{salt}: {} of {}", tally.saved, own - took);
        // 20 % of all but what trying took.
        assert!(own - took > 0.17 * own, "{salt}: {took} of {own}");
    }
}

#[test]
fn where_nothing_is_faster_the_programs_own_stays() {
    let mut changed = 0;
    for salt in 0..100 {
        let mut choice = Choice::new(5);
        let [took, own] = run(&mut choice, 5000, |_, execution| 10.0 + noise(execution, salt));
        changed += choice.tally().changes.len();
        assert!((took - own).abs() < 1e-6);
        assert!(choice.tally().saved.abs() < 0.02 * own, "{:?}", choice.tally());
    }
    // 100 runs of some 40 contests each, in which chance may look like a gain of 2 % for once.
    assert!(changed <= 20, "{changed}");
}

#[test]
fn a_load_with_a_pattern_favours_nobody() {
    let mut changed = 0;
    for period in 2..40_u64 {
        let mut choice = Choice::new(4);
        run(&mut choice, 5000, |_, execution| 1.0 + (execution % period) as f64);
        // Luck is found out by the next pairs, or the one after.
        assert!(choice.tally().executions[0] > 4000, "{period}: {:?}", choice.tally());
        changed += choice.tally().changes.len();
    }
    assert!(changed <= 8, "{changed}");
}

#[test]
fn a_load_that_drifts_is_followed_and_what_is_worse_is_reverted() {
    let mut choice = Choice::new(3);
    // What is best by turns: all alike, then the second by a third; then it takes a quarter more than the program's own.
    let takes = |setting: usize, execution: u64| {
        let base = match (execution / 1000, setting) {
            (1, 0 | 2) => 6.0,
            (2, 1) => 5.0,
            _ => 4.0,
        };
        base * (1.0 + 0.02 * noise(execution, 1))
    };
    for kept in [0, 1, 0] {
        run(&mut choice, 1000, takes);
        assert_eq!(choice.kept(), kept, "{:?}", choice.tally());
    }
    assert_eq!(changes(choice.tally()), [1, 0]);
    let [first, second] = [0, 1].map(|it| choice.tally().changes[it]);
    // The other load is seen soon: there is no waiting for the end of the rest.
    assert!(first.at < 1000 + 110 && second.at < 2000 + 110, "{first:?} {second:?}");
    assert!((first.ratio - 1.5).abs() < 0.05 && (second.ratio - 1.25).abs() < 0.05, "{first:?} {second:?}");
}

/// The program's own setting becomes as good as the kept one, which takes what it took: when nobody can see.
#[test]
fn what_is_saved_ends_where_the_load_becomes_even() {
    let (mut claimed, mut saved) = (0.0, 0.0);
    for turn in 0..100_u64 {
        let mut choice = Choice::new(3);
        let takes = |setting: usize, execution: u64| {
            let uneven = if setting == 0 && execution < 150 + 5 * turn { 3.0 } else { 1.0 };
            uneven * (1.0 + 0.02 * noise(execution, turn))
        };
        let [took, own] = run(&mut choice, 3000, takes);
        (claimed, saved) = (claimed + choice.tally().saved, saved + own - took);
    }
    // Of single runs it is off by half of a rest.
    assert!((claimed / saved - 1.0).abs() < 0.2, "{claimed} of {saved}");
}

#[test]
fn a_slow_drift_is_no_gain() {
    let mut choice = Choice::new(4);
    run(&mut choice, 5000, |_, execution| 1.0 + execution as f64 / 500.0);
    assert_eq!(changes(choice.tally()), [], "{:?}", choice.tally());
}

#[test]
fn a_rival_that_takes_much_longer_is_given_up_at_once() {
    let mut choice = Choice::new(2);
    run(&mut choice, 104, |setting, _| if setting == 1 { 50.0 } else { 1.0 });
    assert_eq!(choice.tally().executions, [102, 2]);
    // It is not tried again before what it took is little.
    let [took, own] = run(&mut choice, 100_000, |setting, _| if setting == 1 { 50.0 } else { 1.0 });
    assert!(choice.tally().executions[1] > 5 && took < 1.03 * own, "{took} of {own}");
    let tally = choice.tally();
    assert!((tally.saved + 49.0 * tally.executions[1] as f64).abs() < 1e-6, "{tally:?}");
}

#[test]
fn one_execution_that_the_machine_delays_decides_nothing() {
    for salt in 0..50 {
        let mut choice = Choice::new(2);
        let [took, own] = run(&mut choice, 5000, |setting, execution| {
            let delay = if noise(execution, salt) > 0.95 { 400.0 } else { 0.0 };
            [10.0, 8.0][setting] * (1.0 + 0.03 * noise(execution, salt + 100)) + delay
        });
        let tally = choice.tally();
        assert_eq!(choice.kept(), 1, "{salt}: {tally:?}");
        assert!(
            (tally.saved - (own - took)).abs() < 0.5 * (own - took) + 0.02 * own,
            "{salt}: {} of {}: {tally:?}",
            tally.saved,
            own - took
        );
    }
}

#[test]
fn what_is_kept_is_held_against_the_programs_own_also_where_it_takes_what_it_did() {
    let mut choice = Choice::new(2);
    // The load becomes even: the program's own setting takes less than before, and the kept one what it did.
    run(&mut choice, 40_000, |setting, execution| match (setting, execution < 20_000) {
        (0, true) => 6.0,
        (0, false) => 3.0,
        _ => 4.0,
    });
    assert_eq!(changes(choice.tally()), [1, 0], "{:?}", choice.tally());
    assert!(choice.tally().changes[1].at < 20_000 + 4200, "{:?}", choice.tally());
}

#[test]
fn no_load_makes_a_run_much_longer() {
    for salt in 0..200 {
        let settings = 2 + (salt % 4) as usize;
        let mut choice = Choice::new(settings);
        let all = run(&mut choice, 3000, |setting, execution| {
            let era = execution / (100 + 10 * salt);
            let base = 1.0 + 0.5 * noise(era * 7 + setting as u64, salt);
            base * (1.0 + 0.3 * noise(execution, salt + setting as u64))
        });
        let [took, own] = all;
        assert!(took < 1.06 * own, "{salt}: {took} of {own}: {:?}", choice.tally());
    }
}

#[test]
fn the_longer_nothing_is_found_the_less_is_tried() {
    let mut choice = Choice::new(3);
    // Once in a while the machine does something else for some executions.
    run(&mut choice, 1_000_000, |_, execution| {
        let is_disturbed = execution % 997 < 12;
        1.0 + 0.1 * noise(execution, 3) + if is_disturbed { 3.0 } else { 0.0 }
    });
    let tally = choice.tally();
    assert!(tally.executions[0] > 990_000 && tally.changes.len() < 20, "{tally:?}");
}

#[test]
fn alone_there_is_nothing_to_choose_and_odd_times_harm_nothing() {
    let mut alone = Choice::new(1);
    run(&mut alone, 1000, |_, _| 1.0);
    assert_eq!((alone.kept(), alone.tally().saved), (0, 0.0));
    let mut odd = Choice::new(3);
    for time in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 5e-324].into_iter().cycle().take(10_000) {
        let _ = odd.next();
        odd.took(time);
    }
    assert!(odd.tally().took.is_finite() || odd.tally().took > 0.0);
}
