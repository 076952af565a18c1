//! Memory from the system, of a file or of its own: the recorder never calls `malloc` where the program communicates.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Maps a new file of `size` bytes, or private memory (then the second value is true) where the file system is not up to it, as under Miri, which
/// maps no files. All pages are there at once.
pub(crate) fn map(file: &File, path: &Path, size: usize) -> io::Result<(*mut u8, bool)> {
    let shared = if cfg!(miri) || is_remote(path) { None } else { reserved(file, size, libc::MAP_POPULATE) };
    if let Some(base) = shared {
        return Ok((base, false));
    }
    let _ = file.set_len(0);
    let all_at_once = if cfg!(miri) { 0 } else { libc::MAP_POPULATE };
    let own = memory(size, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | all_at_once, -1);
    own.map(|base| (base, true)).ok_or_else(io::Error::last_os_error)
}

/// Maps a file that is made as large, or grown to it. None if the disk has no room: that is to be known now, and no signal later.
pub(crate) fn reserved(file: &File, size: usize, flags: i32) -> Option<*mut u8> {
    let descriptor = file.as_raw_fd();
    // SAFETY: a descriptor and two numbers.
    let fits = unsafe { libc::posix_fallocate(descriptor, 0, size as libc::off_t) } == 0;
    if fits { memory(size, libc::MAP_SHARED | flags, descriptor) } else { None }
}

/// Private memory of zeros; none if the system has none. Given back by `munmap` with the same size, if ever.
pub fn zeroed(size: usize) -> Option<*mut u8> {
    memory(size, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)
}

/// Turns a mapping of a file's begin into private memory with the same content: the file stays as it is. Whether that could be done.
pub(crate) fn detach(base: *mut u8, size: usize, file: &File) -> bool {
    let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_FIXED);
    // SAFETY: a mapping takes the place of one with the same content.
    let again = unsafe { libc::mmap(base.cast(), size, protection, flags, file.as_raw_fd(), 0) };
    again == base.cast()
}

/// Writes memory to a place in a file, as far as the disk has room. Whoever owns it may go on to write it: the kernel reads it, as it reads any
/// mapped file, and nothing of this program does.
///
/// # Safety
/// The memory must stay mapped until this returns.
pub(crate) unsafe fn write(file: &File, base: *const u8, size: usize, at: usize) {
    let mut done = 0;
    while done < size {
        let (descriptor, offset) = (file.as_raw_fd(), (at + done) as libc::off_t);
        // SAFETY: a descriptor, and memory that is mapped, as the caller said. There is no reference to it.
        let written = unsafe { libc::pwrite(descriptor, base.add(done).cast(), size - done, offset) };
        match written {
            1.. => done += written as usize,
            _ if written < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            _ => break,
        }
    }
}

/// Gives memory back.
///
/// # Safety
/// It must be of one of the functions above, with this size, and nobody may use it any more.
pub(crate) unsafe fn release(base: *mut u8, size: usize) {
    // SAFETY: as the caller said.
    unsafe { libc::munmap(base.cast(), size) };
}

fn memory(size: usize, flags: i32, descriptor: i32) -> Option<*mut u8> {
    // SAFETY: a new mapping at an address of the kernel's choice.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, descriptor, 0) };
    (base != libc::MAP_FAILED).then(|| base.cast())
}

/// Whether a file lies on a file system over a network: NFS, Lustre, GPFS, BeeGFS, CIFS, Ceph, PanFS, FUSE.
fn is_remote(path: &Path) -> bool {
    const REMOTE: [i64; 10] = [
        0x6969,
        0x0bd0_0bd0,
        0x4750_4653,
        0x1983_0326,
        0xff53_4d42,
        0xfe53_4d42,
        0x00c3_6400,
        0xaad7_aaea,
        0x6573_5546,
        0x517b,
    ];
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return true };
    // SAFETY: a structure of numbers, filled by the call.
    let mut about: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: a C string and the structure.
    let known = unsafe { libc::statfs(path.as_ptr(), &raw mut about) } == 0;
    known && REMOTE.contains(&(about.f_type as i64 & 0xffff_ffff))
}
