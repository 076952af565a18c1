//! Call paths: found once, numbered, and recognised again by a few loads.
//!
//! A thread remembers the path of each [`Site`] that it was called from: return address, frame and region, together with every word of the
//! stack that the walker used (where return addresses and frame pointers are stored), but for those of the code that started the thread.
//! If all of them still hold the same values, the walker would find the same frames, so it is not asked. That costs about a nanosecond a
//! frame, whatever the program was compiled with. Where functions of Python are woven in, the words that led to them are held against as well: each is
//! in memory that is there as long as those before it are the same. A site also remembers what the handles of its last call meant.
//!
//! A walk costs more, and so does a long proof. Where they take more than their [`Budget`], the thread's paths get shallower, and those that
//! it knows are found anew: from then on all of them have so many frames at most.
//!
//! Paths of all threads are one tree in the process; new nodes go to the log under a lock.

use std::collections::HashMap;
use std::hint::cold_path;
use std::rc::Rc;
use std::sync::{Mutex, OnceLock};

use partune_parts::clock;
use partune_parts::log::{Hex, Line, Step as Added};
use partune_parts::script;

use crate::around::Around;
use crate::budget::{Budget, shallower};
use crate::frame::Frame;
use crate::log::log;
use crate::path::Path;
use crate::python::{self, Loop, Running};
use crate::region::{Kind, Region};
use crate::stack::Stack;
use crate::unwind::{Step, Walker};

/// What a node adds to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Frame(usize),
    Region(usize),
    Sample(usize),
}

/// The nodes of this process.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: HashMap<(Path, Node), Path>,
    regions: u32,
    modules: Vec<Module>,
    scripts: HashMap<usize, Script>,
}

/// Code of Python that was met: its number among the modules, and what tells it apart from others that were at the same place.
struct Script {
    number: u32,
    identity: [usize; 4],
}

struct Module {
    begin: usize,
    end: usize,
    bias: usize,
}

static TREE: Mutex<Option<Tree>> = Mutex::new(None);

impl Tree {
    fn with<T>(act: impl FnOnce(&mut Tree) -> T) -> T {
        let mut tree = TREE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        act(tree.get_or_insert_with(Tree::default))
    }

    fn child(&mut self, parent: Path, node: Node, describe: impl FnOnce(&mut Tree) -> Added) -> Path {
        if let Some(path) = self.nodes.get(&(parent, node)) {
            return *path;
        }
        let path = Path(self.nodes.len() as u32);
        let step = describe(self);
        self.nodes.insert((parent, node), path);
        let parent = (parent != Path::NONE).then_some(parent.0);
        log(&Line::Path { number: path.0, parent, step });
        path
    }

    fn frame(&mut self, parent: Path, address: usize) -> Path {
        if !self.is_there(address) {
            return parent;
        }
        self.child(parent, Node::Frame(address), |tree| {
            let (module, address) = tree.place(address);
            Added::Frame { module, address }
        })
    }

    /// Whether something can be said of an address: a function of Python may be gone before anybody asks what a sample found.
    fn is_there(&mut self, address: usize) -> bool {
        let is_known = |running: Running| {
            self.scripts.contains_key(&running.code)
                || python::known().is_some_and(|it| it.code(running.code).is_some())
        };
        Running::at(address).is_none_or(is_known)
    }

    /// An address as a module and an address in its file.
    fn place(&mut self, address: usize) -> (Option<u32>, Hex) {
        if let Some(running) = Running::at(address) {
            return self.script(running).unwrap_or((None, Hex(0)));
        }
        match self.module(address) {
            Some((number, bias)) => (Some(number as u32), Hex((address - bias) as u64)),
            None => (None, Hex(address as u64)),
        }
    }

    /// A function of Python as a module of its own, and in it the line above the instruction.
    fn script(&mut self, running: Running) -> Option<(Option<u32>, Hex)> {
        let (identity, code) = python::known()?.code(running.code)?;
        let known = self.scripts.get(&running.code).filter(|known| known.identity == identity);
        let number = known.map_or(self.modules.len() as u32, |known| known.number);
        if known.is_none() {
            let path = script::Script { name: &code.name, file: &code.file, line: code.first_line }.to_string();
            log(&Line::Module { number, begin: Hex(0), end: Hex(0), bias: Hex(0), path: path.into() });
            self.modules.push(Module { begin: 0, end: 0, bias: 0 });
        }
        let address = script::address(code.line(running.instruction), running.instruction);
        self.scripts.insert(running.code, Script { number, identity });
        Some((Some(number), Hex(address)))
    }

