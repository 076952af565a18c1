//! What is said of collectives that could not be put together.

use partune_base::GroupId;
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::Trace;

/// Counts of what went wrong.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Instances left out, by group; groups come in order.
    mismatched: Vec<(GroupId, u64)>,
    /// Instances that lack members, and how many lack.
    pub(super) incomplete: u64,
    pub(super) missing: u64,
    /// Instances of inferred sets that do not fit together.
    pub(super) unproven: u64,
}

/// How many groups are named.
const NAMED: usize = 8;

impl Faults {
    pub(super) fn mismatched(&mut self, group: GroupId) {
        match self.mismatched.last_mut().filter(|(last, _)| *last == group) {
            Some((_, count)) => *count += 1,
            None => self.mismatched.push((group, 1)),
        }
    }

    pub(super) fn report(&self, trace: &Trace, quality: &mut Quality) {
        let (named, others) = self.mismatched.split_at(self.mismatched.len().min(NAMED));
        for &(group, count) in named {
            let name = trace.groups().get(group).map_or("", |group| trace.strings().get(group.name));
            let name = if name.is_empty() { format!("group {}", group.0) } else { format!("group {name}") };
            quality.add(mismatch(&name, count));
        }
        quality.add(mismatch("further groups", others.iter().map(|(_, count)| count).sum()));
        quality.add(
            Diagnostic::data_loss(
                Code::IncompleteCollectives,
                format!("{} collective operations lack the record of {} members", self.incomplete, self.missing),
                "the archive is truncated or was not recorded on all processes: record the whole run",
            )
            .times(self.incomplete),
        );
        quality.add(
            Diagnostic::data_loss(
                Code::UnprovenBarriers,
                "barriers without record of their group do not fit together over PEs; no wait is claimed from them",
                "record with a tool that writes groups or teams of threads (Score-P)",
            )
            .times(self.unproven),
        );
    }
}

fn mismatch(group: &str, count: u64) -> Diagnostic {
    Diagnostic::data_loss(
        Code::ContradictingCollectives,
        format!("members of {group} disagree about what a collective operation was; such operations are left out"),
        "events were lost or the archive mixes groups: record again with larger buffers",
    )
    .times(count)
}
