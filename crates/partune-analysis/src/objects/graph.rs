//! The event graph of a run of objects: what [`partune_objects`] asks, from executions and the messages that share numbers with them.
//!
//! What a runtime has one of on each PE (groups of Charm++: managers of arrays, of reductions) passes on what the program's objects tell each other. It is left out, and
//! who sent to it sent to those to whom it then sent; but where it joins several messages into one, as reductions do, that is an execution of its own; so is what waits for several
//! contributions, where these are told. A call without a message, inside of another
//! execution or right behind one of the same object, depends on that. What an object sends, it sends after all that it executed before.

use partune_base::{CallPathId, ObjectId, PeId, RegionId, StringId, Table, Time};
use partune_objects::graph::{self, ArrayId, Builder, EventGraph, ExecutionId, Kind, MethodId, TypeId};
use partune_trace::{CallPaths, Execution, NO_MATCHING, Recv, Send, Stream, Trace, Trigger, VisitIx};
use rustc_hash::{FxHashMap, FxHashSet};

use super::joins::Joins;
use super::leaving;
use super::reductions::Reductions;

/// Objects of one class, with as many coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class {
    /// None of what joins contributions, which is no object of the program's.
    pub(crate) name: StringId,
    pub(crate) dimensions: usize,
}

/// A run of objects.
pub(crate) struct Objects {
    pub(crate) graph: EventGraph,
    pub(crate) classes: Table<ArrayId, Class>,
}

impl Objects {
    /// None without executions of objects. Cost: linear, but for sorting messages by their numbers.
    pub(crate) fn of(trace: &Trace) -> Option<Objects> {
        let relays = relays(trace);
        let mut builder = Builder::new(u32::try_from(trace.pes().len()).ok()?);
        let (mut classes, objects) = objects(trace, &relays, &mut builder);
        let mut vertices = vertices(trace);
        if !vertices.iter().any(|it| objects.get(it.row.object).is_some_and(|it| *it != graph::ObjectId::NONE)) {
            return None;
        }
        let sources = Sources::new(trace, &vertices);
        let mut numbers: Vec<ExecutionId> = vertices.iter().map(|it| add(&mut builder, it, &objects)).collect();
        let is_own = numbers.iter().map(|id| *id != ExecutionId::NONE).collect();
        let reductions = Reductions::new(trace, &mut vertices);
        numbers.resize(vertices.len(), ExecutionId::NONE);
        let joins = Joins::new(&vertices, &sources, reductions, is_own);
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut of_class: FxHashMap<StringId, graph::ObjectId> = FxHashMap::default();
        let causes: Vec<Option<Cause>> = (0..vertices.len())
            .map(|at| if joins.is_own(at) { sources.cause(&vertices, &joins, at) } else { None })
            .collect();
        edges.extend(lasts(&vertices, &joins, &causes));
        for (at, cause) in causes.iter().enumerate().filter(|it| joins.is_own(it.0)) {
            let vertex = &vertices[at];
            let Some(cause) = cause else {
                edges.extend(follows(&vertices, &joins, at).map(|before| (before, at)));
                continue;
            };
            if numbers[cause.vertex] == ExecutionId::NONE {
                let object = trace.objects().get(vertices[cause.vertex].row.object);
                let class = object.map_or(StringId::NONE, |object| object.class);
                let object = *of_class.entry(class).or_insert_with(|| {
                    let name = if joins.is_told(cause.vertex) { StringId::NONE } else { class };
                    classes.push(Class { name, dimensions: 0 });
                    let array = builder.array(0);
                    builder.object(array, &[])
                });
                numbers[cause.vertex] = execution(&mut builder, &vertices[cause.vertex], object);
                edges.extend(joins.inputs(cause.vertex).into_iter().map(|input| (input, cause.vertex)));
            }
            builder.message(graph::Message {
                source: numbers[cause.vertex],
                destination: numbers[at],
                kind: match vertex.row.trigger {
                    Trigger::Creation => Kind::Creation,
                    _ if cause.is_message => Kind::Message,
                    Trigger::Message | Trigger::Call => Kind::Dependence,
                },
                message_type: TypeId(vertex.method.0),
                bytes: cause.bytes,
                sent: cause.sent.0,
                received: vertex.row.begin.0,
            });
        }
        let mut edges: Vec<(ExecutionId, ExecutionId)> =
            edges.into_iter().map(|(from, to)| (numbers[from], numbers[to])).collect();
        leaving::leave(&mut builder);
        // One order for all edges, so that nothing waits for itself.
        let mut rank = vec![0; builder.executions().object.len()];
        let ids = numbers.iter().enumerate().filter(|(_, id)| **id != ExecutionId::NONE);
        ids.for_each(|(at, id)| rank[id.0 as usize] = at);
        edges.extend(states(&builder, &edges, &rank));
        edges.into_iter().for_each(|(from, to)| depend(&mut builder, from, to, &rank));
        Some(Objects { graph: builder.seal().ok()?, classes })
    }
}