    fn region(&mut self, parent: Path, region: &'static Region) -> Path {
        self.child(parent, Node::Region(std::ptr::from_ref(region) as usize), |tree| {
            if let Kind::Function(address) = region.kind {
                let (module, address) = tree.place(address);
                return Added::Function { module, address };
            }
            let number = region.number().unwrap_or_else(|| {
                let number = tree.regions;
                tree.regions += 1;
                region.set_number(number);
                log(&Line::Region { number, kind: region.kind.word().into(), name: region.name.into() });
                if let Kind::Told { file, line, .. } = region.kind {
                    log(&Line::Told { region: number, file: file.into(), line });
                }
                number
            });
            match region.kind {
                Kind::Body(_, address) => {
                    let (module, address) = tree.place(address);
                    Added::Body { region: number, module, address }
                }
                _ => Added::Region(number),
            }
        })
    }

    /// Number and bias of the module at an address.
    fn module(&mut self, address: usize) -> Option<(usize, usize)> {
        let known = |tree: &Tree| {
            let at = tree.modules.iter().position(|module| (module.begin..module.end).contains(&address))?;
            Some((at, tree.modules[at].bias))
        };
        known(self).or_else(|| {
            let (module, name) = crate::modules::module_at(address)?;
            let number = self.modules.len() as u32;
            let [begin, end, bias] = [module.0, module.1, module.2].map(|address| Hex(address as u64));
            log(&Line::Module { number, begin, end, bias, path: name.into() });
            self.modules.push(Module { begin: module.0, end: module.1, bias: module.2 });
            known(self)
        })
    }
}

/// The path of a place in the code that was found to run, inside of `around`: its callers, outermost first, and itself.
pub(crate) fn of_sample(around: Path, callers: &[Step], leaf: Step) -> Path {
    Tree::with(|tree| {
        let inner = callers.iter().fold(around, |path, step| tree.frame(path, step.address));
        if !tree.is_there(leaf.address) {
            return inner;
        }
        tree.child(inner, Node::Sample(leaf.address), |tree| {
            let (module, address) = tree.place(leaf.address);
            Added::Sample { module, address }
        })
    })
}

/// The path of a region without frames.
pub(crate) fn flat(region: &'static Region) -> Path {
    Tree::with(|tree| tree.region(Path::NONE, region))
}

/// Slots in which a site may be.
const WAYS: usize = 8;
const SETS: usize = 128;
const SITES: usize = SETS * WAYS;

/// A place that calls were made from, and what they had in common. What a call compares comes first.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Site {
    region: &'static Region,
    frame: Frame,
    open: Path,
    pub(crate) path: Path,
    proof: Proof,
    handles: Handles,
    frames: Rc<[Step]>,
}

impl Site {
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    fn is(&self, frame: Frame, region: &'static Region, stack: &Stack) -> bool {
        std::ptr::eq(self.region, region) && self.frame == frame && self.open == stack.key && self.proof.holds()
    }

    /// What two handles mean, if they are those of the last call from here and mean the same since then.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub(crate) fn meaning(&self, handles: [usize; 2], generation: u64) -> Option<[u64; 2]> {
        let known = &self.handles;
        (known.last == handles && known.generation == generation).then_some(known.meaning)
    }
}

/// A word of the stack: its place and what it held.
pub(crate) type Word = (usize, usize);

/// The words that led the walker, innermost first: as long as the words so far are equal, the frames up to the next one are there.
#[derive(Clone)]
#[repr(C)]
struct Proof {
    near: [Word; Proof::NEAR],
    far: Box<[Word]>,
}

impl Proof {
    /// Of two functions with the usual frames, or of more without.
    const NEAR: usize = 4;

