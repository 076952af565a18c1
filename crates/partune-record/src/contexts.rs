//! Call paths of all processes as one tree of OTF2 calling contexts.
//!
//! A process numbers its call paths by return addresses and regions. Here each becomes a context: the function, where in it the next call
//! is, and the context around it. Processes of one program meet in the same contexts, because they are told apart by names, lines and offsets
//! in modules, not by addresses. Inlined functions are contexts of their own. What is not the user's is left out: what calls `main`, and frames of the
//! MPI library, or of the library of C++, between the user's call and the one that was recorded.

use partune_base::{StringId, Strings};
use rustc_hash::FxHashMap;

use partune_otf2::start::{calls_main, is_below_main};
use partune_parts::log::{Hex, Step};
use partune_parts::script::Script;

use crate::log::ProcessLog;
use crate::places::{At, Function, Places, file_name, is_of_headers};

/// No context, no place.
pub(crate) const NONE: u32 = u32::MAX;

/// What a region is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A function of the user's.
    Function,
    /// A construct of the paradigm with this name.
    Construct(StringId),
    Code,
    Phase,
    Loop,
    Iteration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Region {
    pub(crate) name: StringId,
    pub(crate) kind: Kind,
    pub(crate) file: StringId,
    pub(crate) line: u32,
}

