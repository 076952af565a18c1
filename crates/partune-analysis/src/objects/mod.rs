//! Objects: what a run of objects that send each other messages is like, as a whole: its arrays, who talks to whom in them, and its phases.

mod graph;
mod joins;
mod known;
mod leaving;
mod reductions;

use partune_base::{RegionId, StringId, Table};
use partune_objects::creation::{self, Creation, Times, creation};
use partune_objects::graph::{ArrayId, DIMENSIONS, EventGraph};
use partune_objects::interaction::Interaction;
use partune_objects::locality::{self, Class, Locality, locality};
use partune_objects::phases::{self, Activity, Kind, Phases, phases};
use partune_objects::recorded::Known;
use partune_trace::Trace;

use self::graph::Objects;
use crate::{
    Analysis, Column, DataTable, Input, Needs, Outcome, Section, SectionShape, Shape, TableShape, Unit, Values,
};

pub(crate) static OBJECTS: Analysis = Analysis {
    name: "objects",
    title: "Objects: arrays, who talks to whom in them, and phases",
    docs: DOCS,
    finds: false,
    needs: Needs::Events,
    shows: SHOWS,
    run,
};

/// A run of objects: its event graph, what else the trace knows of it, and what its arrays are called.
pub struct ObjectRun {
    pub graph: EventGraph,
    pub known: Known,
    /// The class of the objects of each array; none of what joins contributions.
    pub classes: Table<ArrayId, StringId>,
}

impl ObjectRun {
    /// How many objects the program has, and executions of methods.
    pub fn counts(&self) -> [usize; 2] {
        let objects = self.graph.objects();
        let is_one = |id| self.classes[objects[id].array].is_some();
        let executions = self.graph.executions().object.iter().filter(|id| is_one(**id));
        [objects.ids().filter(|id| is_one(*id)).count(), executions.count()]
    }
}

/// None without objects.
pub fn object_run(trace: &Trace) -> Option<ObjectRun> {
    let Objects { graph, classes } = Objects::of(trace)?;
    let known = known::known(trace, &graph);
    Some(ObjectRun { graph, known, classes: classes.iter().map(|class| class.name).collect() })
}

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "objects",
    scalars: &[],
    tables: &[
        TableShape {
            name: "arrays",
            columns: &[
                ("class", Shape::Name),
                ("dimensions", Shape::Count),
                ("objects", Shape::Count),
                ("executions", Shape::Count),
                ("time", Shape::SECONDS),
                ("messages", Shape::Count),
                ("partners", Shape::PLAIN),
                ("locality", Shape::Word),
                ("stencil", Shape::RATIO),
                ("created", Shape::Word),
                ("when", Shape::Word),
            ],
        },
        TableShape {
            name: "offsets",
            columns: &[
                ("class", Shape::Name),
                ("i", Shape::PLAIN),
                ("j", Shape::PLAIN),
                ("k", Shape::PLAIN),
                ("l", Shape::PLAIN),
                ("m", Shape::PLAIN),
                ("n", Shape::PLAIN),
                ("messages", Shape::Count),
            ],
        },
        TableShape {
            name: "object_phases",
            columns: &[
                ("kind", Shape::Word),
                ("phases", Shape::Count),
                ("begun_by", Shape::Region),
                ("objects", Shape::Count),
                ("least_active", Shape::Count),
                ("mean_active", Shape::PLAIN),
                ("varying", Shape::Word),
            ],
        },
    ],
}];

const DOCS: &str = "\
# Objects

What a program of objects that send each other messages (Charm++) is like as a whole: the characteristics from which Paradise deduces where objects should be, and which of them come first. They
are properties of the *event graph*: executions of methods and the messages that made them run, whatever was placed where. Silent where the run has no objects.

What a runtime has one of on each PE (managers of arrays, of reductions) is left out: who sent to it sent to those to whom it then sent. Where several executions of a method there send nothing and the next one sends, or its PE
sends to that method, those are joined: a reduction, and what it ends with is told as one object of that class. Where contributions to a reduction are recorded (charm4py), it waits for
all methods that contributed, and is no object. An execution inside of another one, or right behind one of the same object, without a message of its own
depends on that; and what an object sends, it sends after all that it executed before. Messages from one object to itself do not count.

