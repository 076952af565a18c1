//! The recorded process: this test binary, run again.

use std::path::Path;
use std::process::{Command, ExitStatus};

use partune_collect::frame::Frame;
use partune_collect::{Kind, Region};

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

/// Records `calls` calls, of which every second one is a send with two more events: 2.5 events a call.
fn calls(calls: u64) {
    for i in 0..calls {
        let region = if i % 2 == 0 { &SEND } else { &RANK };
        let mut call = partune_collect::enter(region, Frame::NONE).expect("this process is recorded");
        if i % 2 == 0 {
            call.sent(partune_collect::Message { peer: 0, comm: 0, tag: i as u32 & 0xff, bytes: i });
        }
        call.returned();
        call.leave();
    }
}

/// Plays a process; does nothing where no act is asked for, which is when the test runner comes by.
#[test]
#[allow(unsafe_code, reason = "ends that only the system knows")]
fn act() {
    let Ok(act) = std::env::var(ACT) else { return };
    let (act, number) = act.split_once(' ').unwrap_or((&act, "0"));
    let number: u64 = number.parse().expect("the act has a number");
    assert!(partune_collect::begin("MPI", "test"));
    partune_collect::identify(0, 1, 7);
    let comm =
        partune_collect::definitions::Comm { sequence: 0, members: &[0], remote: &[], parent: None, name: "all" };
    partune_collect::definitions::comm(&comm);
    match act {
        "exit" => calls(number),
        "kill" => {
            calls(number);
            // SAFETY: a signal to this process.
            unsafe { libc::raise(libc::SIGKILL) };
        }
        "threads" => {
            std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| calls(number)))));
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
            // SAFETY: a limit of this process; files that grow beyond it fail, as on a full disk.
            unsafe {
                libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
                let limit = libc::rlimit { rlim_cur: 2 << 20, rlim_max: 2 << 20 };
                libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit);
            }
            calls(number);
        }
        other => panic!("no act is called {other}"),
    }
}
