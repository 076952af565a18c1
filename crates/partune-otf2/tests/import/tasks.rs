//! Tasks that a producer enters inside of barriers and of waits for tasks, as Score-P does.

use partune_base::PeId;
use partune_trace::{Role, Trace};

use super::python;

/// Written with the Python bindings of OTF2: three threads of a team. The second runs a task in the barrier at its end; the third two, of which the
/// first waits for one that it runs itself, and the second ends with the barrier.
const SCRIPT: &str = r#"
import sys, otf2
from otf2.enums import *
with otf2.writer.open(sys.argv[1], timer_resolution=1000000000) as archive:
    define = archive.definitions
    node = define.system_tree_node("node")
    group = define.location_group("process", system_tree_parent=node)
    def region(name, role):
        return define.region(name, region_role=role, paradigm=Paradigm.OPENMP, source_file="x.c", begin_line_number=9)
    parallel, task = region("!$omp parallel @x.c:1", RegionRole.PARALLEL), region("!$omp task @x.c:5", RegionRole.TASK)
    create, wait = region("!$omp create task @x.c:5", RegionRole.TASK_CREATE), region("!$omp taskwait @x.c:8", RegionRole.TASK_WAIT)
    barrier = region("!$omp implicit barrier @x.c:9", RegionRole.IMPLICIT_BARRIER)
    def thread(name, *visits):
        writer = archive.event_writer(name, group=group)
        def visit(begin, end, region, *inner):
            writer.enter(begin, region)
            for it in inner:
                visit(*it)
            writer.leave(end, region)
        for it in visits:
            visit(*it)
    thread("0", (100, 400, parallel, (110, 120, create), (120, 300, wait), (300, 390, barrier)))
    thread("1", (100, 400, parallel, (105, 390, barrier, (130, 330, task))))
    thread("2", (100, 400, parallel, (106, 390, barrier, (130, 200, task, (140, 190, wait, (150, 170, task))), (200, 390, task))))
"#;

/// The visits of a PE with their roles, by depth.
fn visits(trace: &Trace, pe: u32) -> Vec<String> {
    let (pe, mut ends) = (PeId(pe), Vec::new());
    let visits = &trace.streams()[pe].visits;
    let row = |(visit, role): (partune_trace::Visit, Role)| {
        while ends.last().is_some_and(|end| *end <= visit.enter) {
            ends.pop();
        }
        ends.push(visit.exit);

        format!("{}{} {}..{}", " ".repeat(ends.len() - 1), role.name(), visit.enter.0, visit.exit.0)
    };
    let role = |at| trace.role_of(pe, partune_trace::VisitIx(at as u32));
    visits.iter().enumerate().map(|(at, visit)| (visit, role(at))).map(row).collect()
}

#[test]
fn a_task_in_a_barrier_is_no_part_of_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let Some(trace) = python(SCRIPT, folder.path()) else { return };
    assert_eq!(
        visits(&trace, 0),
        ["parallel 0..300", " task_create 10..20", " task_wait 20..200", " group_sync 200..290"]
    );
    assert_eq!(visits(&trace, 1), ["parallel 0..300", " group_sync 5..30", " task_run 30..230", " task_wait 230..290"]);
    assert_eq!(
        visits(&trace, 2),
        [
            "parallel 0..300",
            " group_sync 6..30",
            " task_run 30..100",
            "  task_wait 40..50",
            "  task_run 50..70",
            "  task_wait 70..90",
            " task_run 100..290"
        ]
    );
    let names: Vec<&str> = trace.regions().iter().map(|region| trace.strings().get(region.name)).collect();
    assert_eq!(
        names.iter().filter(|name| name.contains("implicit barrier")).count(),
        2,
        "the barrier and what is left of it: {names:?}"
    );
    assert!(trace.quality().entries().is_empty(), "{:?}", trace.quality().entries());
}
