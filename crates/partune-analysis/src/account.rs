//! The account of time: what the PEs did between start-up and shut-down, all of it.

use partune_base::{PeId, Span};
use partune_trace::Role;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::queries::Query;
use crate::spending::{Kinds, Level, Meter, Spent};
use crate::useful::{cpu_pes, role_of_path};
use crate::{Account, Analysis, Base, Input, Needs, Outcome, SectionShape};

pub(crate) static ACCOUNT: Analysis = Analysis {
    name: "time",
    title: "What the time between start-up and shut-down went into",
    docs: DOCS,
    finds: false,
    needs: Needs::Queries,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape { name: "time", scalars: Account::SHOWS, tables: &[] }];

const DOCS: &str = "\
# Time

All shares that partune gives are of one base: the time between start-up and shut-down (`run`) times the number of PEs of CPUs (`pes`).
It begins when the first PE leaves the start-up and ends when the last one enters the shut-down. Without a start-up or shut-down it begins
with the first event and ends with the last. `outside_run` is what the recording holds before and after.

The base is split without rest, in seconds summed over PEs:

| | what |
|---|---|
| `computation` | user code: in no operation |
| `waiting` | the part of operations that another PE's behaviour cost |
| `device_waiting` | operations that wait for a device |
| `start_up` | still in the start-up, when another PE had left it |
| `transfer` | the rest of operations that communicate, synchronise or manage |
| `io` | operations on files |
| `idle` | nothing recorded: threads between parallel regions and while their team is forked or joined, pauses of the recorder |

**Source**: ours; waits as in the analysis `wait_states`.
";

/// What PEs of CPUs spent between start-up and shut-down, in ticks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sums {
    spent: Spent,
    /// Of it in operations that wait for devices, and start up, without waits.
    devices: i64,
    start_up: i64,
}

impl Query for Sums {
    fn of(input: &Input<'_>) -> Sums {
        let (trace, base) = (input.trace, input.base());
        let kinds = Kinds::new(trace, Level::Pes, &[]);
        let of_pe = |(pe, useful): (&PeId, &i64)| {
            // A PE that is ready to shut down waits for the others; but it computes only in its own part of the run.
            let spent = Meter::new(input, *pe, (base.begin, base.end), &kinds).up_to(base.end);
            let [devices, start_up] = [Role::DeviceWait, Role::Init].map(|role| in_operations(input, *pe, &base, role));
            Sums { spent: Spent { user: *useful, ..spent }, devices, start_up }
        };
        let of_pes: Vec<Sums> = cpu_pes(trace).par_iter().zip(input.useful()).map(of_pe).collect();
        let mut sums = Sums::default();
        of_pes.into_iter().for_each(|of_pe| sums.add(of_pe));
        sums
    }

    fn add(&mut self, next: Sums) {
        self.spent += next.spent;
        self.devices += next.devices;
        self.start_up += next.start_up;
    }
}

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let base = input.base();
    let pes = cpu_pes(trace);
    if pes.is_empty() || !base.length().is_positive() {
        return Outcome::default();
    }
    let Sums { spent: sum, devices, start_up } = *input.account();
    let idle = base.total() - sum.work() - sum.wait;
    let seconds = |ticks| Some(trace.clock().seconds(Span(ticks)));
    let account = Account {
        run: seconds(base.length().0),
        outside_run: seconds(trace.duration().0 - base.length().0),
        pes: Some(base.pes as f64),
        computation: seconds(sum.user),
        waiting: seconds(sum.wait),
        device_waiting: seconds(devices),
        start_up: seconds(start_up),
        transfer: seconds(sum.comm - devices - start_up),
        io: seconds(sum.io),
        idle: seconds(idle),
    };
    Outcome { findings: Vec::new(), sections: vec![account.section("time")] }
}

/// Ticks of a PE in operations of a role, less the waits in them.
fn in_operations(input: &Input<'_>, pe: PeId, base: &Base, role: Role) -> i64 {
    let (trace, stream) = (input.trace, &input.trace.streams()[pe]);
    let visits = stream.operations.iter().map(|visit| stream.visits.at(*visit));
    let of_role = |path| role_of_path(trace, path) == role;
    let all: i64 = visits.filter(|visit| of_role(visit.path)).map(|visit| base.part(visit.enter, visit.exit).0).sum();
    let waits = input.waits.of_pe(pe).iter().chain(input.waits.start_up_of_pe(pe));
    let waits = waits.filter(|wait| of_role(trace.visit(pe, wait.operation).path));
    all - waits.map(|wait| base.part(wait.begin, wait.end).0).sum::<i64>()
}
