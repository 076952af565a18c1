//! Flame graphs whose boxes can be worked out by hand.

use partune_analysis::{Waits, path_times};
use partune_base::{PeId, RegionId, Span};
use partune_index::Index;
use partune_picture::{Block, CallTree, Flame, FlameView, Spent, Stacking};
use partune_testkit::trace;
use partune_trace::{Region, Trace};

pub(crate) fn spent(trace: &Trace) -> Spent {
    Spent::whole(trace, path_times(trace), &Waits::find(trace, &Index::build(trace)))
}

/// Boxes from outside in, as `name time/own` with two spaces a level.
fn drawn(trace: &Trace, flame: &Flame) -> String {
    let mut levels: Vec<usize> = Vec::new();
    let mut lines: Vec<(Vec<usize>, String)> = Vec::new();
    for (at, it) in flame.boxes.iter().enumerate() {
        levels.push(it.parent.map_or(0, |parent| levels[parent] + 1));
        let name = match it.block {
            Block::Function(region) => trace.strings().get(trace.regions()[region].name).to_owned(),
            Block::Outside => "outside".to_owned(),
            Block::Rest(count) => format!("{count} more"),
        };
        let mut way = it.parent.map_or(Vec::new(), |parent| lines[parent].0.clone());
        way.push(at);
        lines.push((way, format!("{}{name} {}/{}", "  ".repeat(levels[at]), it.time.0, it.own.0)));
    }
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect::<Vec<_>>().join("\n")
}

/// `work` is called from two functions, and calls itself.
const STACKED: &str = "
    pe 0: main 0..100 { a 10..50 { work 10..30 work 30..45 { work 35..40 } } b 60..100 { work 70..90 MPI_Barrier 90..100 barrier } }
    pe 1: main 0..100 { a 0..80 { work 20..80 } MPI_Barrier 80..100 barrier }";

fn flame(trace: &Trace, stacking: Stacking, under: &[&str], most: usize) -> Option<Flame> {
    let region = |name: &&str| {
        let of = |(id, region): (RegionId, &Region)| (trace.strings().get(region.name) == *name).then_some(id);
        trace.regions().iter_ids().find_map(of).expect("there is such a function")
    };
    let under: Vec<RegionId> = under.iter().map(region).collect();
    Flame::new(
        (trace, &CallTree::new(trace, &spent(trace))),
        None,
        FlameView { stacking, under: &under, most, levels: 9 },
    )
}

#[test]
fn a_flame_graph_stacks_functions_on_their_callers_and_the_other_way_round() {
    let trace = trace(STACKED);
    let callees = flame(&trace, Stacking::Callees, &[], 100).expect("there are boxes");
    assert_eq!(
        drawn(&trace, &callees),
        "main 200/20
  a 120/25
    work 95/90
      work 5/5
  b 40/10
    work 20/20
    MPI_Barrier 10/10
  MPI_Barrier 20/20"
    );
    let callers = flame(&trace, Stacking::Callers, &[], 100).expect("there are boxes");
    assert_eq!(
        drawn(&trace, &callers),
        "work 115/0
  a 90/0
    main 90/90
  b 20/0
    main 20/20
  work 5/0
    a 5/0
      main 5/5
MPI_Barrier 30/0
  main 20/20
  b 10/0
    main 10/10
a 25/0
  main 25/25
main 20/20
b 10/0
  main 10/10"
    );
    assert_eq!((callees.all, callers.all), (Span(200), Span(200)));
    assert_eq!(callers.boxes[0].visits, 5);
    // The barrier on PE 1 waits for PE 0, ten ticks; whoever called it has them too.
    let waiting = |flame: &Flame| flame.boxes[0..2].iter().map(|it| it.waiting.0).collect::<Vec<_>>();
    assert_eq!((waiting(&callees), waiting(&callers)), (vec![10, 0], vec![0, 10]));
}

