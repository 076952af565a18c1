//! Functions become operations: what a file says is put into a trace that was read, before anything is derived from it.

use partune_base::{RegionId, StringId, Table};
use partune_diag::{Code, Diagnostic};
use partune_trace::{GroupKind, Participants, Region, RegionKind, Role, Trace, TraceBuilder};

use crate::parse::near;
use crate::{Operations, Rule};

/// The paradigm of operations of the user's that are of no group.
const USER: &str = "user";

impl Operations {
    /// The trace in which functions, and what else the user marked, have the roles of the file. What was recorded inside of them belongs to
    /// them then, as with every operation. What the file names and the run does not have is added to the quality.
    ///
    /// The trace must not be a piece of a run. Linear in its rows if the file names functions at all.
    #[must_use]
    pub fn assign(&self, trace: Trace) -> Trace {
        if self.rules.is_empty() {
            return trace;
        }
        let mut built = trace.open();
        let occurring = occurring(&built);
        let user = built.strings.intern(USER);
        let world = paradigm_of_world(&built).unwrap_or(user);
        let mut is_used = vec![false; self.rules.len()];
        let mut changed: Vec<(RegionId, Region)> = Vec::new();
        for (id, region) in built.regions.iter_ids().filter(|(id, region)| occurring[*id] && region.role == Role::User)
        {
            let fits =
                |rule: &Rule| rule.fits(built.strings.get(region.name)) || rule.fits(built.strings.get(region.whole));
            let Some(at) = self.rules.iter().position(fits) else { continue };
            is_used[at] = true;
            changed.push((id, self.rules[at].region(*region, user, world)));
        }
        let unused = self.rules.iter().zip(&is_used).filter(|(_, used)| !**used);
        let notes: Vec<Diagnostic> = unused.map(|(rule, _)| unused_note(rule, &built, &occurring)).collect();
        notes.into_iter().for_each(|note| built.quality.add(note));
        changed.into_iter().for_each(|(id, region)| built.regions[id] = region);
        built.seal()
    }
}

impl Rule {
    fn fits(&self, name: &str) -> bool {
        self.name.strip_suffix('*').map_or(self.name == name, |begin| name.starts_with(begin))
    }

    fn region(&self, region: Region, user: StringId, world: StringId) -> Region {
        let participants = self.group.unwrap_or(self.role.participants());
        let of_world = matches!(participants, Participants::World | Participants::Group);
        let paradigm = if of_world { world } else { user };
        let kind = RegionKind::Function;
        Region { role: self.role, participants, completion: self.completion, paradigm, kind, ..region }
    }
}

/// Which regions are executed.
fn occurring(built: &TraceBuilder) -> Table<RegionId, bool> {
    let mut occurring = Table::filled(built.regions.len(), false);
    built.paths.ids().for_each(|path| occurring[built.paths.region(path)] = true);
    occurring
}

/// The paradigm of the largest group of everybody; of equal ones the first.
fn paradigm_of_world(built: &TraceBuilder) -> Option<StringId> {
    let worlds = built.groups.iter().filter(|group| group.kind == GroupKind::World);
    let largest = worlds.reduce(|most, next| if next.members.known() > most.members.known() { next } else { most });
    largest.and_then(|group| group.paradigm.some())
}

fn unused_note(rule: &Rule, built: &TraceBuilder, occurring: &Table<RegionId, bool>) -> Diagnostic {
    let all = || built.regions.iter_ids().filter(|(id, _)| occurring[*id]).map(|(_, region)| region);
    let name_of = |region: &Region| built.strings.get(region.name);
    let name = &rule.name;
    let is_taken = |region: &&Region| rule.fits(name_of(region));
    if let Some(region) = all().find(is_taken) {
        let why = if region.role == Role::User {
            "an entry before it says what it does"
        } else {
            "it is an operation already"
        };
        let message = format!("of the file of operations, {name} changes nothing: {why}");
        return Diagnostic::info(Code::UnusedOperation, message, "take it out of the file");
    }
    let functions = all().filter(|region| region.role == Role::User).map(name_of);
    let remedy = match near(name.strip_suffix('*').unwrap_or(name), functions) {
        Some(near) => format!("the run has {near}; write names as analyze --only profile shows them"),
        None => "write names as analyze --only profile shows them; a function is seen where it is instrumented or marked, or where it calls an operation"
            .to_owned(),
    };
    Diagnostic::info(
        Code::UnusedOperation,
        format!("{name} of the file of operations does not occur in this run"),
        remedy,
    )
}
