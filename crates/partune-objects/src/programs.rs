//! Known programs as event graphs: those that Paradise was shown with, and grids. For tests, measurements and whoever wants to try a plan.
//!
//! All executions stand on PE 0 and begin at 0: times and places come from a simulation. Ticks are nanoseconds.

use partune_base::PeId;

use crate::graph::{
    ArrayId, Builder, EventGraph, Execution, ExecutionId, GraphError, Kind, Message, MethodId, ObjectId, TypeId,
};
use crate::random::Random;
use crate::simulate::Machine;

/// The one machine of all tables below; nearest to what reproduces each of them alone. Combining saves 0.196 ms a message, which is what
/// receiving takes.
pub const MACHINE: Machine = Machine {
    send: 200_000,
    send_byte: 200.0,
    latency: 10_000,
    byte: 0.0,
    receive: 196_000,
    local: 20_000,
    create: 80_000,
};

/// What an update of one element of a matrix takes.
pub const ELEMENT: i64 = 2_900;

/// Elimination without a search for pivots, an object a row. Row `k + 1`, once row `k` has updated it, is multicast to all rows below; the
/// multicast reaches the rows of a PE in any order, which the seed decides.
pub fn gauss(rows: u32, element: i64, seed: u64) -> Result<EventGraph, GraphError> {
    let mut program = Program::default();
    let mut random = Random::new(seed);
    let (_, objects) = program.array(&[rows]);
    let Some(&first) = objects.first() else { return program.seal() };
    let mut pivot = program.execution(first, 0, 0);
    let mut last: Vec<Option<ExecutionId>> = vec![None; objects.len()];
    for step in 0..rows {
        let mut below: Vec<u32> = (step + 1..rows).collect();
        random.shuffle(&mut below);
        let mut next = pivot;
        for row in below {
            let work = element * i64::from(rows - step);
            let update = program.execution(objects[row as usize], 0, work);
            program.send(pivot, update, Kind::Message, 0, 8 * u64::from(rows - step));
            if let Some(before) = last[row as usize].replace(update) {
                program.send(before, update, Kind::Dependence, 0, 0);
            }
            if row == step + 1 {
                next = update;
            }
        }
        pivot = next;
    }
    program.seal()
}

/// The product of 1 to `leaves`: an object halves its range, creates two objects for the halves, and multiplies what they send. Object `i` creates `2 i` and `2 i + 1`.
pub fn factorial(leaves: u32) -> Result<EventGraph, GraphError> {
    let mut program = Program::default();
    let array = program.made.array(1);
    let root = program.made.object(array, &[1]);
    let begun = program.execution(root, 0, 50_000);
    let mut open = vec![(root, 1_i32, begun, leaves, None)];
    while let Some((object, number, begun, leaves, parent)) = open.pop() {
        let result = if leaves > 1 { program.execution(object, 1, 50_000) } else { begun };
        if let Some(parent) = parent {
            program.send(result, parent, Kind::Message, 1, 16);
        }
        if leaves > 1 {
            for (half, number) in [(leaves / 2, 2 * number), (leaves - leaves / 2, 2 * number + 1)] {
                let child = program.made.object(array, &[number]);
                let started = program.execution(child, 0, 50_000);
                program.send(begun, started, Kind::Creation, 0, 16);
                open.push((child, number, started, half, Some(result)));
            }
        }
    }
    program.seal()
}

/// Objects that each send one value to a single object, which needs them all.
pub fn collect(objects: u32) -> Result<EventGraph, GraphError> {
    let mut program = Program::default();
    let main = program.array(&[]).1[0];
    let all = program.execution(main, 1, 50_000);
    for object in program.array(&[objects]).1 {
        let value = program.execution(object, 0, 50_000);
        program.send(value, all, Kind::Message, 0, 16);
    }
    program.seal()
}

/// Relaxation on a grid of objects: in each step an object needs its own last step and its neighbours' at distance 1 along each dimension.
pub fn relaxation(extents: &[u32], steps: u32, work: i64) -> Result<EventGraph, GraphError> {
    let mut program = Program::default();
    let (_, objects) = program.array(extents);
    let mut before: Vec<ExecutionId> = Vec::new();
    for _ in 0..steps {
        let now: Vec<ExecutionId> = objects.iter().map(|&object| program.execution(object, 0, work)).collect();
        for (object, &source) in before.iter().enumerate() {
            program.send(source, now[object], Kind::Dependence, 0, 0);
            let mut stride = 1;
            for (x, &n) in coordinates(object as u32, extents).into_iter().zip(extents) {
                if x > 0 {
                    program.send(source, now[object - stride], Kind::Message, 0, 8);
                }
                if x + 1 < n as i32 {
                    program.send(source, now[object + stride], Kind::Message, 0, 8);
                }
                stride *= n as usize;
            }
        }
        before = now;
    }
    program.seal()
}

/// A program in the making, whose executions all begin at 0.
#[derive(Default)]
pub struct Program {
    pub made: Builder,
}

impl Program {
    /// An array of objects at all coordinates below these, the first dimension fastest.
    pub fn array(&mut self, extents: &[u32]) -> (ArrayId, Vec<ObjectId>) {
        let array = self.made.array(extents.len() as u8);
        let object = |number| self.made.object(array, &coordinates(number, extents));
        (array, (0..extents.iter().product::<u32>()).map(object).collect())
    }

    /// An execution that takes so many ticks.
    pub fn execution(&mut self, object: ObjectId, method: u32, work: i64) -> ExecutionId {
        self.made.execution(Execution { object, method: MethodId(method), pe: PeId(0), begin: 0, end: work })
    }

    /// The program on one PE.
    pub fn seal(mut self) -> Result<EventGraph, GraphError> {
        self.made.set_pes(1);
        self.made.seal()
    }

    /// Sends something at the end of its source.
    pub fn send(&mut self, source: ExecutionId, destination: ExecutionId, kind: Kind, message_type: u32, bytes: u64) {
        let sent = self.made.executions_mut().end.get(source).copied().unwrap_or(0);
        let message_type = TypeId(message_type);
        self.made.message(Message { source, destination, kind, message_type, bytes, sent, received: sent });
    }
}

fn coordinates(number: u32, extents: &[u32]) -> Vec<i32> {
    let digit = |left: &mut u32, &n: &u32| {
        let digit = *left % n;
        *left /= n;
        Some(digit as i32)
    };
    extents.iter().scan(number, digit).collect()
}
