//! What a profile has of the communication matrix: what each PE sent and received. With whom, only events tell.

use partune_base::PeId;
use partune_trace::{PathProfile, Profile, Role, Trace, Transfers};

use crate::useful::role_of_path;
use crate::{Column, DataTable, Outcome, Section, Unit, Values};

pub(crate) fn run(trace: &Trace, profile: &Profile) -> Outcome {
    // As in a matrix: collective operations and files are not in it.
    let is_exchange = |row: &&PathProfile| {
        let role = role_of_path(trace, row.path);
        row.transfers.count > 0 && !role.is_collective() && role != Role::Io
    };
    let of_pe = |pe: PeId| {
        let mut sum = Transfers::default();
        let rows = profile.of(pe).map_or(&[][..], |of_pe| &of_pe.rows);
        rows.iter().filter(is_exchange).for_each(|row| sum.merge(&row.transfers));
        (pe, sum)
    };
    let rows: Vec<(PeId, Transfers)> = trace.active_pes().map(of_pe).filter(|(_, sum)| sum.count > 0).collect();
    if rows.is_empty() {
        return Outcome::default();
    }
    let bytes =
        |of: fn(&Transfers) -> u64| Values::Number(Unit::Bytes, rows.iter().map(|(_, sum)| of(sum) as f64).collect());
    let table = DataTable {
        name: "exchanged",
        columns: vec![
            Column::new("pe", Values::Pe(rows.iter().map(|row| row.0).collect())),
            Column::new("transfers", Values::Count(rows.iter().map(|row| row.1.count).collect())),
            Column::new("sent", bytes(|sum| sum.sent)),
            Column::new("received", bytes(|sum| sum.received)),
        ],
    };
    let notes = vec!["a profile does not keep who exchanged with whom, only how much each PE did".to_owned()];
    Outcome {
        findings: Vec::new(),
        sections: vec![Section { name: "matrix", tables: vec![table], notes, ..Section::default() }],
    }
}