    /// Of a call with this frame, which is still there.
    fn new(words: &[Word], frame: Frame) -> Proof {
        let (near, far) = words.split_at(words.len().min(Proof::NEAR));
        // What holds in any case.
        let own = (frame.base + size_of::<usize>(), frame.return_address);
        Proof { near: std::array::from_fn(|at| near.get(at).copied().unwrap_or(own)), far: far.into() }
    }

    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    fn holds(&self) -> bool {
        // SAFETY: places on this thread's stack above the current frame.
        let is = |&(place, value): &Word| unsafe { (place as *const usize).read_volatile() } == value;
        self.near.iter().all(is)
            && (self.far.is_empty() || {
                cold_path();
                self.far.iter().all(is)
            })
    }
}

/// Handles of the last call that had some, and what they meant.
#[derive(Clone, Copy)]
struct Handles {
    last: [usize; 2],
    generation: u64,
    meaning: [u64; 2],
}

impl Handles {
    /// No generation is 0.
    const NONE: Handles = Handles { last: [0; 2], generation: 0, meaning: [0; 2] };
}

/// The number of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiteId(usize);

impl SiteId {
    /// None that is remembered.
    pub(crate) const NONE: SiteId = SiteId(usize::MAX);
}

/// The sites that a thread has seen.
pub(crate) struct Sites {
    /// Sets of [`WAYS`], each filled from its begin.
    slots: Box<[Option<Site>; SITES]>,
    turn: usize,
    walker: Walker,
    steps: Vec<Step>,
    /// With frames of Python.
    woven: Vec<Step>,
    room: Box<Loop>,
    /// Frames of a path at most, and of the deepest one that was walked since that is so.
    depth: usize,
    deepest: usize,
    thread: u32,
    budget: Budget,
    around: Around,
    /// The last region that was looked for inside of a path, and its own path.
    inside: ((Path, *const Region), Path),
}

/// Stands for none: of frames that are looked for by themselves.
static FRAMES: Region = Region::new("", Kind::Code);

impl Sites {
    pub(crate) fn new(thread: u32, depth: usize) -> Sites {
        let slots = vec![None; SITES].try_into().unwrap_or_else(|_| unreachable!("there are as many"));
        Sites {
            slots,
            turn: 0,
            walker: Walker::new(),
            steps: Vec::new(),
            woven: Vec::new(),
            room: Loop::room(),
            depth,
            deepest: 0,
            thread,
            budget: Budget::UNLIMITED,
            around: Around::default(),
            inside: ((Path::NONE, std::ptr::null()), Path::NONE),
        }
    }

    /// The calling thread takes them over from one that has ended. What that knew of its stack is true of this one's where it is found again: it is held
    /// against the words there, each of which leads to the next.
    pub(crate) fn go_on(&mut self) {
        self.walker.go_on();
    }

    /// Paths get shallower where walks take more of the thread's time than so many millionths.
    pub(crate) fn limit(&mut self, share: u32) {
        self.budget = Budget::of(share);
    }

    /// The site and path of a region called from a frame, inside the open regions.
    pub(crate) fn find(&mut self, frame: Frame, region: &'static Region, stack: &Stack) -> (SiteId, Path) {
        match self.known(frame, region, stack) {
            Some((id, site)) => (id, site.path),
            None => self.walk(frame, region, stack),
        }
    }

    /// The same, if the stack need not be walked for it.
    #[allow(clippy::inline_always, reason = "part of the hot path")]
    #[inline(always)]
    pub(crate) fn known(&self, frame: Frame, region: &'static Region, stack: &Stack) -> Option<(SiteId, &Site)> {
        let first = set(frame);
        match &self.slots[first] {
            Some(site) if site.is(frame, region, stack) => Some((SiteId(first), site)),
            Some(_) => self.known_elsewhere(first, frame, region, stack),
            None => {
                cold_path();
                None
            }
        }
    }

    /// In the other slots of a set.
    #[cold]
    fn known_elsewhere(
        &self,
        first: usize,
        frame: Frame,
        region: &'static Region,
        stack: &Stack,
    ) -> Option<(SiteId, &Site)> {
        let mut others = (first + 1..first + WAYS).map_while(|slot| Some((SiteId(slot), self.slots[slot].as_ref()?)));
        others.find(|(_, site)| site.is(frame, region, stack))
    }

    /// What two handles mean, see [`Site::meaning`].
    pub(crate) fn meaning(&self, site: SiteId, handles: [usize; 2], generation: u64) -> Option<[u64; 2]> {
        self.slots.get(site.0)?.as_ref()?.meaning(handles, generation)
    }

