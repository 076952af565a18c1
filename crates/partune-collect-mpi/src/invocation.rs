//! One call of a wrapped function: its arguments as the handlers want them, whatever the language of the program.
//!
//! In C every argument is a word: a number, a handle or an address. In Fortran it is the address of one; handles there are numbers that the
//! library translates. Statuses have the same layout in both (they are an array of `INTEGER`s in Fortran), and so have arrays of numbers.
//!
//! Reading an argument follows an address that the program passed: it is as valid as the program. Arguments that MPI says are not
//! significant (those for the root only) are not read elsewhere.

use std::ffi::c_int;

use partune_collect::{Call, Known, Message};
use partune_mpi_abi::{Kind, SUCCESS, Status, StatusLayout};

use crate::function::{Language, Mode, Signature, invoke};
use crate::mpi::Mpi;
use crate::place::Place;

/// Which function was called, in which language.
pub(crate) trait Form {
    /// Whether its handler says with [`Invocation::begin_sending`] when the call begins: it sends a message, and does nothing else before.
    const IS_LATE: bool = false;
    /// Whether its function looks whether something has come, and returns in any case.
    const IS_POLL: bool = false;

    fn signature(&self) -> &'static Signature;
    fn language(&self) -> Language;
}

/// Found out when the program runs. The wrappers of the hottest functions have forms of their own, which the compiler knows.
pub(crate) struct Any {
    pub(crate) signature: &'static Signature,
    pub(crate) language: Language,
}

impl Form for Any {
    /// Perhaps: its call knows.
    const IS_POLL: bool = true;

    fn signature(&self) -> &'static Signature {
        self.signature
    }

    fn language(&self) -> Language {
        self.language
    }
}

/// A call that is under way.
pub(crate) struct Invocation<'a, F = Any> {
    pub(crate) mpi: &'static Mpi,
    /// None while recording is switched off: what is kept about handles goes on.
    pub(crate) call: Option<Call<'static>>,
    /// The call that [`Invocation::begin_sending`] will begin.
    pub(crate) known: Option<Known>,
    /// What [`Invocation::handles`] mean, if that was known before the call began.
    pub(crate) meaning: Option<[u64; 2]>,
    form: F,
    real: usize,
    words: &'a mut [usize],
    result: c_int,
}

/// A status of the recorder's own, for programs that want none.
pub(crate) type OwnStatus = [i32; StatusLayout::MOST];

