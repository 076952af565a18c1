//! Clocks of different machines: how far each is from that of rank 0, at the begin and at the end.
//!
//! Processes of one machine share its clock. Only if they are on several (or `PARTUNE_CLOCK_SYNC` is `always`) each exchanges a few
//! messages with rank 0; of the one that was fastest, the moment in the middle is when rank 0 answered. The error is at most half of
//! its round trip. What there is to say is said on a communicator of the recorder's own.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use partune_collect::{definitions, now};
use partune_mpi_abi::{Handle, SUCCESS, StatusLayout};

use crate::mpi::{Mpi, complain};
use crate::{library, pmpi};

/// Round trips with each process; the first ones only warm up.
const ROUNDS: usize = 24;
const TAG: usize = 31_415;
/// How long others may be away before it is said.
const PATIENCE: Duration = Duration::from_secs(10);

static MET: AtomicBool = AtomicBool::new(false);
/// The recorder's communicator if clocks are to be compared again; 0 if there is none.
static COMM: AtomicUsize = AtomicUsize::new(0);

pub(crate) fn have_met() -> bool {
    MET.load(Ordering::Relaxed)
}

/// All processes of a communicator compare their machines, and their clocks if need be. Collective. If they
/// will do so `again`, see [`part`], a communicator is kept for that. Returns a number that is the same for
/// all of them and for no other job.
pub(crate) fn meet(mpi: &Mpi, comm: usize, rank: u32, size: u32, again: bool) -> u64 {
    MET.store(true, Ordering::Relaxed);
    let boot = partune_collect::boot();
    let key = if rank == 0 { key_of(now(), boot, std::process::id()) } else { 0 };
    let forced = std::env::var_os("PARTUNE_CLOCK_SYNC").is_some_and(|value| value == "always");
    // The greatest of a number and of its complement: equal only if all numbers are.
    let mine = [boot, !boot, key, u64::from(forced)];
    let mut all = [0_u64; 4];
    let handle = |handle: Handle| handle.value(mpi.abi, library::data);
    let (Some(number), Some(max)) = (handle(Handle::Uint64), handle(Handle::Max)) else { return 0 };
    let (from, to) = (mine.as_ptr() as usize, all.as_mut_ptr() as usize);
    if !reduce([from, to, mine.len(), number, max, comm], rank) {
        return 0;
    }
    let is_one_machine = all[0] == !all[1];
    if size > 1 && (!is_one_machine || all[3] != 0) {
        let mut own: usize = 0;
        // SAFETY: a handle that outlives the call.
        if unsafe { pmpi::comm_dup(comm, &raw mut own as usize) } == SUCCESS {
            compare(mpi, own, rank, size);
            if again {
                COMM.store(own, Ordering::Relaxed);
            } else {
                // SAFETY: made above.
                unsafe { pmpi::comm_free(&raw mut own as usize) };
            }
        }
    }
    all[2]
}

/// A number of one job. MPICH 4.0 compares unsigned numbers of 64 bits as signed ones: it must be greater than 0 in both ways.
fn key_of(now: u64, boot: u64, process: u32) -> u64 {
    (now ^ boot.rotate_left(32) ^ u64::from(process)) & (u64::MAX >> 1) | 1
}

/// `MPI_Allreduce` that does not wait in silence: a process without the recorder never comes.
fn reduce([from, to, count, number, op, comm]: [usize; 6], rank: u32) -> bool {
    let (mut request, mut flag, mut status) = (0_usize, 0_i32, [0_i32; StatusLayout::MOST]);
    // SAFETY: arrays of as many numbers, and a handle that outlives the operation.
    let begun = unsafe { pmpi::iallreduce(from, to, count, number, op, comm, &raw mut request as usize) };
    if begun == pmpi::MISSING {
        // SAFETY: the recorder's communicator, and numbers that outlive the call, which blocks.
        return unsafe { pmpi::allreduce(from, to, count, number, op, comm) } == SUCCESS;
    }
    let begin = Instant::now();
    // One in many tells.
    let mut has_told = rank & rank.wrapping_sub(1) != 0;
    let mut result = begun;
    while result == SUCCESS && flag == 0 {
        if !has_told && begin.elapsed() > PATIENCE {
            has_told = true;
            complain(
                "some processes of this job have not come to MPI_Init, or are not recorded: then this job waits for ever. Programs must be linked \
                 dynamically, and the variables LD_PRELOAD, PARTUNE_DIR and PARTUNE_MODE must reach all nodes (Open MPI: -x NAME for each)",
            );
        }
        std::thread::yield_now();
        let (flag, status) = (&raw mut flag as usize, status.as_mut_ptr() as usize);
        // SAFETY: the handle of above, and places for what is stored.
        result = unsafe { pmpi::test(&raw mut request as usize, flag, status) };
    }
    result == SUCCESS
}

