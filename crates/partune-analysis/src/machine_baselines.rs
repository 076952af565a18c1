//! The baselines of a machine by what the operations of a run are: paradigm and role.

use partune_base::{CallPathId, StringId};
use partune_machine::{Machine, RoleBaselines};
use partune_trace::{Role, Trace};
use rustc_hash::FxHashMap;

/// Made once for a run, asked for each of its operations.
#[derive(Default)]
pub(crate) struct MachineBaselines<'a> {
    known: FxHashMap<(StringId, Role), RoleBaselines<'a>>,
    none: RoleBaselines<'a>,
}

impl<'a> MachineBaselines<'a> {
    /// None are known without a machine. Cost: the paradigms of the run times the roles times the machine's baselines.
    pub(crate) fn new(trace: &Trace, machine: Option<&'a Machine>) -> MachineBaselines<'a> {
        let mut known = FxHashMap::default();
        let Some(machine) = machine else { return MachineBaselines::default() };
        for region in trace.regions().iter().filter(|region| region.paradigm.is_some()) {
            let paradigm = trace.strings().get(region.paradigm);
            for role in Role::ALL {
                let of_role = || machine.baselines_of(paradigm, role.name());
                known.entry((region.paradigm, role)).or_insert_with(of_role);
            }
        }
        MachineBaselines { known, none: RoleBaselines::default() }
    }

    /// What operations of this call path need.
    pub(crate) fn of(&self, trace: &Trace, path: CallPathId) -> &RoleBaselines<'a> {
        self.of_role(trace, path, trace.regions()[trace.paths().region(path)].role)
    }

    /// What this role needs in the paradigm of a call path.
    pub(crate) fn of_role(&self, trace: &Trace, path: CallPathId, role: Role) -> &RoleBaselines<'a> {
        let paradigm = trace.regions()[trace.paths().region(path)].paradigm;
        self.known.get(&(paradigm, role)).unwrap_or(&self.none)
    }
}
