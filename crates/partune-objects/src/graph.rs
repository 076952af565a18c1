//! The event graph: objects, the executions of their methods, and what connects these. A plain value that a reader of traces or a
//! generator fills.
//!
//! Edges say why an execution took place, never that two were on one PE: so the graph is the same however the program is scheduled and
//! placed; only the columns `pe`, `begin`, `end`, `sent` and `received` change. Columns by dense ids; 28 bytes an execution and 37 a
//! message, and 20 and 8 to find them in order and from their ends. Source: Krishnan and Kalé's event graph.

use partune_base::{PeId, Table};

use crate::csr::Csr;

partune_base::ids! {
    /// A set of objects of one type with coordinates; a single object is an array of one.
    ArrayId,
    /// An object that executes methods, one at a time.
    ObjectId,
    /// One execution of a method of an object.
    ExecutionId,
    /// A method that other objects can invoke.
    MethodId,
    /// What connects two executions.
    MessageId,
    /// A type of messages.
    TypeId,
}

/// Arrays have at most so many dimensions.
pub const DIMENSIONS: usize = 6;

/// Where an object is in its array; dimensions above the array's are 0.
pub type Coordinates = [i32; DIMENSIONS];

/// Ids of methods and types are dense and below this, so that tables of them are small.
pub const NAMES: u32 = 1 << 20;

/// Ticks are within ± this, so that their differences are numbers too.
pub const TIME_LIMIT: i64 = 1 << 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    pub array: ArrayId,
    pub at: Coordinates,
    /// The execution that created it; [`ExecutionId::NONE`] where nobody knows. [`Builder::seal`] takes it from creation messages.
    pub creator: ExecutionId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    pub object: ObjectId,
    pub method: MethodId,
    pub pe: PeId,
    /// Ticks.
    pub begin: i64,
    pub end: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Invokes a method.
    Message,
    /// Creates the object whose execution it leads to.
    Creation,
    /// One of several inputs that an execution needs, which is no message: an earlier execution of the same object, as a rule.
    Dependence,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub source: ExecutionId,
    pub destination: ExecutionId,
    pub kind: Kind,
    pub message_type: TypeId,
    pub bytes: u64,
    /// Ticks.
    pub sent: i64,
    pub received: i64,
}

/// Executions, a column a field of [`Execution`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executions {
    pub object: Table<ExecutionId, ObjectId>,
    pub method: Table<ExecutionId, MethodId>,
    pub pe: Table<ExecutionId, PeId>,
    pub begin: Table<ExecutionId, i64>,
    pub end: Table<ExecutionId, i64>,
}

/// Messages, a column a field of [`Message`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    pub source: Table<MessageId, ExecutionId>,
    pub destination: Table<MessageId, ExecutionId>,
    pub kind: Table<MessageId, Kind>,
    pub message_type: Table<MessageId, TypeId>,
    pub bytes: Table<MessageId, u64>,
    pub sent: Table<MessageId, i64>,
    pub received: Table<MessageId, i64>,
}

/// A graph without faults: ids point into their tables, nothing ends before it begins, nothing waits for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventGraph {
    parts: Builder,
    /// Messages by source, in order of sending; by destination.
    from: Csr,
    to: Csr,
    /// Executions by object, in the graph's order.
    of: Csr,
    /// Edges on the longest way to each execution; all executions in order of that.
    depth: Table<ExecutionId, u32>,
    order: Vec<ExecutionId>,
}

/// A graph in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Builder {
    pes: u32,
    ranks: Table<ArrayId, u8>,
    objects: Table<ObjectId, Object>,
    executions: Executions,
    messages: Messages,
}