/// A place in the source: file and line.
pub(crate) type Site = (StringId, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Context {
    pub(crate) region: u32,
    /// Number of the site in it where the next call is; [`NONE`] if there is none or it is unknown.
    pub(crate) site: u32,
    pub(crate) parent: u32,
    /// The return address of the next call, from the begin of its module: tells calls apart that one line has, and which comes first.
    pub(crate) offset: Option<u64>,
}

/// The tree of contexts, and the regions and sites that it names. Ids are positions.
#[derive(Default)]
pub(crate) struct Contexts {
    pub(crate) regions: Numbered<Region>,
    pub(crate) sites: Numbered<Site>,
    pub(crate) tree: Numbered<Context>,
}

/// Values in the order of their first use.
pub(crate) struct Numbered<T> {
    ids: FxHashMap<T, u32>,
    pub(crate) rows: Vec<T>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Numbered { ids: FxHashMap::default(), rows: Vec::new() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Numbered<T> {
    pub(crate) fn number(&mut self, value: T) -> u32 {
        *self.ids.entry(value).or_insert_with(|| {
            self.rows.push(value);
            self.rows.len() as u32 - 1
        })
    }
}

/// What a thread of C++ runs: a function of the library, which has no name.
const THREAD_OF_CPP: &str = "std::thread";

/// What the paths of one process are in the archive.
pub(crate) struct Mapped {
    /// The context of each path.
    pub(crate) contexts: Vec<u32>,
    /// The region of each path that is a region alone; [`NONE`] for others.
    pub(crate) regions: Vec<u32>,
}

impl Contexts {
    /// Adds the paths of a process.
    pub(crate) fn add(&mut self, log: &ProcessLog, places: &Places, strings: &mut Strings) -> Mapped {
        let told: FxHashMap<u32, Site> =
            log.told.iter().map(|(number, (file, line))| (*number, (strings.intern(file), *line))).collect();
        let of_log = |(number, (kind, name)): (u32, &(String, String))| {
            self.region(kind, name, told.get(&number).copied(), strings)
        };
        let regions: Vec<u32> = (0..).zip(&log.regions).map(of_log).collect();
        let modules: Vec<StringId> = log.modules.iter().map(|path| strings.intern(path)).collect();
        let mut mapped = Mapped { contexts: Vec::new(), regions: Vec::new() };
        // Frames of a library that stands between, and of those that it calls; the program's own begin anew.
        let mut is_inside: Vec<bool> = Vec::new();
        // Frames of the C library that lead to `main`, which has no name itself where all were taken away.
        let mut leads_to_main: Vec<bool> = Vec::new();
        for node in &log.paths {
            let around = node.parent.map_or(usize::MAX, |parent| parent as usize);
            let parent = mapped.contexts.get(around).copied().unwrap_or(NONE);
            let module = |module: Option<u32>| module.and_then(|module| modules.get(module as usize)).copied();
            let path_of = |module: Option<u32>| log.modules.get(module? as usize);
            let path = match node.step {
                Step::Frame { module, .. } | Step::Sample { module, .. } => path_of(module),
                Step::Function { .. } | Step::Region(_) | Step::Body { .. } => None,
            };
            let is_inside_around = is_inside.get(around) == Some(&true);
            is_inside.push(path.is_some_and(|path| is_between(path) || is_inside_around && *path != log.program));
            let calls = matches!(node.step, Step::Frame { .. });
            let mut flat = NONE;
            let place = At::of(node.step).and_then(|(number, at)| Some((module(number)?, at)));
            let functions = place.map_or(&[][..], |(path, at)| places.get(path, at));
            let name = functions.first().map_or("", |function| strings.get(function.name));
            let is_after_start = leads_to_main.get(around) == Some(&true);
            let is_systems = path.is_some_and(|path| starts_programs(path));
            leads_to_main
                .push(calls_main(name) || is_after_start && (is_below_main(name) || is_systems && is_nameless(name)));
            let context = match node.step {
                _ if leads_to_main.last() == Some(&true) => NONE,
                Step::Region(number) | Step::Body { region: number, .. } => {
                    let Some(&region) = regions.get(number as usize) else {
                        mapped.contexts.push(parent);
                        mapped.regions.push(NONE);
                        continue;
                    };
                    flat = region;
                    let context = match (functions.first(), told.get(&number)) {
                        (Some(body), _) if body.call_line > 0 => {
                            let site = self.sites.number((body.call_file, body.call_line));
                            Context { region, site, parent, offset: None }
                        }
                        (_, Some(told)) => self.told(region, parent, *told, strings),
                        _ => Context { region, site: self.line_of_call(region, parent), parent, offset: None },
                    };
                    self.tree.number(context)
                }
                Step::Frame { .. } | Step::Sample { .. }
                    if is_inside.last() == Some(&true)
                        || parent != NONE
                            && path.is_some_and(|path| {
                                is_interpreters(path)
                                    || is_of_cpp(path)
                                        && (calls || is_nameless(name) && self.is_thread_of_cpp(parent, strings))
                            }) =>
                {
                    parent
                }
                Step::Frame { module: number, address: Hex(address) }
                | Step::Sample { module: number, address: Hex(address) } => {
                    let main = functions.first().filter(|_| is_after_start && is_nameless(name));
                    let main = main.map(|function| [Function { name: strings.intern("main"), ..*function }]);
                    let functions = main.as_ref().map_or(functions, |main| main);
                    self.frame((parent, is_systems), functions, module(number), address, calls, strings)
                }
                Step::Function { module: number, address: Hex(address) } => {
                    let region = match functions.first() {
                        Some(_) if is_nameless(name) && path_of(number).is_some_and(|path| is_of_cpp(path)) => {
                            let (name, file) = (strings.intern(THREAD_OF_CPP), StringId::NONE);
                            self.regions.number(Region { name, kind: Kind::Function, file, line: 0 })
                        }
                        Some(function) => self.function(function),
                        None => self.unknown(module(number), address, strings),
                    };
                    flat = region;
                    self.tree.number(Context { region, site: NONE, parent, offset: None })
                }
            };
            mapped.contexts.push(context);
            mapped.regions.push(flat);
        }
        mapped
    }

    /// A region that the program's runtime says is at a place in the source: in the innermost function around that is in that file. Those inside of it are
    /// the runtime's; where none is in the file, all may be the program's. A function that tells of itself is there already.
    fn told(&mut self, region: u32, parent: u32, (file, line): Site, strings: &Strings) -> Context {
        let name = file_name(strings.get(file));
        let of = |region: u32| self.regions.rows[region as usize];
        let mut at = parent;
        while let Some(&around) = self.tree.rows.get(at as usize) {
            let site = self.sites.rows.get(around.site as usize).map(|site| site.0);
            let known = site.or(Some(of(around.region).file).filter(|_| of(around.region).kind == Kind::Function));
            if let Some(known) = known.filter(|known| file_name(strings.get(*known)) == name) {
                if is_same(of(region), of(around.region), strings) {
                    return Context { site: NONE, offset: None, ..around };
                }
                let site = self.sites.number((known, line));
                let parent = self.tree.number(Context { site, ..around });
                return Context { region, site: NONE, parent, offset: None };
            }
            at = around.parent;
        }
        let site = if of(region).kind == Kind::Function { NONE } else { self.sites.number((file, line)) };
        Context { region, site, parent, offset: None }
    }

    /// Where a construct is called that is directly in a marked region, which is at no line itself; [`NONE`] for all others: their
    /// line is that of their parent.
    fn line_of_call(&self, region: u32, parent: u32) -> u32 {
        let kind = |region: u32| self.regions.rows[region as usize].kind;
        let is_mark = |region: u32| matches!(kind(region), Kind::Code | Kind::Phase | Kind::Loop | Kind::Iteration);
        let mut at = parent;
        while let Some(around) = self.tree.rows.get(at as usize) {
            if !is_mark(around.region) {
                let is_inside_mark = at != parent && matches!(kind(region), Kind::Construct(_));
                return if is_inside_mark { around.site } else { NONE };
            }
            at = around.parent;
        }
        NONE
    }

    /// The context of the innermost function at a return address. With the context around it comes whether the module starts programs and
    /// threads.
    fn frame(
        &mut self,
        (parent, is_systems): (u32, bool),
        functions: &[Function],
        module: Option<StringId>,
        address: u64,
        calls: bool,
        strings: &mut Strings,
    ) -> u32 {
        // An address outside of all modules is another one in every process.
        let offset = module.filter(|_| calls).map(|_| address);
        if functions.is_empty() {
            let region = self.unknown(module, address, strings);
            return self.tree.number(Context { region, site: NONE, parent, offset });
        }
        let is_passed = |function: &Function| {
            let (name, file) = (strings.get(function.name), strings.get(function.file));
            is_mark(name) || is_rust_start(name) || is_of_headers(file)
        };
        let innermost = functions.iter().rposition(|function| !is_passed(function));
        let told = self.told_of_themselves(parent, functions, strings);
        let mut context = parent;
        for (level, function) in functions.iter().enumerate().skip(told.saturating_sub(1)) {
            let name = strings.get(function.name);
            let is_start = is_below_main(name) || is_systems && is_nameless(name);
            if context == NONE && is_start || is_passed(function) {
                continue;
            }
            let site = match function.call_line {
                0 => NONE,
                line => self.sites.number((function.call_file, line)),
            };
            let entered = self.tree.rows.get(context as usize).copied();
            let is_told = level + 1 == told;
            let around = match entered {
                Some(entered)
                    if is_told || has_body(strings.get(self.regions.rows[entered.region as usize].name), name) =>
                {
                    entered.parent
                }
                _ => context,
            };
            // Where an inlined function is declared, only who entered it knows.
            let region = match entered {
                Some(entered) if is_told && function.line == 0 => entered.region,
                _ => self.function(function),
            };
            // A function that another one was inlined into is at a line; the address is that one's.
            let offset = offset.filter(|_| innermost == Some(level));
            context = self.tree.number(Context { region, site, parent: around, offset });
        }
        context
    }

    /// How many functions of an address, from the outermost on, were entered by themselves: an instrumented function, and those that were inlined into
    /// it and tell of themselves all the same. The address is a place in the last of them.
    fn told_of_themselves(&self, parent: u32, functions: &[Function], strings: &Strings) -> usize {
        let were_entered = |count: &usize| {
            let mut at = parent;
            functions[..*count].iter().rev().all(|function| {
                let Some(entered) = self.tree.rows.get(at as usize) else { return false };
                at = entered.parent;
                entered.site == NONE
                    && is_same(self.regions.rows[entered.region as usize], region_of(function), strings)
            })
        };
        (1..=functions.len()).rev().find(were_entered).unwrap_or(0)
    }

    fn function(&mut self, function: &Function) -> u32 {
        self.regions.number(region_of(function))
    }

    /// Whether a context is what GCC's library of C++ gives threads to run.
    fn is_thread_of_cpp(&self, context: u32, strings: &Strings) -> bool {
        let region = self.tree.rows.get(context as usize).map(|row| self.regions.rows[row.region as usize]);
        region.is_some_and(|region| strings.get(region.name) == THREAD_OF_CPP)
    }

    fn unknown(&mut self, module: Option<StringId>, address: u64, strings: &mut Strings) -> u32 {
        let name = match module {
            Some(path) => format!("{}+0x{address:x}", file_name(strings.get(path))),
            None => format!("0x{address:x}"),
        };
        let name = strings.intern(&name);
        self.regions.number(Region { name, kind: Kind::Function, file: StringId::NONE, line: 0 })
    }

    fn region(&mut self, kind: &str, name: &str, told: Option<Site>, strings: &mut Strings) -> u32 {
        let kind = match kind {
            "code" => Kind::Code,
            "phase" => Kind::Phase,
            "loop" => Kind::Loop,
            "iteration" => Kind::Iteration,
            "function" => Kind::Function,
            paradigm => Kind::Construct(strings.intern(paradigm)),
        };
        let name = strings.intern(name);
        let (file, line) = told.filter(|_| kind == Kind::Function).unwrap_or((StringId::NONE, 0));
        self.regions.number(Region { name, kind, file, line })
    }
}

fn region_of(function: &Function) -> Region {
    let Function { name, file, line, .. } = *function;
    Region { name, kind: Kind::Function, file, line }
}

/// Whether a function that told of itself is the one of a frame. Who told may name its file and line in another way.
fn is_same(entered: Region, found: Region, strings: &Strings) -> bool {
    let file = |of: Region| file_name(strings.get(of.file));
    let is_function = entered.kind == Kind::Function && found.kind == Kind::Function;
    entered == found || is_function && entered.name == found.name && file(entered) == file(found)
}

/// What stands between the user's function and the region that it marks: `fortran/partune.f90`, the crate `partune-regions`, `include/partune_gasp.upc`.
fn is_mark(function: &str) -> bool {
    ["partune::partune_", "partune_regions::", "<partune_regions::", "gasp_event_notify", "gasp_init"]
        .iter()
        .any(|prefix| function.starts_with(prefix))
}

/// Whether a function was named after its module or after another function.
fn is_nameless(function: &str) -> bool {
    function.contains("+0x")
}

/// Whether functions without a name of a module are those that start programs and threads, where they are outermost.
fn starts_programs(path: &str) -> bool {
    let name = file_name(path);
    name == "libc.so.6" || name.starts_with("libgomp.so")
}

/// Whether a module is GCC's library of C++.
fn is_of_cpp(path: &str) -> bool {
    file_name(path).starts_with("libstdc++.so")
}

/// Whether a function that Clang has made of a region's or a task's code only calls another one, which has the code.
fn has_body(function: &str, body: &str) -> bool {
    let is_body = body.contains("omp_outlined");
    let is_debug = |name: &str| name.contains("_debug__");
    is_body
        && (function.starts_with(".omp_task_entry.")
            || function.contains("omp_outlined") && !is_debug(function) && is_debug(body))
}

/// What Rust's library puts between the system's `main` and the program's.
fn is_rust_start(function: &str) -> bool {
    const STARTS: [&str; 3] =
        ["std::rt::lang_start", "std::sys::backtrace::__rust_begin_short_backtrace", "std::panicking::"];
    STARTS.iter().any(|start| function.starts_with(start))
}

/// Whether a module stands between the user's call and the recorded one: Fortran bindings of MPI libraries that call the C one, the one for Python
/// (mpi4py), and the collector itself. The system's calls that need no system are no place of the program's either.
fn is_between(path: &str) -> bool {
    const STEMS: [&str; 7] =
        ["libmpi", "libpmpi", "libfmpi", "libopen-pal", "libopen-rte", "libpartune_collect", "linux-vdso"];
    let name = file_name(path);
    STEMS.iter().any(|stem| name.starts_with(stem)) || path.contains("/mpi4py/MPI.")
}

/// What an interpreter runs for itself: that of Python imports modules, and starts them, by code that it was built with.
fn is_interpreters(path: &str) -> bool {
    Script::parse(path).is_some_and(|script| script.file.starts_with("<frozen "))
}

#[cfg(test)]
mod tests {
    use partune_parts::layout::VERSION;

    use super::*;

    #[test]
    fn functions_that_only_call_a_regions_code_are_known() {
        assert!(has_body(".omp_outlined..3", ".omp_outlined._debug__.2"));
        assert!(has_body("work(int) [clone .omp_outlined]", "work(int) [clone .omp_outlined_debug__]"));
        assert!(has_body(".omp_task_entry..4", ".omp_outlined..1"));
        // The code of one region that another one is directly in.
        assert!(!has_body(".omp_outlined._debug__", ".omp_outlined."));
        assert!(!has_body(".omp_outlined.", ".omp_outlined..1"));
        assert!(!has_body(".omp_task_entry.", "fib"));
        assert!(!has_body("main", ".omp_outlined._debug__"));
    }

    /// A script's function is at its line, one of the interpreter's own is left out, and native code may be called from either.
    #[test]
    fn scripts_have_names_and_lines() {
        let (mut contexts, mut strings) = (Contexts::default(), Strings::default());
        let call = |line| partune_parts::script::address(line, 3);
        let log = format!(
            "partune {VERSION}\nmodule 0 0 0 0 <script>:1:<module>:/a/heat.py\nmodule 1 0 0 0 <script>:9:run:<frozen%20runpy>\n\
             module 2 0 0 0 <script>:4:halo:/a/heat.py\nregion 0 MPI MPI_Send\npath 0 - frame 0 {:x}\npath 1 0 frame 1 {:x}\n\
             path 2 1 frame 2 {:x}\npath 3 2 region 0\npath 4 0 sample 2 {:x}\n",
            call(20),
            call(10),
            call(5),
            call(6),
        );
        let log = ProcessLog::parse(&log).expect("a log");
        let modules: Vec<_> = log.modules.iter().map(|path| strings.intern(path)).collect();
        let at = [(0, 20), (1, 10), (2, 5)].map(|(module, line): (usize, u32)| (modules[module], At::Call(call(line))));
        let all = at.into_iter().chain([(modules[2], At::Running(call(6)))]).collect();
        let places = Places::resolve(all, &mut strings).expect("no file is read");
        let mapped = contexts.add(&log, &places, &mut strings);
        assert_eq!(mapped.contexts, [0, 0, 1, 2, 3]);
        let lines = contexts.tree.rows.iter().map(|row| Some(contexts.sites.rows.get(row.site as usize)?.1));
        assert_eq!(lines.collect::<Vec<_>>(), [Some(20), Some(5), None, Some(6)]);
        let names = contexts.regions.rows.iter().map(|region| strings.get(region.name).to_owned());
        assert_eq!(names.collect::<Vec<_>>(), ["MPI_Send", "<module>", "halo"]);
    }

    /// What lies between the place that a runtime tells and the construct is the runtime's; a function that tells of itself is that of the frame.
    #[test]
    fn what_a_runtime_tells_is_where_it_says() {
        let (mut contexts, mut strings) = (Contexts::default(), Strings::default());
        let call = |line| partune_parts::script::address(line, 3);
        let log = format!(
            "partune {VERSION}\nmodule 0 0 0 0 <script>:1:main:/a/runtime.c\nmodule 1 0 0 0 <script>:4:solve:/a/b/app.upc\n\
             module 2 0 0 0 <script>:7:barrier:/a/runtime.c\nregion 0 UPC upc_barrier\ntold 0 app.upc 9\nregion 1 function solve\n\
             told 1 app.upc 4\nregion 2 UPC upc_wait\ntold 2 other.upc 30\npath 0 - frame 0 {main:x}\npath 1 0 frame 1 {solve:x}\n\
             path 2 1 frame 2 {inner:x}\npath 3 2 region 0\npath 4 2 region 1\npath 5 2 region 2\n",
            main = call(2),
            solve = call(5),
            inner = call(8),
        );
        let log = ProcessLog::parse(&log).expect("a log");
        let modules: Vec<_> = log.modules.iter().map(|path| strings.intern(path)).collect();
        let at = [(0, 2), (1, 5), (2, 8)].map(|(module, line): (usize, u32)| (modules[module], At::Call(call(line))));
        let places = Places::resolve(at.to_vec(), &mut strings).expect("no file is read");
        let mapped = contexts.add(&log, &places, &mut strings);
        let path = |at: usize| {
            let mut lines = Vec::new();
            let mut context = contexts.tree.rows.get(mapped.contexts[at] as usize);
            while let Some(row) = context {
                let line = contexts.sites.rows.get(row.site as usize).map(|site| site.1);
                lines.push((strings.get(contexts.regions.rows[row.region as usize].name), line));
                context = contexts.tree.rows.get(row.parent as usize);
            }
            lines
        };
        assert_eq!(path(3), [("upc_barrier", None), ("solve", Some(9)), ("main", Some(2))]);
        assert_eq!(path(4), [("solve", None), ("main", Some(2))]);
        let unknown = [("upc_wait", Some(30)), ("barrier", Some(8)), ("solve", Some(5)), ("main", Some(2))];
        assert_eq!(path(5), unknown, "nothing is in that file");
    }

    #[test]
    fn processes_that_loaded_a_module_elsewhere_have_the_same_contexts() {
        let (mut contexts, mut strings) = (Contexts::default(), Strings::default());
        for bias in ["5000", "7000"] {
            let log = format!(
                "partune {VERSION}\nmodule 0 {bias} ffffff {bias} /a/b\nregion 0 MPI MPI_Send\npath 0 - frame 0 11f\npath 1 0 region 0\n\
                 path 2 - frame 0 124\npath 3 2 region 0\npath 4 2 sample 0 300\n"
            );
            let log = ProcessLog::parse(&log).expect("a log");
            let mapped = contexts.add(&log, &Places::default(), &mut strings);
            assert_eq!(mapped.contexts, [0, 1, 2, 3, 4]);
        }
        // Nothing is called from what was found to run, and operations are at no place.
        let offsets: Vec<_> = contexts.tree.rows.iter().map(|row| row.offset).collect();
        assert_eq!(offsets, [Some(0x11f), None, Some(0x124), None, None]);
    }
}
