//! Where objects should be: arrays, with others that are aligned with them, and trees.

use partune_base::Table;

use super::{Aligned, Hint, Layout, Search};
use crate::align::{self, Affinity, affinities, align};
use crate::block;
use crate::candidates::{self, search};
use crate::graph::{ArrayId, Coordinates, ObjectId};
use crate::interaction::Weight;
use crate::locality::{self, Class, locality};
use crate::map::{Grid, Map, Size};
use crate::partition::{self, partition};
use crate::tree::{self, Shape, Strategy, Tree};

/// Each array that no other one leads, the one with the most work first.
pub(super) fn arrays(search: &mut Search<'_>) {
    let work: Table<ArrayId, i64> = search.graph.arrays().ids().map(|array| work(search, array)).collect();
    let mut order: Vec<ArrayId> = search.graph.arrays().ids().filter(|&array| is_placed(search, array)).collect();
    order.sort_by_key(|&array| (std::cmp::Reverse(work[array]), array));
    let affinities = affinities(search.graph, &align::Options::default());
    let mut led: Vec<ArrayId> = Vec::new();
    for &array in &order {
        if led.contains(&array) {
            continue;
        }
        let aligned = followers(search, array, &affinities, &order, &led);
        led.extend(aligned.iter().map(|it| it.array));
        place(search, array, aligned);
    }
}

fn work(search: &Search<'_>, array: ArrayId) -> i64 {
    search.members(array).map(|id| search.interaction.loads[id]).fold(0, i64::saturating_add)
}

/// Several objects, at coordinates that are not negative, none of which makes others: an array that grows has no extents that a map could be of.
fn is_placed(search: &Search<'_>, array: ArrayId) -> bool {
    let rank = search.graph.arrays()[array];
    let is_at = |id: ObjectId| search.graph.objects()[id].at.iter().all(|&x| x >= 0);
    let several = search.members(array).nth(1).is_some() && search.members(array).all(is_at);
    rank > 0 && several && !Tree::new(search.graph, array).grows()
}

/// Arrays of the same extents whose objects talk to those with the same coordinates.
fn followers(
    search: &Search<'_>,
    leader: ArrayId,
    affinities: &[Affinity],
    order: &[ArrayId],
    led: &[ArrayId],
) -> Vec<Aligned> {
    let ranks: Vec<u8> = search.graph.arrays().iter().copied().collect();
    let straight: Vec<Affinity> = affinities.iter().filter(|it| it.sign == 1 && it.shift == 0).copied().collect();
    let classes = align(&ranks, &straight, &align::Options::default()).class;
    let extents = search.graph.extents(leader);
    let own = &classes[leader.0 as usize];
    let others = order
        .iter()
        .filter(|&&array| array != leader && !led.contains(&array) && ranks[array.0 as usize] as usize == own.len());
    let follows = |&array: &ArrayId| {
        let talks = |it: &Affinity| [it.a.0, it.b.0].contains(&leader) && [it.a.0, it.b.0].contains(&array);
        let position = |class: &u8| own.iter().position(|known| known == class).map(|at| at as u8);
        let dims: Vec<u8> = classes[array.0 as usize].iter().map(position).collect::<Option<_>>()?;
        let same = search.graph.extents(array).iter().zip(&dims).all(|(&n, &dim)| n == extents[usize::from(dim)]);
        (straight.iter().any(talks) && same).then_some(Aligned { array, dims })
    };
    others.filter_map(follows).collect()
}

/// Tries the maps that suit an array, and keeps the best if it is better than where objects are.
fn place(found: &mut Search<'_>, array: ArrayId, aligned: Vec<Aligned>) {
    let extents = found.graph.extents(array);
    let layouts = layouts(found, array, &extents);
    let tries = layouts.into_iter().map(|layout| {
        let placement = placed(found, &found.homes, (array, &aligned, &layout), found.graph.pes());
        (found.moving(&placement), layout, placement)
    });
    let tries: Vec<_> = tries.collect();
    // What comes first is simpler: others have to be better by more than nothing.
    let nearly = |share: f64| share * found.recorded.run as f64;
    let saves = |at: usize| tries[at].0.likely as f64;
    let better = |best: usize, at: usize| saves(at) > saves(best) + nearly(found.options.alike);
    let Some(best) = (0..tries.len()).reduce(|best, at| if better(best, at) { at } else { best }) else { return };
    let tried = tries.len() as f64;
    // And where nothing is certain, by more than the replay is off.
    let is_certain = tries[best].0.least > found.margin();
    let least = saves(best) - nearly(found.recorded.off());
    let chosen =
        tries.into_iter().enumerate().find(|(at, it)| *at == best || (!is_certain && it.0.likely as f64 >= least));
    let Some((_, (saves, layout, placement))) = chosen else { return };
    let count = found.members(array).count();
    let evidence = vec![
        ("objects", count as f64),
        ("candidates", tried),
        ("cut", found.interaction.cut(&found.homes) as f64),
        ("cut_hinted", found.interaction.cut(&placement) as f64),
    ];
    found.settle(Hint::Place { array, layout, aligned, least_per_pe: 0.0 }, placement, saves, evidence);
}

/// So many grids of PEs are looked at for a map, and so many objects are placed in each phase to score all maps.
const GRIDS: f64 = 1e6;
const SCORED: usize = 4_000_000;

