//! The event records of OTF2, one row each.
//!
//! For the reader, the writer and the importer. To add a record of a newer version, add its row: type, reader, writer and translation of ids
//! follow from it. Arguments of the program (PROGRAM_BEGIN) are local ids of strings.
//!
//! Source: `otf2_events_int.h` and the generated readers of OTF2 3.0.2.

use super::record::timed_records;

/// Whether records of this type stand without a length: those that had a single compressed attribute in OTF2 1.1.
#[inline]
pub(crate) fn is_singleton(id: u8) -> bool {
    matches!(id, 12 | 13 | 16 | 17 | 20 | 21 | 24 | 28 | 29 | 30)
}

timed_records! {
    /// An event. `@Kind` in the table marks a local id, see [`Event::map`]. Ranks (`receiver`, `sender`, `root`, `remote`) are ranks in the
    /// communicator of the event or of its window, not ids; they need no translation.
    Event;
    10 "BUFFER_FLUSH" BufferFlush { stop_time: U64 }
    11 "MEASUREMENT_ON_OFF" MeasurementOnOff { measurement_mode: U8 }
    12 "ENTER" Enter { region: C32 @Region }
    13 "LEAVE" Leave { region: C32 @Region }
    14 "MPI_SEND" MpiSend { receiver: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64 }
    15 "MPI_ISEND" MpiIsend { receiver: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64, request_id: C64 }
    16 "MPI_ISEND_COMPLETE" MpiIsendComplete { request_id: C64 }
    17 "MPI_IRECV_REQUEST" MpiIrecvRequest { request_id: C64 }
    18 "MPI_RECV" MpiRecv { sender: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64 }
    19 "MPI_IRECV" MpiIrecv { sender: C32, communicator: C32 @Comm, msg_tag: C32, msg_length: C64, request_id: C64 }
    20 "MPI_REQUEST_TEST" MpiRequestTest { request_id: C64 }
    21 "MPI_REQUEST_CANCELLED" MpiRequestCancelled { request_id: C64 }
    22 "MPI_COLLECTIVE_BEGIN" MpiCollectiveBegin {}
    23 "MPI_COLLECTIVE_END" MpiCollectiveEnd { collective_op: U8, communicator: C32 @Comm, root: C32, size_sent: C64, size_received: C64 }
    24 "OMP_FORK" OmpFork { number_of_requested_threads: C32 }
    25 "OMP_JOIN" OmpJoin {}
    26 "OMP_ACQUIRE_LOCK" OmpAcquireLock { lock_id: C32, acquisition_order: C32 }
    27 "OMP_RELEASE_LOCK" OmpReleaseLock { lock_id: C32, acquisition_order: C32 }
    28 "OMP_TASK_CREATE" OmpTaskCreate { task_id: C64 }
    29 "OMP_TASK_SWITCH" OmpTaskSwitch { task_id: C64 }
    30 "OMP_TASK_COMPLETE" OmpTaskComplete { task_id: C64 }
    31 "METRIC" Metric { metric: C32 @Metric, values: MetricValues }
    32 "PARAMETER_STRING" ParameterString { parameter: C32 @Parameter, string: C32 @String }
    33 "PARAMETER_INT64" ParameterInt { parameter: C32 @Parameter, value: I64 }
    34 "PARAMETER_UINT64" ParameterUnsignedInt { parameter: C32 @Parameter, value: C64 }
    35 "RMA_WIN_CREATE" RmaWinCreate { win: C32 @RmaWin }
    36 "RMA_WIN_DESTROY" RmaWinDestroy { win: C32 @RmaWin }
    37 "RMA_COLLECTIVE_BEGIN" RmaCollectiveBegin {}
    38 "RMA_COLLECTIVE_END" RmaCollectiveEnd { collective_op: U8, sync_level: C32, win: C32 @RmaWin, root: C32, bytes_sent: C64, bytes_received: C64 }
    39 "RMA_GROUP_SYNC" RmaGroupSync { sync_level: C32, win: C32 @RmaWin, group: C32 @Group }
    40 "RMA_REQUEST_LOCK" RmaRequestLock { win: C32 @RmaWin, remote: C32, lock_id: C64, lock_type: U8 }
    41 "RMA_ACQUIRE_LOCK" RmaAcquireLock { win: C32 @RmaWin, remote: C32, lock_id: C64, lock_type: U8 }
    42 "RMA_TRY_LOCK" RmaTryLock { win: C32 @RmaWin, remote: C32, lock_id: C64, lock_type: U8 }
    43 "RMA_RELEASE_LOCK" RmaReleaseLock { win: C32 @RmaWin, remote: C32, lock_id: C64 }
    44 "RMA_SYNC" RmaSync { win: C32 @RmaWin, remote: C32, sync_type: U8 }
    45 "RMA_WAIT_CHANGE" RmaWaitChange { win: C32 @RmaWin }
    46 "RMA_PUT" RmaPut { win: C32 @RmaWin, remote: C32, bytes: C64, matching_id: C64 }
    47 "RMA_GET" RmaGet { win: C32 @RmaWin, remote: C32, bytes: C64, matching_id: C64 }
    48 "RMA_ATOMIC" RmaAtomic { win: C32 @RmaWin, remote: C32, atomic_type: U8, bytes_sent: C64, bytes_received: C64, matching_id: C64 }
    49 "RMA_OP_COMPLETE_BLOCKING" RmaOpCompleteBlocking { win: C32 @RmaWin, matching_id: C64 }
    50 "RMA_OP_COMPLETE_NON_BLOCKING" RmaOpCompleteNonBlocking { win: C32 @RmaWin, matching_id: C64 }
    51 "RMA_OP_TEST" RmaOpTest { win: C32 @RmaWin, matching_id: C64 }
    52 "RMA_OP_COMPLETE_REMOTE" RmaOpCompleteRemote { win: C32 @RmaWin, matching_id: C64 }
    53 "THREAD_FORK" ThreadFork { model: U8, number_of_requested_threads: C32 }
    54 "THREAD_JOIN" ThreadJoin { model: U8 }
    55 "THREAD_TEAM_BEGIN" ThreadTeamBegin { thread_team: C32 @Comm }
    56 "THREAD_TEAM_END" ThreadTeamEnd { thread_team: C32 @Comm }
    57 "THREAD_ACQUIRE_LOCK" ThreadAcquireLock { model: U8, lock_id: C32, acquisition_order: C32 }
    58 "THREAD_RELEASE_LOCK" ThreadReleaseLock { model: U8, lock_id: C32, acquisition_order: C32 }
    59 "THREAD_TASK_CREATE" ThreadTaskCreate { thread_team: C32 @Comm, creating_thread: C32, generation_number: C32 }
    60 "THREAD_TASK_SWITCH" ThreadTaskSwitch { thread_team: C32 @Comm, creating_thread: C32, generation_number: C32 }
    61 "THREAD_TASK_COMPLETE" ThreadTaskComplete { thread_team: C32 @Comm, creating_thread: C32, generation_number: C32 }
    62 "THREAD_CREATE" ThreadCreate { thread_contingent: C32 @Comm, sequence_count: C64 }
    63 "THREAD_BEGIN" ThreadBegin { thread_contingent: C32 @Comm, sequence_count: C64 }
    64 "THREAD_WAIT" ThreadWait { thread_contingent: C32 @Comm, sequence_count: C64 }
    65 "THREAD_END" ThreadEnd { thread_contingent: C32 @Comm, sequence_count: C64 }
    66 "CALLING_CONTEXT_ENTER" CallingContextEnter { calling_context: C32 @CallingContext, unwind_distance: C32 }
    67 "CALLING_CONTEXT_LEAVE" CallingContextLeave { calling_context: C32 @CallingContext }
    68 "CALLING_CONTEXT_SAMPLE" CallingContextSample { calling_context: C32 @CallingContext, unwind_distance: C32, interrupt_generator: C32 @InterruptGenerator }
    69 "IO_CREATE_HANDLE" IoCreateHandle { handle: C32 @IoHandle, mode: U8, creation_flags: C32, status_flags: C32 }
    70 "IO_DESTROY_HANDLE" IoDestroyHandle { handle: C32 @IoHandle }
    71 "IO_DUPLICATE_HANDLE" IoDuplicateHandle { old_handle: C32 @IoHandle, new_handle: C32 @IoHandle, status_flags: C32 }
    72 "IO_SEEK" IoSeek { handle: C32 @IoHandle, offset_request: I64, whence: U8, offset_result: C64 }
    73 "IO_CHANGE_FLAGS" IoChangeStatusFlags { handle: C32 @IoHandle, status_flags: C32 }
    74 "IO_DELETE_FILE" IoDeleteFile { io_paradigm: U8, file: C32 @IoFile }
    75 "IO_OPERATION_BEGIN" IoOperationBegin { handle: C32 @IoHandle, mode: U8, operation_flags: C32, bytes_request: C64, matching_id: C64 }
    76 "IO_OPERATION_TEST" IoOperationTest { handle: C32 @IoHandle, matching_id: C64 }
    77 "IO_OPERATION_ISSUED" IoOperationIssued { handle: C32 @IoHandle, matching_id: C64 }
    78 "IO_OPERATION_COMPLETE" IoOperationComplete { handle: C32 @IoHandle, bytes_result: C64, matching_id: C64 }
    79 "IO_OPERATION_CANCELLED" IoOperationCancelled { handle: C32 @IoHandle, matching_id: C64 }
    80 "IO_ACQUIRE_LOCK" IoAcquireLock { handle: C32 @IoHandle, lock_type: U8 }
    81 "IO_RELEASE_LOCK" IoReleaseLock { handle: C32 @IoHandle, lock_type: U8 }
    82 "IO_TRY_LOCK" IoTryLock { handle: C32 @IoHandle, lock_type: U8 }
    83 "PROGRAM_BEGIN" ProgramBegin { program_name: C32 @String, program_arguments: C32s }
    84 "PROGRAM_END" ProgramEnd { exit_status: I64 }
    85 "NON_BLOCKING_COLLECTIVE_REQUEST" NonBlockingCollectiveRequest { request_id: C64 }
    86 "NON_BLOCKING_COLLECTIVE_COMPLETE" NonBlockingCollectiveComplete { collective_op: U8, communicator: C32 @Comm, root: C32, size_sent: C64, size_received: C64, request_id: C64 }
    87 "COMM_CREATE" CommCreate { communicator: C32 @Comm }
    88 "COMM_DESTROY" CommDestroy { communicator: C32 @Comm }
}
