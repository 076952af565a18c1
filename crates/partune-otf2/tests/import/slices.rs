//! Slices of an archive have all that the archive has, each thing once, and nothing goes across but visits of functions. What would go across keeps an archive whole.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use partune_base::{CallPathId, PeId, Span};
use partune_import::Slices;
use partune_otf2::codec::{Event, EventVisitor, EventWriter, chunks, read_chunk};
use partune_otf2::export::export;
use partune_otf2::import::FORMAT;
use partune_trace::{IoTransfer, MetricSample, Stream, Trace, Visit, VisitIx};

use crate::codec::archives::archives;

use super::exported::To;
use super::programs::sink;
use super::{Folder, open};

/// The slices of an archive of at most about so many events, or why there are none.
fn slices(anchor: &Path, wanted: u64) -> Result<Vec<Trace>, Option<String>> {
    let name = anchor.file_name().expect("an anchor is a file").to_string_lossy().into_owned();
    let folder = Folder(anchor.parent().expect("it has a folder").to_owned());
    let find = FORMAT.slices.expect("OTF2 is read slice by slice");
    let found = find(&folder, &name, wanted, &partune_job::Alone, &|_, _| {}).expect("it opens");
    let read = |slices: Box<dyn Slices + '_>| {
        let slice = |slice| slices.read(slice, &|_, _| {}).expect("nobody changes it");
        (0..slices.count()).map(slice).collect()
    };
    found.map(read)
}

/// Archives in which all PEs meet with nothing under way, with the size that is wanted and the slices that there are then.
const CUT: [(&str, u64, usize); 4] = [
    ("scorep84-npb-ep.S-4", 1, 6),
    ("scorep84-npb-ft.S-4", 1, 10),
    ("scorep84-npb-is.S-4", 1, 34),
    ("scorep84-prk-mpi-stencil-4", 400, 3),
];

/// Others, and why they are read as a whole.
const WHOLE: [(&str, &str); 5] = [
    (
        "scorep84-npb-cg.S-4",
        "there are no moments at which all processes have met and nothing is under way, or hardly any",
    ),
    ("scorep84-npb-omp-cg.S-4t", "it is one process with threads"),
    ("scorep84-prk-shmem-p2p-4", "PEs access memory of each other"),
    ("tracer-stencil4d-32", "recording was switched off and on"),
    (
        "pipit-ping-pong-papi-2",
        "there are no moments at which all processes have met and nothing is under way, or hardly any",
    ),
];

#[test]
fn slices_together_are_the_run() {
    let archives = archives();
    let mut cut = 0;
    for archive in archives {
        for wanted in [1, 400] {
            if let Ok(slices) = slices(&archive.path, wanted) {
                together(&open(&archive.path, None), &slices, &archive.name);
                if let Some(expected) = CUT.iter().find(|(name, at, _)| (*name, *at) == (&archive.name, wanted)) {
                    assert_eq!(slices.len(), expected.2, "{}", archive.name);
                    cut += 1;
                }
            }
        }
        if let Some((name, why)) = WHOLE.iter().find(|(name, _)| *name == archive.name) {
            assert_eq!(slices(&archive.path, 1).err(), Some(Some((*why).to_owned())), "{name}");
        }
    }
    let known = CUT.iter().filter(|(name, ..)| archives.iter().any(|archive| archive.name == *name)).count();
    assert_eq!(cut, known);
}

fn together(whole: &Trace, slices: &[Trace], name: &str) {
    assert_eq!(slices.iter().map(Trace::events).sum::<u64>(), whole.events(), "{name}");
    for slice in slices {
        assert_eq!((slice.paths(), slice.regions()), (whole.paths(), whole.regions()), "{name}");
    }
    for pe in whole.pes().ids() {
        let of_slices = || slices.iter().map(|slice| (slice, &slice.streams()[pe]));
        let whole = &whole.streams()[pe];
        let rows = |of: fn(&Stream) -> usize| of_slices().map(|(_, stream)| of(stream)).sum::<usize>();
        assert_eq!(rows(|stream| stream.sends.len()), whole.sends.len(), "{name}");
        assert_eq!(rows(|stream| stream.recvs.len()), whole.recvs.len(), "{name}");
        assert_eq!(rows(|stream| stream.requests.len()), whole.requests.len(), "{name}");
        assert_eq!(rows(|stream| stream.collectives.len()), whole.collectives.len(), "{name}");
        assert_eq!(rows(|stream| stream.operations.len()), whole.operations.len(), "{name}");
        assert_eq!(rows(|stream| stream.pauses.len()), whole.pauses.len(), "{name}");
        let accesses = |stream: &Stream| {
            stream.io.iter().map(|row| IoTransfer { visit: VisitIx::NONE, ..*row }).collect::<Vec<IoTransfer>>()
        };
        assert_eq!(of_slices().flat_map(|(_, stream)| accesses(stream)).collect::<Vec<_>>(), accesses(whole), "{name}");
        assert_eq!(rows(|stream| stream.handles.len()), whole.handles.len(), "{name}");
        let sample = |row: &MetricSample| MetricSample { visit: VisitIx::NONE, ..*row };
        let samples = of_slices().flat_map(|(slice, _)| slice.samples(pe)).map(sample);
        assert_eq!(samples.collect::<Vec<_>>(), whole.metrics.iter().map(sample).collect::<Vec<_>>(), "{name}");
        assert_eq!(visits(&slices, pe), whole.visits.iter().collect::<Vec<Visit>>(), "{name}");
    }
}

