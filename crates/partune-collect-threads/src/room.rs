//! Room on the stacks of threads for what the recorder does on them.
//!
//! A program may give its threads stacks as small as 16 KiB. What it calls there records, and signals find the thread for samples, which takes more than
//! is left. So such a thread gets that on top. Where the program brings the memory of a stack, there is no more than it brings.

use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;

use libc::pthread_attr_t;

/// Bytes of a stack: several times the 34 KiB that the recorder was seen to use.
const NEEDED: usize = 256 << 10;
/// Who has so many need not have more.
const ENOUGH: usize = 1 << 20;

/// Attributes that a thread is made with in the place of the program's.
pub(crate) struct Attributes {
    given: usize,
    /// A copy with a larger stack, if that is needed.
    own: Option<MaybeUninit<pthread_attr_t>>,
}

impl Attributes {
    /// Of those that the program gave; without any the system's stack is large enough.
    pub(crate) fn of(given: usize) -> Attributes {
        Attributes { given, own: larger(given as *const pthread_attr_t) }
    }

    /// What is passed on.
    pub(crate) fn address(&self) -> usize {
        self.own.as_ref().map_or(self.given, |own| own.as_ptr() as usize)
    }
}

/// A copy with room, where it is missing. What attributes refer to is shared with the given ones, so the copy is not given back.
fn larger(given: *const pthread_attr_t) -> Option<MaybeUninit<pthread_attr_t>> {
    if given.is_null() {
        return None;
    }
    let (mut place, mut size): (*mut c_void, usize) = (std::ptr::null_mut(), 0);
    // SAFETY: the program's attributes, and places for what they say.
    let (has_place, has_size) = unsafe {
        // Without a stack of its own glibc says one that ends at 0.
        let found = libc::pthread_attr_getstack(given, &raw mut place, &raw mut size);
        let has_place = found == 0 && (place as usize).wrapping_add(size) != 0;
        (has_place, libc::pthread_attr_getstacksize(given, &raw mut size) == 0)
    };
    if has_place || !has_size || size >= ENOUGH {
        return None;
    }
    let mut own = MaybeUninit::uninit();
    // SAFETY: as many bytes as attributes have, of which the size of the stack is changed.
    let result: c_int = unsafe {
        std::ptr::copy_nonoverlapping(given, own.as_mut_ptr(), 1);
        libc::pthread_attr_setstacksize(own.as_mut_ptr(), size + NEEDED)
    };
    (result == 0).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the stack that is passed on for attributes that `set` has changed, and whether they are the given ones.
    fn passed(set: impl FnOnce(*mut pthread_attr_t)) -> (usize, bool) {
        let mut given = MaybeUninit::uninit();
        // SAFETY: attributes that are made, read and given back.
        unsafe {
            assert_eq!(libc::pthread_attr_init(given.as_mut_ptr()), 0);
            set(given.as_mut_ptr());
            let attributes = Attributes::of(given.as_ptr() as usize);
            let mut size = 0;
            libc::pthread_attr_getstacksize(attributes.address() as *const pthread_attr_t, &raw mut size);
            let is_given = attributes.address() == given.as_ptr() as usize;
            libc::pthread_attr_destroy(given.as_mut_ptr());
            (size, is_given)
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no attributes of threads")]
    fn small_stacks_alone_get_larger() {
        let sized = |size| {
            move |attributes| {
                // SAFETY: attributes that were made.
                assert_eq!(unsafe { libc::pthread_attr_setstacksize(attributes, size) }, 0);
            }
        };
        assert_eq!(passed(sized(16 << 10)), ((16 << 10) + NEEDED, false));
        assert_eq!(passed(sized(ENOUGH)), (ENOUGH, true));
        assert!(passed(|_| {}).1, "the system's are large enough");
        assert_eq!(Attributes::of(0).address(), 0);
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no attributes of threads")]
    fn a_stack_of_the_program_s_own_stays() {
        let mut memory = vec![0_u8; 64 << 10];
        let place = memory.as_mut_ptr().cast();
        // SAFETY: attributes that were made, and memory that no thread is made with.
        let own = passed(|attributes| unsafe {
            assert_eq!(libc::pthread_attr_setstack(attributes, place, 64 << 10), 0);
        });
        assert_eq!(own, (64 << 10, true));
    }
}
