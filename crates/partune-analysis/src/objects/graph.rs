//! The event graph of a run of objects: what [`partune_objects`] asks, from executions and the messages that share numbers with them.
//!
//! What a runtime has one of on each PE (groups of Charm++: managers of arrays, of reductions) passes on what the program's objects tell each other. It is left out, and
//! who sent to it sent to those to whom it then sent. A call without a message, inside of another execution, depends on that.

use partune_base::{CallPathId, ObjectId, PeId, RegionId, StringId, Table, Time};
use partune_objects::graph::{self, ArrayId, Builder, EventGraph, ExecutionId, Kind, MethodId, TypeId};
use partune_trace::{CallPaths, Execution, NO_MATCHING, Recv, Send, Stream, Trace, Trigger};
use rustc_hash::{FxHashMap, FxHashSet};

/// Objects of one class, with as many coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Class {
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
        let (classes, objects) = objects(trace, &relays, &mut builder);
        let vertices = vertices(trace);
        if !vertices.iter().any(|it| objects.get(it.row.object).is_some_and(|it| *it != graph::ObjectId::NONE)) {
            return None;
        }
        let sources = Sources::new(trace, &vertices);
        let numbers: Vec<ExecutionId> = vertices.iter().map(|it| add(&mut builder, it, &objects)).collect();
        for (at, vertex) in vertices.iter().enumerate().filter(|(at, _)| numbers[*at] != ExecutionId::NONE) {
            let Some(cause) = sources.cause(&vertices, &numbers, at) else { continue };
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
struct Vertex {
    pe: PeId,
    row: Execution,
    path: CallPathId,
    method: RegionId,
    end: Time,
    /// That it is inside of.
    outer: Option<usize>,
    /// Ticks of those inside of it.
    inner: i64,
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
    let (begin, end) = (vertex.row.begin.0, vertex.end.0);
    builder.execution(graph::Execution {
        object,
        method: MethodId(vertex.method.0),
        pe: vertex.pe,
        begin,
        end: (end - vertex.inner).max(begin),
    })
}

/// Where messages were made.
struct Sources {
    /// By number, and time.
    sent: Vec<Sent>,
}

#[derive(Clone, Copy)]
struct Sent {
    matching: u64,
    /// The execution that sent it; or the message that was passed on with it.
    by: By,
    time: Time,
    bytes: u64,
}

#[derive(Clone, Copy)]
enum By {
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

    /// The message of a number that was sent last before a time.
    fn sent(&self, message: u64, before: Time) -> Option<Sent> {
        let end = self.sent.partition_point(|it| (it.matching, it.time) <= (message, before));
        let last = end.checked_sub(1).map(|last| self.sent[last])?;
        (last.matching == message && message != NO_MATCHING).then_some(last)
    }

    /// The execution of the program's that made one take place, by whatever passed it on; none that did not begin before it, of which a clock of
    /// microseconds cannot tell.
    fn cause(&self, vertices: &[Vertex], numbers: &[ExecutionId], of: usize) -> Option<Cause> {
        let is_before = |source: usize| (vertices[source].row.begin, source) < (vertices[of].row.begin, of);
        let (mut at, mut message, mut before) = (of, vertices[of].row.message, vertices[of].row.begin);
        let (mut is_message, mut bytes) = (false, 0);
        // Messages that are passed on in circles, which damaged logs may say, end here.
        for _ in 0..STEPS {
            let by = if let Some(sent) = self.sent(message, before) {
                (is_message, bytes, before) = (true, bytes.max(sent.bytes), sent.time);
                sent.by
            } else {
                before = vertices[at].row.begin;
                vertices[at].outer.map_or(By::Nobody, By::Vertex)
            };
            match by {
                By::Nobody => return None,
                By::Message(passed_on) => message = passed_on,
                By::Vertex(vertex) if numbers[vertex] != ExecutionId::NONE => {
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
    let mut next = own.start;
    let mut open: Vec<usize> = Vec::new();
    let mut outside = Outside { recvs: &stream.recvs, next: 0, since: Time::MIN };
    for send in stream.sends.iter().filter(|send| send.matching != NO_MATCHING) {
        let Some(visit) = stream.visits.get(send.visit) else { continue };
        while next < own.end && vertices[next].row.visit < send.visit {
            while open.pop_if(|at| vertices[*at].end <= vertices[next].row.begin).is_some() {}
            outside.since = outside.since.max(vertices[next].end);
            open.push(next);
            next += 1;
        }
        while open.pop_if(|at| vertices[*at].end < send.time).is_some() {}
        let is_inside = |at: &usize| paths.ancestors(visit.path).any(|path| path == vertices[*at].path);
        let by = match open.iter().rfind(|at| is_inside(at)) {
            Some(vertex) => By::Vertex(*vertex),
            None => outside.passed_on(send).map_or(By::Nobody, By::Message),
        };
        sent.push(Sent { matching: send.matching, by, time: send.time, bytes: send.bytes });
    }
}

/// Messages that a PE got and passed on between executions: each is received, and sent on before anything else runs.
struct Outside<'a> {
    recvs: &'a [Recv],
    /// The first that may have been passed on later.
    next: usize,
    /// When the last execution ended.
    since: Time,
}

impl Outside<'_> {
    /// The message that was passed on with one.
    fn passed_on(&mut self, send: &Send) -> Option<u64> {
        self.next += self.recvs[self.next..].partition_point(|recv| recv.time < self.since);
        let now = self.recvs[self.next..].iter().take_while(|recv| recv.time <= send.time);
        let is_it =
            |recv: &Recv| recv.bytes == send.bytes && recv.matching != NO_MATCHING && recv.matching != send.matching;
        let at = self.next + now.take(STEPS).position(is_it)?;
        self.next = at + 1;
        Some(self.recvs[at].matching)
    }
}
