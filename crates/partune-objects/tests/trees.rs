//! Forms of trees, and PEs split among children.

use partune_objects::graph::{ArrayId, EventGraph, ExecutionId, Kind, ObjectId};
use partune_objects::interaction::Interaction;
use partune_objects::programs::{Program, factorial};
use partune_objects::random::Random;
use partune_objects::tree::{Options, Shape, Strategy, Tree, split};

/// A tree whose children are made from what an object is; of each the work, and what its children are.
fn grown<T: Copy>(root: T, children: &mut dyn FnMut(T, u32) -> (i64, Vec<T>)) -> EventGraph {
    let mut program = Program::default();
    let array = program.made.array(0);
    let mut open: Vec<(T, u32, Option<ExecutionId>)> = vec![(root, 0, None)];
    while let Some((kind, depth, creator)) = open.pop() {
        let (work, below) = children(kind, depth);
        let object = program.made.object(array, &[]);
        let begun = program.execution(object, 0, work);
        if let Some(creator) = creator {
            program.send(creator, begun, Kind::Creation, 0, 8);
        }
        open.extend(below.into_iter().map(|kind| (kind, depth + 1, Some(begun))));
    }
    program.seal().unwrap()
}

fn shape(graph: &EventGraph, pes: u32) -> Shape {
    Tree::new(graph, ArrayId(0)).shape(&Interaction::new(graph), pes, &Options::default())
}

#[test]
fn forms_are_told_apart() {
    assert_eq!(shape(&factorial(256).unwrap(), 16), Shape::Uniform { branch: 2 });
    // Fibonacci: both branches always, with loads in the golden ratio.
    let fibonacci = grown(18, &mut |n, _| (10, if n < 2 { vec![] } else { vec![n - 1, n - 2] }));
    let Shape::UniformBranch { ratios } = shape(&fibonacci, 16) else { panic!("not {:?}", shape(&fibonacci, 16)) };
    // The last of the list is made first.
    assert!((ratios[0] - 0.382).abs() < 0.005 && (ratios[1] - 0.618).abs() < 0.005, "{ratios:?}");
    // Which of them is made first varies, so shares by that order say nothing.
    let turned = grown((18, 0), &mut |(n, turn): (i32, u32), depth| {
        let below = [(n - 1, depth), (n - 2, depth + turn + 1)];
        let below = if (n + turn as i32) % 2 == 0 { below } else { [below[1], below[0]] };
        (10, if n < 2 { vec![] } else { below.to_vec() })
    });
    assert!(matches!(shape(&turned, 16), Shape::Irregular(_)), "{:?}", shape(&turned, 16));
    let wider = grown((), &mut |(), depth| (10, vec![(); if depth < 4 { depth as usize + 2 } else { 0 }]));
    let Shape::UniformLoad { branch } = shape(&wider, 16) else { panic!("not {:?}", shape(&wider, 16)) };
    assert!((branch.slopes[0] - 1.0).abs() < 1e-9 && (branch.offset - 2.0).abs() < 1e-9, "{branch:?}");
}

/// Any number of children, up to 7 deep.
fn any(seed: u64, work: impl Fn(&mut Random) -> i64) -> EventGraph {
    let (mut random, mut works) = (Random::new(seed), Random::new(seed + 1));
    grown((), &mut |(), depth| {
        let count = if depth < 7 { random.below(4) + usize::from(depth < 3) } else { 0 };
        (work(&mut works), vec![(); count])
    })
}

#[test]
fn irregular_trees_get_a_strategy() {
    let even = any(3, |_| 100);
    let uneven = any(3, |random| 1 + random.below(100) as i64 * random.below(100) as i64);
    assert!(even.objects().len() > 100 && uneven.objects().len() > 100, "{}", uneven.objects().len());
    assert_eq!(shape(&even, 4), Shape::Irregular(Strategy::RoundRobin));
    assert_eq!(shape(&uneven, 4), Shape::Irregular(Strategy::Manager));
    let crowded = Options { crowd: 10.0, ..Options::default() };
    let tree = Tree::new(&uneven, ArrayId(0));
    assert_eq!(tree.shape(&Interaction::new(&uneven), 4, &crowded), Shape::Irregular(Strategy::Hierarchy));
    let mut made = uneven.into_builder();
    let later =
        |made: &mut partune_objects::graph::Builder, id: u32| super::support::execution(made, ObjectId(id), 0, 0, 1);
    for id in 50..100 {
        let ends = (ExecutionId(id), later(&mut made, id - 7));
        super::support::message(&mut made, ends, Kind::Message, 0, 0);
    }
    let talking = made.seal().unwrap();
    assert_eq!(shape(&talking, 4), Shape::Irregular(Strategy::Neighbours));
}