/// Why there is no graph. What is wrong is named by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    #[error("array {} has more than {DIMENSIONS} dimensions", .0.0)]
    Rank(ArrayId),
    #[error("object {} is of an array, or made by an execution, that is not there", .0.0)]
    Object(ObjectId),
    #[error("execution {} is of an object, on a PE or of a method that cannot be", .0.0)]
    Execution(ExecutionId),
    #[error("execution {} ends before it begins, or at a time beyond all limits", .0.0)]
    Time(ExecutionId),
    #[error("message {} leads from or to an execution that is not there, or has a type or a time that cannot be", .0.0)]
    Message(MessageId),
    #[error("execution {} waits for itself, or for one that does", .0.0)]
    Cycle(ExecutionId),
    #[error("more than 4 294 967 294 of a kind")]
    TooMany,
    #[error("columns of executions or messages are not of one length")]
    Columns,
}

impl Builder {
    /// Of a run on so many PEs.
    pub fn new(pes: u32) -> Builder {
        Builder { pes, ..Builder::default() }
    }

    pub fn array(&mut self, rank: u8) -> ArrayId {
        self.ranks.push(rank)
    }

    /// An object at coordinates, of which those beyond [`DIMENSIONS`] do not count.
    pub fn object(&mut self, array: ArrayId, at: &[i32]) -> ObjectId {
        let mut all = Coordinates::default();
        all.iter_mut().zip(at).for_each(|(to, from)| *to = *from);
        self.objects.push(Object { array, at: all, creator: ExecutionId::NONE })
    }

    pub fn created(&mut self, object: ObjectId, creator: ExecutionId) {
        if self.objects.get(object).is_some() {
            self.objects[object].creator = creator;
        }
    }

    pub fn execution(&mut self, row: Execution) -> ExecutionId {
        self.executions.object.push(row.object);
        self.executions.method.push(row.method);
        self.executions.pe.push(row.pe);
        self.executions.begin.push(row.begin);
        self.executions.end.push(row.end)
    }

    pub fn message(&mut self, row: Message) -> MessageId {
        self.messages.source.push(row.source);
        self.messages.destination.push(row.destination);
        self.messages.kind.push(row.kind);
        self.messages.message_type.push(row.message_type);
        self.messages.bytes.push(row.bytes);
        self.messages.sent.push(row.sent);
        self.messages.received.push(row.received)
    }

    pub fn executions(&self) -> &Executions {
        &self.executions
    }

    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// Columns, to be changed row by row; all of them are to stay of one length.
    pub fn executions_mut(&mut self) -> &mut Executions {
        &mut self.executions
    }

    pub fn messages_mut(&mut self) -> &mut Messages {
        &mut self.messages
    }

    pub fn set_pes(&mut self, pes: u32) {
        self.pes = pes;
    }

    /// Checks and sorts. O(V + E + E log (messages of one execution)).
    pub fn seal(mut self) -> Result<EventGraph, GraphError> {
        self.check()?;
        let (executions, messages) = (&self.executions, &self.messages);
        let count = executions.object.len();
        let mut from = Csr::new(count, messages.source.iter().map(|id| id.0));
        (0..count).for_each(|row| from.row_mut(row).sort_by_key(|&id| self.offset(MessageId(id))));
        let to = Csr::new(count, messages.destination.iter().map(|id| id.0));
        let depth = depths(messages, &from, &to, count)?;
        let deepest = depth.iter().max().map_or(0, |&deepest| deepest as usize + 1);
        let order: Vec<_> =
            Csr::new(deepest, depth.iter().copied()).items().iter().map(|&id| ExecutionId(id)).collect();
        // By object: the items of the rows are positions in the order.
        let mut of = Csr::new(self.objects.len(), order.iter().map(|&id| executions.object[id].0));
        (0..self.objects.len()).for_each(|row| of.row_mut(row).iter_mut().for_each(|at| *at = order[*at as usize].0));
        for (id, kind) in messages.kind.iter_ids() {
            let object = executions.object[messages.destination[id]];
            if *kind == Kind::Creation && self.objects[object].creator == ExecutionId::NONE {
                self.objects[object].creator = messages.source[id];
            }
        }
        Ok(EventGraph { parts: self, from, to, of, depth, order })
    }

