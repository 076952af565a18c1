//! The recorded process: this test binary, run again.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

use partune_collect::frame::Frame;
use partune_collect::{Kind, Region};
use partune_record::{Request, Summary};

/// The variable that makes [`act`] play.
const ACT: &str = "PARTUNE_TEST_ACT";

static RANK: Region = Region::new("MPI_Comm_rank", Kind::Construct("MPI"));
static SEND: Region = Region::new("MPI_Send", Kind::Construct("MPI"));

/// Runs the binary as a process that is recorded into `folder`. Without call paths: the test binary has no frame pointers.
pub(crate) fn record(folder: &Path, act: &str, variables: &[(&str, &str)]) -> ExitStatus {
    let mut command = Command::new(std::env::current_exe().expect("the test binary has a path"));
    command.args(["--exact", "process::act", "--nocapture"]).env(ACT, act);
    command.env("PARTUNE_DIR", folder).env("PARTUNE_DEPTH", "0").envs(variables.iter().copied());
    command.output().expect("the test binary starts").status
}

/// Completes what was recorded.
pub(crate) fn complete(folder: &Path) -> Summary {
    partune_record::complete(folder).expect("an archive").expect("it was not complete")
}

/// The words of a shell that record the acts one after the other, each in a process of its own.
pub(crate) fn acts(acts: &[&str]) -> Vec<OsString> {
    let test = std::env::current_exe().expect("the test binary has a path");
    let act = |act: &&str| format!("{ACT}='at once {act}' '{}' >/dev/null 2>&1", test.display());
    ["sh".to_owned(), "-c".to_owned(), acts.iter().map(act).collect::<Vec<_>>().join("; ")].map(OsString::from).into()
}

/// Names that a process looks for, which do not exist, so that whoever traces it knows when completion begins and ends.
pub(crate) const MARKS: [&str; 2] = ["/partune-begins", "/partune-ends"];

/// The command that completes the archive in a folder, all on one thread.
pub(crate) fn completion(command: &mut Command, folder: &Path) {
    command.arg(std::env::current_exe().expect("the test binary has a path"));
    command.env(ACT, format!("complete {}", folder.display()));
}

/// Completion runs before the test runner does, which has threads: whoever traces it is to see it alone. So does what is recorded with the collectors
/// loaded, which record threads too.
#[used]
#[unsafe(link_section = ".init_array")]
#[allow(unsafe_code, reason = "run by the loader")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        let act = std::env::var(ACT).unwrap_or_default();
        if let Some(number) = act.strip_prefix("alone ") {
            let _ = std::fs::metadata(MARKS[0]);
            if begin() {
                calls(number.parse().expect("the act has a number"));
            }
            // What happens while it ends is the recorder's too.
            std::process::exit(0);
        }
        if let Some(act) = act.strip_prefix("at once ") {
            play(act);
            std::process::exit(0);
        }
        let Some(folder) = act.strip_prefix("complete ") else { return };
        rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().expect("the first pool");
        let _ = std::fs::metadata(MARKS[0]);
        let done = partune_record::complete(Path::new(folder));
        let _ = std::fs::metadata(MARKS[1]);
        std::process::exit(match done {
            Ok(_) => 0,
            Err(error) => {
                let _ = writeln!(std::io::stderr(), "{error}");
                1
            }
        });
    }
    at_load
};

/// The command that records a process into a folder that waits for its end, and completes the archive.
pub(crate) fn launching(command: &mut Command, folder: &Path) {
    command.arg(std::env::current_exe().expect("the test binary has a path"));
    command.args(["--exact", "process::act", "--nocapture"]);
    command.env(ACT, format!("launch {}", folder.display()));
}

/// 2, if a signal ended the command and everything that it had recorded is in the archive.
fn launch(folder: &Path) -> i32 {
    let test = std::env::current_exe().expect("the test binary has a path");
    let request = Request {
        command: vec![test.into()],
        folder: folder.to_owned(),
        depth: Some(0),
        variables: vec![(ACT.to_owned(), "at once wait 100".into())],
        ..Request::default()
    };
    let launched = partune_record::launch(&request).expect("the test binary starts");
    let was_ended = launched.status.signal().is_some();
    let events = launched.complete().expect("an archive").events;
    if was_ended && events == 250 { 2 } else { 3 }
}