#[test]
fn pes_are_split_by_load() {
    assert_eq!(split(0..10, &[5.0, 3.0, 2.0]), [0..5, 5..8, 8..10]);
    assert_eq!(split(4..14, &[1.0, 1.0, 1.0]), [4..8, 8..11, 11..14]);
    assert_eq!(split(0..4, &[98.0, 1.0, 1.0]), [0..2, 2..3, 3..4], "each has one");
    assert_eq!(split(0..5, &[0.0, 0.0]), [0..3, 3..5]);
    // Largest first to whom has least: 7, then 5 and 4, then 3 beside 7, and 3 beside 9.
    assert_eq!(split(8..10, &[7.0, 5.0, 4.0, 3.0, 3.0]), [8..9, 9..10, 9..10, 8..9, 9..10]);
    assert_eq!(split(3..5, &[1.0, 9.0, 2.0]), [3..4, 4..5, 3..4], "the first child stays on the first PE");
    assert_eq!(split(0..3, &[]), []);
    assert_eq!(split(7..7, &[1.0, f64::NAN]), [7..8, 7..8]);
}

/// What a main object of another array created has no parent; that object is on no PE.
#[test]
fn a_tree_is_of_one_array() {
    let mut program = Program::default();
    let main = program.array(&[]).1[0];
    let (array, objects) = program.array(&[3]);
    let begun = program.execution(main, 0, 1);
    let runs: Vec<_> = objects.iter().map(|&object| program.execution(object, 0, 2)).collect();
    program.send(begun, runs[0], Kind::Creation, 0, 8);
    (1..3).for_each(|at| program.send(runs[0], runs[at], Kind::Creation, 0, 8));
    let tree = Tree::new(&program.seal().unwrap(), array);
    assert_eq!((tree.roots(), tree.load(objects[0])), (&objects[..1], 6));
    assert_eq!(tree.place(2).as_slice(), [u32::MAX, 0, 0, 1]);
}

/// Three roots, of which each makes a light child and then a heavy one; objects are numbered the other way round.
#[test]
fn a_run_that_knows_shares_places_as_is_judged() {
    let mut program = Program::default();
    let main = program.array(&[]).1[0];
    let (array, objects) = program.array(&[9]);
    let begun = program.execution(main, 0, 1);
    for root in (0..3).rev() {
        let own = program.execution(objects[root], 0, 10);
        program.send(begun, own, Kind::Creation, 0, 8);
        for (child, work) in [(5 - root, 25), (8 - root, 75)] {
            let run = program.execution(objects[child], 0, work);
            program.send(own, run, Kind::Creation, 0, 8);
        }
    }
    // As they are written down.
    program.made.messages_mut().sent.iter_mut().zip(0..).for_each(|(sent, at)| *sent = at);
    let graph = program.seal().unwrap();
    let tree = Tree::new(&graph, array);
    assert_eq!(tree.children(objects[0]).collect::<Vec<_>>(), [objects[5], objects[8]]);
    let Shape::UniformBranch { ratios } = tree.shape(&Interaction::new(&graph), 8, &Options::default()) else {
        panic!()
    };
    assert_eq!(ratios, [0.25, 0.75]);
    let placed = tree.place_by(12, &ratios);
    let pes: Vec<u32> = objects.iter().map(|&id| placed[id]).collect();
    assert_eq!(pes, [8, 4, 0, 0, 4, 8, 1, 5, 9]);
}

/// 16 PEs and a binary tree: its 31 topmost objects lie on PEs that halve, all below one PE is local.
#[test]
fn a_tree_is_placed_from_its_root() {
    let graph = factorial(1024).unwrap();
    let tree = Tree::new(&graph, ArrayId(0));
    let placement = tree.place(16);
    let mut loads = [0; 16];
    graph.objects().ids().for_each(|id| loads[placement[id] as usize] += 1);
    assert!(loads.iter().all(|&count| (127..=132).contains(&count)), "{loads:?}");
    let apart = |id: ObjectId| tree.children(id).filter(|&child| placement[child] != placement[id]).count();
    assert_eq!(graph.objects().ids().map(apart).sum::<usize>(), 15);
    assert_eq!(placement[tree.roots()[0]], 0);
}