`arrays`: classes of objects, with the time in their methods. `messages` are those between objects of the array, creations left out, and `partners` with how many others of it an object exchanges any. Their `locality`:

| locality | when |
|---|---|
| `single` | there is one object |
| `independent` | there are at most 0.1 pairs that talk for each object |
| `tree` | all that talk are creator and created |
| `all_to_all` | an object talks to at least 0.75 of the others |
| `regular` | the 3^d − 1 most frequent differences of coordinates (d: dimensions) cover at least 0.95 of the messages; `stencil` is that share, and `offsets` has them, destination less source |
| `input_dependent` | else |

`created` is `centralised` where one PE created 0.9 of the objects, else `distributed`; `when` is `once` (one burst in the first 5 % of the run), `bursty` or `continuous`; both are `unknown` where no creation is recorded inside of an execution.

`object_phases`: one row if the run has phases.

| kind | when |
|---|---|
| `synchronous` | all ways through the graph, but for 0.5 % of the messages, lead through the executions that begin phases, `begun_by`: a main object that waits for all, a reduction (told as its method, or the one that got the result). What an object does next with what it knows is no way around one that it contributed to and then waited for |
| `initiation` | phases begin with multicasts of one method, `begun_by`, each caused by the one before |
| `loose` | each object repeats the same methods, and messages go from a step to the same one or the next |

`objects` are those of arrays that are active in any phase; activity is `varying` where fewer than 0.9 of them are in more than a tenth of the phases, each counted by what its busiest object works: then cyclic placement keeps PEs busy that blocks would let idle. An object is
active in a phase if it works at least a quarter of what the busiest one does: what a multicast reaches executes something, and may have nothing to do. What it works is the median of the phases around, 6 % of all and at most 17, since a disturbance comes and goes.

**Source**: Krishnan and Kalé, *Automating parallel runtime optimizations using post-mortem analysis* (1996); thresholds are ours.
";

fn run(input: &Input<'_>) -> Outcome {
    let Some(objects) = Objects::of(input.trace) else { return Outcome::default() };
    let interaction = Interaction::new(&objects.graph);
    let arrays: Vec<Array> = objects
        .classes
        .ids()
        .map(|array| Array::of(&objects, &interaction, array))
        .filter(|it| it.executions > 0 && it.class.is_some())
        .collect();
    let mut tables = vec![array_table(input, &arrays), offsets(&arrays)];
    let options = phases::Options::default();
    tables.extend(phases(&objects.graph, &options).map(|found| phase_table(&objects.graph, &found, &options)));
    tables.retain(|table| table.columns.iter().any(|column| !column.values.is_empty()));
    Outcome { sections: vec![Section { name: "objects", tables, ..Section::default() }], ..Outcome::default() }
}

struct Array {
    class: StringId,
    dimensions: usize,
    executions: u64,
    time: i64,
    locality: Locality,
    creation: Option<Creation>,
}

impl Array {
    fn of(objects: &Objects, interaction: &Interaction, array: ArrayId) -> Array {
        let Objects { graph, classes } = objects;
        let own = || graph.objects().iter_ids().filter(move |(_, object)| object.array == array).map(|(id, _)| id);
        Array {
            class: classes[array].name,
            dimensions: classes[array].dimensions,
            executions: own().map(|id| graph.executed_by(id).len() as u64).sum(),
            time: own().map(|id| interaction.loads[id]).fold(0, i64::saturating_add),
            locality: locality(graph, interaction, array, &locality::Options::default()),
            creation: creation(graph, array, &creation::Options::default()),
        }
    }

    fn locality(&self) -> &'static str {
        if self.locality.objects < 2 { "single" } else { self.locality.class.name() }
    }

    fn created(&self) -> &'static str {
        match &self.creation {
            None => "unknown",
            Some(it) if it.centralised => "centralised",
            Some(_) => "distributed",
        }
    }

    fn when(&self) -> &'static str {
        match self.creation.as_ref().map(|it| it.times) {
            None => "unknown",
            Some(Times::Once) => "once",
            Some(Times::Bursty) => "bursty",
            Some(Times::Continuous) => "continuous",
        }
    }
}

