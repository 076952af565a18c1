//! The runs that are shown, and how far each is opened.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use partune_diag::seconds;
use partune_engine::{
    Diagnosis, Moment, Options, Progress, Request, SLICE, Selection, Sliced, THRESHOLDS, ThresholdKind,
};

use crate::error::{Error, Fault};
use crate::run::Run;
use crate::sources::Sources;

/// Runs in the order of the command line, and after them the pieces of these that somebody wanted to see by themselves.
pub struct Runs {
    slots: RwLock<Vec<Arc<Slot>>>,
    /// How they were opened.
    opening: OnceLock<Opening>,
    /// Whose text may be shown.
    sources: Sources,
}

/// One archive and what became of it.
pub(crate) struct Slot {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    /// How it is opened where somebody wanted to see it otherwise: a piece of it, or with other thresholds.
    opening: Option<Opening>,
    state: Mutex<State>,
}

/// Pieces that are kept open at once, and that can be asked for until the server ends: each keeps its number.
const PIECES: usize = 8;
const NUMBERS: usize = 256;

/// How archives are opened.
#[derive(Clone, PartialEq)]
pub struct Opening {
    pub request: Request,
    /// The piece of each run that is shown.
    pub selection: Selection,
    /// Event records of a slice; runs with more than twice as many are looked at in slices.
    pub slice: u64,
    /// It is a run that was looked at in slices seen otherwise, so not all of it may be read at once.
    is_large: bool,
}

impl Opening {
    pub fn new(request: Request, selection: Selection, slice: u64) -> Opening {
        Opening { request, selection, slice, is_large: false }
    }
}

impl Default for Opening {
    fn default() -> Self {
        Opening::new(Request::default(), Selection::default(), SLICE)
    }
}

/// How far a run is.
#[derive(Clone)]
pub(crate) enum State {
    /// The stage, and the share of it that is done.
    Opening(&'static str, f64),
    Ready(Arc<Run>),
    Failed {
        message: String,
        remedy: String,
    },
}

impl Runs {
    /// None of them is open yet.
    pub fn new(paths: Vec<PathBuf>) -> Runs {
        Runs::with(paths.into_iter().map(|path| Slot::new(name(&path), path, None)).collect())
    }

    /// One that is open already.
    pub fn of(path: &Path, diagnosis: Diagnosis) -> Runs {
        let run = Run::new(name(path), path, diagnosis);
        let slot = Slot::new(name(path), path.to_owned(), None);
        slot.set(State::Ready(Arc::new(run)));
        Runs::with(vec![slot])
    }

    fn with(slots: Vec<Slot>) -> Runs {
        Runs {
            slots: RwLock::new(slots.into_iter().map(Arc::new).collect()),
            opening: OnceLock::new(),
            sources: Sources::default(),
        }
    }

    /// The same with the text of source files.
    #[must_use]
    pub fn with_sources(self, sources: Sources) -> Runs {
        Runs { sources, ..self }
    }

    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    pub(crate) fn slots(&self) -> Vec<Arc<Slot>> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Opens one after the other: each uses all threads. An archive that cannot be opened does not keep the others.
    pub fn open(&self, opening: &Opening) {
        let opening = self.opening.get_or_init(|| opening.clone());
        let slots = self.slots();
        slots.iter().for_each(|slot| slot.fill(opening));
        slots.iter().for_each(|slot| slot.warm());
    }

    /// The number of a run that is another one seen otherwise: a piece of it, between two moments in seconds after its first event, or with other
    /// thresholds. It is opened in the background, and once; the one that was asked for first is let go where they become many.
    pub(crate) fn otherwise(
        &self,
        of: &str,
        piece: Option<(f64, f64)>,
        change: impl FnOnce(&mut Options) -> Result<(), Error>,
    ) -> Result<usize, Error> {
        let own = |message: &str, remedy: &str| Error::new(Fault::Own, message, remedy);
        let general = self.opening.get().ok_or_else(|| own("nothing can be opened here", "ask partune view"))?;
        let slot = self.slot(of)?;
        let mut opening = slot.opening.as_ref().unwrap_or(general).clone();
        if let Some((from, to)) = piece {
            opening.is_large |= matches!(slot.state(), State::Ready(run) if run.recorded().is_in_slices());
            let moment = |seconds| Some(Moment::Seconds(seconds));
            opening.selection = Selection { from: moment(from), to: moment(to), ..Selection::default() };
        }
        change(&mut opening.request.options)?;
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let is_open = |slot: &Slot| !matches!(slot.state(), State::Failed { .. });
        let is_it =
            |it: &Arc<Slot>| it.opening.as_ref().unwrap_or(general) == &opening && it.path == slot.path && is_open(it);
        if let Some(number) = slots.iter().position(is_it) {
            return Ok(number);
        }
        if slots.iter().filter(|slot| slot.opening.is_some()).count() >= NUMBERS {
            return Err(own("as many pieces were looked at as can be", "start partune view again"));
        }
        let open: Vec<&Arc<Slot>> = slots.iter().filter(|slot| slot.opening.is_some() && is_open(slot)).collect();
        if open.len() >= PIECES {
            let first = open.iter().find(|slot| matches!(slot.state(), State::Ready(_)));
            let first =
                first.ok_or_else(|| own("as many pieces are being analysed as can be", "wait for one of them"))?;
            let message = format!("this piece was let go when {PIECES} others were looked at");
            first.set(State::Failed { message, remedy: "select it again".to_owned() });
        }
        let called = called(&slot.path, &opening, general);
        let slot = Arc::new(Slot::new(called, slot.path.clone(), Some(opening.clone())));
        let filled = Arc::clone(&slot);
        let work = move || {
            filled.fill(&opening);
            filled.warm();
        };
        let started = std::thread::Builder::new().name("piece".to_owned()).spawn(work);
        started.map_err(|error| own(&format!("no thread can be started: {error}"), "end other programs"))?;
        slots.push(slot);
        Ok(slots.len() - 1)
    }

