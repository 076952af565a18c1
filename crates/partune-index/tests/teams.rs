//! Teams of threads and their barriers.

use partune_testkit::{pe, thread};
use partune_trace::Role;

use crate::{index, notes};

const TWO_THREADS: &str = "team t = 0.0 0.1
    pe 0: main 0..200 {
        \"!$omp parallel\" 0..80 fork join { \"!$omp parallel\" 2..78 team(t) { work 2..30 \"!$omp barrier\" 30..60 \"!$omp implicit barrier\" 70..78 } }
        \"!$omp parallel\" 100..180 fork join { \"!$omp parallel\" 102..178 team(t) { \"!$omp implicit barrier\" 150..178 } }
    }
    pe 0.1:
        \"!$omp parallel\" 5..79 team(t) { \"!$omp barrier\" 55..60 \"!$omp implicit barrier\" 61..79 }
        \"!$omp parallel\" 103..179 team(t) { \"!$omp implicit barrier\" 110..179 }";

#[test]
fn forks_find_their_threads_and_barriers_their_team() {
    let (trace, index) = index(TWO_THREADS);
    let forks = &index.teams.forks;
    assert_eq!(forks.iter().map(|fork| fork.fork.0).collect::<Vec<_>>(), [0, 100]);
    let (main, worker) = (pe(&trace, 0), thread(&trace, 0, 1));
    let members: Vec<_> = forks[0].members.iter().map(|(pe, begin, end)| (*pe, begin.0, end.0)).collect();
    assert_eq!(members, [(main, 2, 78), (worker, 5, 79)]);
    assert!(!forks[0].inferred);
    let barriers: Vec<(u32, Vec<i64>)> = index
        .collectives
        .instances
        .iter()
        .map(|it| (it.fork, index.collectives.members(it).iter().map(|member| member.enter.0).collect()))
        .collect();
    assert_eq!(barriers, [(0, vec![30, 55]), (0, vec![70, 61]), (1, vec![150, 110])]);
    assert!(index.quality.is_empty(), "{:?}", notes(&index));
}

#[test]
fn nested_teams() {
    let (trace, index) = index(
        "team outer = 0.0 0.1
         team inner = 0.1 0.2
         pe 0: main 0..200 { \"!$omp parallel\" 0..190 fork join { \"!$omp parallel\" 1..189 team(outer) { \"!$omp implicit barrier\" 100..189 } } }
         pe 0.1: \"!$omp parallel\" 2..188 team(outer) {
             \"!$omp parallel\" 10..90 fork join { \"!$omp parallel\" 11..88 team(inner) { \"!$omp implicit barrier\" 40..88 } }
             \"!$omp implicit barrier\" 180..188
         }
         pe 0.2: \"!$omp parallel\" 12..88 team(inner) { \"!$omp implicit barrier\" 80..88 }",
    );
    let members = |fork: usize| index.teams.forks[fork].members.iter().map(|member| member.0).collect::<Vec<_>>();
    assert_eq!(members(0), [pe(&trace, 0), thread(&trace, 0, 1)]);
    assert_eq!(members(1), [thread(&trace, 0, 1), thread(&trace, 0, 2)]);
    let enters: Vec<(u32, Vec<i64>)> = index
        .collectives
        .instances
        .iter()
        .map(|it| (it.fork, index.collectives.members(it).iter().map(|member| member.enter.0).collect()))
        .collect();
    assert_eq!(enters, [(1, vec![40, 80]), (0, vec![100, 180])]);
}

#[test]
fn forks_without_team_events() {
    let text = TWO_THREADS.replace("team(t)", "").replace("team t = 0.0 0.1", "");
    let (trace, index) = index(&text);
    assert_eq!(index.teams.forks.len(), 2);
    assert!(index.teams.forks.iter().all(|fork| fork.inferred && fork.members.len() == 2));
    assert_eq!(index.collectives.instances.len(), 3);
    assert!(index.collectives.instances.iter().all(|it| it.role == Role::GroupSync && it.missing == 0));
    assert_eq!(index.teams.forks[0].place.pe, pe(&trace, 0));
}

#[test]
fn regions_without_any_team_event() {
    let text = TWO_THREADS.replace("team(t)", "").replace("fork join", "").replace("team t = 0.0 0.1", "");
    let (_, index) = index(&text);
    let extents: Vec<(i64, i64)> = index.teams.forks.iter().map(|fork| (fork.fork.0, fork.join.0)).collect();
    assert_eq!(extents, [(0, 80), (100, 180)]);
    assert_eq!(index.collectives.instances.len(), 3);
    // One barrier more on one thread: nothing of that region is claimed.
    let (_, index) = crate::index(&text.replace("work 2..30", "\"!$omp barrier\" 2..30"));
    assert_eq!(index.collectives.instances.len(), 1);
    assert!(notes(&index)[0].contains("do not fit together"), "{:?}", notes(&index));
}