/// Begins to record, as a paradigm's first call does.
fn begin() -> bool {
    let is_recorded = partune_collect::begin("MPI", "test");
    let world = partune_collect::identify("MPI", 0, 1, 7);
    let (members, remote, parent, name) = (&[0][..], &[][..], None, "all");
    let comm = partune_collect::definitions::Comm { world, sequence: 0, members, remote, parent, name };
    partune_collect::definitions::comm(&comm);
    is_recorded
}

/// The command that records itself, on one thread, from before its main function to its end.
pub(crate) fn recording(command: &mut Command, calls: u64) {
    command.arg(std::env::current_exe().expect("the test binary has a path"));
    command.env(ACT, format!("alone {calls}"));
}

/// Says that everything is recorded, to whoever looks into the folder.
fn tell() {
    let folder = std::env::var_os("PARTUNE_DIR").expect("it is recorded");
    std::fs::write(Path::new(&folder).join("parts/recorded"), "").expect("room");
}

/// Records `calls` calls, of which every second one is a send with two more events: 2.5 events a call.
fn calls(calls: u64) {
    for i in 0..calls {
        let region = if i % 2 == 0 { &SEND } else { &RANK };
        // A thread whose lane cannot be made is not recorded.
        let Some(mut call) = partune_collect::enter(region, Frame::NONE) else { return };
        if i % 2 == 0 {
            call.sent(partune_collect::Message { peer: 0, comm: 0, tag: i as u32 & 0xff, bytes: i });
        }
        call.returned();
        call.leave();
    }
}

/// Plays a process; does nothing where no act is asked for, which is when the test runner comes by.
#[test]
fn act() {
    let Ok(act) = std::env::var(ACT) else { return };
    if let Some(folder) = act.strip_prefix("launch ") {
        std::process::exit(launch(Path::new(folder)));
    }
    play(&act);
}

#[allow(unsafe_code, reason = "ends that only the system knows")]
fn play(act: &str) {
    let (act, number) = act.split_once(' ').unwrap_or((act, "0"));
    let number: u64 = number.parse().expect("the act has a number");
    if act == "late" {
        assert!(!partune_collect::begin("MPI", "test"));
        return;
    }
    assert!(begin());
    match act {
        "exit" => calls(number),
        "stay" => {
            calls(number);
            tell();
            let _ = std::io::stdin().read(&mut [0]);
            calls(number);
        }
        "wait" => {
            calls(number);
            tell();
            std::thread::sleep(std::time::Duration::from_mins(10));
        }
        "kill" => {
            calls(number);
            // SAFETY: a signal to this process.
            unsafe { libc::raise(libc::SIGKILL) };
        }
        "threads" => {
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| calls(number)))));
        }
        "many" => {
            std::thread::scope(|scope| (0..28).for_each(|_| drop(scope.spawn(|| calls(number)))));
        }
        "after" => {
            // Each ends before the next begins.
            (0..28).for_each(|_| std::thread::spawn(|| calls(10)).join().expect("it ends"));
            calls(number);
        }
        "fork" => {
            calls(number);
            // SAFETY: the child calls the recorder, which must leave it alone, and ends at once.
            unsafe {
                if libc::fork() == 0 {
                    let recorded = partune_collect::enter(&RANK, Frame::NONE).is_some();
                    libc::_exit(i32::from(recorded));
                }
                let mut status = 0;
                libc::wait(&raw mut status);
                assert_eq!(status, 0, "a forked child is not recorded");
            }
            calls(number);
        }
        "full" => {
            // SAFETY: a limit of this process; a file that grew beyond it would end it by a signal.
            unsafe {
                let limit = libc::rlimit { rlim_cur: 2 << 20, rlim_max: 2 << 20 };
                libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            }
            calls(number);
        }
        other => panic!("no act is called {other}"),
    }
}
