//! What is said of sends and receives without partner.

use partune_base::GroupId;
use partune_diag::{Code, Diagnostic, Quality};
use partune_trace::{Recv, Send, Trace};

/// Sends and receives without partner, by communicator.
pub(super) struct Tally {
    /// Sends and receives of each group; the last entry is for no group.
    groups: Vec<(u64, u64)>,
    unknown_senders: u64,
    unknown_receivers: u64,
    lost_recvs: u64,
}

/// How many communicators are told apart in messages; the others are summed.
const NAMED: usize = 12;

impl Tally {
    pub(super) fn new(trace: &Trace) -> Tally {
        Tally {
            groups: vec![(0, 0); trace.groups().len() + 1],
            unknown_senders: 0,
            unknown_receivers: 0,
            lost_recvs: 0,
        }
    }

    pub(super) fn send(&mut self, row: &Send) {
        if row.peer.is_some() {
            self.entry(row.group).0 += 1;
        } else {
            self.unknown_receivers += 1;
        }
    }

    pub(super) fn recv(&mut self, row: &Recv) {
        if row.peer.is_some() {
            self.entry(row.group).1 += 1;
        } else {
            self.unknown_senders += 1;
        }
    }

    pub(super) fn lost_recvs(&mut self, count: u64) {
        self.lost_recvs = count;
    }

    fn entry(&mut self, group: GroupId) -> &mut (u64, u64) {
        let none = self.groups.len() - 1;
        &mut self.groups[(group.0 as usize).min(none)]
    }

    pub(super) fn report(self, trace: &Trace, quality: &mut Quality) {
        let crossed = self.crossed();
        let mut names: Vec<(String, u64, u64)> = Vec::new();
        for (index, &(sends, recvs)) in self.groups.iter().enumerate().filter(|(_, counts)| **counts != (0, 0)) {
            let name = group_name(trace, GroupId(index as u32));
            let at = names.iter().position(|(known, _, _)| *known == name).unwrap_or(names.len());
            if at == names.len() && at < NAMED {
                names.push((name, 0, 0));
            } else if at >= NAMED {
                "further communicators".clone_into(&mut names[NAMED - 1].0);
            }
            let entry = &mut names[at.min(NAMED - 1)];
            (entry.1, entry.2) = (entry.1 + sends, entry.2 + recvs);
        }
        for (name, sends, recvs) in names {
            let remedy = if crossed {
                "sends are left over on one communicator and receives on another: the recorder books some receives on the wrong \
                 communicator; record with another tool if these messages matter"
            } else {
                "the program never received them, or the archive is truncated or was not recorded on all processes: record the \
                 whole run"
            };
            quality.add(
                Diagnostic::data_loss(
                    Code::UnmatchedMessages,
                    format!(
                        "{sends} of the sends and {recvs} of the receives on {name} have no partner; no wait is claimed from them"
                    ),
                    remedy,
                )
                .times(sends + recvs),
            );
        }
        quality.add(
            Diagnostic::data_loss(
                Code::UndefinedPartner,
                "messages have a partner that the archive does not define",
                "the definitions of the archive are incomplete: record again, or keep all files of the archive together",
            )
            .times(self.unknown_senders + self.unknown_receivers),
        );
        quality.add(
            Diagnostic::data_loss(
                Code::UncompletedReceives,
                "receives were posted whose completion is not recorded; messages that they may have taken are left unmatched",
                "the run was cut off or the recorder loses completions: record to the end, or with another tool",
            )
            .times(self.lost_recvs),
        );
    }

    /// Whether sends are left over on one communicator and receives on another.
    fn crossed(&self) -> bool {
        let only_sends = self.groups.iter().any(|(sends, recvs)| sends > recvs);
        let only_recvs = self.groups.iter().any(|(sends, recvs)| recvs > sends);
        only_sends && only_recvs
    }
}

fn group_name(trace: &Trace, group: GroupId) -> String {
    match trace.groups().get(group).map(|group| trace.strings().get(group.name)) {
        Some("") => format!("communicator {} (no name)", group.0),
        Some(name) => format!("communicator {name}"),
        None => "a communicator that the archive does not define".to_owned(),
    }
}
