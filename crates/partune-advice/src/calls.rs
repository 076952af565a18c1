//! Which rules findings and gaps meet, and how their changes look there.
//!
//! A rule meets a finding by pattern, role, paradigm and causes. What its change names must have been recorded: a cause is code, not the operation
//! that ended a wait.

use std::cell::OnceCell;

use partune_analysis::{Cause, Finding, Pattern};
use partune_base::{CallPathId, Id, PeId, Span, StringId};
use partune_trace::{Completion, Region, Role, Trace, VisitIx};

use crate::loops::Worked;
use crate::{Action, Change, Options, Rule};

/// What of a trace is asked for.
pub(crate) struct Run<'a> {
    pub(crate) trace: &'a Trace,
    /// The paradigms in it.
    paradigms: Vec<&'a str>,
    /// Only looked at where a rule asks for loops.
    pub(crate) worked: OnceCell<Vec<Worked>>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Run<'a> {
        let mut used: Vec<StringId> =
            trace.paths().ids().map(|path| trace.regions()[trace.paths().region(path)].paradigm).collect();
        used.sort_unstable();
        used.dedup();
        Run {
            trace,
            paradigms: used.into_iter().filter_map(StringId::some).map(|it| trace.strings().get(it)).collect(),
            worked: OnceCell::new(),
        }
    }

    /// None where no call path is known.
    pub(crate) fn region(&self, path: CallPathId) -> Option<&'a Region> {
        let known = path.some().filter(|path| path.index() < self.trace.paths().len())?;
        Some(&self.trace.regions()[self.trace.paths().region(known)])
    }

    fn is_code(&self, path: CallPathId) -> bool {
        self.region(path).is_some() && !self.trace.paths().operation(path).is_some()
    }

    /// Whether what is at a call path is of one of these paradigms; of code, whether the run uses one.
    fn is_of(&self, path: CallPathId, paradigms: &[String]) -> bool {
        let named = |name: &str| paradigms.iter().any(|it| it == name);
        match self.region(path).and_then(|region| region.paradigm.some()) {
            _ if paradigms.is_empty() => true,
            Some(own) => named(self.trace.strings().get(own)),
            None => self.paradigms.iter().any(|name| named(name)),
        }
    }

    /// Whether two call paths end at one statement.
    pub(crate) fn is_same(&self, one: CallPathId, other: CallPathId) -> bool {
        let paths = self.trace.paths();
        (paths.region(one), paths.site(one)) == (paths.region(other), paths.site(other))
    }

    /// Whether an operation comes back before it is done already.
    fn is_nonblocking(&self, path: CallPathId) -> bool {
        self.region(path).is_some_and(|it| matches!(it.completion, Completion::NonBlocking | Completion::Persistent))
    }

    /// Whether a finding is of one barrier, and one of its PEs comes as often to other barriers; none of them is found to be redundant, and this is
    /// not the end of a parallel region, which has to be. Linear in the operations of the PE.
    fn is_in_turns(&self, finding: &Finding, findings: &[&Finding]) -> bool {
        let Some(stream) = finding.pes.first().and_then(|(pe, _)| self.trace.streams().get(*pe)) else { return false };
        let could_go = |it: &&&Finding| it.pattern == Pattern::RedundantBarrier;
        let redundant: Vec<CallPathId> =
            findings.iter().filter(could_go).flat_map(|finding| finding.call_paths()).collect();
        let is_barrier = |path: CallPathId| self.region(path).is_some_and(|region| region.role == Role::GroupSync);
        let path = |visit: VisitIx| stream.visits.path.get(visit.index()).copied();
        let (mut own, mut others) = (0_u64, 0_u64);
        for visit in &stream.operations {
            match path(*visit) {
                Some(at) if finding.call_paths().any(|own| own == at) => {
                    let next = path(VisitIx(visit.0 + 1));
                    own += 1;
                    if self.ends_region(at, next) {
                        return false;
                    }
                }
                Some(at) if is_barrier(at) && !redundant.contains(&at) => others += 1,
                _ => {}
            }
        }
        let is_one = |path: CallPathId| is_barrier(path) && self.is_same(path, finding.path);
        let stays = finding.call_paths().all(|path| is_one(path) && !redundant.contains(&path));
        stays && own > 0 && others >= own
    }

    /// Whether an operation is the last of a thread's part in a parallel region, by the call path that comes next.
    fn ends_region(&self, path: CallPathId, next: Option<CallPathId>) -> bool {
        let paths = self.trace.paths();
        let is_parallel = |path: &CallPathId| self.region(*path).is_some_and(|region| region.role == Role::Parallel);
        let Some(around) = paths.ancestors(path).find(is_parallel) else { return false };
        !next.is_some_and(|next| paths.ancestors(next).skip(1).any(|it| it == around))
    }

    /// The innermost function of the program's own that a path is in, below the outermost one; the path itself where there is none. Sources of
    /// libraries are unknown, or lie elsewhere than those of the outermost function.
    fn of_program(&self, path: CallPathId) -> CallPathId {
        let paths = self.trace.paths();
        let root = |path: CallPathId| {
            let file = self.region(path).and_then(|region| region.file.some())?;
            Some(root(self.trace.strings().get(file)))
        };
        let of_outermost = paths.ancestors(path).filter_map(root).last();
        let own = paths.ancestors(path).find(|path| root(*path).is_some() && root(*path) == of_outermost);
        own.filter(|own| *own == path || paths.parent(*own).is_some()).unwrap_or(path)
    }

    /// What a cause is for a change that names its code.
    pub(crate) fn code(&self, cause: &Cause) -> Code {
        match (cause.origin.some(), cause.path) {
            (Some(origin), _) if self.is_code(origin) => Code::At(self.of_program(origin)),
            (Some(_), _) => Code::InOperation,
            (None, path) if self.is_code(path) => Code::At(self.of_program(path)),
            (None, _) => Code::Unknown,
        }
    }
}