    /// Says what it is, for the next call.
    pub(crate) fn remember(&mut self, site: SiteId, handles: [usize; 2], generation: u64, meaning: [u64; 2]) {
        if let Some(Some(site)) = self.slots.get_mut(site.0) {
            site.handles = Handles { last: handles, generation, meaning };
        }
    }

    /// The frames of the path of a site, outermost first.
    pub(crate) fn frames(&self, site: SiteId) -> Rc<[Step]> {
        match self.slots.get(site.0) {
            Some(Some(site)) => site.frames.clone(),
            _ => Rc::new([]),
        }
    }

    /// The frames from the caller of a function outwards, outermost first. They are no call path.
    pub(crate) fn frames_of(&mut self, frame: Frame, stack: &Stack) -> Rc<[Step]> {
        let (site, _) = self.find(frame, &FRAMES, stack);
        self.frames(site)
    }

    /// The path of a region that has no frames of its own, directly inside of another one.
    pub(crate) fn inside(&mut self, around: Path, region: &'static Region) -> Path {
        let key = (around, std::ptr::from_ref(region));
        if self.inside.0 != key {
            self.inside = (key, Tree::with(|tree| tree.region(around, region)));
        }
        self.inside.1
    }

    /// See [`crate::frame::called_from`], with the frame of the function that asks.
    pub(crate) fn around(&mut self, own: Frame, place: usize) -> Frame {
        self.around.find(own, place, &mut self.walker, &mut self.steps)
    }

    /// Whether a wrapper that was called from a site, and whose frame begins at `base`, is among the callers of another one; none if the
    /// site is not known, or the walker did not come so far.
    #[cold]
    pub(crate) fn passes(&mut self, site: SiteId, base: usize, frame: Frame) -> Option<bool> {
        const FRAMES: usize = 1000;
        let address = self.slots.get(site.0)?.as_ref()?.frame.return_address;
        self.walker.walk(frame, FRAMES, &mut self.steps);
        // The wrapper's return address is stored in its second word.
        let above = base + 2 * size_of::<usize>();
        let passed = self.steps.iter().find(|step| step.below >= above)?;
        Some(passed.below == above && passed.address == address)
    }

    #[cold]
    fn walk(&mut self, frame: Frame, region: &'static Region, stack: &Stack) -> (SiteId, Path) {
        let begin = clock::now();
        if let Some(share) = self.budget.exceeded() {
            self.go_shallower(share, begin);
        }
        let (found, is_native) = self.walk_now(frame, region, stack);
        // Functions of Python are found by another walk, and in it: fewer native frames would hide them.
        if is_native {
            self.budget.spend(begin, clock::now());
        }
        found
    }

    /// Walks took too much: from now on they are shallower than the deepest one was, if that is possible.
    fn go_shallower(&mut self, share: u32, ticks: u64) {
        self.budget.renew();
        let Some(frames) = shallower(self.depth.min(self.deepest)) else { return };
        (self.depth, self.deepest) = (frames, 0);
        self.slots.fill(None);
        log(&Line::Shallow { thread: self.thread, frames: frames as u32, share, ticks });
    }

    /// Also says whether the path has native frames alone.
    fn walk_now(&mut self, frame: Frame, region: &'static Region, stack: &Stack) -> ((SiteId, Path), bool) {
        self.steps.clear();
        if frame != Frame::NONE && self.depth > 0 {
            self.walker.walk(frame, self.depth, &mut self.steps);
        }
        self.deepest = self.deepest.max(self.steps.len());
        let mut is_native = true;
        let mut words = words(&self.steps[..self.steps.len() - unchanging(&self.steps, self.depth)], frame);
        if matches!(region.kind, Kind::Function(_)) && !self.steps.is_empty() {
            // The innermost frame is its own, not one around it.
            self.steps.remove(0);
        }
        if let Some(python) = python::known() {
            let (native, woven) = (&self.steps, &mut self.woven);
            woven.clear();
            let word = |word| words.iter_mut().for_each(|words| words.push(word));
            if python.weave(native, &mut self.room, |step| woven.push(step), word) {
                std::mem::swap(&mut self.steps, &mut self.woven);
                self.steps.truncate(self.depth);
                is_native = false;
            }
        }
        self.steps.reverse();
        let path = if std::ptr::eq(region, &raw const FRAMES) { Path::NONE } else { self.path(region, stack) };
        let Some(proof) = words.map(|words| Proof::new(&words, frame)) else {
            // A stack that cannot be recognised is walked each time.
            return ((SiteId::NONE, path), is_native);
        };
        let site = self.victim(frame);
        let (open, frames) = (stack.key, self.steps.as_slice().into());
        self.slots[site] = Some(Site { region, frame, open, path, proof, handles: Handles::NONE, frames });
        ((SiteId(site), path), is_native)
    }

