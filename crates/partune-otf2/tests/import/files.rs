//! Files of archives: what other writers tell of them, offsets that follow, and what is written again.

use partune_base::{FileId, PeId};
use partune_otf2::export::export;
use partune_trace::{HandleKind, IoKind, IoLayer, Role, Stream, Trace};

use super::exported::To;
use super::{open, python};

/// Written with the Python bindings of OTF2: two processes, the second with two threads. Rank 0 opens, reads 100 of 128 bytes, seeks, writes,
/// reads by offset, duplicates, syncs, closes and appends; the threads of rank 1 share one handle, and one of theirs is not defined well.
const SCRIPT: &str = r#"
import sys, otf2
from otf2.enums import *
with otf2.writer.open(sys.argv[1], timer_resolution=1000000000) as archive:
    define = archive.definitions
    node = define.system_tree_node("node")
    posix = define.io_paradigm("POSIX", "POSIX I/O", IoParadigmClass.SERIAL, IoParadigmFlag.OS)
    isoc = define.io_paradigm("ISOC", "ISO C I/O", IoParadigmClass.SERIAL, IoParadigmFlag.NONE)
    mpi = define.io_paradigm("MPI-IO", "MPI-IO", IoParadigmClass.PARALLEL, IoParadigmFlag.NONE)
    names = ["open", "read", "write", "lseek", "pread", "fsync", "close", "dup", "fread"]
    region = {n: define.region(n, region_role=RegionRole.FILE_IO, paradigm=Paradigm.IO if hasattr(Paradigm, "IO") else Paradigm.NONE) for n in names}
    data, log = define.io_regular_file("/scratch/data", node), define.io_regular_file("/scratch/log", node)
    h = define.io_handle("h", data, posix, IoHandleFlag.NONE)
    d = define.io_handle("d", data, posix, IoHandleFlag.NONE)
    a = define.io_handle("", log, posix, IoHandleFlag.NONE)
    s = define.io_handle("", data, isoc, IoHandleFlag.NONE)
    m = define.io_handle("", data, mpi, IoHandleFlag.NONE)
    o = define.io_handle("stdout", None, posix, IoHandleFlag.PRE_CREATED)
    writers = []
    for rank, threads in ((0, 1), (1, 2)):
        group = define.location_group("rank %d" % rank, system_tree_parent=node)
        for thread in range(threads):
            writers.append(archive.event_writer("thread %d" % thread, group=group))
    zero, one, two = writers
    class At:
        now = 0
    def call(w, name, *tell):
        At.now += 10
        w.enter(At.now, region[name])
        for act in tell:
            At.now += 1
            act(w, At.now)
        At.now += 1
        w.leave(At.now, region[name])
    ids = iter(range(1, 1000))
    def access(handle, mode, asked, done):
        n = next(ids)
        return (lambda w, t: w.io_operation_begin(t, handle, mode, IoOperationFlag.NONE, asked, n),
                lambda w, t: w.io_operation_complete(t, handle, done, n))
    def opened(handle, status=IoStatusFlag.NONE):
        return lambda w, t: w.io_create_handle(t, handle, IoAccessMode.READ_WRITE, IoCreationFlag.NONE, status)
    def closed(handle):
        return lambda w, t: w.io_destroy_handle(t, handle)
    R, W, F = IoOperationMode.READ, IoOperationMode.WRITE, IoOperationMode.FLUSH
    call(zero, "open", opened(h))
    call(zero, "read", *access(h, R, 128, 100))
    call(zero, "read", *access(h, R, 50, 50))
    call(zero, "lseek", lambda w, t: w.io_seek(t, h, 4096, IoSeekOption.FROM_START, 4096))
    call(zero, "write", *access(h, W, 8, 8))
    call(zero, "pread", *access(h, R, 16, 16))
    call(zero, "dup", lambda w, t: w.io_duplicate_handle(t, h, d, IoStatusFlag.NONE))
    call(zero, "write", *access(d, W, 4, 4))
    call(zero, "write", *access(h, W, 4, 4))
    call(zero, "fsync", *access(h, F, 0, 0))
    call(zero, "close", closed(h))
    call(zero, "write", *access(h, W, 4, 4))
    call(zero, "open", opened(a, IoStatusFlag.APPEND))
    call(zero, "write", *access(a, W, 7, 7))
    call(one, "open", opened(h), opened(s), opened(m))
    call(one, "read", *access(h, R, 10, 10))
    call(two, "read", *access(h, R, 10, 10))
    call(one, "fread", *access(s, R, 3, 3))
    call(one, "fread", *access(s, R, 3, 3))
    call(one, "read", *access(m, R, 3, 3))
    call(one, "write", *access(o, W, 6, 6))
