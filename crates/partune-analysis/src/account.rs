//! The account of time: what the PEs did between start-up and shut-down, all of it.

use partune_base::Span;
use rayon::prelude::*;

use crate::spending::{Kinds, Level, Meter, Spent};
use crate::useful::cpu_pes;
use crate::{Analysis, Base, Input, Outcome, Scalar, Section, SectionShape, Unit};

pub(crate) static ACCOUNT: Analysis = Analysis {
    name: "time",
    title: "What the time between start-up and shut-down went into",
    docs: DOCS,
    finds: false,
    shows: SHOWS,
    run,
};

const SHOWS: &[SectionShape] = &[SectionShape {
    name: "time",
    scalars: &[
        ("run", Unit::Seconds),
        ("outside_run", Unit::Seconds),
        ("pes", Unit::Count),
        ("computation", Unit::Seconds),
        ("waiting", Unit::Seconds),
        ("transfer", Unit::Seconds),
        ("io", Unit::Seconds),
        ("idle", Unit::Seconds),
    ],
    tables: &[],
}];

const DOCS: &str = "\
# Time

All shares that partune gives are of one base: the time between start-up and shut-down (`run`) times the number of PEs of CPUs (`pes`).
Without a start-up or shut-down it begins with the first event and ends with the last. `outside_run` is what the recording holds
before and after.

The base is split without rest, in seconds summed over PEs:

| | what |
|---|---|
| `computation` | user code: in no operation |
| `waiting` | the part of operations that another PE's behaviour cost |
| `transfer` | the rest of operations that communicate, synchronise or manage |
| `io` | operations on files |
| `idle` | nothing recorded: threads between parallel regions and while their team is forked or joined, pauses of the recorder |

**Source**: ours; waits as in the analysis `wait_states`.
";

fn run(input: &Input<'_>) -> Outcome {
    let trace = input.trace;
    let base = Base::of(trace);
    let pes = cpu_pes(trace);
    if pes.is_empty() || !base.length().is_positive() {
        return Outcome::default();
    }
    let kinds = Kinds::new(trace, Level::Pes, &[]);
    let of_pe = |pe: &partune_base::PeId| Meter::new(input, *pe, (base.begin, base.end), &kinds).up_to(base.end);
    let mut sum = Spent::default();
    pes.par_iter().map(of_pe).collect::<Vec<_>>().into_iter().for_each(|spent| sum += spent);
    let idle = base.total() - sum.work() - sum.wait;
    let seconds = |name, ticks| Scalar::new(name, Unit::Seconds, trace.clock().seconds(Span(ticks)));
    let scalars = vec![
        seconds("run", base.length().0),
        seconds("outside_run", trace.duration().0 - base.length().0),
        Scalar::new("pes", Unit::Count, base.pes as f64),
        seconds("computation", sum.user),
        seconds("waiting", sum.wait),
        seconds("transfer", sum.comm),
        seconds("io", sum.io),
        seconds("idle", idle),
    ];
    Outcome { findings: Vec::new(), sections: vec![Section { name: "time", scalars, ..Section::default() }] }
}
