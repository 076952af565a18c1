//! Regions and tasks by their code, which the compiler made a function of: the same construct at other places is another one.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use partune_collect::{Kind, Region};

/// A construct with this name whose code begins at an address.
pub(crate) fn of(name: &'static str, address: usize) -> &'static Region {
    const KNOWN: usize = 32;
    type Last = Cell<Option<(usize, &'static Region)>>;
    thread_local! {
        /// Those that this thread used last, each at a place that follows from its address.
        static LAST: [Last; KNOWN] = const { [const { Cell::new(None) }; KNOWN] };
    }
    LAST.with(|last| {
        let place = &last[address.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - KNOWN.trailing_zeros())];
        match place.get() {
            Some((known, region)) if known == address && region.name == name => region,
            _ => {
                let region = look_up(name, address);
                place.set(Some((address, region)));
                region
            }
        }
    })
}

#[cold]
fn look_up(name: &'static str, address: usize) -> &'static Region {
    static BODIES: Mutex<Option<HashMap<(&'static str, usize), &'static Region>>> = Mutex::new(None);
    let mut bodies = BODIES.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || -> &'static Region { Box::leak(Box::new(Region::new(name, Kind::Body(crate::NAME, address)))) };
    bodies.get_or_insert_with(HashMap::new).entry((name, address)).or_insert_with(make)
}
