//! What a thread used last, by an address: most look-ups ask for one of a few things, which need no lock then.

use std::cell::Cell;

/// Things at places that follow from their addresses. Each thread has its own.
pub(crate) struct Recent<T: 'static>([Cell<Option<&'static T>>; KNOWN]);

const KNOWN: usize = 64;

impl<T> Recent<T> {
    pub(crate) const fn new() -> Recent<T> {
        Recent([const { Cell::new(None) }; KNOWN])
    }

    /// The thing at an address, if it was used last and `is` the one; else as it is looked up.
    pub(crate) fn find(
        &self,
        address: usize,
        is: impl FnOnce(&T) -> bool,
        look_up: impl FnOnce() -> &'static T,
    ) -> &'static T {
        let place = &self.0[address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - KNOWN.trailing_zeros())];
        place.get().filter(|thing| is(thing)).unwrap_or_else(|| {
            let thing = look_up();
            place.set(Some(thing));
            thing
        })
    }
}
