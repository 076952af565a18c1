//! What every wrapper does: find the real function, record the call if it is to be recorded, and call it.
//!
//! The wrappers themselves are made by `build.rs`: they only put their arguments into an array.

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use partune_collect::frame::Frame;
use partune_mpi_abi::{Abi, Error};

use crate::function::{Function, Language, invoke};
use crate::invocation::{Any, Form, Invocation};
use crate::mpi::{complain, found, mpi};
use crate::place::Place;
use crate::{init, memo};

/// What is done around a function.
#[derive(Clone, Copy)]
pub(crate) enum Handler {
    /// Enter and leave are all there is to tell.
    Plain,
    /// Tells more, and calls the real function by [`Invocation::run`].
    Tell(fn(&mut Invocation<'_>)),
    /// As [`Handler::Keep`], of a function that looks whether something has come, and returns in any case.
    Poll(fn(&mut Invocation<'_>)),
    /// As [`Handler::Tell`], also while nothing is to be told: it keeps what must be known of handles.
    Keep(fn(&mut Invocation<'_>)),
    /// Begins recording. Runs in every process that was asked to record, since all of them have to meet.
    Start(fn(&mut Invocation<'_>)),
    /// Ends recording, with the last of those that have begun it. Runs like [`Handler::Start`], also where another model ends MPI.
    Finish(fn(&mut Invocation<'_>)),
    /// Switches recording off and on.
    Switch,
}

impl Handler {
    /// Whether its calls may be left out: recording begins and ends with the others, or is switched by them.
    #[inline]
    fn can_be_left_out(self) -> bool {
        matches!(self, Handler::Plain | Handler::Tell(_) | Handler::Poll(_) | Handler::Keep(_))
    }

    /// Whether nothing is to be done, since the program turned recording off.
    #[inline]
    fn is_idle(self) -> bool {
        matches!(self, Handler::Plain | Handler::Tell(_)) && partune_collect::is_paused()
    }
}

/// A call of the C binding.
///
/// # Safety
/// The words must be the arguments of the function.
pub(crate) unsafe fn c(function: &'static Function, handler: Handler, frame: Frame, words: &mut [usize]) -> c_int {
    let Some(real) = function.real(Language::C) else { return missing(function) };
    // SAFETY: as the caller said.
    unsafe { handled(function, handler, Language::C, real, frame, words) }
}

/// Begins a call of a function that programs call often, if all that has to be found out was found out at an earlier call from the same
/// place. Then its wrapper does the rest by itself, without asking anybody: what is done depends on the form, which the compiler knows
/// there. Otherwise nothing has happened, and the call goes the way of all others.
///
/// # Safety
/// The words must be the arguments of the function.
#[allow(clippy::inline_always, reason = "the hot path of messages")]
#[inline(always)]
pub(crate) unsafe fn known<'a, F: Form>(
    function: &'static Function,
    form: F,
    frame: Frame,
    words: &'a mut [usize],
) -> Option<Invocation<'a, F>> {
    let (real, mpi) = (function.found(form.language())?, found()?);
    let mut invocation = Invocation::new(mpi, None, form, real, words);
    let handles = invocation.has(Place::Comm).then(|| (invocation.handles(), memo::generation()));
    let known = partune_collect::known(&function.region, frame, handles)?;
    invocation.meaning = handles.is_some().then_some(known.meaning);
    if F::IS_LATE {
        invocation.known = Some(known);
    } else if F::IS_POLL {
        invocation.call = Some(known.enter_poll());
    } else {
        invocation.call = Some(known.enter());
    }
    Some(invocation)
}

/// A call of a Fortran binding; the result is also stored where the arguments say.
///
/// # Safety
/// The words must be the arguments of the function: its parameters, the address of the error code, lengths of texts.
pub(crate) unsafe fn fortran(
    function: &'static Function,
    handler: Handler,
    language: Language,
    frame: Frame,
    words: &mut [usize],
) -> c_int {
    let Some(real) = function.real(language) else {
        let code = missing(function);
        let address = words.get(function.signature.fortran_parameters).copied().unwrap_or(0);
        if address != 0 {
            // SAFETY: the program's error code.
            unsafe { *(address as *mut c_int) = code };
        }
        return code;
    };
    if !mpi().is_some_and(|mpi| is_told_in(mpi.abi, language)) {
        // SAFETY: as the caller said.
        return unsafe { invoke(real, words) };
    }
    // SAFETY: as the caller said.
    unsafe { handled(function, handler, language, real, frame, words) }
}

/// Whether calls of a Fortran binding are told there, since the library goes from it to the profiling names of C. The others call the C
/// binding, where they are told: `mpif.h` and `mpi` of MPICH do, and what `mpi_f08` of MPICH does with buffers (under other names). If both
/// are told, the outer one counts.
fn is_told_in(abi: Abi, language: Language) -> bool {
    match (abi, language) {
        (Abi::OpenMpi, _) | (Abi::Mpich, Language::F08) => true,
        (Abi::Mpich | Abi::Standard, _) => false,
    }
}

/// # Safety
/// As for the callers.
#[allow(clippy::inline_always, reason = "two callers, and no third call on the way of most calls")]
#[inline(always)]
unsafe fn handled(
    function: &'static Function,
    handler: Handler,
    language: Language,
    real: usize,
    frame: Frame,
    words: &mut [usize],
) -> c_int {
    if let Handler::Plain = handler
        && let Some(known) = partune_collect::known(&function.region, frame, None)
    {
        // The way of most calls: no handle is looked at. In Fortran the result is where the library put it.
        let mut call = known.enter();
        // SAFETY: as the caller said.
        let result = unsafe { invoke(real, words) };
        call.returned();
        call.leave();
        return result;
    }
    let Some(mpi) = mpi().filter(|_| !handler.is_idle()) else {
        // SAFETY: as the caller said.
        return unsafe { invoke(real, words) };
    };
    if partune_collect::is_recorded() && function.region.is_left_out() && handler.can_be_left_out() {
        return partune_collect::leave_out(frame, |is_own| match handler {
            Handler::Poll(act) | Handler::Keep(act) if is_own => {
                let mut invocation =
                    Invocation::new(mpi, None, Any { signature: function.signature, language }, real, words);
                act(&mut invocation);
                invocation.leave()
            }
            // SAFETY: as the caller said.
            _ => unsafe { invoke(real, words) },
        });
    }
    let (act, without_call): (fn(&mut Invocation<'_>), bool) = match handler {
        Handler::Plain | Handler::Switch => (plain, false),
        Handler::Tell(act) => (act, false),
        Handler::Poll(act) | Handler::Keep(act) => (act, is_off()),
        Handler::Start(act) => {
            partune_collect::begin(crate::function::PARADIGM, &mpi.version);
            partune_collect::record_everywhere();
            (act, is_asked())
        }
        Handler::Finish(act) => {
            partune_collect::record_everywhere();
            (act, is_asked())
        }
    };
    let level = if let Handler::Switch = handler { Some(level(function, language, words)) } else { None };
    if level == Some(1) {
        partune_collect::switch(true);
    }
    let call = if let Handler::Poll(_) = handler {
        partune_collect::enter_poll(&function.region, frame)
    } else {
        partune_collect::enter(&function.region, frame)
    };
    let result = if call.is_none() && !without_call {
        // SAFETY: as the caller said.
        unsafe { invoke(real, words) }
    } else {
        let mut invocation = Invocation::new(mpi, call, Any { signature: function.signature, language }, real, words);
        act(&mut invocation);
        invocation.leave()
    };
    if level == Some(0) {
        partune_collect::switch(false);
    }
    // Another model that starts MPI says itself when it has started.
    if let Handler::Start(_) = handler
        && !partune_collect::is_in_call()
    {
        partune_collect::record_in_phases();
    }
    if let Handler::Finish(_) = handler {
        if init::is_open() {
            partune_collect::record_in_phases();
        } else {
            partune_collect::end(partune_collect::How::Finalize);
        }
    }
    result
}

/// Enter and leave are all there is to tell, and of a poll, which completes nothing, whether it found something.
pub(crate) fn plain(invocation: &mut Invocation<'_>) {
    invocation.run();
}

/// The level of `MPI_Pcontrol`: 0 is off, 1 is on, others are up to the tool and mean nothing here.
fn level(function: &Function, language: Language, words: &[usize]) -> i32 {
    let word = function.signature.at(Place::Level).and_then(|at| words.get(at).copied()).unwrap_or(0);
    match language {
        Language::C => word as i32,
        // SAFETY: the address of the program's number.
        Language::Fortran | Language::F08 => unsafe { *(word as *const i32) },
    }
}

/// Whether nothing is told now and handles must be kept all the same: recording is switched off, or this process was asked to
/// record and could not (its disk is full), while the others can.
fn is_off() -> bool {
    let is_recorded = partune_collect::is_recorded();
    is_recorded && partune_collect::is_paused() || !is_recorded && is_asked()
}

/// Whether the launcher asked this process to record.
fn is_asked() -> bool {
    static ASKED: OnceLock<bool> = OnceLock::new();
    *ASKED.get_or_init(|| std::env::var_os("PARTUNE_DIR").is_some_and(|folder| !folder.is_empty()))
}

/// The library lacks a function that the program calls, which can only be where a wrapper made it exist.
#[cold]
fn missing(function: &Function) -> c_int {
    if !function.told_missing.swap(true, Ordering::Relaxed) {
        complain(&format!("{} does not exist in this MPI library", function.region.name));
    }
    Error::UnsupportedOperation.class(mpi().map_or(Abi::Standard, |mpi| mpi.abi))
}
