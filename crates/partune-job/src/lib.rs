//! What processes that share one answer tell each other: values, between two of them or from each to all.
//!
//! [`Job`] is the carrier, of bytes and in order; who has processes brings one. [`Alone`] is a job of one process, and whatever is here costs it nothing: no value is
//! put into bytes where there is nobody to send it to. Values travel as postcard writes them: integers as short as they are, floating-point numbers bit by bit.
//!
//! A carrier that fails ends the process, as MPI does, so that nobody goes on without an answer. What may go wrong with the *work* of a process is a value like others: see [`agree`].

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The processes that share one answer. All call the functions of this crate that say so in the same order.
pub trait Job: Sync {
    /// Which of them this is. Process 0 gives the answer.
    fn rank(&self) -> usize;

    /// How many they are, at least one.
    fn size(&self) -> usize;

    /// Which of them this is, for people: `process 3 on node17`.
    fn name(&self) -> String;

    /// Sends bytes to another process, and returns at once.
    fn send(&self, to: usize, bytes: Vec<u8>);

    /// The next bytes that another process sent to this one, once they are there. Takes the processor from nobody meanwhile.
    fn receive(&self, from: usize) -> Vec<u8>;

    /// What was sent by this process so far, and waited for.
    fn traffic(&self) -> Traffic;
}

/// What the exchange cost a process, or all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Traffic {
    /// Bytes sent.
    pub sent: u64,
    /// Time in which a process did nothing but wait for another.
    pub waited: Duration,
}

/// A job of one process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Job for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn name(&self) -> String {
        "this process".to_owned()
    }

    fn send(&self, _: usize, _: Vec<u8>) {}

    fn receive(&self, _: usize) -> Vec<u8> {
        Vec::new()
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }
}

/// Sends a value to another process.
pub fn send(job: &dyn Job, to: usize, value: &impl Serialize) {
    job.send(to, encoded(value));
}

/// The next value that another process sent to this one.
pub fn receive<T: DeserializeOwned>(job: &dyn Job, from: usize) -> T {
    decode(&job.receive(from))
}

fn encoded(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("memory takes any value, and lengths are known")
}

/// The value that [`send`] made these bytes of.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).expect("all processes of a job run the same partune")
}

/// What each process gives, by rank. All call it; process 0 brings the values together, and each hands them on to at most as many as the size has bits.
pub fn gather<T: Serialize + DeserializeOwned>(job: &dyn Job, mine: T) -> Vec<T> {
    if job.size() == 1 {
        return vec![mine];
    }
    let bundle = if job.rank() == 0 {
        let mut bundle = Vec::new();
        let mut add = |bytes: Vec<u8>| {
            bundle.extend((bytes.len() as u64).to_le_bytes());
            bundle.extend(bytes);
        };
        add(encoded(&mine));
        (1..job.size()).for_each(|from| add(job.receive(from)));
        bundle
    } else {
        send(job, 0, &mine);
        job.receive(above(job.rank()))
    };
    below(job.rank(), job.size()).for_each(|to| job.send(to, bundle.clone()));
    let mut mine = Some(mine);
    let parts = Parts(&bundle).enumerate();
    let own = job.rank();
    parts.map(|(rank, part)| mine.take_if(|_| rank == own).unwrap_or_else(|| decode(part))).collect()
}

/// The process that hands on what process 0 tells all, and those that are told by one: a binomial tree.
fn above(rank: usize) -> usize {
    rank & rank.wrapping_sub(1)
}

fn below(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    let bits = if rank == 0 { usize::BITS } else { rank.trailing_zeros() };
    (0..bits).map(move |bit| 1_usize << bit).take_while(move |step| rank + step < size).map(move |step| rank + step)
}

/// Pieces of bytes, each behind its length.
struct Parts<'a>(&'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (part, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        self.0 = rest;
        Some(part)
    }
}

/// A process that cannot do its part.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Unable {
    pub rank: usize,
    /// Which it is, for people.
    pub name: String,
    pub why: String,
}

/// Whether each process can do its part, and all see the same; else the first that cannot, the same on each of them. All call it. What is seen is any value that tells two views
/// apart; a process that sees something else than the first one is unable.
pub fn agree<T>(job: &dyn Job, mine: Result<T, String>) -> Result<T, Unable>
where
    T: Serialize + DeserializeOwned + PartialEq,
{
    let all = gather(job, (job.name(), mine));
    let mut seen = None;
    for (rank, (name, it)) in all.into_iter().enumerate() {
        let why = match it {
            Ok(it) if seen.as_ref().is_none_or(|seen| *seen == it) => {
                seen = Some(it);
                continue;
            }
            Ok(_) => "it sees something else there than process 0".to_owned(),
            Err(why) => why,
        };
        return Err(Unable { rank, name, why });
    }
    Ok(seen.expect("a job has a process"))
}

/// Who of so many does each of some pieces of work of known sizes, so that all have about as much to do: the largest first, each to who has least.
pub fn deal(sizes: &[u64], processes: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|piece| std::cmp::Reverse(sizes[*piece]));
    let mut least: std::collections::BTreeSet<(u64, usize)> = (0..processes.max(1)).map(|rank| (0, rank)).collect();
    let mut of = vec![0; sizes.len()];
    for piece in order {
        if let Some((sum, rank)) = least.pop_first() {
            of[piece] = rank;
            // A piece without a size is one all the same.
            least.insert((sum.saturating_add(sizes[piece].max(1)), rank));
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_process_0_tells_comes_to_each_once() {
        for size in 1..40 {
            let mut told = vec![0; size];
            for rank in 0..size {
                for to in below(rank, size) {
                    assert_eq!(above(to), rank, "{to} of {size}");
                    told[to] += 1;
                }
            }
            assert!(told[0] == 0 && told[1..].iter().all(|times| *times == 1), "{size}: {told:?}");
        }
    }

    #[test]
    fn numbers_come_as_they_were_sent() {
        let sent = [0.1 + 0.2, -0.0, f64::MIN_POSITIVE / 3.0, f64::INFINITY, 1e300];
        let came: [f64; 5] = decode(&encoded(&sent));
        assert_eq!(sent.map(f64::to_bits), came.map(f64::to_bits));
    }

    #[test]
    fn work_is_dealt_evenly() {
        assert_eq!(deal(&[1, 9, 1, 1, 5, 1], 2), [1, 0, 1, 1, 1, 1]);
        assert_eq!(deal(&[4; 6], 3), [0, 1, 2, 0, 1, 2]);
        assert_eq!(deal(&[0, 0, 0], 4), [0, 1, 2]);
        assert!(deal(&[], 2).is_empty());
    }

    #[test]
    fn one_process_agrees_with_itself() {
        assert_eq!(agree(&Alone, Ok(7)), Ok(7));
        let unable = agree(&Alone, Err::<u8, _>("it cannot be read".to_owned())).map_err(|it| (it.rank, it.why));
        assert_eq!(unable, Err((0, "it cannot be read".to_owned())));
        assert_eq!(gather(&Alone, 3), [3]);
    }
}
