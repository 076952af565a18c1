//! Which of several requests completed: positions that a call stored.
//!
//! They count from 0 in C and from 1 in Fortran, but for `mpi_f08` of MPICH 4.0, which forgets to add the one (its `MPI_Waitany`,
//! `MPI_Waitsome` and the tests). There it is found out: a request that completed and is not persistent is null afterwards.

use std::sync::atomic::{AtomicI64, Ordering};

use partune_mpi_abi::{Abi, Kind};

use crate::completion::Watched;
use crate::function::Language;
use crate::invocation::{Form, Invocation};
use crate::place::Place;
use crate::requests::Request;

/// The first position in `mpi_f08` of MPICH, as far as it is known.
static FIRST: AtomicI64 = AtomicI64::new(1);

/// Positions in an array, of `count` requests that completed.
pub(crate) struct Indices {
    place: Place,
    first: i64,
}

impl Indices {
    pub(crate) fn new<F: Form>(
        invocation: &Invocation<'_, F>,
        place: Place,
        count: usize,
        requests: &[Watched],
    ) -> Indices {
        let first = match (invocation.language(), invocation.mpi.abi) {
            (Language::C, _) => 0,
            (Language::F08, Abi::Mpich) => learn(invocation, place, count, requests),
            (Language::Fortran | Language::F08, _) => 1,
        };
        Indices { place, first }
    }

    /// The request of a completion; none if it is not known.
    pub(crate) fn request<F: Form>(
        &self,
        invocation: &Invocation<'_, F>,
        element: usize,
        requests: &[Watched],
    ) -> Option<Request> {
        let index = invocation.element(self.place, element);
        if index == i64::from(invocation.mpi.numbers.undefined) {
            return None;
        }
        requests.get(usize::try_from(index - self.first).ok()?)?.request
    }
}

fn learn<F: Form>(invocation: &Invocation<'_, F>, place: Place, count: usize, requests: &[Watched]) -> i64 {
    let null = invocation.mpi.request_null;
    let array = invocation.word(Place::Requests);
    let completed = |index: i64| {
        let at = usize::try_from(index).ok().filter(|at| requests.get(*at).is_some_and(|watched| watched.key != null));
        at.is_some_and(|at| invocation.stored_at(array, Kind::Request, at) == null)
    };
    let all_completed = |first: i64| (0..count).all(|element| completed(invocation.element(place, element) - first));
    if count > 0 && all_completed(1) {
        FIRST.store(1, Ordering::Relaxed);
    } else if count > 0 && all_completed(0) {
        FIRST.store(0, Ordering::Relaxed);
    }
    FIRST.load(Ordering::Relaxed)
}
