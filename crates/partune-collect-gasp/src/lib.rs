//! Records UPC inside the user's program, as a tool of its runtime: the Global Address Space Performance interface (GASP 1.5).
//!
//! A runtime tells a tool what the program does: which operation begins or ends, with its arguments, and where in the source. The functions that it
//! calls are in `include/partune_gasp.upc`, which is compiled and linked with the program, since runtimes bring empty ones that a preloaded library
//! cannot replace; what they do is here, behind [`partune_gasp`], which `partune record` preloads. Without it they do nothing.
//!
//! Two runtimes number events in two ways, which do not meet: see [`events`]. A process is one UPC thread.
#![allow(unsafe_code, reason = "arguments of the program and functions of its runtime")]

mod arguments;
mod events;
mod thread;
mod told;
mod user;
mod world;

use std::ffi::{c_char, c_int, c_uint};

use arguments::Arguments;
use partune_collect::frame;
use thread::Thread;
use world::Where;

/// What the functions of GASP in a program call, by the types of `include/partune_gasp.upc`.
#[derive(Debug)]
#[repr(C)]
pub struct Tool {
    init: unsafe extern "C" fn(model: c_int, thread: c_int, threads: c_int, locate: Where) -> *mut Thread,
    notify: unsafe extern "C" fn(
        thread: *mut Thread,
        event: c_uint,
        kind: c_int,
        file: *const c_char,
        line: c_int,
        column: c_int,
        arguments: *mut Arguments,
    ),
    control: unsafe extern "C" fn(thread: *mut Thread, on: c_int) -> c_int,
    create_event: unsafe extern "C" fn(thread: *mut Thread, name: *const c_char, description: *const c_char) -> c_uint,
}

/// The recorder's side of GASP.
#[unsafe(no_mangle)]
pub extern "C" fn partune_gasp() -> *const Tool {
    static TOOL: Tool = Tool { init, notify, control, create_event };
    &raw const TOOL
}

unsafe extern "C" fn init(model: c_int, thread: c_int, threads: c_int, locate: Where) -> *mut Thread {
    Thread::begin(model, [thread, threads], locate, frame::here()).map_or(std::ptr::null_mut(), Box::into_raw)
}

unsafe extern "C" fn notify(
    thread: *mut Thread,
    event: c_uint,
    kind: c_int,
    file: *const c_char,
    line: c_int,
    _column: c_int,
    arguments: *mut Arguments,
) {
    let frame = frame::here();
    // SAFETY: null, or what `init` gave to the one thread that uses it; the list of arguments is the caller's, and the name of the file lasts.
    unsafe {
        if let (Some(thread), Some(arguments)) = (thread.as_mut(), arguments.as_mut()) {
            thread.notify(event, kind, (file, line), arguments, frame);
        }
    }
}

unsafe extern "C" fn control(thread: *mut Thread, on: c_int) -> c_int {
    // SAFETY: as above.
    unsafe { thread.as_mut() }.map_or(0, |thread| thread.control(on != 0).into())
}

unsafe extern "C" fn create_event(_thread: *mut Thread, name: *const c_char, description: *const c_char) -> c_uint {
    // SAFETY: strings, or null.
    unsafe { user::create(name, description) }
}