fn array_table(input: &Input<'_>, arrays: &[Array]) -> DataTable {
    let clock = input.trace.clock();
    let count = |of: &dyn Fn(&Array) -> u64| Values::Count(arrays.iter().map(of).collect());
    let number = |unit, of: &dyn Fn(&Array) -> f64| Values::Number(unit, arrays.iter().map(of).collect());
    let word = |of: fn(&Array) -> &'static str| Values::Word(arrays.iter().map(of).collect());
    let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
    let columns = vec![
        Column::new("class", Values::Name(arrays.iter().map(|it| it.class).collect())),
        Column::new("dimensions", count(&|it| it.dimensions as u64)),
        Column::new("objects", count(&|it| it.locality.objects)),
        Column::new("executions", count(&|it| it.executions)),
        Column::new("time", number(Unit::Seconds, &|it| clock.seconds(partune_base::Span(it.time)))),
        Column::new("messages", count(&|it| it.locality.messages)),
        Column::new("partners", number(Unit::Count, &|it| share(2 * it.locality.edges, it.locality.objects))),
        Column::new("locality", word(Array::locality)),
        Column::new("stencil", number(Unit::Ratio, &|it| share(it.locality.covered, it.locality.messages))),
        Column::new("created", word(Array::created)),
        Column::new("when", word(Array::when)),
    ];
    DataTable { name: "arrays", columns }
}

/// The stencils of regular arrays.
fn offsets(arrays: &[Array]) -> DataTable {
    let rows: Vec<(StringId, [i32; DIMENSIONS], u64)> = arrays
        .iter()
        .flat_map(|array| match &array.locality.class {
            Class::Regular(offsets) if array.locality.objects > 1 => {
                offsets.iter().map(|(at, count)| (array.class, *at, *count)).collect()
            }
            _ => Vec::new(),
        })
        .collect();
    let dimensions = arrays.iter().map(|array| array.dimensions).max().unwrap_or(0);
    let names: [&'static str; DIMENSIONS] = ["i", "j", "k", "l", "m", "n"];
    let mut columns = vec![Column::new("class", Values::Name(rows.iter().map(|row| row.0).collect()))];
    for (dimension, name) in names.into_iter().enumerate().take(dimensions) {
        let values = rows.iter().map(|row| f64::from(row.1[dimension])).collect();
        columns.push(Column::new(name, Values::Number(Unit::Count, values)));
    }
    columns.push(Column::new("messages", Values::Count(rows.iter().map(|row| row.2).collect())));
    DataTable { name: "offsets", columns }
}

fn phase_table(graph: &EventGraph, found: &Phases, options: &phases::Options) -> DataTable {
    let activity = Activity::new(graph, found).of_arrays(graph).by_load(options);
    let active = || activity.phases.iter().map(|phase| phase.len() as u64);
    let (kind, method) = match found.kind {
        Kind::Synchronous => {
            let first = found.starts.first().map(|&start| graph.executions().method[start]);
            ("synchronous", first)
        }
        Kind::Initiation { method, .. } => ("initiation", Some(method)),
        Kind::Loose => ("loose", None),
    };
    let varying = if activity.is_varying(options) { "varying" } else { "even" };
    let mean = active().sum::<u64>() as f64 / activity.phases.len().max(1) as f64;
    let columns = vec![
        Column::new("kind", Values::Word(vec![kind])),
        Column::new("phases", Values::Count(vec![u64::from(found.count)])),
        Column::new("begun_by", Values::Region(vec![method.map_or(RegionId::NONE, |method| RegionId(method.0))])),
        Column::new("objects", Values::Count(vec![activity.objects])),
        Column::new("least_active", Values::Count(vec![active().min().unwrap_or(0)])),
        Column::new("mean_active", Values::Number(Unit::Count, vec![mean])),
        Column::new("varying", Values::Word(vec![varying])),
    ];
    DataTable { name: "object_phases", columns }
}
