//! Accesses to coarrays of other images.
//!
//! All of them count as complete when their call returns: a put is at its origin then, and at its target no later than at the next
//! synchronisation. A section with holes, or one chosen by a vector, touches other bytes than so many from its begin on: it has no offset, and
//! neither has a component that is reached through others.

use partune_collect::Call;
use partune_collect::facts::Atomic;

use crate::array::Array;
use crate::coarrays::{self, Coarray};

/// An access that was told, and is complete when the library's function has returned.
pub(crate) struct Access {
    window: u32,
    matching: u64,
}

impl Access {
    pub(crate) fn new(call: &mut Call<'_>, coarray: Coarray) -> Access {
        Access { window: coarray.window, matching: call.next_id() }
    }

    #[inline]
    pub(crate) fn complete(&self, call: &mut Call<'_>) {
        call.rma_complete_blocking(self.window, self.matching);
    }

    pub(crate) fn atomic(&self, call: &mut Call<'_>, rank: u32, kind: Atomic, offset: usize, bytes: [u64; 2]) {
        call.rma_atomic(self.window, rank, kind, Some(offset as u64), bytes, self.matching);
    }

    fn put(call: &mut Call<'_>, coarray: Coarray, image: usize, offset: Option<u64>, bytes: u64) -> Access {
        let access = Access::new(call, coarray);
        call.rma_put(access.window, coarray.team.rank_of(image as i32), offset, bytes, access.matching);
        access
    }

    fn get(call: &mut Call<'_>, coarray: Coarray, image: usize, offset: Option<u64>, bytes: u64) -> Access {
        let access = Access::new(call, coarray);
        call.rma_get(access.window, coarray.team.rank_of(image as i32), offset, bytes, access.matching);
        access
    }
}

/// What is accessed of a coarray.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    pub(crate) token: usize,
    pub(crate) offset: usize,
    pub(crate) image: usize,
    pub(crate) array: usize,
    pub(crate) vector: usize,
}

impl Section {
    /// The first byte, where the section is all bytes from there on.
    fn offset(&self, array: Array) -> Option<u64> {
        (array.is_dense && self.vector == 0).then_some(self.offset as u64)
    }

    /// Its bytes: as many elements as the array here has, which a vector chooses, or one scalar is given to.
    fn bytes(&self, own: Array, here: usize) -> u64 {
        let here = Array::at(here).filter(|here| self.vector != 0 && !here.is_scalar);
        here.map_or(own.bytes(), |here| Array { elements: here.elements, ..own }.bytes())
    }
}

/// From an array here.
pub(crate) fn put(call: &mut Call<'_>, to: Section, from: usize) -> Option<Access> {
    let (coarray, array) = (coarrays::find(to.token)?, Array::at(to.array)?);
    Some(Access::put(call, coarray, to.image, to.offset(array), to.bytes(array, from)))
}

/// To an array here.
pub(crate) fn get(call: &mut Call<'_>, from: Section, to: usize) -> Option<Access> {
    let (coarray, array) = (coarrays::find(from.token)?, Array::at(from.array)?);
    Some(Access::get(call, coarray, from.image, from.offset(array), from.bytes(array, to)))
}

/// From one image to another one.
pub(crate) fn copy(call: &mut Call<'_>, to: Section, from: Section) -> [Option<Access>; 2] {
    [get(call, from, to.array), put(call, to, from.array)]
}

/// Through references to components, from an array here.
pub(crate) fn put_by_references(call: &mut Call<'_>, token: usize, image: usize, from: usize) -> Option<Access> {
    let (coarray, array) = (coarrays::find(token)?, Array::at(from)?);
    Some(Access::put(call, coarray, image, None, array.bytes()))
}

/// The same to an array here, which may have been allocated for it.
pub(crate) fn got_by_references(call: &mut Call<'_>, token: usize, image: usize, to: usize) {
    let access = coarrays::find(token)
        .zip(Array::at(to))
        .map(|(coarray, array)| Access::get(call, coarray, image, None, array.bytes()));
    complete(access.as_slice(), call);
}

/// Accesses of which only the bytes of an element are known, and of how many there are a descriptor, if any.
pub(crate) fn put_by_accessor(
    call: &mut Call<'_>,
    token: usize,
    image: usize,
    bytes: usize,
    from: usize,
) -> Option<Access> {
    let coarray = coarrays::find(token)?;
    Some(Access::put(call, coarray, image, None, counted(bytes, from)))
}

pub(crate) fn get_by_accessor(
    call: &mut Call<'_>,
    token: usize,
    image: usize,
    bytes: usize,
    to: usize,
) -> Option<Access> {
    let coarray = coarrays::find(token)?;
    Some(Access::get(call, coarray, image, None, counted(bytes, to)))
}

fn counted(bytes: usize, array: usize) -> u64 {
    let count = Array::at(array).map_or(1, |array| array.elements);
    bytes.saturating_mul(count) as u64
}

pub(crate) fn complete(accesses: &[Access], call: &mut Call<'_>) {
    accesses.iter().for_each(|access| access.complete(call));
}
