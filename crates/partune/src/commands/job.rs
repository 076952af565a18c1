//! Commands that a launcher starts as several processes: `mpirun -n 4 partune analyze run`, `srun partune report run`.
//!
//! Such a command has one answer. Of a large archive `partune analyze` deals slices out to all of them ([`crate::commands::shared`]). Of all else one process gives it: the first, on the
//! processors of all processes of its node, which share its memory. The others end at once, and the second of them says so. A script that a launcher starts may call partune for something else in each process; there each is by
//! itself, if the script does not become partune (`exec`). With `PARTUNE_EACH` set each is in any case.

use std::num::NonZero;

use partune_mpi_abi::{Abi, NODE_SIZES, SLURM_RANK, SLURM_SIZE, world_variables};
use rustix::thread::{Pid, sched_getaffinity, sched_setaffinity};

use crate::output;

/// Threads that anybody may have, on however few processors.
const THREADS: usize = 64;

/// What a process is in its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// No launcher started it, or not it but a script around it.
    Alone,
    /// The one that answers, of so many on its node.
    First { on_node: usize },
    /// One that has nothing to do: which.
    Other(u64),
}

/// What the launcher says of processes that can share their work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Several {
    /// How many it started, two at least.
    pub(crate) started: usize,
    /// How many of them are on this node.
    pub(crate) on_node: usize,
}

impl Several {
    pub(crate) fn of_this_process() -> Option<Several> {
        (Part::of_this_process() != Part::Alone).then(|| Several::of(|name| std::env::var(name).ok())).flatten()
    }

    /// None where the launcher does not say how many there are: then one works for all.
    fn of(own: impl Fn(&str) -> Option<String>) -> Option<Several> {
        let of_libraries = Abi::ALL.into_iter().flat_map(world_variables).copied();
        let mut told = of_libraries.chain([(SLURM_RANK, SLURM_SIZE)]).filter(|(rank, _)| own(rank).is_some());
        let started = told.find_map(|(_, size)| own(size)?.parse().ok()).filter(|started| *started > 1)?;
        let on_node = NODE_SIZES.iter().find_map(|name| leading(&own(name)?)).unwrap_or(1);
        Some(Several { started, on_node: on_node.clamp(1, started) })
    }

    /// The threads to use where each process is to use `asked`; if that is 0, its part of the processors of the node, and none that it is kept from.
    pub(crate) fn threads(self, asked: usize) -> usize {
        let own = std::thread::available_parallelism().map_or(1, NonZero::get);
        if asked > 0 {
            return asked.min(most(own));
        }
        let launcher = Pid::from_raw(std::os::unix::process::parent_id().cast_signed());
        let all = sched_getaffinity(launcher).map_or(own, |all| all.count() as usize);
        own.min(all / self.on_node).max(1)
    }
}

/// The most threads of a process.
fn most(processors: usize) -> usize {
    THREADS.max(2 * processors)
}

impl Part {
    pub(crate) fn of_this_process() -> Part {
        let parent = std::os::unix::process::parent_id();
        // Who started an orphan is not known any more.
        if parent <= 1 || std::env::var_os("PARTUNE_EACH").is_some() {
            return Part::Alone;
        }
        // That of a launcher which runs as somebody else cannot be read, and it is no script of ours.
        let parent = std::fs::read(format!("/proc/{parent}/environ")).unwrap_or_default();
        let is_of_parent = |name: &str| {
            let mut variables = parent.split(|byte| *byte == 0);
            variables.any(|it| it.strip_prefix(name.as_bytes()).is_some_and(|value| value.starts_with(b"=")))
        };
        Part::of(|name| std::env::var(name).ok(), is_of_parent)
    }

    /// Whether another process gives the answer; the second process says so.
    pub(crate) fn has_nothing_to_do(self) -> bool {
        if self == Part::Other(1) {
            tell_that_one_works();
        }
        matches!(self, Part::Other(_))
    }

    /// A launcher tells its processes which they are; what a script in between starts has that from the script.
    fn of(own: impl Fn(&str) -> Option<String>, is_of_parent: impl Fn(&str) -> bool) -> Part {
        let of_libraries = Abi::ALL.into_iter().flat_map(world_variables).map(|(rank, _)| *rank);
        let told = of_libraries.chain([SLURM_RANK]).find_map(|name| Some((name, own(name)?.parse::<u64>().ok()?)));
        match told {
            None => Part::Alone,
            Some((name, _)) if is_of_parent(name) => Part::Alone,
            Some((_, 0)) => {
                let on_node = NODE_SIZES.iter().find_map(|name| leading(&own(name)?));
                Part::First { on_node: on_node.unwrap_or(1).max(1) }
            }
            Some((_, rank)) => Part::Other(rank),
        }
    }