/// The code that made a PE late.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Code {
    At(CallPathId),
    /// It was in an operation, and not in code.
    InOperation,
    /// It was in code of which nothing is recorded.
    Unknown,
}

/// A rule that a finding, or a gap alone, meets.
pub(crate) struct Call<'a> {
    pub(crate) action: &'static Action,
    pub(crate) change: Option<&'static Change>,
    pub(crate) upper_limit: bool,
    pub(crate) finding: Option<(usize, &'a Finding)>,
    pub(crate) cause: Option<(PeId, CallPathId)>,
    /// What of the finding is the doing of what the change changes.
    pub(crate) caused: Span,
}

/// What makes calls one candidate: the same change with the same names in it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    action: usize,
    change: Option<&'static Change>,
    place: Option<CallPathId>,
    cause: Option<CallPathId>,
    pe: Option<PeId>,
}

impl Key {
    /// The same change with the same names, whatever the action.
    pub(crate) fn of_change(self) -> Key {
        Key { action: 0, ..self }
    }
}

impl Call<'_> {
    pub(crate) fn key(&self, action: usize) -> Key {
        let needs = |needs: fn(&Change) -> bool| self.change.is_some_and(needs);
        Key {
            action,
            change: self.change,
            place: self.finding.filter(|_| needs(Change::needs_place)).map(|(_, finding)| finding.path),
            cause: self.cause.filter(|_| needs(Change::needs_cause)).map(|(_, path)| path),
            pe: self.cause.filter(|_| needs(Change::needs_pe)).map(|(pe, _)| pe),
        }
    }
}

