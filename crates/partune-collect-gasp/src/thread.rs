//! What is known of a UPC thread between two notifications: which operation it is in, and which regions.
//!
//! An operation begins with one notification and ends with another. What the runtime tells in between is what it does inside, which is its own
//! business, but each begin there has an end, which must not be taken for that of the operation.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};

use partune_collect::frame::Frame;
use partune_collect::{Call, How, Kind, LeftOut, Region, enter_region, leave_region, next, open_call};

use crate::arguments::Arguments;
use crate::events::{self, Does, Event, USERS};
use crate::told::{self, Begun, Handles};
use crate::user;
use crate::world::{self, PARADIGM, Where};

/// Where the runtime says that something is: a file, which may be null, and a line.
pub(crate) type Place = (*const c_char, c_int);

/// `gasp_evttype_t`.
const START: c_int = 0;
const END: c_int = 1;
const ATOMIC: c_int = 2;

/// `GASP_MODEL_UPC`.
const UPC: c_int = 0;

/// A thread of the program, which is a process.
#[derive(Debug)]
pub(crate) struct Thread {
    /// Whether its events are those of UPC.
    is_upc: bool,
    is_on: bool,
    /// Begins inside of an operation, or of one that is not recorded, whose ends are to come.
    ignored: u32,
    /// The operation that is not recorded, if that is because its calls are left out.
    left_out: Option<LeftOut>,
    open: Option<(&'static Event, Begun)>,
    /// Regions that were begun, by the number of their event, outermost first.
    regions: Vec<(u32, &'static Region)>,
    handles: Handles,
    known: Known,
    users: user::Known,
}

impl Thread {
    /// It begins, after all have met. None if it is not recorded.
    pub(crate) fn begin(model: c_int, who: [c_int; 2], locate: Where, frame: Frame) -> Option<Box<Thread>> {
        let mut known = Known::default();
        let init = known.region(0, PARADIGM, "upc_init", (std::ptr::null(), 0));
        world::join(init, who, locate, frame).then(|| {
            if model != UPC {
                partune_collect::note(
                    "GASP: events of a model other than UPC are not known, and only those of the program's own are recorded",
                );
            }
            let (open, regions, handles, users) = (None, Vec::new(), Handles::default(), user::Known::default());
            Box::new(Thread { is_upc: model == UPC, is_on: true, ignored: 0, left_out: None, open, regions, handles, known, users })
        })
    }

    /// Turns recording on or off; whether it was on.
    pub(crate) fn control(&mut self, on: bool) -> bool {
        partune_collect::switch(on);
        std::mem::replace(&mut self.is_on, on)
    }

    /// # Safety
    /// The arguments are those of the event, and strings last.
    pub(crate) unsafe fn notify(
        &mut self,
        number: u32,
        kind: c_int,
        place: Place,
        arguments: &Arguments,
        frame: Frame,
    ) {
        // Whoever reads them has a list of his own.
        let list = || *arguments;
        // SAFETY: as the caller says.
        unsafe {
            if USERS.contains(&number) {
                return self.user(number, kind, place, list(), frame);
            }
            let Some(event) = events::find(number).filter(|_| self.is_upc) else {
                return self.known.tell_unknown(number);
            };
            if kind == START || kind == ATOMIC {
                self.start(event, number, place, list(), frame);
            }
            if kind == END || kind == ATOMIC {
                self.end(event, number, list());
            }
        }
    }

    unsafe fn start(
        &mut self,
        event: &'static Event,
        number: u32,
        place: Place,
        mut arguments: Arguments,
        frame: Frame,
    ) {
        if self.is_inside() {
            self.ignored += 1;
            return;
        }
        let (word, name) = if event.does == Does::Function {
            // SAFETY: the caller says that it is the function's name.
            ("function", unsafe { text(arguments.pointer().cast()) })
        } else {
            (if event.does == Does::Code { "code" } else { PARADIGM }, event.name)
        };
        let region = self.known.region(number, word, name, place);
        if matches!(event.does, Does::Function | Does::Code | Does::WorkSharing) {
            enter_region(region, frame);
            self.regions.push((number, region));
            return;
        }
        if event.does == Does::Exit {
            partune_collect::record_everywhere();
        }
        let Some(mut call) = next::enter(region, frame) else {
            self.ignored = 1;
            self.left_out = next::left_out(region, frame);
            return;
        };
        // SAFETY: as the caller says.
        let begun = unsafe { told::begin(&mut call, event.does, arguments) };
        self.open = Some((event, begun));
    }

    unsafe fn end(&mut self, event: &'static Event, number: u32, arguments: Arguments) {
        if self.ignored > 0 {
            self.end_ignored();
            return;
        }
        if matches!(event.does, Does::Function | Does::Code | Does::WorkSharing) {
            return self.end_region(number);
        }
        let Some((_, begun)) = self.open.take_if(|(open, _)| std::ptr::eq(*open, event)) else { return };
        let Some(mut call): Option<Call<'static>> = open_call() else { return };
        call.returned();
        // SAFETY: as the caller says.
        unsafe { told::end(&mut call, event.does, begun, arguments, &mut self.handles) };
        call.leave();
        if event.does == Does::Exit {
            partune_collect::end(How::Finalize);
        } else if event.does == Does::Abort {
            partune_collect::end(How::Abort);
        }
    }

    /// An event of the program's own: a region, or a moment.
    unsafe fn user(&mut self, number: u32, kind: c_int, place: Place, arguments: Arguments, frame: Frame) {
        let Some(event) = self.users.find(number) else { return self.known.tell_unknown(number) };
        if kind == END {
            match self.ignored {
                0 => return self.end_region(number),
                _ => return self.end_ignored(),
            }
        }
        if self.is_inside() {
            self.ignored += u32::from(kind == START);
            return;
        }
        let region = self.known.region(number, "code", event.name, place);
        enter_region(region, frame);
        // SAFETY: as the caller says.
        unsafe { event.tell(arguments) };
        if kind == START {
            self.regions.push((number, region));
        } else {
            leave_region(region);
        }
    }

    fn end_ignored(&mut self) {
        self.ignored -= 1;
        if self.ignored == 0 {
            self.left_out.take().into_iter().for_each(LeftOut::end);
        }
    }

    fn end_region(&mut self, number: u32) {
        if let Some(at) = self.regions.iter().rposition(|(open, _)| *open == number) {
            leave_region(self.regions[at].1);
            self.regions.truncate(at);
        }
    }

    /// Whether what begins now is inside of an operation.
    fn is_inside(&self) -> bool {
        self.ignored > 0 || partune_collect::is_in_call()
    }
}

/// A region's number, where it is, and what it is called: as the runtime tells them, which for the same place are the same strings.
type Key = (u32, usize, c_int, usize);

/// Regions that were met.
#[derive(Debug, Default)]
struct Known {
    /// Those of some recent keys.
    recent: Vec<Option<(Key, &'static Region)>>,
    all: HashMap<Key, &'static Region>,
    unknown: Vec<u32>,
}

impl Known {
    const RECENT: usize = 256;

    fn region(&mut self, number: u32, word: &'static str, name: &'static str, (file, line): Place) -> &'static Region {
        let key = (number, file as usize, line, name.as_ptr() as usize);
        let mixed =
            (key.1 ^ key.3).wrapping_add((number as usize) << 32 | line as usize).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = mixed >> (usize::BITS - Known::RECENT.trailing_zeros());
        if let Some(Some((known, region))) = self.recent.get(at)
            && *known == key
        {
            return region;
        }
        let region = *self.all.entry(key).or_insert_with(|| {
            // SAFETY: a string that lasts, or null.
            let file = unsafe { text(file) };
            let kind = match u32::try_from(line) {
                Ok(line @ 1..) if !file.is_empty() => Kind::Told { word, file, line },
                _ if word == PARADIGM => Kind::Construct(PARADIGM),
                _ => Kind::Code,
            };
            Box::leak(Box::new(Region::new(name, kind)))
        });
        self.recent.resize(Known::RECENT, None);
        self.recent[at] = Some((key, region));
        region
    }

    fn tell_unknown(&mut self, number: u32) {
        if !self.unknown.contains(&number) {
            self.unknown.push(number);
            partune_collect::note(&format!("GASP: events with the number {number} are not known, and not recorded"));
        }
    }
}

/// What a string says, for as long as there may be events.
///
/// # Safety
/// It is a string that lasts, or null.
pub(crate) unsafe fn text(text: *const c_char) -> &'static str {
    if text.is_null() {
        return "";
    }
    // SAFETY: as the caller says. The program's own, so nothing is copied where it can be read as it is.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().unwrap_or_else(|_| Box::leak(text.to_string_lossy().into_owned().into_boxed_str()))
}