    /// The threads to use where each process of the job would use `asked`, or one per processor that it may run on if that is 0. More than
    /// the machine can run would only wait for each other.
    pub(crate) fn threads(self, asked: usize) -> usize {
        let asked = asked.min(most(std::thread::available_parallelism().map_or(1, NonZero::get)));
        let Part::First { on_node: on_node @ 2.. } = self else { return asked };
        // Processes are bound to processors of their own.
        let Some((own, all)) = unbound() else { return asked };
        let (asked, own) = (asked.saturating_mul(on_node), own.saturating_mul(on_node));
        let threads = if asked > 0 { asked.min(most(all)) } else { own.min(all) };
        output::note(&format!(
            "partune: this is one answer, so the first of the {on_node} processes here gives it, on {threads} threads"
        ));
        threads
    }
}

/// Says that the other processes of the job have nothing to do.
pub(crate) fn tell_that_one_works() {
    output::note(
        "partune: this is one answer, which process 0 of the job gives; the others have nothing to do\n  \
         remedy: where each was to give its own, set PARTUNE_EACH=1",
    );
}

/// Lets this process run where the launcher itself may, which bound it to less: on how many processors it could run, and can.
fn unbound() -> Option<(usize, usize)> {
    let own = sched_getaffinity(None).ok()?.count();
    let launcher = Pid::from_raw(std::os::unix::process::parent_id().cast_signed());
    sched_setaffinity(None, &sched_getaffinity(launcher).ok()?).ok()?;
    Some((own as usize, sched_getaffinity(None).ok()?.count() as usize))
}

/// The number that a text begins with: Slurm writes `2(x3),1`, beginning with the first node.
fn leading(text: &str) -> Option<usize> {
    let end = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(variables: &[(&str, &str)], of_parent: &[&str]) -> Part {
        let own = |name: &str| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned());
        Part::of(own, |name| of_parent.contains(&name))
    }

    #[test]
    fn launchers_tell_their_processes_which_they_are() {
        let open = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "8"), ("SLURM_PROCID", "3")];
        let slurm = |rank| [("SLURM_PROCID", rank), ("SLURM_STEP_TASKS_PER_NODE", "2(x3),1")];
        assert_eq!(part(&[], &[]), Part::Alone);
        assert_eq!(part(&open, &[]), Part::First { on_node: 8 });
        assert_eq!(part(&[("PMI_RANK", "0"), ("MPI_LOCALNRANKS", "3")], &[]), Part::First { on_node: 3 });
        assert_eq!(part(&[("PMI_RANK", "2"), ("MPI_LOCALNRANKS", "3")], &[]), Part::Other(2));
        assert_eq!(part(&slurm("0"), &[]), Part::First { on_node: 2 });
        assert_eq!(part(&slurm("6"), &[]), Part::Other(6));
        assert_eq!(part(&[("PMI_RANK", "none")], &[]), Part::Alone);
    }

    #[test]
    fn processes_know_how_many_they_are() {
        let several = |variables: &[(&str, &str)]| {
            let told = Several::of(|name| variables.iter().find(|it| it.0 == name).map(|it| it.1.to_owned()));
            told.map(|it| (it.started, it.on_node))
        };
        let open = |size| [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", size), ("SLURM_NTASKS", "9")];
        assert_eq!(several(&open("8")), Some((8, 1)));
        assert_eq!(several(&open("1")), None);
        assert_eq!(several(&[("PMI_RANK", "0"), ("PMI_SIZE", "3"), ("MPI_LOCALNRANKS", "2")]), Some((3, 2)));
        // A step of Slurm, and the script of a job.
        let tasks = ("SLURM_STEP_TASKS_PER_NODE", "4(x2)");
        assert_eq!(several(&[("SLURM_PROCID", "5"), ("SLURM_STEP_NUM_TASKS", "8"), tasks]), Some((8, 4)));
        assert_eq!(several(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
        // Who does not say how many.
        assert_eq!(several(&[("PMIX_RANK", "0")]), None);
    }

    #[test]
    fn what_a_script_of_the_job_starts_is_by_itself() {
        let variables = [("OMPI_COMM_WORLD_RANK", "2")];
        assert_eq!(part(&variables, &["OMPI_COMM_WORLD_RANK"]), Part::Alone);
        assert_eq!(part(&variables, &["PMI_RANK"]), Part::Other(2));
    }
}