/// The visits of a PE, those in several slices put together.
fn visits(slices: &&[Trace], pe: PeId) -> Vec<Visit> {
    let mut visits: Vec<Visit> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for trace in *slices {
        let (slice, stream) = (trace.slice().expect("it is a slice"), &trace.streams()[pe]);
        let begun = slice.begun[pe] as usize;
        assert_eq!(begun, open.len());
        for (at, number) in open.iter().enumerate() {
            let part = stream.visits.at(VisitIx(at as u32));
            assert_eq!((part.path, part.enter), (visits[*number].path, visits[*number].exit));
            visits[*number].exit = part.exit;
        }
        let first = visits.len();
        visits.extend(stream.visits.iter().skip(begun));
        let place = |visit: &VisitIx| match visit.index().checked_sub(begun) {
            Some(new) => first + new,
            None => open[visit.index()],
        };
        open = slice.open[pe].iter().map(place).collect();
        // Operations lie in one slice.
        for visit in &open {
            assert_eq!(trace.paths().operation(visits[*visit].path), CallPathId::NONE);
            assert!(visits[*visit].duration() >= Span::ZERO);
        }
    }
    assert_eq!(open, []);
    visits
}

/// Of the event files of what is exported.
const CHUNK: u64 = 1 << 20;

/// Two processes that read and write in turns with a meeting behind each: a file that both read on from where they were, with seeks, one that is open for some turns only, and one that a PE alone writes.
const IN_TURNS: &str = "
    pe 0: main 0..1300 {
        MPI_Init 0..2 init
        open64 2..3 opened(file=in) open64 3..4 opened(file=out)
        repeat 6 every 100 {
            readv 10..14 read(bytes=100, file=in) readv 14..18 read(bytes=28, file=in) pread 18..20 read(bytes=5, file=in)
            writev 20..25 write(bytes=9, file=out) fsync 25..30 sync(file=out) MPI_Barrier 40..50 barrier work 52..60
        }
        lseek 610..620 seek(at=7, file=in)
        repeat 5 every 100 {
            open64 622..624 opened(file=log) writev 624..630 write(bytes=3, file=log) MPI_Allreduce 640..650 allreduce(bytes=8)
            writev 652..654 write(bytes=4, file=log) fclose 655..656 closed(file=log) readv 656..659 read(bytes=2, file=in)
            MPI_Barrier 660..670 barrier
        }
        MPI_Finalize 1290..1300 finalize
    }
    pe 1: main 0..1300 {
        MPI_Init 0..2 init
        open64 2..3 opened(file=in)
        repeat 6 every 100 { readv 5..8 read(bytes=64, file=in) work 8..45 MPI_Barrier 45..50 barrier }
        repeat 5 every 100 {
            readv 600..604 read(bytes=64, file=in) MPI_Allreduce 630..650 allreduce(bytes=8) MPI_Barrier 652..670 barrier
        }
        MPI_Finalize 1290..1300 finalize
    }";

/// The archive of a run that does not tell where accesses begin, as other recorders write it.
fn untold(text: &str, folder: &Path) -> std::path::PathBuf {
    export(&partune_testkit::trace(text), &To(folder.to_owned()), "new.otf2").expect("it is written");
    let definitions = folder.join("new.def");
    let mut bytes = std::fs::read(&definitions).expect("it is there");
    let name = b"PARTUNE::DISPLACEMENT";
    let at = bytes.windows(name.len()).position(|part| part == name).expect("accesses have displacements");
    bytes[at] = b'X';
    std::fs::write(&definitions, bytes).expect("it can be written");
    folder.join("new.otf2")
}

#[test]
fn accesses_begin_where_those_of_the_slice_before_ended() {
    let folder = tempfile::tempdir().expect("there is room");
    let anchor = untold(IN_TURNS, folder.path());
    let whole = open(&anchor, None);
    let offsets = |pe| whole.streams()[PeId(pe)].io.iter().map(|row| row.offset).collect::<Vec<_>>();
    assert_eq!(offsets(0)[..9].iter().flatten().copied().collect::<Vec<_>>(), [0, 100, 0, 128, 228, 9]);
    assert_eq!(offsets(1).last(), Some(&Some(640)));
    for (wanted, at_least) in [(1, 10), (40, 3)] {
        let slices = slices(&anchor, wanted).expect("it is cut");
        assert!(slices.len() >= at_least, "{}", slices.len());
        together(&whole, &slices, "in turns");
    }
}

/// Where written events go.
type Bytes = Box<dyn FnMut(&[u8])>;

