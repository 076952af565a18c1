//! A file of operations on an archive of another recorder: functions take over what happened inside of them, and no second of waiting is lost.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::archives::shared;

/// In this archive of Score-P the receives of an exchange are completed inside of a function of the program.
const FILE: &str = "
[[operation]]
name = 'mpi_util::mpi_commpattern_sendrecv'
role = 'comm_sync'

[[pattern]]
name = 'late_exchange'
when = 'role = comm_sync and waiting > 10 ms'

[[pattern]]
name = 'hidden'
when = 'construct = MPI_Wait or construct = MPI_Ssend'
";

fn findings(archive: &Path, arguments: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_partune"));
    let output = command.arg("analyze").arg(archive).arg("--json").args(arguments).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    document["findings"].as_array().expect("findings are a list").clone()
}

fn of<'a>(findings: &'a [Value], pattern: &str) -> Vec<&'a Value> {
    findings.iter().filter(|it| it["pattern"] == pattern).collect()
}

#[test]
fn a_function_waits_for_what_its_operations_waited_for() {
    let Some(archive) = shared("otf2/scorep84-ats-late_sender-4") else { return };
    let folder = tempfile::tempdir().expect("there is room for a file");
    let file = folder.path().join("mine.toml");
    std::fs::write(&file, FILE).expect("there is room for a file");
    let file = file.display().to_string();
    let before = findings(&archive, &[]);
    let [receive] = of(&before, "late_sender")[..] else { panic!("there is one: {before:?}") };
    assert_eq!(receive["construct"], "MPI_Wait");
    let after = findings(&archive, &["--operations", &file]);
    let [exchange] = of(&after, "late_sender")[..] else { panic!("there is one: {after:?}") };
    assert_eq!(exchange["construct"], "mpi_util::mpi_commpattern_sendrecv");
    assert_eq!((&exchange["count"], exchange["pes"].as_array().map(Vec::len)), (&receive["count"], Some(2)));
    let seconds = |it: &Value| it["seconds"].as_f64().expect("seconds are a number");
    // It can wait from its own begin on, so never for less.
    assert!((0.0..0.01).contains(&(seconds(exchange) - seconds(receive))), "{exchange} {receive}");
    let [late] = of(&after, "user:late_exchange")[..] else { panic!("there is one: {after:?}") };
    assert_eq!(late["count"], receive["count"]);
    assert!(seconds(late) >= seconds(exchange), "all of an exchange counts, not only its waiting: {late}");
    assert!(of(&after, "user:hidden").is_empty(), "nothing inside of an operation is one: {after:?}");
}
