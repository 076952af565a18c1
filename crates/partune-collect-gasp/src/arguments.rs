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

    /// Where the next one is that is no floating-point number, if that was in a register.
    fn general(&mut self) -> Option<*const u8> {
        let at = self.general as usize;
        (self.general < Self::GENERAL).then(|| {
            self.general += 8;
            self.registers.wrapping_add(at)
        })
    }

    /// The same of one that is.
    fn float(&mut self) -> Option<*const u8> {
        let at = self.float as usize;
        (self.float < Self::ALL).then(|| {
            self.float += 16;
            self.registers.wrapping_add(at)
        })
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
    /// Where the next one is that is no floating-point number, if that was in a register.
    fn general(&mut self) -> Option<*const u8> {
        let at = self.general as isize;
        (at < 0).then(|| {
            self.general += 8;
            self.general_end.wrapping_offset(at)
        })
    }

    /// The same of one that is.
    fn float(&mut self) -> Option<*const u8> {
        let at = self.float as isize;
        (at < 0).then(|| {
            self.float += 16;
            self.float_end.wrapping_offset(at)
        })
    }
}

impl Arguments {
    /// The next one that is no floating-point number, in 64 bits.
    ///
    /// # Safety
    /// There is one.
    unsafe fn word(&mut self) -> u64 {
        let place = self.general().unwrap_or_else(|| self.overflow());
        // SAFETY: as the caller says.
        unsafe { place.cast::<u64>().read_unaligned() }
    }

    /// # Safety
    /// The next one is a `double`.
    pub(crate) unsafe fn double(&mut self) -> f64 {
        let place = self.float().unwrap_or_else(|| self.overflow());
        // SAFETY: as the caller says.
        unsafe { place.cast::<f64>().read_unaligned() }
    }

    /// Where the next one is that was in no register.
    fn overflow(&mut self) -> *const u8 {
        let place = self.rest;
        self.rest = place.wrapping_add(1);
        place.cast()
    }

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
