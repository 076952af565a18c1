//! Slices of an archive have all that the archive has, each thing once, and nothing goes across but visits of functions. What would go across keeps an archive whole.

use partune_base::{CallPathId, PeId, Span};
use partune_import::Slices;
use partune_otf2::import::FORMAT;
use partune_trace::{Stream, Trace, Visit, VisitIx};

use crate::codec::archives::archives;

use super::{Folder, open};

/// The slices of an archive of at most about so many events, or why there are none.
fn slices(anchor: &std::path::Path, wanted: u64) -> Result<Vec<Trace>, Option<String>> {
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
    ("pipit-ping-pong-papi-2", "metrics are in it"),
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