    /// The path of a region that was called from the frames that were walked.
    fn path(&self, region: &'static Region, stack: &Stack) -> Path {
        Tree::with(|tree| {
            let (mut path, first, regions) = stack.root(&self.steps);
            let mut places = stack.places(&self.steps).skip(regions).peekable();
            for level in first..=self.steps.len() {
                while let Some((_, region)) = places.next_if(|(place, _)| *place == level) {
                    path = tree.region(path, region);
                }
                if let Some(step) = self.steps.get(level) {
                    path = tree.frame(path, step.address);
                }
            }
            tree.region(path, region)
        })
    }

    /// The slot for a new site: an empty one of its set, or each of them in turn.
    fn victim(&mut self, frame: Frame) -> usize {
        let first = set(frame);
        let empty = (first..first + WAYS).find(|slot| self.slots[*slot].is_none());
        empty.unwrap_or_else(|| {
            self.turn += 1;
            first + self.turn % WAYS
        })
    }
}

/// The first slot of a frame's set. A place in a program mostly calls one function, but is called itself from several places.
#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn set(frame: Frame) -> usize {
    let mixed = frame.return_address ^ frame.base.rotate_left(20);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - SETS.trailing_zeros()) << WAYS.trailing_zeros()
}

/// How many of the outermost steps are always there: the code of the C library that starts the program or a thread. The innermost of them
/// is looked at, since it calls other functions at the end.
fn unchanging(steps: &[Step], limit: usize) -> usize {
    static LIBRARY: OnceLock<Option<(usize, usize)>> = OnceLock::new();
    let library = *LIBRARY.get_or_init(|| {
        let ((begin, end, _), _) = crate::modules::module_at(libc::exit as *const () as usize)?;
        Some((begin, end))
    });
    let Some((begin, end)) = library.filter(|_| steps.len() < limit) else { return 0 };
    let starts = |steps: &[Step]| {
        steps.iter().rev().take_while(|step| (begin..end).contains(&step.address)).count().saturating_sub(1)
    };
    match (starts(steps), steps.split_last()) {
        // The program's `_start`, which calls the library.
        (0, Some((_, inner))) if starts(inner) > 0 => starts(inner) + 1,
        (starts, _) => starts,
    }
}

/// The words of the stack that led the walker, innermost first, but for the wrapper's own return address, which its frame holds. `None` if
/// a return address is not where it should be.
fn words(steps: &[Step], frame: Frame) -> Option<Vec<Word>> {
    const WORD: usize = size_of::<usize>();
    let mut words = Vec::with_capacity(2 * steps.len());
    for (at, step) in steps.iter().enumerate() {
        let stored = |place: usize, value| {
            // SAFETY: both words lie just below a frame of this thread that the walker has found.
            (unsafe { (place as *const usize).read_volatile() } == value).then_some((place, value))
        };
        let address = stored(step.below - WORD, step.address)?;
        words.extend((at > 0).then_some(address));
        let Some(caller) = steps.get(at + 1) else { continue };
        if caller.told != 0 {
            words.extend(stored(caller.told, caller.below));
        }
        // A function whose frame begins with the usual two words finds its caller by the register, which the function that it called has
        // saved in the usual place, and so does one that keeps a word beside them that says where its frame begins. In other functions
        // the register is a variable like any other, and says nothing about frames.
        if caller.told != 0 || step.base == caller.below - 2 * WORD {
            let place = match at {
                0 => frame.saved,
                // The function that it called has aligned its stack: the register leads to where it has saved it.
                _ if step.told != 0 => steps[at - 1].base,
                _ => step.below - 2 * WORD,
            };
            let is_in_frame = at == 0 || (steps[at - 1].below..step.below).contains(&place);
            words.extend(is_in_frame.then(|| stored(place, step.base)).flatten());
        }
    }
    Some(words)
}