#[test]
fn a_box_is_opened_by_the_way_to_it() {
    let trace = trace(STACKED);
    let opened = flame(&trace, Stacking::Callees, &["main", "a"], 100).expect("it is there");
    assert_eq!(drawn(&trace, &opened), "main 200/20\n  a 120/25\n    work 95/90\n      work 5/5");
    let opened = flame(&trace, Stacking::Callers, &["work", "b"], 100).expect("it is there");
    assert_eq!(drawn(&trace, &opened), "work 115/0\n  b 20/0\n    main 20/20");
    assert!(flame(&trace, Stacking::Callees, &["a"], 100).is_none(), "main called it");
}

#[test]
fn what_is_too_deep_for_a_flame_graph_is_one_box() {
    let trace = trace(STACKED);
    let view = FlameView { stacking: Stacking::Callees, under: &[], most: 100, levels: 2 };
    let tree = CallTree::new(&trace, &spent(&trace));
    let low = Flame::new((&trace, &tree), None, view).expect("there are boxes");
    assert_eq!(
        drawn(&trace, &low),
        "main 200/20\n  a 120/25\n    1 more 95/95\n  b 40/10\n    2 more 30/30\n  MPI_Barrier 20/20"
    );
}

/// What has most time is opened first; nothing is lost.
#[test]
fn what_has_no_room_in_a_flame_graph_is_one_box() {
    let trace = trace(STACKED);
    let few = flame(&trace, Stacking::Callees, &[], 3).expect("there are boxes");
    assert_eq!(
        drawn(&trace, &few),
        "main 200/20\n  a 120/25\n    1 more 95/95\n  b 40/10\n    2 more 30/30\n  1 more 20/20"
    );
}

#[test]
fn a_flame_graph_beside_another_run_has_its_time_by_name() {
    let (run, base) = (trace(STACKED), trace("pe 0: main 0..50 { b 10..40 { gone 10..20 work 20..30 } }"));
    let trees = [&run, &base].map(|trace| CallTree::new(trace, &spent(trace)));
    let view = FlameView { stacking: Stacking::Callees, under: &[], most: 100, levels: 9 };
    let both = Flame::new((&run, &trees[0]), Some((&base, &trees[1])), view).expect("there are boxes");
    let alone = Flame::new((&run, &trees[0]), None, view).expect("there are boxes");
    let times =
        |flame: &Flame| flame.boxes.iter().filter(|it| it.time.0 > 0).map(|it| (it.block, it.time)).collect::<Vec<_>>();
    assert_eq!(times(&both), times(&alone));
    let base: Vec<(i64, i64)> = both.boxes.iter().map(|it| (it.time.0, it.base.0)).collect();
    assert_eq!((both.base_all, base[0]), (Span(50), (200, 50)));
    assert!(base.contains(&(40, 30)) && base.contains(&(20, 10)), "b, and work in it: {base:?}");
    assert!(
        both.boxes.iter().any(|it| it.block == Block::Rest(1) && it.time.0 == 0 && it.base.0 == 10),
        "what is gone"
    );
}

#[test]
fn some_pes_have_their_part_of_the_tree() {
    let trace = trace(STACKED);
    let waits = Waits::find(&trace, &Index::build(&trace));
    let all = spent(&trace);
    let pes: Vec<PeId> = trace.active_pes().collect();
    let tree = |pes: &[PeId]| CallTree::new(&trace, &all.on(&trace, (&waits, None), pes));
    let (first, second, both) = (tree(&pes[..1]), tree(&pes[1..]), tree(&pes));
    for path in trace.paths().ids() {
        let nodes = [&first, &second].map(|tree| *tree.node(path));
        let whole = both.node(path);
        assert_eq!(nodes[0].below + nodes[1].below, whole.below);
        assert_eq!(nodes[0].waiting + nodes[1].waiting, whole.waiting);
        assert_eq!(whole, CallTree::new(&trace, &all).node(path));
    }
    assert_eq!((first.all(), second.all()), (Span(100), Span(100)));
}