/// What meets a rule whose gaps fit, once for each change.
pub(crate) fn calls_of<'a>(
    action: &'static Action,
    rule: &'static Rule,
    findings: &[&'a Finding],
    run: &Run<'_>,
    options: &Options,
) -> Vec<Call<'a>> {
    // One that has no change is met as well.
    let changes = || rule.changes.iter().map(Some).chain(rule.changes.is_empty().then_some(None));
    if rule.patterns.is_empty() {
        let fits = run.is_of(CallPathId::NONE, &rule.paradigms);
        let call = |change| Call {
            action,
            change,
            upper_limit: rule.upper_limit,
            finding: None,
            cause: None,
            caused: Span::ZERO,
        };
        return changes().filter(|_| fits).map(call).collect();
    }
    let fits = |finding: &Finding| {
        rule.patterns.contains(&finding.pattern)
            && (rule.roles.is_empty() || rule.roles.contains(&finding.role))
            && run.is_of(finding.path, &rule.paradigms)
            && (!rule.by_one_pe || is_by_one_pe(finding, options))
            && (!rule.repeated || finding.count > 2 * finding.pes.len() as u64)
            && (!rule.in_turns || run.is_in_turns(finding, findings))
    };
    let mut calls = Vec::new();
    for (at, finding) in findings.iter().copied().enumerate().filter(|(_, finding)| fits(finding)) {
        for change in changes() {
            let Some((change, cause, caused)) = filled(change, finding, run) else { continue };
            let causes = if rule.loops.is_empty() {
                vec![(cause, caused)]
            } else {
                run.loops(finding, rule, options.beside)
                    .into_iter()
                    .map(|it| (Some((it.pe, it.changed)), it.caused))
                    .collect()
            };
            let call = |(cause, caused)| Call {
                action,
                change,
                upper_limit: rule.upper_limit,
                finding: Some((at, finding)),
                cause,
                caused,
            };
            calls.extend(causes.into_iter().map(call));
        }
    }
    calls
}

/// How a change looks for a finding: the change, the cause that it names, and what of the finding that made. Without the change where what it
/// names was not recorded; none where it would change nothing.
type Filled = (Option<&'static Change>, Option<(PeId, CallPathId)>, Span);

fn filled(change: Option<&'static Change>, finding: &Finding, run: &Run<'_>) -> Option<Filled> {
    let main = finding.causes.first().map(|cause| (cause.pe, place_of(cause)));
    let Some(change) = change else { return Some((None, main, finding.time)) };
    if change.is_nonblocking() && run.is_nonblocking(finding.path) {
        return None;
    }
    let part = |same: &dyn Fn(&Cause) -> bool| finding.causes.iter().filter(|it| same(it)).map(|it| it.time).sum();
    let has_place = finding.path.is_some() || !change.needs_place();
    if change.needs_cause() {
        // Where operations of their own made PEs late, the code around these is not what to change.
        let in_operation = part(&|cause| run.code(cause) == Code::InOperation);
        if in_operation > part(&|cause| run.code(cause) != Code::InOperation) {
            return None;
        }
        let codes = || finding.causes.iter().map(|cause| (cause, run.code(cause)));
        let code = codes().find_map(|(cause, code)| match code {
            Code::At(path) => Some((cause.pe, path)),
            Code::InOperation | Code::Unknown => None,
        });
        return match code {
            // Nothing is moved past itself.
            Some((_, path)) if change.needs_place() && path == finding.path => None,
            Some((pe, path)) => {
                let caused = part(&|cause| run.code(cause) == Code::At(path));
                Some((has_place.then_some(change), Some((pe, path)), caused))
            }
            None => {
                let (cause, _) = codes().find(|(_, code)| *code == Code::Unknown)?;
                Some((None, Some((cause.pe, place_of(cause))), part(&|cause| run.code(cause) == Code::Unknown)))
            }
        };
    }
    if change.needs_pe() {
        let (pe, _) = main.filter(|(pe, _)| pe.is_some())?;
        return Some((has_place.then_some(change), main, part(&|cause| cause.pe == pe)));
    }
    Some((has_place.then_some(change), main, finding.time))
}

/// The first folder of a path.
fn root(file: &str) -> &str {
    let begin = usize::from(file.starts_with('/'));
    file[begin..].find('/').map_or("", |end| &file[..begin + end])
}

/// The code that made a cause late, or its operation where the code is not known.
pub(crate) fn place_of(cause: &Cause) -> CallPathId {
    cause.origin.some().unwrap_or(cause.path)
}

fn is_by_one_pe(finding: &Finding, options: &Options) -> bool {
    let Some(pe) = finding.causes.first().and_then(|cause| cause.pe.some()) else { return false };
    let of_pe: Span = finding.causes.iter().filter(|cause| cause.pe == pe).map(|cause| cause.time).sum();
    finding.time.is_positive() && of_pe.0 as f64 >= options.by_one_pe * finding.time.0 as f64
}
