//! The arguments of an event, as C hands on those of a function with a variable number of them (`va_list`).

use std::ffi::c_void;

/// As the AMD64 supplement of the System V ABI lays it out.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Arguments {
    /// Bytes of the saved registers that were taken: of the general ones, then of those for floating point.
    general: u32,
    float: u32,
    rest: *const u64,
    registers: *const u8,
}

#[cfg(target_arch = "x86_64")]
impl Arguments {
    const GENERAL: u32 = 48;
    const ALL: u32 = 176;

    /// The next one that is no floating-point number, in 64 bits.
    ///
    /// # Safety
    /// There is one.
    unsafe fn word(&mut self) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            if self.general < Self::GENERAL {
                let place = self.registers.add(self.general as usize);
                self.general += 8;
                return place.cast::<u64>().read_unaligned();
            }
            self.overflow()
        }
    }

    /// # Safety
    /// The next one is a `double`.
    pub(crate) unsafe fn double(&mut self) -> f64 {
        // SAFETY: as the caller says.
        unsafe {
            if self.float < Self::ALL {
                let place = self.registers.add(self.float as usize);
                self.float += 16;
                return place.cast::<f64>().read_unaligned();
            }
            f64::from_bits(self.overflow())
        }
    }

    unsafe fn overflow(&mut self) -> u64 {
        // SAFETY: as the callers' callers say.
        unsafe {
            let value = self.rest.read_unaligned();
            self.rest = self.rest.add(1);
            value
        }
    }
}

/// As the procedure call standard of the Arm 64-bit architecture lays it out.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Arguments {
    rest: *const u64,
    /// Ends of the saved registers, and how far before them the next one is.
    general_end: *const u8,
    float_end: *const u8,
    general: i32,
    float: i32,
}

#[cfg(target_arch = "aarch64")]
impl Arguments {
    /// The next one that is no floating-point number, in 64 bits.
    ///
    /// # Safety
    /// There is one.
    unsafe fn word(&mut self) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            if self.general < 0 {
                let place = self.general_end.offset(self.general as isize);
                self.general += 8;
                return place.cast::<u64>().read_unaligned();
            }
            self.overflow()
        }
    }

    /// # Safety
    /// The next one is a `double`.
    pub(crate) unsafe fn double(&mut self) -> f64 {
        // SAFETY: as the caller says.
        unsafe {
            if self.float < 0 {
                let place = self.float_end.offset(self.float as isize);
                self.float += 16;
                return place.cast::<f64>().read_unaligned();
            }
            f64::from_bits(self.overflow())
        }
    }

    unsafe fn overflow(&mut self) -> u64 {
        // SAFETY: as the callers' callers say.
        unsafe {
            let value = self.rest.read_unaligned();
            self.rest = self.rest.add(1);
            value
        }
    }
}

/// What they are, see [`word`](Arguments::word) of the caller's machine.
impl Arguments {
    /// # Safety
    /// The next one is an `int`.
    pub(crate) unsafe fn int(&mut self) -> i32 {
        // SAFETY: as the caller says.
        unsafe { self.word() as i32 }
    }

    /// # Safety
    /// The next one is a `size_t`, or as long.
    pub(crate) unsafe fn size(&mut self) -> u64 {
        // SAFETY: as the caller says.
        unsafe { self.word() }
    }

    /// # Safety
    /// The next one is a pointer.
    pub(crate) unsafe fn pointer(&mut self) -> *const c_void {
        // SAFETY: as the caller says.
        unsafe { self.word() as usize as *const c_void }
    }
}
