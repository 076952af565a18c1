//! Waits for several values of an array, and tests for them.
//!
//! Told are the elements that ended a call: all that it looks at, or those that it says it found. Where they are many, the memory that they
//! are in is told without an offset, and any access there may have ended the wait.

use partune_collect::Call;

use crate::rma;
use crate::segments::{Segment, locate};

/// Elements of one call that are told with their offsets.
const TOLD: usize = 64;

/// The address of an array's first element, and the bytes of one.
type Array = [usize; 2];

/// The call waits until every element has its value, but for those whose status, if there is a list of it, is not 0.
pub(crate) fn all(call: &mut Call<'_>, array: Array, [count, status]: [usize; 2]) {
    // SAFETY: none, or the program's list, as long as the array.
    let is_asked = |at: &usize| status == 0 || unsafe { *(status as *const i32).add(*at) } == 0;
    elements(call, array, (0..count).filter(is_asked));
}

/// It has come back with the number of an element; with the largest number there is where none was asked for.
pub(crate) fn any(call: &mut Call<'_>, array: Array, found: usize) {
    elements(call, array, Some(found).filter(|at| *at != usize::MAX).into_iter());
}

/// It has come back with the numbers of so many elements.
pub(crate) fn some(call: &mut Call<'_>, array: Array, [found, indices]: [usize; 2]) {
    // SAFETY: the program's list, of which so many places are written.
    elements(call, array, (0..found).map(|at| unsafe { *(indices as *const usize).add(at) }));
}

pub(crate) fn tested_all(call: &mut Call<'_>, array: Array, asked: [usize; 2], found: bool) {
    call.polled(found);
    if found {
        all(call, array, asked);
    }
}

pub(crate) fn tested_any(call: &mut Call<'_>, array: Array, found: usize) {
    call.polled(found != usize::MAX);
    any(call, array, found);
}

pub(crate) fn tested_some(call: &mut Call<'_>, array: Array, found: [usize; 2]) {
    call.polled(found[0] > 0);
    some(call, array, found);
}

fn elements(call: &mut Call<'_>, [first, bytes]: Array, of: impl Iterator<Item = usize>) {
    let mut told = [0; TOLD];
    let mut count = 0;
    for at in of {
        let Some(place) = told.get_mut(count) else {
            let segment: Segment = locate(first).0;
            return call.rma_wait_change(rma::window_of(segment), None);
        };
        *place = first.wrapping_add(at.wrapping_mul(bytes));
        count += 1;
    }
    told[..count].iter().for_each(|address| rma::wait(call, *address));
}