/// The clocks are compared once more, if they were. Collective.
pub(crate) fn part(mpi: &Mpi) {
    let mut own = COMM.swap(0, Ordering::Relaxed);
    let (mut rank, mut size): (c_int, c_int) = (0, 0);
    if own == 0 {
        return;
    }
    // SAFETY: the recorder's communicator, and numbers that outlive the calls.
    let known = unsafe {
        pmpi::comm_rank(own, &raw mut rank as usize) == SUCCESS
            && pmpi::comm_size(own, &raw mut size as usize) == SUCCESS
    };
    if known {
        compare(mpi, own, rank as u32, size as u32);
    }
    // SAFETY: the recorder's communicator, which nobody uses any more.
    unsafe { pmpi::comm_free(&raw mut own as usize) };
}

fn compare(mpi: &Mpi, comm: usize, rank: u32, size: u32) {
    if rank == 0 {
        for worker in 1..size {
            for _ in 0..ROUNDS {
                if !answer(mpi, comm, worker as usize) {
                    return;
                }
            }
        }
        return definitions::clock_offset(now(), 0, 0.0);
    }
    let rounds = (0..ROUNDS).map_while(|_| ask(mpi, comm));
    if let Some(best) = rounds.min_by_key(|round| round.after - round.before) {
        let middle = best.before + (best.after - best.before) / 2;
        let deviation = (best.after - best.before) as f64 / 2.0;
        definitions::clock_offset(middle, best.master.wrapping_sub(middle) as i64, deviation);
    }
}

/// A round trip: this clock before and after, and that of rank 0 in between.
struct Round {
    before: u64,
    after: u64,
    master: u64,
}

fn ask(mpi: &Mpi, comm: usize) -> Option<Round> {
    let before = now();
    let mut master = 0_u64;
    let done = send(mpi, comm, 0, &before) && recv(mpi, comm, 0, &mut master);
    done.then(|| Round { before, after: now(), master })
}

fn answer(mpi: &Mpi, comm: usize, worker: usize) -> bool {
    let mut asked = 0_u64;
    recv(mpi, comm, worker, &mut asked) && send(mpi, comm, worker, &now())
}

fn send(mpi: &Mpi, comm: usize, to: usize, value: &u64) -> bool {
    let address = std::ptr::from_ref(value) as usize;
    // SAFETY: eight bytes.
    (unsafe { pmpi::send(address, size_of::<u64>(), mpi.byte, to, TAG, comm) }) == SUCCESS
}

fn recv(mpi: &Mpi, comm: usize, from: usize, value: &mut u64) -> bool {
    let mut status = [0_i32; StatusLayout::MOST];
    let (address, status) = (std::ptr::from_mut(value) as usize, status.as_mut_ptr() as usize);
    // SAFETY: eight bytes, and a status.
    (unsafe { pmpi::recv(address, size_of::<u64>(), mpi.byte, from, TAG, comm, status) }) == SUCCESS
}

#[cfg(test)]
mod tests {
    use super::key_of;

    #[test]
    fn the_key_of_a_job_is_the_greatest_however_numbers_are_compared() {
        for boot in [0, u64::MAX, 1 << 31, 0x671b_af9a_c375_d777] {
            let key = key_of(1 << 40, boot, 7);
            assert!(key > 0 && key.cast_signed() > 0, "{boot:x}");
            assert_ne!(key, key_of(1 << 41, boot, 7), "a job that began later is another one");
        }
    }
}
