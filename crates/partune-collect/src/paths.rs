//! Call paths: found once, numbered, and recognised again by a few loads.
//!
//! A thread remembers the path of each place that it was called from: return address, frame and region, together with every word of the
//! stack that the walker used (where return addresses and frame pointers are stored). If all of them still hold the same values, the walker
//! would find the same frames, so it is not asked. That costs about a nanosecond a frame, whatever the program was compiled with.
//!
//! Paths of all threads are one tree in the process; new nodes go to the log under a lock.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Mutex;

use crate::frame::Frame;
use crate::process;
use crate::region::{Kind, Region};
use crate::stack::Stack;
use crate::unwind::{self, Step};

/// A node of the tree: a frame or region called from its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Path(pub(crate) u32);

impl Path {
    pub(crate) const NONE: Path = Path(u32::MAX);
}

/// What a node adds to its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Frame(usize),
    Region(usize),
}

/// The nodes of this process.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: HashMap<(Path, Node), Path>,
    regions: u32,
    modules: Vec<Module>,
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

    fn child(&mut self, parent: Path, node: Node, describe: impl FnOnce(&mut Tree) -> String) -> Path {
        if let Some(path) = self.nodes.get(&(parent, node)) {
            return *path;
        }
        let path = Path(self.nodes.len() as u32);
        let text = describe(self);
        self.nodes.insert((parent, node), path);
        let above = if parent == Path::NONE { "-".to_owned() } else { parent.0.to_string() };
        process::log(format_args!("path {} {above} {text}", path.0));
        path
    }

    fn frame(&mut self, parent: Path, address: usize) -> Path {
        self.child(parent, Node::Frame(address), |tree| format!("frame {}", tree.place(address)))
    }

    /// An address as a module and an address in its file.
    fn place(&mut self, address: usize) -> String {
        match self.module(address) {
            Some((number, bias)) => format!("{number} {:x}", address - bias),
            None => format!("- {address:x}"),
        }
    }

    fn region(&mut self, parent: Path, region: &'static Region) -> Path {
        self.child(parent, Node::Region(std::ptr::from_ref(region) as usize), |tree| {
            if let Kind::Function(address) = region.kind {
                return format!("function {}", tree.place(address));
            }
            let number = region.number().unwrap_or_else(|| {
                let number = tree.regions;
                tree.regions += 1;
                region.set_number(number);
                process::log(format_args!("region {number} {} {}", region.kind.word(), crate::log::Word(region.name)));
                number
            });
            format!("region {number}")
        })
    }

    /// Number and bias of the module at an address.
    fn module(&mut self, address: usize) -> Option<(usize, usize)> {
        let known = |tree: &Tree| {
            let at = tree.modules.iter().position(|module| (module.begin..module.end).contains(&address))?;
            Some((at, tree.modules[at].bias))
        };
        known(self).or_else(|| {
            let (module, name) = crate::definitions::module_at(address)?;
            process::log(format_args!("module {} {:x} {}", self.modules.len(), module.2, crate::log::Word(&name)));
            self.modules.push(Module { begin: module.0, end: module.1, bias: module.2 });
            known(self)
        })
    }
}

/// The path of a region without frames.
pub(crate) fn flat(region: &'static Region) -> Path {
    Tree::with(|tree| tree.region(Path::NONE, region))
}

const ENTRIES: usize = 1024;

#[derive(Clone)]
struct Entry {
    frame: Frame,
    region: *const Region,
    open: Path,
    path: Path,
    /// Places on the stack and what they held.
    words: Box<[(usize, usize)]>,
    frames: Rc<[Step]>,
}

/// The paths that a thread has seen.
pub(crate) struct Cache {
    entries: Box<[Option<Entry>]>,
    steps: Vec<Step>,
    depth: usize,
}

impl Cache {
    pub(crate) fn new(depth: usize) -> Cache {
        Cache { entries: vec![None; ENTRIES].into(), steps: Vec::new(), depth }
    }

    /// The path of a region called from a frame, inside the open regions.
    #[inline]
    pub(crate) fn find(&mut self, frame: Frame, region: &'static Region, stack: &Stack) -> Path {
        let open = stack.key;
        let slot = slot(frame, region);
        if let Some(entry) = &self.entries[slot]
            && entry.frame == frame
            && std::ptr::eq(entry.region, region)
            && entry.open == open
            && holds(&entry.words)
        {
            return entry.path;
        }
        self.walk(slot, frame, region, stack)
    }

    /// The frames of the path that was found last for a region and frame, outermost first.
    pub(crate) fn frames(&self, frame: Frame, region: &'static Region) -> Rc<[Step]> {
        match &self.entries[slot(frame, region)] {
            Some(entry) if entry.frame == frame && std::ptr::eq(entry.region, region) => entry.frames.clone(),
            _ => Rc::new([]),
        }
    }

    #[cold]
    fn walk(&mut self, slot: usize, frame: Frame, region: &'static Region, stack: &Stack) -> Path {
        self.steps.clear();
        if frame != Frame::NONE && self.depth > 0 {
            unwind::walk(frame, self.depth, &mut self.steps);
        }
        let words = words(&self.steps);
        if matches!(region.kind, Kind::Function(_)) && !self.steps.is_empty() {
            // The innermost frame is its own, not one around it.
            self.steps.remove(0);
        }
        self.steps.reverse();
        let path = Tree::with(|tree| {
            let mut places = stack.places(&self.steps).peekable();
            let mut path = Path::NONE;
            for level in 0..=self.steps.len() {
                while let Some((_, region)) = places.next_if(|(place, _)| *place == level) {
                    path = tree.region(path, region);
                }
                if let Some(step) = self.steps.get(level) {
                    path = tree.frame(path, step.address);
                }
            }
            tree.region(path, region)
        });
        // A stack that cannot be recognised is walked each time.
        self.entries[slot] = words.map(|words| Entry {
            frame,
            region,
            open: stack.key,
            path,
            words,
            frames: self.steps.as_slice().into(),
        });
        path
    }
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn slot(frame: Frame, region: &Region) -> usize {
    let mixed =
        frame.return_address ^ frame.base.rotate_left(20) ^ (std::ptr::from_ref(region) as usize).rotate_left(40);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - ENTRIES.trailing_zeros())
}

#[allow(clippy::inline_always, reason = "part of the hot path")]
#[inline(always)]
fn holds(words: &[(usize, usize)]) -> bool {
    // SAFETY: places on this thread's stack above the current frame, innermost first; as long as the words so far are equal, the
    // frames up to the next one are there.
    words.iter().all(|&(place, value)| unsafe { (place as *const usize).read_volatile() } == value)
}

/// The words of the stack that led the walker, innermost first; `None` if a return address is not where it should be.
fn words(steps: &[Step]) -> Option<Box<[(usize, usize)]>> {
    const WORD: usize = size_of::<usize>();
    let mut words = Vec::with_capacity(2 * steps.len());
    for (at, step) in steps.iter().enumerate() {
        let stored = |place: usize, value| {
            // SAFETY: both words lie just below a frame of this thread that the walker has found.
            (unsafe { (place as *const usize).read_volatile() } == value).then_some((place, value))
        };
        words.push(stored(step.below - WORD, step.address)?);
        // A function whose frame begins with the usual two words finds its caller by the register, which the function that it called has
        // saved in the usual place. In other functions the register is a variable like any other, and says nothing about frames.
        if steps.get(at + 1).is_some_and(|caller| step.base == caller.below - 2 * WORD) {
            words.extend(stored(step.below - 2 * WORD, step.base));
        }
    }
    Some(words.into())
}