/// Candidates, the simplest first.
fn layouts(found: &Search<'_>, array: ArrayId, extents: &[u32]) -> Vec<Layout> {
    let (graph, pes) = (found.graph, found.graph.pes());
    // Grids of many dimensions have too many forms on some numbers of PEs.
    let grids = (block::divisors(pes).len() as f64).powi(extents.len() as i32 - 1);
    let block = (grids <= GRIDS).then(|| Map::Block { aspect: block::aspect(extents, &block::crossing(graph, array)) });
    let cyclic = |dim: usize| Map::BlockCyclic { size: vec![Size::Of(1); extents.len()], grid: Grid::Line(dim as u8) };
    // Of several dimensions, one that is shorter than the line of PEs would leave some without objects.
    let is_long = |dim: &usize| extents[*dim] > 1 && (extents.len() == 1 || extents[*dim] >= pes);
    let cyclic = (0..extents.len()).filter(is_long).map(cyclic);
    let square = (extents.len() > 1)
        .then(|| Map::BlockCyclic { size: vec![Size::Of(1); extents.len()], grid: Grid::Like(vec![1; extents.len()]) });
    let locality = locality(graph, &found.interaction, array, &locality::Options::default());
    let mut maps: Vec<Map> = cyclic.chain(square).collect();
    if found.varying {
        let options = candidates::Options {
            maps: (SCORED / found.members(array).count().max(1)).clamp(8, 400),
            phases: 64,
            activity: found.options.phases,
            ..Default::default()
        };
        let scored = search(graph, array, (&found.activity, &found.interaction), pes, &options);
        maps.extend(scored.into_iter().take(3).map(|it| it.map));
        maps.extend(block);
    } else {
        maps = block.into_iter().chain(maps).collect();
    }
    let mut seen: Vec<Map> = Vec::new();
    maps.retain(|map| {
        !seen.contains(map) && {
            seen.push(map.clone());
            true
        }
    });
    let mut layouts: Vec<Layout> = maps.into_iter().map(Layout::Map).collect();
    if locality.class == Class::InputDependent {
        layouts.push(Layout::Table(parts(found, array, extents)));
    }
    layouts
}

/// PEs by the partitioner, by position in the array.
fn parts(found: &Search<'_>, array: ArrayId, extents: &[u32]) -> Vec<u32> {
    let options = partition::Options { parts: found.graph.pes(), ..Default::default() };
    let part = partition(&found.interaction.weighted(Weight::Messages), &options).part;
    let size = extents.iter().fold(1_usize, |size, &n| size.saturating_mul(n as usize));
    let mut table = vec![0; size.min(1 << 24)];
    for id in found.members(array) {
        if let Some(pe) = table.get_mut(position(&found.graph.objects()[id].at, extents)) {
            *pe = part[id.0 as usize];
        }
    }
    table
}

fn position(at: &Coordinates, extents: &[u32]) -> usize {
    at.iter().zip(extents).rev().fold(0, |position, (&x, &n)| position * n as usize + x.max(0) as usize)
}

/// Everything where it is, but for an array and those that follow it.
pub(super) fn placed(
    found: &Search<'_>,
    homes: &Table<ObjectId, u32>,
    (array, aligned, layout): (ArrayId, &[Aligned], &Layout),
    pes: u32,
) -> Table<ObjectId, u32> {
    let extents = &found.graph.extents(array)[..];
    let map = if let Layout::Map(map) = layout { Some(map.on(extents, pes)) } else { None };
    let pe = |at: &Coordinates| match (layout, &map) {
        (_, Some(map)) => map.pe(at),
        (Layout::Table(table), None) => table.get(position(at, extents)).copied().unwrap_or(0),
        (Layout::Map(_), None) => 0,
    };
    let mut placement = homes.clone();
    for (id, object) in found.graph.objects().iter_ids() {
        if object.array == array {
            placement[id] = pe(&object.at);
        } else if let Some(it) = aligned.iter().find(|it| it.array == object.array) {
            let mut turned = Coordinates::default();
            it.dims.iter().zip(object.at).for_each(|(&dim, x)| turned[usize::from(dim)] = x);
            placement[id] = pe(&turned);
        }
    }
    placement
}

/// Arrays whose objects make each other.
pub(super) fn trees(found: &mut Search<'_>) {
    for array in found.graph.arrays().ids() {
        let locality = locality(found.graph, &found.interaction, array, &locality::Options::default());
        let tree = Tree::new(found.graph, array);
        let objects = found.members(array).count();
        let inner = found.members(array).filter(|&id| tree.children(id).len() > 0).count();
        if objects < 3 || !tree.grows() || !matches!(locality.class, Class::Tree | Class::Independent) {
            continue;
        }
        let pes = found.graph.pes();
        let shape = tree.shape(&found.interaction, pes, &tree::Options::default());
        let placement = match shape {
            Shape::Irregular(Strategy::RoundRobin) => {
                let mut dealt = 0..;
                let of = |id| if tree.is_in(id) { dealt.next().unwrap_or(0) % pes } else { u32::MAX };
                found.graph.objects().ids().map(of).collect()
            }
            // Strategies that act on what they see while the program runs have no placement beforehand.
            Shape::Irregular(_) => continue,
            Shape::Uniform { .. } | Shape::UniformBranch { .. } | Shape::UniformLoad { .. } => {
                tree.place_by(pes, &shape.shares())
            }
        };
        let placement: Table<ObjectId, u32> =
            placement.iter_ids().map(|(id, &pe)| if pe == u32::MAX { found.homes[id] } else { pe }).collect();
        let saves = found.moving(&placement);
        let evidence =
            vec![("objects", objects as f64), ("parents", inner as f64), ("roots", tree.roots().len() as f64)];
        found.settle(Hint::Tree { array, shape }, placement, saves, evidence);
    }
}
