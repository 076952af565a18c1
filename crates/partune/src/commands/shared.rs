//! `partune analyze` in several processes that a launcher of MPI started: slices of a large archive are dealt out to them.
//!
//! Process 0 prints, and its exit status is that of all. An archive that is not looked at in slices is its alone, with the processors of its node; the others sleep until it is done. Where no library brings the processes together,
//! that is an error only for an archive that may be looked at in slices.

use std::process::ExitCode;

use partune_engine::Sliced;
use partune_engine::job::{Job, agree, receive, send};
use partune_mpi::MpiJob;

use crate::commands::analyze::{self, Args};
use crate::commands::job::{Part, Several, tell_that_one_works};
use crate::output;

/// How it ended; none where one process is to work, as for other commands.
pub(crate) fn analyze(args: &Args, several: Several) -> Option<ExitCode> {
    let job = match MpiJob::begin(args.mpi_library(), several.started) {
        Ok(job) => job,
        // There is nothing to deal out.
        Err(_) if !args.may_be_in_slices() => return None,
        Err(error) => {
            if !matches!(Part::of_this_process(), Part::Other(_)) {
                output::error(&error.into());
            }
            return Some(ExitCode::FAILURE);
        }
    };
    let result = share(args, several, &job);
    let mut is_done = result.is_ok();
    if job.rank() == 0 {
        if let Err(error) = result {
            output::error(&error);
        }
        (1..job.size()).for_each(|rank| send(&job, rank, &is_done));
    } else {
        // What went wrong here is known there.
        is_done = receive(&job, 0);
    }
    job.end();
    Some(if is_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn share(args: &Args, several: Several, job: &MpiJob) -> anyhow::Result<()> {
    let begun = args.asked().and_then(|asked| Ok((asked, args.resources().limit_each(several)?)));
    let agreed = agree(job, begun.as_ref().map(|_| ()).map_err(output::said));
    let (asked, threads) = begun?;
    agreed.map_err(|unable| anyhow::anyhow!("{} cannot take part: {}", unable.name, unable.why))?;
    let sliced = threads.install(|| args.in_slices(&asked, job))?;
    drop(threads);
    if matches!(sliced, Sliced::Whole(_)) {
        tell_that_one_works();
    }
    analyze::tell(args, asked, sliced, || args.resources().limit())
}