/// Puts the events of the first process of an [untold] archive through what writes them again.
fn written_again<V: EventVisitor>(
    folder: &Path,
    writer: impl FnOnce(EventWriter<Bytes>) -> V,
    finish: impl FnOnce(V) -> u64,
) {
    let events = folder.join("new/0.evt");
    let bytes = std::fs::read(&events).expect("it is there");
    let written = Rc::new(RefCell::new(Vec::new()));
    let to: Bytes = Box::new(sink(&written));
    let mut writer = writer(EventWriter::new(CHUNK, to).expect("it is a size of chunks"));
    for chunk in chunks(&bytes, CHUNK).expect("there are chunks") {
        read_chunk(&chunk.expect("it is whole"), &mut writer);
    }
    finish(writer);
    std::fs::write(events, &*written.borrow()).expect("it can be written");
}

/// Writes events again, each end of an access behind the begin of the next one.
struct Late {
    to: EventWriter<Bytes>,
    handle: u32,
    open: Option<(u64, u64)>,
}

impl EventVisitor for Late {
    fn enter(&mut self, time: u64, region: u32) {
        self.event(time, &Event::Enter { region });
    }

    fn leave(&mut self, time: u64, region: u32) {
        self.event(time, &Event::Leave { region });
    }

    fn event(&mut self, time: u64, event: &Event<'_>) {
        match *event {
            Event::IoOperationComplete { handle, bytes_result, matching_id } => {
                (self.handle, self.open) = (handle, Some((bytes_result, matching_id)));
            }
            _ => self.to.write(time, event).expect("it can be written"),
        }
        if let Event::IoOperationBegin { .. } = event
            && let Some((bytes_result, matching_id)) = self.open.take()
        {
            let end = Event::IoOperationComplete { handle: self.handle, bytes_result, matching_id };
            self.to.write(time, &end).expect("it can be written");
        }
    }
}

#[test]
fn a_run_is_not_cut_where_an_access_to_a_file_goes_on() {
    let folder = tempfile::tempdir().expect("there is room");
    let anchor = untold(IN_TURNS, folder.path());
    written_again(folder.path(), |to| Late { to, handle: 0, open: None }, |late| late.to.finish());
    let why = "there are no moments at which all processes have met and nothing is under way, or hardly any";
    assert_eq!(slices(&anchor, 1).err(), Some(Some(why.to_owned())));
}

/// Writes events again, each begin of an access behind the enter that follows it.
struct Inside {
    to: EventWriter<Bytes>,
    held: Option<(u64, [u64; 5])>,
}

impl Inside {
    fn release(&mut self) {
        if let Some((time, [handle, mode, operation_flags, bytes_request, matching_id])) = self.held.take() {
            let (handle, mode, operation_flags) = (handle as u32, mode as u8, operation_flags as u32);
            let begin = Event::IoOperationBegin { handle, mode, operation_flags, bytes_request, matching_id };
            self.to.write(time, &begin).expect("it can be written");
        }
    }
}

impl EventVisitor for Inside {
    fn enter(&mut self, time: u64, region: u32) {
        self.to.write(time, &Event::Enter { region }).expect("it can be written");
        self.held.iter_mut().for_each(|held| held.0 = time);
        self.release();
    }

    fn leave(&mut self, time: u64, region: u32) {
        self.event(time, &Event::Leave { region });
    }

    fn event(&mut self, time: u64, event: &Event<'_>) {
        self.release();
        match *event {
            Event::IoOperationBegin { handle, mode, operation_flags, bytes_request, matching_id } => {
                let fields = [handle.into(), mode.into(), operation_flags.into(), bytes_request, matching_id];
                self.held = Some((time, fields));
            }
            _ => self.to.write(time, event).expect("it can be written"),
        }
    }
}

/// Whether an access moves its handle is a matter of the call that made it, and not of that around it.
#[test]
fn accesses_inside_of_others_begin_where_they_do_in_the_whole() {
    let folder = tempfile::tempdir().expect("there is room");
    let within = "fsync 25..30 sync(file=out) MPI_File_read 31..38 { pread 32..36 read(bytes=50, file=in) }";
    let anchor = untold(&IN_TURNS.replace("fsync 25..30 sync(file=out)", within), folder.path());
    written_again(folder.path(), |to| Inside { to, held: None }, |inside| inside.to.finish());
    let whole = open(&anchor, None);
    let offsets = whole.streams()[PeId(0)].io.iter().map(|row| row.offset).collect::<Vec<_>>();
    assert_eq!(offsets[..10].iter().flatten().copied().collect::<Vec<_>>(), [0, 100, 0, 128, 228, 9]);
    together(&whole, &slices(&anchor, 1).expect("it is cut"), "inside");
}

#[test]
fn accesses_outside_of_operations_are_looked_at_as_a_whole() {
    let folder = tempfile::tempdir().expect("there is room");
    let anchor = untold(&IN_TURNS.replace("work 8..45", "work 8..45 read(bytes=1, file=in)"), folder.path());
    assert_eq!(slices(&anchor, 1).err(), Some(Some("files are accessed outside of operations".to_owned())));
}
