//! `flame`: functions stacked on those that called them, or the other way round; of all PEs or some, in the run or a part of it, beside another run.

use partune_base::RegionId;
use partune_engine::{Block, FlameBox, FlameView, Kind, Stacking};
use serde::Serialize;

use super::Ask;
use super::rows::chosen;
use super::timeline::{Numbers, interval};
use crate::error::Error;
use crate::run::Run;
use crate::text;

/// Boxes that are opened, that stand on each other, and that can lead to the one that is opened.
const BOXES: usize = 2000;
const LEVELS: u32 = 64;
const WAY: usize = 512;

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Flame {
    pes: usize,
    all_s: f64,
    /// Of the run beside it.
    base_all_s: Option<f64>,
    /// So many boxes lead to the one that is opened.
    under: usize,
    functions: Functions,
    boxes: Boxes,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Functions {
    /// None for the code outside of all.
    region: Vec<Option<u32>>,
    name: Vec<String>,
    file: Vec<String>,
    line: Vec<u32>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Boxes {
    parent: Vec<Option<usize>>,
    /// None where functions are told together.
    function: Vec<Option<u32>>,
    /// How many functions it is.
    count: Vec<usize>,
    kind: Vec<usize>,
    seconds: Vec<f64>,
    own_s: Vec<f64>,
    waiting_s: Vec<f64>,
    visits: Vec<u64>,
    base_s: Vec<Option<f64>>,
}

pub(super) fn flame(run: &Run, ask: &Ask<'_>) -> Result<Flame, Error> {
    let (query, recorded) = (&ask.query, run.recorded());
    let words = [("callees", Stacking::Callees), ("callers", Stacking::Callers)];
    let stacking = query.word("stacking", &words)?;
    let under = query.text("under").map_or(Ok(Vec::new()), |text| way(run, text))?;
    let (pes, _) = chosen(run, query)?;
    let asked = |keys: &[&str]| keys.iter().any(|key| query.text(key).is_some());
    let in_part = asked(&["from", "to"]);
    let is_part = in_part || asked(&["only", "order", "first", "pes"]);
    let part = if in_part {
        run.needs_events()?;
        Some(interval(run, query)?)
    } else {
        None
    };
    let base = query.text("base").map(|number| ask.runs.ready(number)).transpose()?;
    if base.is_some() && is_part {
        return Err(Error::question("a part of a run has nothing beside it", "leave base out, or the part"));
    }
    let own = is_part.then(|| recorded.tree_of(&pes, part));
    let tree = own.as_ref().unwrap_or_else(|| recorded.tree());
    let beside = base.as_deref().map(|base| (base.recorded(), base.recorded().tree()));
    let levels = query.number("levels", 1..=LEVELS)?.unwrap_or(LEVELS);
    let view = FlameView { stacking, under: &under, most: BOXES.min(ask.most), levels };
    let flame = recorded.flame(tree, beside, view);
    let flame = flame.ok_or_else(|| {
        Error::question("no boxes lead that way", "under is the functions on the way from the first box, as in 3.17")
    })?;
    let mut functions = Numbers::new();
    let mut boxes = Boxes::default();
    for it in &flame.boxes {
        boxes.push(run, it, base.as_deref(), &mut functions);
    }
    Ok(Flame {
        pes: pes.len(),
        all_s: run.seconds(flame.all),
        base_all_s: base.map(|base| base.seconds(flame.base_all)),
        under: under.len(),
        functions: listed(run, &functions.order),
        boxes,
    })
}

/// Functions from a list of their numbers, as `3.17`.
fn way(run: &Run, text: &str) -> Result<Vec<RegionId>, Error> {
    let known = |part: &str| part.parse().ok().map(RegionId).filter(|id| run.recorded().region(*id).is_some());
    let way: Option<Vec<RegionId>> = text.split('.').map(known).collect();
    let wrong = || Error::question("under is no list of functions", "give at most 512 numbers, as in 3.17");
    way.filter(|way| way.len() <= WAY).ok_or_else(wrong)
}

fn listed(run: &Run, regions: &[RegionId]) -> Functions {
    let recorded = run.recorded();
    let mut columns = Functions::default();
    for id in regions {
        let region = recorded.region(*id);
        columns.region.push(id.some().map(|id| id.0));
        columns.name.push(text::region(recorded, *id));
        columns.file.push(region.map_or(String::new(), |it| text::name(it.file)));
        columns.line.push(region.map_or(0, |it| it.line));
    }
    columns
}

impl Boxes {
    fn push(&mut self, run: &Run, it: &FlameBox, base: Option<&Run>, functions: &mut Numbers<RegionId>) {
        let (function, count) = match it.block {
            Block::Function(region) => (Some(functions.of(region)), 1),
            Block::Outside => (Some(functions.of(RegionId::NONE)), 1),
            Block::Rest(count) => (None, count),
        };
        let kind = it.path.some().map_or(Kind::Computation, |path| run.recorded().kind(path));
        self.parent.push(it.parent);
        self.function.push(function);
        self.count.push(count);
        self.kind.push(kind as usize);
        self.seconds.push(run.seconds(it.time));
        self.own_s.push(run.seconds(it.own));
        self.waiting_s.push(run.seconds(it.waiting));
        self.visits.push(it.visits);
        self.base_s.push(base.map(|base| base.seconds(it.base)));
    }
}
