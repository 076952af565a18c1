//! Looks at an archive in slices that are smaller than those of `partune analyze`, in as many processes as a launcher of MPI starts: for tests, whose archives are small.
//!
//! `mpirun -n 3 in_slices ARCHIVE EVENTS TO [FAULT RANK]` writes the document to the file `TO`, or why there is none. A fault is what goes wrong in one of the processes.

use std::path::Path;
use std::time::Duration;

use partune_engine::job::Job;
use partune_engine::{Request, Sliced, analyze_in_slices};
use partune_mpi::MpiJob;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [archive, events, to, fault @ ..] = args.as_slice() else { panic!("ARCHIVE EVENTS TO [FAULT RANK]") };
    let size = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
    let job = MpiJob::begin(None, size.expect("a launcher of MPI started this")).expect("MPI is here");
    let mut archive = archive.clone();
    if let [fault, rank] = fault
        && rank.parse() == Ok(job.rank())
    {
        match fault.as_str() {
            "missing" => archive.push_str("-that-is-not-here"),
            "panic" => panic!("as a defect would"),
            "exit" => std::process::exit(1),
            "stuck" => {
                std::fs::write(to, std::process::id().to_string()).expect("a file can be written");
                std::thread::sleep(Duration::from_mins(10));
            }
            other => panic!("{other} is no fault"),
        }
    }
    let request = Request { predicts: false, ..Request::default() };
    let events = events.parse().expect("a number of events");
    let found = analyze_in_slices(Path::new(&archive), &request, events, &job, &());
    if job.rank() == 0 {
        let text = match found {
            Ok(Sliced::Diagnosed(diagnosis)) => partune_report::document(&diagnosis, "archive"),
            Ok(Sliced::Whole(why)) => why.unwrap_or_default(),
            Ok(Sliced::Elsewhere) => "another process has it".to_owned(),
            Err(error) => error.to_string(),
        };
        std::fs::write(to, text).expect("a file can be written");
    }
    job.end();
}