/// Classes of which several PEs have one.
fn relays(trace: &Trace) -> FxHashSet<StringId> {
    let mut homes: FxHashMap<StringId, PeId> = FxHashMap::default();
    let mut relays = FxHashSet::default();
    for object in trace.objects().iter().filter(|object| object.home.is_some()) {
        if *homes.entry(object.class).or_insert(object.home) != object.home {
            relays.insert(object.class);
        }
    }
    relays
}

/// Arrays and objects of the graph; none for what passes on.
fn objects(
    trace: &Trace,
    relays: &FxHashSet<StringId>,
    builder: &mut Builder,
) -> (Table<ArrayId, Class>, Table<ObjectId, graph::ObjectId>) {
    let mut classes: Table<ArrayId, Class> = Table::default();
    let mut arrays: FxHashMap<Class, ArrayId> = FxHashMap::default();
    let of_object = trace.objects().iter().map(|object| {
        if object.home.is_some() && relays.contains(&object.class) {
            return graph::ObjectId::NONE;
        }
        let dimensions = object.index.len().min(graph::DIMENSIONS);
        let class = Class { name: object.class, dimensions };
        let array = *arrays.entry(class).or_insert_with(|| {
            classes.push(class);
            builder.array(dimensions as u8)
        });
        builder.object(array, &object.index)
    });
    let objects = of_object.collect();
    (classes, objects)
}

/// An execution, of whatever object.
pub(super) struct Vertex {
    pub(super) pe: PeId,
    pub(super) row: Execution,
    pub(super) path: CallPathId,
    pub(super) method: RegionId,
    pub(super) end: Time,
    /// That it is inside of.
    pub(super) outer: Option<usize>,
    /// Ticks of those inside of it.
    pub(super) inner: i64,
}

/// All executions by PE and begin.
fn vertices(trace: &Trace) -> Vec<Vertex> {
    let mut vertices: Vec<Vertex> = Vec::new();
    for (pe, stream) in trace.streams().iter_ids() {
        let mut open: Vec<usize> = Vec::new();
        for row in &stream.executions {
            let Some(visit) = stream.visits.get(row.visit) else { continue };
            while open.pop_if(|at| vertices[*at].end <= row.begin).is_some() {}
            let outer = open.last().copied();
            let end = outer.map_or(visit.exit, |outer| visit.exit.min(vertices[outer].end)).max(row.begin);
            if let Some(outer) = outer {
                vertices[outer].inner += end.since(row.begin).0;
            }
            open.push(vertices.len());
            vertices.push(Vertex {
                pe,
                row: *row,
                path: visit.path,
                method: trace.paths().region(visit.path),
                end,
                outer,
                inner: 0,
            });
        }
    }
    vertices
}

/// Makes an execution of the graph, unless nobody's object ran. What is inside of it counts there.
fn add(builder: &mut Builder, vertex: &Vertex, objects: &Table<ObjectId, graph::ObjectId>) -> ExecutionId {
    let Some(object) = objects.get(vertex.row.object).copied().filter(|it| *it != graph::ObjectId::NONE) else {
        return ExecutionId::NONE;
    };
    execution(builder, vertex, object)
}

fn execution(builder: &mut Builder, vertex: &Vertex, object: graph::ObjectId) -> ExecutionId {
    let (begin, end) = (vertex.row.begin.0, vertex.end.0);
    builder.execution(graph::Execution {
        object,
        method: MethodId(vertex.method.0),
        pe: vertex.pe,
        begin,
        end: (end - vertex.inner).max(begin),
    })
}

/// The execution of the same object right before one of which nobody knows why it took place: it goes on with that.
fn follows(vertices: &[Vertex], joins: &Joins<'_>, at: usize) -> Option<usize> {
    let before = at.checked_sub(1).filter(|before| vertices[*before].pe == vertices[at].pe)?;
    let is_same = joins.is_own(before) && vertices[before].row.object == vertices[at].row.object;
    (is_same && vertices[at].row.message == NO_MATCHING).then_some(before)
}