    fn offset(&self, id: MessageId) -> i64 {
        let source = self.messages.source[id];
        let (begin, end) = (self.executions.begin[source], self.executions.end[source]);
        self.messages.sent[id].clamp(begin, end) - begin
    }

    fn check(&self) -> Result<(), GraphError> {
        let (executions, messages) = (&self.executions, &self.messages);
        let many = [self.ranks.len(), self.objects.len(), executions.object.len(), messages.source.len()];
        if many.iter().any(|&count| count >= u32::MAX as usize) {
            return Err(GraphError::TooMany);
        }
        let Executions { object, method, pe, begin, end } = executions;
        let alike = [method.len(), pe.len(), begin.len(), end.len()].iter().all(|&len| len == object.len());
        let Messages { source, destination, kind, message_type, bytes, sent, received } = messages;
        let lengths = [destination.len(), kind.len(), message_type.len(), bytes.len(), sent.len(), received.len()];
        ok(alike && lengths.iter().all(|&len| len == source.len()), GraphError::Columns)?;
        let in_time = |time: i64| (-TIME_LIMIT..=TIME_LIMIT).contains(&time);
        for (id, &rank) in self.ranks.iter_ids() {
            ok(usize::from(rank) <= DIMENSIONS, GraphError::Rank(id))?;
        }
        for (id, object) in self.objects.iter_ids() {
            let creator = object.creator == ExecutionId::NONE || executions.object.get(object.creator).is_some();
            ok(creator && self.ranks.get(object.array).is_some(), GraphError::Object(id))?;
        }
        for id in executions.object.ids() {
            let known = self.objects.get(executions.object[id]).is_some() && executions.pe[id].0 < self.pes;
            ok(known && executions.method[id].0 < NAMES, GraphError::Execution(id))?;
            let (begin, end) = (executions.begin[id], executions.end[id]);
            ok(begin <= end && in_time(begin) && in_time(end), GraphError::Time(id))?;
        }
        for id in messages.source.ids() {
            let ends = [messages.source[id], messages.destination[id]];
            let known = ends.iter().all(|&end| executions.object.get(end).is_some());
            let known = known && messages.message_type[id].0 < NAMES;
            ok(known && in_time(messages.sent[id]) && in_time(messages.received[id]), GraphError::Message(id))?;
        }
        Ok(())
    }
}

impl EventGraph {
    pub fn pes(&self) -> u32 {
        self.parts.pes
    }

    /// Dimensions of each array.
    pub fn arrays(&self) -> &Table<ArrayId, u8> {
        &self.parts.ranks
    }

    pub fn objects(&self) -> &Table<ObjectId, Object> {
        &self.parts.objects
    }

    pub fn executions(&self) -> &Executions {
        &self.parts.executions
    }

    pub fn messages(&self) -> &Messages {
        &self.parts.messages
    }