#[allow(clippy::inline_always, reason = "with a known signature each becomes a load or nothing")]
impl<'a, F: Form> Invocation<'a, F> {
    #[inline(always)]
    pub(crate) fn new(
        mpi: &'static Mpi,
        call: Option<Call<'static>>,
        form: F,
        real: usize,
        words: &'a mut [usize],
    ) -> Invocation<'a, F> {
        Invocation { mpi, call, known: None, meaning: None, form, real, words, result: SUCCESS }
    }

    /// A message, if it is none to nobody, leaves with the real function. Begins the call if it waits for that.
    #[inline(always)]
    pub(crate) fn begin_sending(&mut self, message: Option<Message>) {
        match (self.known.take(), &mut self.call, message) {
            (Some(known), _, Some(message)) => self.call = Some(known.enter_sending(message)),
            (Some(known), _, None) => self.call = Some(known.enter()),
            (None, Some(call), Some(message)) => call.sent(message),
            (None, _, _) => {}
        }
    }

    /// Calls the real function; returns whether it succeeded. Facts told from here on have the time of its return.
    #[inline(always)]
    pub(crate) fn run(&mut self) -> bool {
        // SAFETY: the words are those that the program passed, or addresses of as large objects.
        let returned = unsafe { invoke(self.real, self.words) };
        self.result = match self.form.language() {
            Language::C => returned,
            Language::Fortran | Language::F08 => self.fortran_error(),
        };
        self.returned();
        if F::IS_POLL && self.call.as_ref().is_some_and(Call::is_poll) {
            self.polled();
        }
        self.result == SUCCESS
    }

    /// Says what came of a poll.
    #[inline(always)]
    fn polled(&mut self) {
        let is_nothing = self.result == SUCCESS
            && if self.has(Place::Flag) { !self.is_set(Place::Flag) } else { self.element(Place::OutCount, 0) == 0 };
        match &mut self.call {
            Some(call) if is_nothing => call.found_nothing(),
            Some(call) => call.found(),
            None => {}
        }
    }

    /// The call goes on until now: something of the recorder's own came after the real function.
    #[inline(always)]
    pub(crate) fn returned(&mut self) {
        if let Some(call) = &mut self.call {
            call.returned();
        }
    }

    /// Ends the call. In Fortran the result is where the library put it.
    #[inline(always)]
    pub(crate) fn leave(self) -> c_int {
        if let Some(call) = self.call {
            call.leave();
        }
        self.result
    }

    /// The error code after the Fortran arguments, which `mpi_f08` may leave out.
    #[inline(always)]
    fn fortran_error(&self) -> c_int {
        let address = self.words.get(self.form.signature().fortran_parameters).copied().unwrap_or(0);
        // SAFETY: an `INTEGER` of the program, if any.
        if address == 0 { SUCCESS } else { unsafe { *(address as *const c_int) } }
    }

    /// The call for somebody who tells facts, if they are to be told.
    #[inline(always)]
    pub(crate) fn telling(&mut self) -> Option<Call<'_>> {
        self.call.as_mut().map(Call::again)
    }

    /// Whether some of several operations succeeded, and their statuses say which.
    #[inline(always)]
    pub(crate) fn is_in_status(&self) -> bool {
        self.mpi.is_in_status(self.result)
    }

    #[inline(always)]
    pub(crate) fn result_is_success(&self) -> bool {
        self.result == SUCCESS
    }

    #[inline(always)]
    pub(crate) fn mode(&self) -> Mode {
        self.form.signature().mode
    }

    pub(crate) fn language(&self) -> Language {
        self.form.language()
    }

    #[inline(always)]
    pub(crate) fn is_fortran(&self) -> bool {
        self.form.language() != Language::C
    }

    #[inline(always)]
    pub(crate) fn has(&self, place: Place) -> bool {
        self.form.signature().at(place).is_some()
    }

    /// An argument as it came; 0 if the function has no such parameter.
    #[inline(always)]
    pub(crate) fn word(&self, place: Place) -> usize {
        // Without an intermediate reference, so that the compiler keeps the words in registers.
        match self.form.signature().at(place) {
            Some(at) if at < self.words.len() => self.words[at],
            _ => 0,
        }
    }

    /// Passes another word to the real function.
    #[inline(always)]
    pub(crate) fn replace(&mut self, place: Place, word: usize) {
        if let Some(at) = self.form.signature().at(place)
            && at < self.words.len()
        {
            self.words[at] = word;
        }
    }

    /// A number that was passed.
    #[inline(always)]
    pub(crate) fn number(&self, place: Place) -> i64 {
        let word = self.word(place);
        match (self.is_fortran(), self.form.signature().is_wide(place)) {
            (false, false) => i64::from(word as i32),
            (false, true) => word as i64,
            // SAFETY: addresses of numbers of the program.
            (true, false) => i64::from(unsafe { *(word as *const i32) }),
            // SAFETY: the address of a number of 64 bits of the program, as the binding says.
            (true, true) => unsafe { *(word as *const i64) },
        }
    }

    /// A rank, a tag or a level.
    #[inline(always)]
    pub(crate) fn int(&self, place: Place) -> i32 {
        self.number(place) as i32
    }

    /// A number in an array, or one that was stored (index 0).
    #[inline(always)]
    pub(crate) fn element(&self, place: Place, index: usize) -> i64 {
        let array = self.word(place);
        if self.form.signature().is_wide(place) {
            // SAFETY: the program's array is as long as MPI says.
            unsafe { *(array as *const i64).add(index) }
        } else {
            // SAFETY: the program's array of 32-bit numbers is as long as MPI says.
            i64::from(unsafe { *(array as *const i32).add(index) })
        }
    }

    /// Whether a logical value was stored as true.
    #[inline(always)]
    pub(crate) fn is_set(&self, place: Place) -> bool {
        self.element(place, 0) != 0
    }

    /// A handle that was passed.
    #[inline(always)]
    pub(crate) fn handle(&self, place: Place, kind: Kind) -> usize {
        let word = self.word(place);
        if self.is_fortran() { self.mpi.translated(kind, word, 0) } else { self.mpi.handle(kind, word) }
    }

    /// The handles that a message depends on as they came, in the language of the program: its communicator and, if something is sent,
    /// its type.
    #[inline(always)]
    pub(crate) fn handles(&self) -> [usize; 2] {
        let handle = |place| {
            let word = self.word(place);
            // SAFETY: the address of an `INTEGER` of the program.
            if self.is_fortran() { unsafe { *(word as *const u32) as usize } } else { word }
        };
        [handle(Place::Comm), if self.has(Place::Target) { handle(Place::SendType) } else { 0 }]
    }

    /// A handle that was stored, or will be read, where an argument points.
    #[inline(always)]
    pub(crate) fn stored(&self, place: Place, kind: Kind) -> usize {
        self.stored_at(self.word(place), kind, 0)
    }

    /// The handle at an index of an array that was passed.
    #[inline(always)]
    pub(crate) fn stored_at(&self, array: usize, kind: Kind, index: usize) -> usize {
        if self.is_fortran() {
            self.mpi.translated(kind, array, index)
        } else {
            // SAFETY: the program's array is as long as MPI says.
            unsafe { self.mpi.stored(kind, array, index) }
        }
    }

    /// Whether a buffer is `MPI_IN_PLACE`.
    pub(crate) fn is_in_place(&self, place: Place) -> bool {
        let word = self.word(place);
        if self.is_fortran() { self.mpi.fortran.in_place.has(word) } else { word == self.mpi.numbers.in_place }
    }

    /// Makes the real function fill a status: the program's, or `own` if the program wants none. Returns its address.
    #[inline(always)]
    pub(crate) fn want_status(&mut self, own: &mut OwnStatus) -> usize {
        let word = self.word(Place::Status);
        let ignored = if self.is_fortran() {
            self.mpi.fortran.status_ignore.has(word)
        } else {
            word == self.mpi.numbers.status_ignore
        };
        if !ignored {
            return word;
        }
        let own = own.as_mut_ptr() as usize;
        self.replace(Place::Status, own);
        own
    }

    /// Whether the program wants no statuses of several operations.
    #[inline(always)]
    pub(crate) fn ignores_statuses(&self) -> bool {
        let word = self.word(Place::Statuses);
        if self.is_fortran() {
            let known = &self.mpi.fortran;
            known.statuses_ignore.has(word) || known.status_ignore.has(word)
        } else {
            word == self.mpi.numbers.statuses_ignore
        }
    }

    /// What a status says; its bytes are asked from the library where the layout does not tell.
    #[inline(always)]
    pub(crate) fn status(&self, address: usize) -> Status {
        let layout = &self.mpi.status;
        // SAFETY: a status that the library filled.
        let ints = unsafe { std::slice::from_raw_parts(address as *const i32, layout.ints) };
        let none = Status { source: self.mpi.numbers.proc_null, tag: 0, error: SUCCESS, bytes: Some(0) };
        let mut status = layout.read(ints).unwrap_or(none);
        if status.bytes.is_none() {
            status.bytes = Some(self.mpi.bytes_in(address));
        }
        status
    }

    /// A text that was passed: ended by a zero in C, of a length that follows the arguments in Fortran.
    pub(crate) fn text(&self, place: Place) -> String {
        let address = self.word(place) as *const u8;
        if address.is_null() {
            return String::new();
        }
        let bytes = if self.is_fortran() {
            // The functions that are asked have one text only.
            let length = self.words.get(self.form.signature().fortran_parameters + 1).copied().unwrap_or(0);
            // SAFETY: a text of the program with its length.
            unsafe { std::slice::from_raw_parts(address, length.min(4096)) }
        } else {
            // SAFETY: a C string of the program.
            unsafe { std::ffi::CStr::from_ptr(address.cast()) }.to_bytes()
        };
        String::from_utf8_lossy(bytes).trim_end().to_owned()
    }
}