/// What executions of the program wait for that sent what joins of their PE send: each did so as the last of its PE.
fn lasts(vertices: &[Vertex], joins: &Joins<'_>, causes: &[Option<Cause>]) -> Vec<(usize, usize)> {
    let told = || causes.iter().enumerate().filter_map(|(at, cause)| Some((cause.as_ref()?, vertices[at].method)));
    let key = |cause: &Cause, method| (vertices[cause.vertex].pe, method);
    let joined: FxHashMap<(PeId, RegionId), RegionId> = told()
        .filter(|(cause, _)| joins.is_join(cause.vertex) && !joins.is_told(cause.vertex))
        .map(|(cause, method)| (key(cause, method), vertices[cause.vertex].method))
        .collect();
    let mut results: Vec<(PeId, RegionId, Time, usize)> = told()
        .filter(|(cause, method)| joined.contains_key(&key(cause, *method)))
        .map(|(cause, method)| (vertices[cause.vertex].pe, method, cause.sent, cause.vertex))
        .collect();
    results.sort_unstable();
    results.dedup();
    let mut found = Vec::new();
    for same in results.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut since = Time::MIN;
        for &(pe, method, sent, at) in same {
            if joins.is_own(at) {
                let inputs = joins.inputs_as(at, joined[&(pe, method)], (since, sent));
                found.extend(inputs.into_iter().filter(|input| *input != at).map(|input| (input, at)));
            }
            since = sent;
        }
    }
    found
}

/// Of each object what it executed since it last acted on others, and that, before it does so again.
fn states(builder: &Builder, edges: &[(ExecutionId, ExecutionId)], rank: &[usize]) -> Vec<(ExecutionId, ExecutionId)> {
    let (executions, messages) = (builder.executions(), builder.messages());
    let mut acts = vec![false; executions.object.len()];
    let told = messages.source.iter().copied().zip(messages.destination.iter().copied());
    for (from, to) in told.chain(edges.iter().copied()) {
        acts[from.0 as usize] |= executions.object[from] != executions.object[to];
    }
    let mut order: Vec<ExecutionId> = executions.object.ids().collect();
    order.sort_by_key(|&id| (executions.object[id], executions.begin[id], rank[id.0 as usize]));
    let mut found = Vec::new();
    for of_object in order.chunk_by(|a, b| executions.object[*a] == executions.object[*b]) {
        let mut since: Vec<ExecutionId> = Vec::new();
        for &id in of_object {
            if acts[id.0 as usize] {
                found.extend(since.drain(..).map(|before| (before, id)));
            }
            since.push(id);
        }
    }
    found
}

/// Something that is no message; nothing where the clocks of two PEs tell otherwise.
fn depend(builder: &mut Builder, source: ExecutionId, destination: ExecutionId, rank: &[usize]) {
    let executions = builder.executions();
    let (from, to) = (executions.begin[source], executions.begin[destination]);
    if (from, rank[source.0 as usize]) < (to, rank[destination.0 as usize]) {
        let (sent, received) = (executions.end[source], to);
        let (kind, message_type) = (Kind::Dependence, TypeId(executions.method[destination].0));
        builder.message(graph::Message { source, destination, kind, message_type, bytes: 0, sent, received });
    }
}

/// Where messages were made.
pub(super) struct Sources {
    /// By number, and time.
    sent: Vec<Sent>,
}

#[derive(Clone, Copy)]
pub(super) struct Sent {
    matching: u64,
    /// The execution that sent it; or the message that was passed on with it.
    pub(super) by: By,
    pub(super) time: Time,
    bytes: u64,
}

#[derive(Clone, Copy)]
pub(super) enum By {
    Vertex(usize),
    Message(u64),
    Nobody,
}

/// Why an execution took place.
struct Cause {
    vertex: usize,
    sent: Time,
    bytes: u64,
    is_message: bool,
}

impl Sources {
    fn new(trace: &Trace, vertices: &[Vertex]) -> Sources {
        let mut sent = Vec::new();
        let mut first = 0;
        for (pe, stream) in trace.streams().iter_ids() {
            let end = first + vertices[first..].partition_point(|vertex| vertex.pe <= pe);
            of_pe(trace.paths(), stream, (vertices, first..end), &mut sent);
            first = end;
        }
        // A message has a row for each PE that got it, all of one time; and its number may be used again.
        sent.sort_by_key(|it| (it.matching, it.time));
        sent.dedup_by_key(|it| (it.matching, it.time));
        Sources { sent }
    }

    pub(super) fn all(&self) -> &[Sent] {
        &self.sent
    }

    /// The message of a number that was sent last before a time.
    pub(super) fn sent(&self, message: u64, before: Time) -> Option<Sent> {
        let end = self.sent.partition_point(|it| (it.matching, it.time) <= (message, before));
        let last = end.checked_sub(1).map(|last| self.sent[last])?;
        (last.matching == message && message != NO_MATCHING).then_some(last)
    }

