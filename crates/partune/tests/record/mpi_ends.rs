//! How MPI itself ends a process: with its last session, or in a call that fails.

use serde_json::{Value, json};

use super::launch::{Built, MPICH, OPEN_MPI};

#[test]
fn the_last_session_ends_the_run_in_order() {
    let Some(built) = Built::new(&MPICH, "programs/sessions.c", &[]) else { return };
    let document = built.record(&[], &[]).analysis();
    assert_eq!(document["ending"], Value::Null, "{document:#}");
}

/// Of MPICH nobody knows: its launcher kills the process first.
#[test]
fn a_call_that_fails_is_where_the_program_aborted() {
    let Some(built) = Built::new(&OPEN_MPI, "mpi_ends/error.c", &[]) else { return };
    let ending = built.record(&[], &[]).analysis()["ending"].clone();
    let first = &ending["processes"][0];
    assert_eq!((&first["rank"], &first["how"]), (&json!(1), &json!("abort")), "{ending:#}");
    let operation = ending["pes"][1]["operation"].as_array().expect("a list");
    assert!(operation.ends_with(&[json!("wrong"), json!("MPI_Send")]), "{ending:#}");
    assert_eq!(ending["pes"][1]["inside"], true, "{ending:#}");
}

/// Processes that Open MPI ends by itself, since nobody is there any more whom it could ask, did not abort.
#[test]
fn processes_that_lost_their_launcher_were_killed() {
    let Some(built) = Built::new(&OPEN_MPI, "mpi_ends/orphaned.c", &[]) else { return };
    let recorded = built.record(&[], &[]);
    let ending = recorded.analysis()["ending"].clone();
    assert!(!recorded.said().contains("called abort"), "{}", recorded.said());
    let processes = ending["processes"].as_array().expect("a list");
    assert!(processes.iter().all(|it| it["how"] == "killed"), "{ending:#}");
    assert_eq!((&ending["pes"][1]["inside"], &ending["pes"][2]["inside"]), (&json!(false), &json!(true)), "{ending:#}");
}
