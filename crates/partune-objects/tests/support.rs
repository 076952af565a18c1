//! Programs that several tests use.

use partune_base::PeId;
use partune_objects::graph::{Builder, EventGraph, Execution, ExecutionId, Kind, Message, MethodId, ObjectId, TypeId};
use partune_objects::programs::Program;
use partune_objects::random::Random;
use partune_objects::simulate::Machine;

/// Messages that cost one tick to travel and nothing else.
pub(crate) const NEAR: Machine =
    Machine { send: 0, send_byte: 0.0, latency: 1, byte: 0.0, receive: 0, local: 0, create: 0 };

/// A master that tells all workers to work, waits for all, and so on.
pub(crate) fn synchronous(workers: u32, steps: u32) -> EventGraph {
    let mut program = Program::default();
    let (_, master) = program.array(&[]);
    let (_, workers) = program.array(&[workers]);
    let mut turn = program.execution(master[0], 0, 1);
    for _ in 0..steps {
        let next = program.execution(master[0], 0, 1);
        for &worker in &workers {
            let work = program.execution(worker, 1, 10);
            program.send(turn, work, Kind::Message, 0, 8);
            program.send(work, next, Kind::Message, 1, 8);
        }
        turn = next;
    }
    program.seal().unwrap()
}

/// Messages from any execution to any later one, on objects of an array of one dimension.
pub(crate) fn random(objects: u32, executions: u32, messages: u32, seed: u64) -> EventGraph {
    let mut random = Random::new(seed);
    let mut program = Program::default();
    let (_, objects) = program.array(&[objects]);
    for _ in 0..executions {
        let object = objects[random.below(objects.len())];
        program.execution(object, random.below(3) as u32, 1 + random.below(20) as i64);
    }
    for _ in 0..messages {
        let to = 1 + random.below(executions as usize - 1);
        let from = random.below(to);
        program.send(ExecutionId(from as u32), ExecutionId(to as u32), Kind::Message, random.below(2) as u32, 8);
    }
    program.seal().unwrap()
}

/// One execution of method 0.
pub(crate) fn execution(made: &mut Builder, object: ObjectId, pe: u32, begin: i64, end: i64) -> ExecutionId {
    made.execution(Execution { object, method: MethodId(0), pe: PeId(pe), begin, end })
}

/// One message of type 0 and 8 bytes.
pub(crate) fn message(made: &mut Builder, ends: (ExecutionId, ExecutionId), kind: Kind, sent: i64, received: i64) {
    let (source, destination) = ends;
    made.message(Message { source, destination, kind, message_type: TypeId(0), bytes: 8, sent, received });
}