    /// The execution of the program's that made one take place, by whatever passed it on, or the one of the runtime's that joined several; none that did not begin before it, of
    /// which a clock of microseconds cannot tell.
    fn cause(&self, vertices: &[Vertex], joins: &Joins<'_>, of: usize) -> Option<Cause> {
        let is_before = |source: usize| (vertices[source].row.begin, source) < (vertices[of].row.begin, of);
        let (mut at, mut message, mut before) = (of, vertices[of].row.message, vertices[of].row.begin);
        let (mut is_message, mut bytes) = (false, 0);
        // Messages that are passed on in circles, which damaged logs may say, end here.
        for _ in 0..STEPS {
            let by = if let Some(sent) = self.sent(message, before) {
                (is_message, bytes, before) = (true, bytes.max(sent.bytes), sent.time);
                match joins.told(message) {
                    Some(join) => {
                        before = vertices[join].end;
                        By::Vertex(join)
                    }
                    None => sent.by,
                }
            } else {
                before = vertices[at].row.begin;
                vertices[at].outer.map_or(By::Nobody, By::Vertex)
            };
            match by {
                By::Nobody => return None,
                By::Message(passed_on) => message = passed_on,
                By::Vertex(vertex) if joins.is_own(vertex) || joins.is_join(vertex) => {
                    return is_before(vertex).then_some(Cause { vertex, sent: before, bytes, is_message });
                }
                By::Vertex(vertex) => (at, message) = (vertex, vertices[vertex].row.message),
            }
        }
        None
    }
}

/// So often a message is passed on at most, and among so many messages one is looked for that was passed on.
const STEPS: usize = 64;

/// The messages that a PE made, whose executions are these. What is simultaneous on a clock of microseconds is told apart by the order of visits.
fn of_pe(
    paths: &CallPaths,
    stream: &Stream,
    (vertices, own): (&[Vertex], std::ops::Range<usize>),
    sent: &mut Vec<Sent>,
) {
    let mut inside = Inside::new(paths, stream, (vertices, own));
    let mut outside = Outside { recvs: &stream.recvs, next: 0 };
    for send in stream.sends.iter().filter(|send| send.matching != NO_MATCHING && send.visit.is_some()) {
        let by = match inside.of(send.visit, send.time) {
            Some(vertex) => By::Vertex(vertex),
            None => outside.passed_on(send, inside.since).map_or(By::Nobody, By::Message),
        };
        sent.push(Sent { matching: send.matching, by, time: send.time, bytes: send.bytes });
    }
}

/// The executions of a PE, along what happens in them.
pub(super) struct Inside<'a> {
    paths: &'a CallPaths,
    stream: &'a Stream,
    vertices: &'a [Vertex],
    /// Executions of the PE that have not begun.
    next: std::iter::Peekable<std::ops::Range<usize>>,
    open: Vec<usize>,
    /// When the last execution ended that has begun.
    since: Time,
}

impl<'a> Inside<'a> {
    pub(super) fn new(
        paths: &'a CallPaths,
        stream: &'a Stream,
        (vertices, next): (&'a [Vertex], std::ops::Range<usize>),
    ) -> Inside<'a> {
        Inside { paths, stream, vertices, next: next.peekable(), open: Vec::new(), since: Time::MIN }
    }

    /// The innermost execution that a visit is inside of, at a time; to be asked in order of time.
    pub(super) fn of(&mut self, visit: VisitIx, time: Time) -> Option<usize> {
        let (vertices, path) = (self.vertices, self.stream.visits.get(visit)?.path);
        while let Some(next) = self.next.next_if(|next| vertices[*next].row.visit < visit) {
            while self.open.pop_if(|at| vertices[*at].end <= vertices[next].row.begin).is_some() {}
            self.since = self.since.max(vertices[next].end);
            self.open.push(next);
        }
        while self.open.pop_if(|at| vertices[*at].end < time).is_some() {}
        let is_inside = |at: &usize| self.paths.ancestors(path).any(|path| path == vertices[*at].path);
        self.open.iter().copied().rfind(is_inside)
    }
}

/// Messages that a PE got and passed on between executions: each is received, and sent on before anything else runs.
struct Outside<'a> {
    recvs: &'a [Recv],
    /// The first that may have been passed on later.
    next: usize,
}

impl Outside<'_> {
    /// The message that was passed on with one, after the last execution ended.
    fn passed_on(&mut self, send: &Send, since: Time) -> Option<u64> {
        self.next += self.recvs[self.next..].partition_point(|recv| recv.time < since);
        let now = self.recvs[self.next..].iter().take_while(|recv| recv.time <= send.time);
        let is_it =
            |recv: &Recv| recv.bytes == send.bytes && recv.matching != NO_MATCHING && recv.matching != send.matching;
        let at = self.next + now.take(STEPS).position(is_it)?;
        self.next = at + 1;
        Some(self.recvs[at].matching)
    }
}
