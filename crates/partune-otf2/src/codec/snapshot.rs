//! Snapshots: the state of a location at some moments of a run (open regions, pending messages), so that a viewer can begin in the middle.
//!
//! For `transcode` and for counting; partune itself reads whole locations and needs no snapshots. The files are chunked as event files are,
//! with the chunk size of events, and each record has a length. Source: `otf2_snaps.h` and the generated readers of OTF2 3.0.2.

use super::attributes::AttributeList;
use super::chunk::Chunk;
use super::cursor::Cursor;
use super::error::{CodecError, EndKind, Flaw};
use super::event_writer::EventWriter;
use super::events::{ChunkOutcome, Next, closed, next, record_end};
use super::record::timed_records;

timed_records! {
    /// A record of a snapshot. `orig_event_time` is when the event happened that left this state.
    Snapshot;
    10 "SNAPSHOT_START" SnapshotStart { number_of_records: C64 }
    11 "SNAPSHOT_END" SnapshotEnd { cont_read_pos: C64 }
    12 "MEASUREMENT_ON_OFF" MeasurementOnOff { orig_event_time: U64, measurement_mode: U8 }
    13 "ENTER" Enter { orig_event_time: U64, region: C32 @Region }
    14 "MPI_SEND" MpiSend { orig_event_time: U64, receiver: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64 }
    15 "MPI_ISEND" MpiIsend { orig_event_time: U64, receiver: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64, request_id: C64 }
    16 "MPI_ISEND_COMPLETE" MpiIsendComplete { orig_event_time: U64, request_id: C64 }
    17 "MPI_RECV" MpiRecv { orig_event_time: U64, sender: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64 }
    18 "MPI_IRECV_REQUEST" MpiIrecvRequest { orig_event_time: U64, request_id: C64 }
    19 "MPI_IRECV" MpiIrecv { orig_event_time: U64, sender: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64, request_id: C64 }
    20 "MPI_COLLECTIVE_BEGIN" MpiCollectiveBegin { orig_event_time: U64 }
    21 "MPI_COLLECTIVE_END" MpiCollectiveEnd {
        orig_event_time: U64, collective_op: U8, communicator: C32 @Comm, root: C32, size_sent: C64, size_received: C64,
    }
    22 "OMP_FORK" OmpFork { orig_event_time: U64, number_of_requested_threads: C32 }
    23 "OMP_ACQUIRE_LOCK" OmpAcquireLock { orig_event_time: U64, lock_id: C32, acquisition_order: C32 }
    24 "OMP_TASK_CREATE" OmpTaskCreate { orig_event_time: U64, task_id: C64 }
    25 "OMP_TASK_SWITCH" OmpTaskSwitch { orig_event_time: U64, task_id: C64 }
    26 "METRIC" Metric { orig_event_time: U64, metric: C32 @Metric, values: MetricValues }
    27 "PARAMETER_STRING" ParameterString { orig_event_time: U64, parameter: C32 @Parameter, string: C32 @String }
    28 "PARAMETER_INT64" ParameterInt { orig_event_time: U64, parameter: C32 @Parameter, value: I64 }
    29 "PARAMETER_UINT64" ParameterUnsignedInt { orig_event_time: U64, parameter: C32 @Parameter, value: C64 }
}

/// A record as it is found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Found<'a> {
    /// One of the table.
    Known(Snapshot<'a>),
    /// One of a type that is newer than this codec, with its bytes.
    Unknown(u8, &'a [u8]),
}

/// Decodes the records of a chunk; each comes with its time and its attributes.
pub fn read_snapshots<'a>(chunk: &Chunk<'a>, visit: &mut dyn FnMut(u64, AttributeList<'a>, Found<'a>)) -> ChunkOutcome {
    let mut outcome = ChunkOutcome { events: 0, unknown: 0, extended: 0, end: EndKind::Exhausted };
    let mut at = Cursor::new(chunk.bytes, chunk.endian);
    let mut time = 0;
    loop {
        let start = at.pos();
        let mut record = || -> Result<Option<EndKind>, Flaw> {
            let mut attributes = None;
            let id = match next(&mut at, &mut time, &mut attributes)? {
                Next::End(end) => return Ok(Some(end)),
                Next::Record(id) => id,
            };
            let end = record_end(&mut at)?;
            let mut inside = at;
            let found = if let Some(record) = Snapshot::read(id, &mut inside)? {
                outcome.extended += u64::from(closed(&inside, end)?);
                outcome.events += 1;
                Found::Known(record)
            } else {
                outcome.unknown += 1;
                Found::Unknown(id, inside.take(end - at.pos())?)
            };
            at = at.at(end);
            visit(time, attributes.unwrap_or(AttributeList::new(&[])), found);
            Ok(None)
        };
        outcome.end = match record() {
            Ok(None) => continue,
            Ok(Some(end)) => end,
            Err(Flaw::Truncated) => EndKind::Exhausted,
            Err(flaw) => EndKind::Damaged { offset: start, flaw },
        };
        return outcome;
    }
}

/// Writes the snapshot file of a location. Finish it, or the last chunk is lost.
#[derive(Debug)]
pub struct SnapshotWriter<S>(EventWriter<S>);

impl<S: FnMut(&[u8])> SnapshotWriter<S> {
    /// A writer of chunks of `chunk_size` bytes into `sink`.
    pub fn new(chunk_size: u64, sink: S) -> Result<Self, CodecError> {
        EventWriter::new(chunk_size, sink).map(SnapshotWriter)
    }

    /// Appends a record and its attributes. The bytes of an unknown one must be little endian.
    pub fn write(&mut self, time: u64, attributes: &AttributeList<'_>, record: &Found<'_>) -> Result<(), CodecError> {
        match record {
            Found::Known(record) => self.0.append(time, attributes, record.id(), record.bound(), |to| record.put(to)),
            Found::Unknown(id, bytes) => self.0.write_unknown(time, attributes, *id, bytes),
        }
    }

    /// Ends the file; the number of records in it.
    pub fn finish(self) -> u64 {
        self.0.finish()
    }
}
