//! Which machine this is: processes of one have the same clock.

use std::ffi::CStr;

/// A number that is the same in all processes of one machine since it was started.
pub fn boot() -> u64 {
    let id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| host().into_bytes());
    id.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The name of this machine, as a part of a file name.
pub fn host() -> String {
    let mut name = [0_u8; 256];
    // SAFETY: the buffer is as long as said, and its last byte stays 0.
    let known = unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) } == 0;
    let text = CStr::from_bytes_until_nul(&name).ok().filter(|_| known);
    let text = text.map_or_else(|| "host".to_owned(), |text| text.to_string_lossy().into_owned());
    text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}
