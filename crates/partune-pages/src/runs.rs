//! The runs that are shown, and how far each is opened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partune_engine::{Diagnosis, Machine, Progress, Request, Selection};

use crate::error::{Error, Fault};
use crate::run::Run;

/// Runs in the order of the command line.
pub struct Runs(Vec<Slot>);

/// One archive and what became of it.
pub(crate) struct Slot {
    pub(crate) path: PathBuf,
    state: Mutex<State>,
}

/// How archives are opened.
#[derive(Clone, Default)]
pub struct Opening {
    pub request: Request,
    /// The piece of each run that is shown.
    pub selection: Selection,
    /// The description that the request was made with, to show it.
    pub machine: Option<Machine>,
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
        let slot = |path| Slot { path, state: Mutex::new(State::Opening("waiting", 0.0)) };
        Runs(paths.into_iter().map(slot).collect())
    }

    /// One that is open already. `machine` is the description that its diagnosis was made with.
    pub fn of(path: &Path, diagnosis: Diagnosis, machine: Option<Machine>) -> Runs {
        let run = Run::new(name(path), path, diagnosis, machine);
        Runs(vec![Slot { path: path.to_owned(), state: Mutex::new(State::Ready(Arc::new(run))) }])
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.0
    }

    /// Opens one after the other: each uses all threads. An archive that cannot be opened does not keep the others.
    pub fn open(&self, opening: &Opening) {
        for slot in &self.0 {
            let opened = catch_unwind(AssertUnwindSafe(|| slot.open(opening)));
            let failed = |_| State::Failed {
                message: "partune failed on this archive, and should not have".to_owned(),
                remedy: "report it with the archive".to_owned(),
            };
            slot.set(opened.unwrap_or_else(failed));
        }
        for slot in &self.0 {
            if let State::Ready(run) = slot.state() {
                run.warm();
            }
        }
    }

    /// A run that is ready.
    pub(crate) fn ready(&self, number: &str) -> Result<Arc<Run>, Error> {
        let slot = number.parse::<usize>().ok().and_then(|number| self.0.get(number));
        let slot = slot.ok_or_else(|| Error::not_found("there is no such run"))?;
        match slot.state() {
            State::Ready(run) => Ok(run),
            State::Opening(..) => {
                Err(Error::new(Fault::NotReady, "the run is not open yet", "ask api/runs how far it is"))
            }
            State::Failed { message, remedy } => Err(Error::new(Fault::NotReady, message, remedy)),
        }
    }
}

impl Slot {
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
        let failed = |text: String| {
            let (message, remedy) = text.split_once("\n  remedy: ").unwrap_or((&text, ""));
            State::Failed { message: message.to_owned(), remedy: remedy.to_owned() }
        };
        let opened = match partune_engine::open(&self.path, self) {
            Ok(opened) => opened,
            Err(error) => return failed(error.to_string()),
        };
        match partune_engine::analyze_piece(opened, &opening.selection, &opening.request, self) {
            Ok(diagnosis) => {
                self.stage("drawing");
                State::Ready(Arc::new(Run::new(name(&self.path), &self.path, diagnosis, opening.machine.clone())))
            }
            Err(error) => failed(error.to_string()),
        }
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
