//! Input and output of POSIX and ISO C.
//!
//! Most names are anybody's (`read`, `open`): they count only where the producer says so. Those of ISO C's streams and the
//! positioned calls of POSIX are reserved or too peculiar to be a user's, and count by themselves.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static POSIX_IO: Paradigm = Paradigm {
    name: "POSIX I/O",
    aliases: &["isocio", "posix", "isoc", "io", "fileio", "stdio"],
    class: Class::None,
    otf2: None,
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

/// Names that a user's function could well have.
const ORDINARY: &[&str] = &[
    "access", "close", "closedir", "creat", "dup", "getc", "getchar", "getline", "gets", "mkdir", "mmap", "open",
    "opendir", "poll", "printf", "putc", "putchar", "puts", "read", "readdir", "remove", "rename", "rewind", "rmdir",
    "scanf", "select", "stat", "sync", "truncate", "unlink", "write",
];

/// Whether a construct accesses a file where its caller says, and leaves its position as it was.
pub fn is_given_an_offset(construct: &str) -> bool {
    construct.starts_with("pread") || construct.starts_with("pwrite") || construct.starts_with("aio_")
}

fn recognise(name: &str) -> Option<&'static Construct> {
    if ORDINARY.contains(&name) { None } else { EXACT.get(name) }
}

fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    EXACT.get(name)
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Descriptors
    "open" => Io;
    "open64" => Io;
    "openat" => Io;
    "openat64" => Io;
    "creat" => Io;
    "creat64" => Io;
    "close" => Io;
    "dup" => Io;
    "dup2" => Io;
    "dup3" => Io;
    "fcntl" => Io;
    // Transfer
    "read" => Io;
    "readv" => Io;
    "pread" => Io;
    "pread64" => Io;
    "preadv" => Io;
    "preadv2" => Io;
    "preadv64" => Io;
    "preadv64v2" => Io;
    "write" => Io;
    "writev" => Io;
    "pwrite" => Io;
    "pwrite64" => Io;
    "pwritev" => Io;
    "pwritev2" => Io;
    "pwritev64" => Io;
    "pwritev64v2" => Io;
    "sendfile" => Io;
    "mmap" => Io;
    // Position and size
    "lseek" => Io;
    "lseek64" => Io;
    "truncate" => Io;
    "ftruncate" => Io;
    "ftruncate64" => Io;
    "posix_fallocate" => Io;
    // To the device
    "fsync" => Io;
    "fdatasync" => Io;
    "sync" => Io;
    "syncfs" => Io;
    "lockf" => Io;
    "flock" => Io;
    // Names and directories
    "access" => Io;
    "stat" => Io;
    "fstat" => Io;
    "lstat" => Io;
    "unlink" => Io;
    "unlinkat" => Io;
    "rename" => Io;
    "renameat" => Io;
    "renameat2" => Io;
    "remove" => Io;
    "mkdir" => Io;
    "rmdir" => Io;
    "opendir" => Io;
    "readdir" => Io;
    "closedir" => Io;
    // Readiness
    "select" => Io;
    "pselect" => Io;
    "poll" => Io;
    "ppoll" => Io;
    // Asynchronous
    "aio_read" => Io, NonBlocking;
    "aio_write" => Io, NonBlocking;
    "aio_fsync" => Io, NonBlocking;
    "lio_listio" => Io, NonBlocking;
    "aio_error" => Io, NonBlocking;
    "aio_cancel" => Io;
    "aio_return" => Io;
    "aio_suspend" => Io;
    // Streams
    "fopen" => Io;
    "fopen64" => Io;
    "fdopen" => Io;
    "freopen" => Io;
    "freopen64" => Io;
    "fclose" => Io;
    "fflush" => Io;
    "setvbuf" => Io;
    // Streams, transfer
    "fread" => Io;
    "fwrite" => Io;
    "fgetc" => Io;
    "fgets" => Io;
    "getline" => Io;
    "getdelim" => Io;
    "fputc" => Io;
    "fputs" => Io;
    "getc" => Io;
    "getchar" => Io;
    "gets" => Io;
    "putc" => Io;
    "putchar" => Io;
    "puts" => Io;
    "ungetc" => Io;
    "fread_unlocked" => Io;
    "fwrite_unlocked" => Io;
    // Streams, formatted
    "fprintf" => Io;
    "fscanf" => Io;
    "printf" => Io;
    "scanf" => Io;
    "vfprintf" => Io;
    "vfscanf" => Io;
    "vprintf" => Io;
    "vscanf" => Io;
    "dprintf" => Io;
    // Streams, position
    "fseek" => Io;
    "fseeko" => Io;
    "fseeko64" => Io;
    "fsetpos" => Io;
    "fsetpos64" => Io;
    "fgetpos" => Io;
    "fgetpos64" => Io;
    "ftell" => Io;
    "ftello" => Io;
    "ftello64" => Io;
    "rewind" => Io;
    // Streams, locks of the process
    "flockfile" => Io;
    "ftrylockfile" => Io;
    "funlockfile" => Io;
};