    fn slot(&self, number: &str) -> Result<Arc<Slot>, Error> {
        let slot = number.parse::<usize>().ok().and_then(|number| self.slots().get(number).cloned());
        slot.ok_or_else(|| Error::not_found("there is no such run"))
    }

    /// A run that is ready.
    pub(crate) fn ready(&self, number: &str) -> Result<Arc<Run>, Error> {
        match self.slot(number)?.state() {
            State::Ready(run) => Ok(run),
            State::Opening(..) => {
                Err(Error::new(Fault::NotReady, "the run is not open yet", "ask api/runs how far it is"))
            }
            State::Failed { message, remedy } => Err(Error::new(Fault::NotReady, message, remedy)),
        }
    }
}

impl Slot {
    fn new(name: String, path: PathBuf, opening: Option<Opening>) -> Slot {
        Slot { path, name, opening, state: Mutex::new(State::Opening("waiting", 0.0)) }
    }

    /// Opens it, whatever it is.
    fn fill(&self, opening: &Opening) {
        let opened = catch_unwind(AssertUnwindSafe(|| self.open(opening)));
        let failed = |_| State::Failed {
            message: "partune failed on this archive, and should not have".to_owned(),
            remedy: "report it with the archive".to_owned(),
        };
        self.set(opened.unwrap_or_else(failed));
    }

    fn warm(&self) {
        if let State::Ready(run) = self.state() {
            run.warm();
        }
    }

    pub(crate) fn state(&self) -> State {
        self.lock().clone()
    }

    fn set(&self, state: State) {
        *self.lock() = state;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nobody can leave a state half written.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, opening: &Opening) -> State {
        match self.diagnosed(opening) {
            Ok(diagnosis) => {
                self.stage("drawing");
                State::Ready(Arc::new(Run::new(self.name.clone(), &self.path, diagnosis)))
            }
            Err(text) => {
                let (message, remedy) = text.split_once("\n  remedy: ").unwrap_or((&text, ""));
                State::Failed { message: message.to_owned(), remedy: remedy.to_owned() }
            }
        }
    }

    /// What is found, in slices where that is possible; or why nothing can be.
    fn diagnosed(&self, opening: &Opening) -> Result<Diagnosis, String> {
        let Opening { request, selection, slice, is_large } = opening;
        let drawn = Request { compares: true, draws: true, ..request.clone() };
        let sliced = partune_engine::analyze_large(&self.path, selection, &drawn, *slice, self);
        match sliced.map_err(|error| error.to_string())? {
            Sliced::Diagnosed(diagnosis) => return Ok(*diagnosis),
            Sliced::Whole(why) if *is_large => {
                let why = why.unwrap_or_else(|| "the run cannot be looked at in slices so".to_owned());
                let remedy =
                    "select a shorter part, or start partune view with --from and --to, which may read all of it";
                return Err(format!("all of the run would be read at once: {why}\n  remedy: {remedy}"));
            }
            Sliced::Whole(_) | Sliced::Elsewhere => {}
        }
        let opened = partune_engine::open(&self.path, self).map_err(|error| error.to_string())?;
        partune_engine::analyze_piece(opened, selection, request, self).map_err(|error| error.to_string())
    }
}

impl Progress for Slot {
    fn stage(&self, name: &'static str) {
        self.set(State::Opening(name, 0.0));
    }

    fn advance(&self, done: u64, total: u64) {
        if let State::Opening(_, fraction) = &mut *self.lock() {
            *fraction = if total > 0 { (done as f64 / total as f64).min(1.0) } else { 0.0 };
        }
    }
}

/// What a run is called: as its report calls it.
pub(crate) fn name(path: &Path) -> String {
    partune_report::names::run(&path.to_string_lossy()).to_owned()
}

/// The same where it is opened otherwise than the others: its piece, and the thresholds that differ.
fn called(path: &Path, opening: &Opening, general: &Opening) -> String {
    let mut name = name(path);
    let moment = |moment: Option<Moment>| match moment {
        Some(Moment::Seconds(at)) => seconds(at),
        Some(Moment::Share(share)) => format!("{} %", share * 100.0),
        None => "…".to_owned(),
    };
    if opening.selection != general.selection {
        let Selection { from, to, .. } = opening.selection;
        let _ = match (from, to) {
            // A short piece of a long run.
            (Some(Moment::Seconds(begin)), Some(Moment::Seconds(end))) if seconds(begin) == seconds(end) => {
                write!(name, ", {} from {} on", seconds(end - begin), seconds(begin))
            }
            _ => write!(name, ", {} to {}", moment(from), moment(to)),
        };
    }
    for threshold in THRESHOLDS {
        let [value, other] = [opening, general].map(|it| (threshold.value)(&it.request.options));
        if value.to_bits() != other.to_bits() {
            let words = threshold.name.replace('_', " ");
            let _ = match threshold.kind {
                ThresholdKind::Share => write!(name, ", {words} {} %", value * 100.0),
                _ => write!(name, ", {words} {value}"),
            };
        }
    }
    name
}
