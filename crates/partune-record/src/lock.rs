//! One recording, one folder: whoever records into a folder, or completes what is in it, holds its lock.
//!
//! The lock is a file that says who holds it. On the same machine a holder lives if its process does; a process of another machine cannot
//! be seen, so the holder writes to the file every [`BEAT`], and one that was silent for [`SILENCE`] is gone. Times of the file are compared
//! with that of a new file there: the clocks of machines may differ. The system's own lock on the file (`flock`) decides between
//! two that come at the same time, where the file system has it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime};

use crate::RecordError;

/// In the folder of the archive.
pub(crate) const NAME: &str = "lock";
/// How often a holder says that it lives.
const BEAT: Duration = Duration::from_secs(10);
/// How long a holder on another machine may say nothing.
const SILENCE: Duration = Duration::from_mins(2);
/// Bytes of the file: what is written is always as long, so that one holder's words do not end in another's.
const LENGTH: usize = 512;

/// Holds a folder until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Open, since the system's lock belongs to it.
    _file: Arc<File>,
    /// Ends the heartbeat when it goes.
    _beat: mpsc::Sender<()>,
}

impl Lock {
    /// Takes the lock of a folder. Fails if a process that lives holds it.
    pub(crate) fn take(folder: &Path) -> Result<Lock, RecordError> {
        let path = folder.join(NAME);
        let file = loop {
            let file = open(&path).map_err(RecordError::file(&path))?;
            let holder = || Holder::read(&file).map_err(RecordError::file(&path));
            // Any other failure is that of a file system without such locks.
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                return Err(RecordError::Held { folder: folder.to_owned(), holder: holder()?.unwrap_or_default() });
            }
            // Who held it may have removed it meanwhile.
            if !is_at(&file, &path) {
                continue;
            }
            if let Some(holder) = holder()?
                && holder.lives(&file, folder).map_err(RecordError::file(&path))?
            {
                return Err(RecordError::Held { folder: folder.to_owned(), holder });
            }
            break file;
        };
        let words = Holder::this().words();
        file.write_all_at(&words, 0).map_err(RecordError::file(&path))?;
        let file = Arc::new(file);
        let (beat, end) = mpsc::channel();
        let beating = Arc::clone(&file);
        std::thread::spawn(move || {
            while end.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                // If the disk fails, the others will see a holder that is silent.
                let _ = beating.write_all_at(&words, 0).and_then(|()| beating.sync_data());
            }
        });
        Ok(Lock { path, _file: file, _beat: beat })
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A lock that stays is taken over by whoever comes next.
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).custom_flags(libc::O_NOFOLLOW).open(path)
}

fn is_at(file: &File, path: &Path) -> bool {
    let id = |about: fs::Metadata| (about.dev(), about.ino());
    file.metadata().ok().map(id) == fs::symlink_metadata(path).ok().map(id)
}

/// The process that holds a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    host: String,
    /// Tells apart machines, each start of them, and containers, whose processes have numbers of their own.
    machine: String,
    process: u32,
    /// When the process was started, in ticks since the machine was.
    started: u64,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.is_empty() {
            return f.write_str("another process");
        }
        write!(f, "process {} on {}", self.process, self.host)
    }
}

impl Holder {
    fn this() -> Holder {
        let process = std::process::id();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().replace(' ', "_");
        let host = if host.is_empty() { "this machine".to_owned() } else { host };
        Holder { host, machine: machine(), process, started: started(process).unwrap_or(0) }
    }

    fn words(&self) -> Vec<u8> {
        let Holder { host, machine, process, started } = self;
        let mut words = format!("{machine} {process} {started} {host}\n").into_bytes();
        words.resize(LENGTH, b' ');
        words
    }

    /// Who a lock's file says holds it; nobody, if whoever made it got no further.
    fn read(file: &File) -> io::Result<Option<Holder>> {
        let mut words = [0; LENGTH];
        let read = file.read_at(&mut words, 0)?;
        Ok(Holder::parse(&String::from_utf8_lossy(&words[..read])))
    }

    fn parse(text: &str) -> Option<Holder> {
        let mut words = text.split_once('\n')?.0.splitn(4, ' ');
        let machine = words.next()?.to_owned();
        let (process, started) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Holder { host: words.next()?.to_owned(), machine, process, started })
    }

    fn lives(&self, file: &File, folder: &Path) -> io::Result<bool> {
        if self.machine == machine() {
            return Ok(started(self.process) == Some(self.started));
        }
        let now = tempfile::tempfile_in(folder).and_then(|new| new.metadata()?.modified());
        let silent = now.unwrap_or_else(|_| SystemTime::now()).duration_since(file.metadata()?.modified()?);
        // Nobody wrote in the future: then the clock was changed.
        Ok(silent.is_ok_and(|silent| silent < SILENCE))
    }
}

fn machine() -> String {
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits: String = space.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    format!("{:x}-{digits}", partune_parts::machine::boot())
}

/// When a process of this machine was started; none if there is none, or it has ended and nobody asked how (proc(5), field 22).
fn started(process: u32) -> Option<u64> {
    let about = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = about.rsplit_once(") ")?.1.split(' ').collect();
    let has_ended = ["Z", "X"].contains(fields.first()?);
    fields.get(19).filter(|_| !has_ended)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(folder: &Path) -> String {
        Lock::take(folder).expect_err("it is held").to_string()
    }

    /// Leaves a lock as if such a holder had, so long ago.
    fn leave(folder: &Path, holder: &Holder, ago: Duration) {
        fs::write(folder.join(NAME), holder.words()).expect("a file");
        let file = File::options().write(true).open(folder.join(NAME)).expect("it is there");
        file.set_modified(SystemTime::now() - ago).expect("its own file");
    }

    #[test]
    fn a_lock_is_held_by_one_and_goes_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let lock = Lock::take(folder.path()).expect("a free one");
        let said = refused(folder.path());
        assert!(said.contains(&format!("process {}", std::process::id())), "{said}");
        drop(lock);
        assert!(!folder.path().join(NAME).exists());
        Lock::take(folder.path()).expect("a free one");
    }

    #[test]
    fn processes_of_this_machine_are_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        // Without the system's lock, as on a file system that has none.
        let this = Holder::this();
        leave(folder.path(), &this, Duration::from_secs(1000));
        refused(folder.path());
        // Its number is another process's now.
        leave(folder.path(), &Holder { started: this.started + 1, ..this.clone() }, Duration::ZERO);
        Lock::take(folder.path()).expect("a stale one");
        // Who made it was killed before it wrote.
        fs::write(folder.path().join(NAME), "").expect("a file");
        Lock::take(folder.path()).expect("a stale one");
    }

    #[test]
    fn processes_of_other_machines_are_listened_to() {
        let folder = tempfile::tempdir().expect("a folder");
        let other = Holder { machine: "1-2".to_owned(), host: "far".to_owned(), ..Holder::this() };
        leave(folder.path(), &other, Duration::from_mins(1));
        assert!(refused(folder.path()).contains("on far"));
        leave(folder.path(), &other, SILENCE + Duration::from_secs(1));
        Lock::take(folder.path()).expect("a stale one");
    }

    #[test]
    fn what_is_written_is_read() {
        let this = Holder { host: "node 7".to_owned(), ..Holder::this() };
        assert_eq!(Holder::parse(&String::from_utf8_lossy(&this.words())), Some(this));
        assert_eq!(Holder::parse("1-2 3 4"), None);
    }
}