    /// What an execution sends, in the order of sending.
    pub fn sent_by(&self, id: ExecutionId) -> impl DoubleEndedIterator<Item = MessageId> + ExactSizeIterator + '_ {
        self.from.row(id.0 as usize).iter().map(|&id| MessageId(id))
    }

    /// What an execution needs before it begins.
    pub fn needed_by(&self, id: ExecutionId) -> impl DoubleEndedIterator<Item = MessageId> + ExactSizeIterator + '_ {
        self.to.row(id.0 as usize).iter().map(|&id| MessageId(id))
    }

    /// What an object executes, in the graph's order.
    pub fn executed_by(&self, id: ObjectId) -> impl DoubleEndedIterator<Item = ExecutionId> + ExactSizeIterator + '_ {
        self.of.row(id.0 as usize).iter().map(|&id| ExecutionId(id))
    }

    /// All executions, each after what it needs: by [`Self::depth`], then by id. No time has a part in it.
    pub fn order(&self) -> &[ExecutionId] {
        &self.order
    }

    /// Edges on the longest way to an execution.
    pub fn depth(&self, id: ExecutionId) -> u32 {
        self.depth[id]
    }

    /// What an execution took, in ticks.
    pub fn duration(&self, id: ExecutionId) -> i64 {
        self.parts.executions.end[id] - self.parts.executions.begin[id]
    }

    /// When in its source's execution something is sent: ticks after its begin, not beyond its end.
    pub fn offset(&self, id: MessageId) -> i64 {
        self.parts.offset(id)
    }

    /// What messages have in common that are one multicast: the execution that sends them, its tick, their type and kind.
    pub(crate) fn multicast(&self, id: MessageId) -> (ExecutionId, i64, TypeId, u8) {
        let Messages { source, sent, message_type, kind, .. } = &self.parts.messages;
        (source[id], sent[id], message_type[id], kind[id] as u8)
    }

    /// What messages of a multicast have in common that are one copy of it: the PE, too, as recorded. All that an execution depends on is one.
    pub(crate) fn copy(&self, id: MessageId) -> impl Copy + Ord + use<> {
        let destination = self.parts.messages.destination[id];
        let (source, sent, message_type, kind) = self.multicast(id);
        let is_one = self.parts.messages.kind[id] == Kind::Dependence;
        let from = if is_one { (destination, i64::MIN) } else { (source, sent) };
        (from, message_type, kind, self.parts.executions.pe[destination])
    }

    /// Ticks that each object executes.
    pub fn loads(&self) -> Table<ObjectId, i64> {
        let mut loads: Table<ObjectId, i64> = Table::filled(self.parts.objects.len(), 0);
        for (id, &object) in self.parts.executions.object.iter_ids() {
            loads[object] = loads[object].saturating_add(self.duration(id));
        }
        loads
    }

    /// From the first begin to the last end; zeros where nothing was executed.
    pub fn span(&self) -> (i64, i64) {
        let begin = self.parts.executions.begin.iter().min().copied().unwrap_or(0);
        (begin, self.parts.executions.end.iter().max().copied().unwrap_or(begin))
    }

    /// Largest coordinate plus one, in each dimension of an array; objects at negative coordinates do not count.
    pub fn extents(&self, array: ArrayId) -> Vec<u32> {
        let mut extents = vec![0_u32; self.parts.ranks.get(array).map_or(0, |&rank| usize::from(rank))];
        for object in self.parts.objects.iter().filter(|object| object.array == array) {
            extents.iter_mut().zip(object.at).for_each(|(n, at)| *n = (*n).max((i64::from(at) + 1).max(0) as u32));
        }
        extents
    }

    /// The parts of this graph, to make a changed one of them.
    pub fn into_builder(self) -> Builder {
        self.parts
    }
}

fn ok(right: bool, error: GraphError) -> Result<(), GraphError> {
    if right { Ok(()) } else { Err(error) }
}

/// Edges on the longest way to each execution (Kahn's order). What is on a cycle, or behind one, is never reached.
fn depths(messages: &Messages, from: &Csr, to: &Csr, count: usize) -> Result<Table<ExecutionId, u32>, GraphError> {
    let mut depth = Table::filled(count, 0);
    let mut missing: Vec<u32> = (0..count).map(|row| to.row(row).len() as u32).collect();
    let mut ready: Vec<u32> = (0..count as u32).filter(|&id| missing[id as usize] == 0).collect();
    let mut at = 0;
    while let Some(&id) = ready.get(at) {
        at += 1;
        for &message in from.row(id as usize) {
            let next = messages.destination[MessageId(message)];
            depth[next] = depth[next].max(depth[ExecutionId(id)] + 1);
            missing[next.0 as usize] -= 1;
            if missing[next.0 as usize] == 0 {
                ready.push(next.0);
            }
        }
    }
    match missing.iter().position(|&missing| missing > 0) {
        Some(id) => Err(GraphError::Cycle(ExecutionId(id as u32))),
        None => Ok(depth),
    }
}
