//! Who sees to it that not more is mapped than the limit, and says so where a page of the file cannot be had.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::region::{Region, end, message};
use crate::{available, leave_plain};

/// How long a thread can map pages before it is looked at again: some tens of megabytes.
const EVERY: Duration = Duration::from_millis(2);
/// The same as long as nothing is beyond the limit.
const AT_REST: Duration = Duration::from_millis(20);

/// Bytes that may be resident.
static LIMIT: AtomicU64 = AtomicU64::new(0);
/// The most bytes that were resident when the watching thread looked.
static MOST: AtomicU64 = AtomicU64::new(0);
static LOST: OnceLock<(&Region, CString)> = OnceLock::new();

/// The most bytes that the process had resident, as far as that was looked at: from when something was beyond the limit.
pub fn most_resident() -> u64 {
    MOST.load(Ordering::Relaxed)
}

/// From its next look on the thread holds the process to so many bytes.
pub(crate) fn hold(limit: u64) {
    LIMIT.store(limit, Ordering::Relaxed);
}

/// Starts the thread, and says what happens to pages that cannot be read or written.
pub(crate) fn watch(region: &'static Region, folder: &std::path::Path) -> io::Result<()> {
    let statm = File::open("/proc/self/statm")?;
    let page = rustix::param::page_size() as u64;
    let _ = LOST.set((
        region,
        message(
            folder,
            "a page of what is beyond the limit of memory could not be read or written",
            "see whether the disk is full or faulty; give another folder by --spill, or more memory by --memory",
        ),
    ));
    tell_lost_pages()?;
    let work = move || {
        // The program's own pages and those of its libraries cannot be let go of either.
        let mut own = 0;
        loop {
            std::thread::sleep(if region.used() == 0 { AT_REST } else { EVERY });
            let limit = LIMIT.load(Ordering::Relaxed);
            // A part stays free for what is mapped until the thread looks again.
            let usual = limit - limit / 8;
            let (pages, of_files) = resident(&statm);
            let plain = pages.saturating_sub(of_files) * page;
            leave_plain(limit, plain);
            if region.used() == 0 {
                own = of_files * page;
                continue;
            }
            MOST.fetch_max(pages * page, Ordering::Relaxed);
            // What is in plain memory cannot be let go of: then nothing is won by doing it all the time.
            if pages * page > usual.max(plain + own + limit / 8) {
                region.let_go(available().is_some_and(|left| left < limit));
            }
        }
    };
    std::thread::Builder::new().name("memory".to_owned()).spawn(work)?;
    Ok(())
}

/// Pages of this process that are in memory, and those of them that are pages of files. Takes no memory for it.
fn resident(statm: &File) -> (u64, u64) {
    let mut text = [0; 128];
    let length = statm.read_at(&mut text, 0).unwrap_or(0);
    let mut numbers = text[..length].split(|byte| *byte == b' ').skip(1);
    let mut number = || numbers.next().and_then(|it| std::str::from_utf8(it).ok()?.parse().ok()).unwrap_or(0);
    (number(), number())
}

fn tell_lost_pages() -> io::Result<()> {
    // SAFETY: a handler that calls what may be called in handlers only.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_lost_page as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

extern "C" fn on_lost_page(_: libc::c_int, about: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system gives the handler where it was.
    let at = unsafe { (*about).si_addr() };
    if let Some((_, message)) = LOST.get().filter(|(region, _)| region.holds(at.cast())) {
        end(message);
    }
    // Somebody else's page: the usual end, when what was done is tried again.
    // SAFETY: as the system does by itself.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
}