"#;

fn name(trace: &Trace, file: FileId) -> &str {
    trace.files().get(file).map_or("-", |file| trace.strings().get(file.name))
}

fn accesses(trace: &Trace, stream: &Stream) -> Vec<String> {
    let row = |row: &partune_trace::IoTransfer| {
        let kind = match row.kind {
            IoKind::Read => "read",
            IoKind::Write => "write",
            IoKind::Flush => "flush",
        };
        let layer = match row.layer {
            IoLayer::Direct => "direct",
            IoLayer::Buffered => "buffered",
            IoLayer::Parallel => "parallel",
        };
        let offset = row.offset.map_or("?".to_owned(), |offset| offset.to_string());
        format!("{kind} {} {offset}+{} {layer}", name(trace, row.file), row.bytes)
    };
    stream.io.iter().map(row).collect()
}

fn check(trace: &Trace) {
    let files: Vec<&str> = trace.files().iter().map(|file| trace.strings().get(file.name)).collect();
    assert_eq!(files, ["/scratch/data", "/scratch/log"]);
    let streams = [PeId(0), PeId(1), PeId(2)].map(|pe| &trace.streams()[pe]);
    assert_eq!(
        accesses(trace, streams[0]),
        [
            "read /scratch/data 0+100 direct",
            "read /scratch/data 100+50 direct",
            "write /scratch/data 4096+8 direct",
            // By an offset that is not told, and that leaves the handle where it was.
            "read /scratch/data ?+16 direct",
            "write /scratch/data 4104+4 direct",
            "write /scratch/data 4108+4 direct",
            "flush /scratch/data ?+0 direct",
            // Closed.
            "write /scratch/data ?+4 direct",
            "write /scratch/log ?+7 direct",
        ]
    );
    let handles: Vec<(HandleKind, &str)> =
        streams[0].handles.iter().map(|row| (row.kind, name(trace, row.file))).collect();
    assert_eq!(
        handles,
        [
            (HandleKind::Opened, "/scratch/data"),
            (HandleKind::Positioned(4096), "/scratch/data"),
            (HandleKind::Closed, "/scratch/data"),
            (HandleKind::Opened, "/scratch/log"),
        ]
    );
    assert_eq!(
        accesses(trace, streams[1]),
        [
            // The other thread reads there too.
            "read /scratch/data ?+10 direct",
            "read /scratch/data 0+3 buffered",
            "read /scratch/data 3+3 buffered",
            "read /scratch/data ?+3 parallel",
            "write - ?+6 direct",
        ]
    );
    assert_eq!(accesses(trace, streams[2]), ["read /scratch/data ?+10 direct"]);
    let roles = trace.regions().iter().filter(|region| trace.strings().get(region.paradigm) == "POSIX I/O");
    assert_eq!(roles.filter(|region| region.role == Role::Io).count(), 9, "ordinary names, by OTF2's role");
    assert!(trace.quality().entries().is_empty(), "{:?}", trace.quality().entries());
}

#[test]
fn files_of_another_writer_are_read_and_written_again() {
    let folder = tempfile::tempdir().expect("there is room");
    let Some(trace) = python(SCRIPT, folder.path()) else { return };
    check(&trace);
    export(&trace, &To(folder.path().join("new")), "new.otf2").expect("it is written");
    let again = open(&folder.path().join("new/new.otf2"), None);
    check(&again);
    for pe in trace.pes().ids() {
        let (before, after) = (&trace.streams()[pe], &again.streams()[pe]);
        let zero = trace.begin().min(partune_base::Time::ZERO).0;
        let times = |stream: &Stream, zero: i64| -> Vec<(i64, i64)> {
            stream.io.iter().map(|row| (row.begin.0 - zero, row.end.0 - zero)).collect()
        };
        assert_eq!(times(before, zero), times(after, 0));
    }
}
