//! What is told of a call of each kind, in Rust of the crate.

/// What is done around a function: what is told before it is called, and after. `SIZE` is the bytes of an element, `CTX` the context,
/// `MEMBERS` the PEs of its team or active set, `told` what the first gave, `result` what the function returned.
pub(crate) struct Handler {
    pub(crate) enter: &'static str,
    pub(crate) before: &'static str,
    pub(crate) after: &'static str,
    /// What is noted even of a call that is not recorded.
    pub(crate) always: &'static str,
}

pub(crate) const PLAIN: Handler = tell("()", "");

pub(crate) const fn tell(before: &'static str, after: &'static str) -> Handler {
    Handler { enter: "enter", before, after, always: "" }
}

pub(crate) const fn poll(before: &'static str, after: &'static str) -> Handler {
    Handler { enter: "enter_poll", before, after, always: "" }
}

pub(crate) const fn access(before: &'static str) -> Handler {
    tell(before, "told.complete(&mut call);")
}

pub(crate) const fn collective(before: &'static str) -> Handler {
    tell(before, "told.end(&mut call);")
}

pub(crate) const fn barrier(before: &'static str) -> Handler {
    tell(before, "rma::quiet(&mut call, rma::DEFAULT); told.end(&mut call);")
}

impl Handler {
    pub(crate) const fn noting(self, always: &'static str) -> Handler {
        Handler { always, ..self }
    }
}

pub(crate) const FETCH: Handler = access("rma::atomic(&mut call, Atomic::FetchAndAccumulate, at, [0, SIZE], pe)");
pub(crate) const UPDATE: Handler = access("rma::atomic(&mut call, Atomic::Accumulate, at, [SIZE, 0], pe)");
pub(crate) const SWAP: Handler = access("rma::atomic(&mut call, Atomic::Swap, at, [SIZE, SIZE], pe)");
pub(crate) const COMPARE: Handler = access("rma::atomic(&mut call, Atomic::CompareAndSwap, at, [2 * SIZE, SIZE], pe)");
pub(crate) const INCREMENT: Handler = access("rma::atomic(&mut call, Atomic::Increment, at, [SIZE, 0], pe)");
pub(crate) const FETCH_ADD: Handler = access("rma::atomic(&mut call, Atomic::FetchAndAdd, at, [SIZE, SIZE], pe)");
pub(crate) const FETCH_INCREMENT: Handler =
    access("rma::atomic(&mut call, Atomic::FetchAndIncrement, at, [SIZE, SIZE], pe)");
pub(crate) const FETCH_UPDATE: Handler =
    access("rma::atomic(&mut call, Atomic::FetchAndAccumulate, at, [SIZE, SIZE], pe)");
pub(crate) const SIGNAL: Handler = access("rma::atomic(&mut call, Atomic::Accumulate, at, [8, 0], pe)");
pub(crate) const FETCH_NBI: Handler =
    tell("rma::atomic_nbi(&mut call, CTX, Atomic::FetchAndAccumulate, at, [0, SIZE], pe)", "");
pub(crate) const SWAP_NBI: Handler = tell("rma::atomic_nbi(&mut call, CTX, Atomic::Swap, at, [SIZE, SIZE], pe)", "");
pub(crate) const COMPARE_NBI: Handler =
    tell("rma::atomic_nbi(&mut call, CTX, Atomic::CompareAndSwap, at, [2 * SIZE, SIZE], pe)", "");
pub(crate) const FETCH_ADD_NBI: Handler =
    tell("rma::atomic_nbi(&mut call, CTX, Atomic::FetchAndAdd, at, [SIZE, SIZE], pe)", "");
pub(crate) const FETCH_INCREMENT_NBI: Handler =
    tell("rma::atomic_nbi(&mut call, CTX, Atomic::FetchAndIncrement, at, [SIZE, SIZE], pe)", "");
pub(crate) const FETCH_UPDATE_NBI: Handler =
    tell("rma::atomic_nbi(&mut call, CTX, Atomic::FetchAndAccumulate, at, [SIZE, SIZE], pe)", "");
pub(crate) const PUT_SIGNAL: Handler = tell(
    "rma::put_signal(&mut call, to, count.wrapping_mul(SIZE), at, pe)",
    "told.into_iter().for_each(|it| it.complete(&mut call));",
);
pub(crate) const PUT_SIGNAL_NBI: Handler =
    tell("rma::put_signal_nbi(&mut call, CTX, to, count.wrapping_mul(SIZE), at, pe)", "");
pub(crate) const WAIT: Handler = tell("rma::wait(&mut call, at)", "");
pub(crate) const WAIT_ALL: Handler = tell("values::all(&mut call, [at, SIZE], [count, status])", "");
pub(crate) const WAIT_ANY: Handler = tell("()", "values::any(&mut call, [at, SIZE], result);");
pub(crate) const WAIT_SOME: Handler = tell("()", "values::some(&mut call, [at, SIZE], [result, indices]);");
pub(crate) const TEST_ALL: Handler =
    poll("()", "values::tested_all(&mut call, [at, SIZE], [count, status], result != 0);");
pub(crate) const TEST_ANY: Handler = poll("()", "values::tested_any(&mut call, [at, SIZE], result);");
pub(crate) const TEST_SOME: Handler = poll("()", "values::tested_some(&mut call, [at, SIZE], [result, indices]);");
pub(crate) const BROADCAST: Handler =
    collective("sync::broadcast(&mut call, MEMBERS, root, count.wrapping_mul(SIZE), true)");
pub(crate) const COLLECT: Handler = collective("sync::collect(&mut call, MEMBERS, count.wrapping_mul(SIZE))");
pub(crate) const FCOLLECT: Handler = collective("sync::fcollect(&mut call, MEMBERS, count.wrapping_mul(SIZE))");
pub(crate) const ALLTOALL: Handler = collective("sync::alltoall(&mut call, MEMBERS, count.wrapping_mul(SIZE))");
pub(crate) const REDUCE: Handler =
    collective("sync::reduce(&mut call, MEMBERS, (count.max(0) as usize).wrapping_mul(SIZE))");
pub(crate) const REDUCE_TEAM: Handler = collective("sync::reduce(&mut call, MEMBERS, count.wrapping_mul(SIZE))");
