//! What analyses ask of a run that is also known of a run of which slices were looked at one after the other: each query has an answer for a slice, and answers add up.
//!
//! So an analysis that asks nothing but queries and the tables of a trace need not know whether the trace was in memory at once. The list of queries is the only one, in two parts, since what only comparisons ask is not to cost others anything: the answers
//! that are kept, what is gathered of slices, and how an input is asked come from it. To add one: its type with [`Query`] beside the analysis that needs it, and one line; and where comparisons ask it, one in
//! [`Answers::for_later`], which says what is kept for them.

use partune_base::{PeId, Table, Time};
use partune_index::Ties;
use partune_trace::{Pause, PauseKind, Stream, Trace};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::Input;
use crate::shared::{Memo, Shared};
use crate::transfers::TransferCosts;

/// Adds rows to those with the same key, in order of keys. Linear where both are in order, and in place where both have the same keys, as most slices of a run have.
pub fn add_rows<T, K: Ord>(sums: &mut Vec<T>, mut next: Vec<T>, key: impl Fn(&T) -> K, add: impl Fn(&mut T, &mut T)) {
    let are_alike = sums.len() == next.len() && sums.iter().map(&key).eq(next.iter().map(&key));
    if are_alike && sums.is_sorted_by(|a, b| key(a) < key(b)) {
        sums.iter_mut().zip(&mut next).for_each(|(sum, more)| add(sum, more));
        return;
    }
    sums.extend(next);
    // Stable: what comes earlier stays before.
    sums.sort_by_key(&key);
    sums.dedup_by(|more, sum| {
        let is_same = key(more) == key(sum);
        if is_same {
            add(sum, more);
        }
        is_same
    });
}

/// An answer that adds up.
pub(crate) trait Query: Sized + Send + Sync {
    /// The answer for a run, or for a slice of it.
    fn of(input: &Input<'_>) -> Self;

    /// Adds that of the next slice.
    fn add(&mut self, next: Self);
}

macro_rules! queries {
    (
        analyses { $($(#[$doc:meta])* $name:ident: $Type:ty;)* }
        comparisons { $($(#[$more_doc:meta])* $more:ident: $More:ty;)* }
    ) => {
        /// The answers to queries so far.
        #[derive(Debug, Default, Serialize, Deserialize)]
        pub(crate) struct Answers {
            $($name: Memo<$Type>,)*
            $($more: Memo<$More>,)*
        }

        /// The answers of the slices so far.
        #[derive(Debug, Default)]
        struct Sums {
            $($name: Option<$Type>,)*
            $($more: Option<$More>,)*
        }

        impl Sums {
            /// Adds the answers for the next slice, which are all there, side by side.
            fn add(&mut self, answers: Answers) {
                rayon::scope(|scope| {
                    $({
                        let (sum, next) = (&mut self.$name, answers.$name);
                        scope.spawn(move |_| add_answer(sum, next));
                    })*
                    $({
                        let (sum, next) = (&mut self.$more, answers.$more);
                        scope.spawn(move |_| add_answer(sum, next));
                    })*
                });
            }

            fn into_answers(self) -> Answers {
                Answers { $($name: Memo::known(self.$name),)* $($more: Memo::known(self.$more),)* }
            }
        }

        /// Answers all queries of analyses, side by side, and those of comparisons if that is asked for.
        fn answer(input: &Input<'_>, compares: bool) {
            let of_analyses: &[fn(&Input<'_>)] = &[$(|input| { input.$name(); }),*];
            let of_comparisons: &[fn(&Input<'_>)] = &[$(|input| { input.$more(); }),*];
            let more = if compares { of_comparisons } else { &[] };
            of_analyses.par_iter().chain(more).for_each(|ask| ask(input));
        }

        impl<'a> Input<'a> {
            $(
                $(#[$doc])*
                pub(crate) fn $name(&self) -> &'a $Type {
                    self.shared.answers.$name.get(|| <$Type as Query>::of(self))
                }
            )*
            $(
                $(#[$more_doc])*
                pub(crate) fn $more(&self) -> &'a $More {
                    self.shared.answers.$more.get(|| <$More as Query>::of(self))
                }
            )*
        }
    };
}

/// Adds an answer for the next slice to those so far.
fn add_answer<Q: Query>(sum: &mut Option<Q>, next: Memo<Q>) {
    match (sum, next.into_known()) {
        (Some(sum), Some(next)) => sum.add(next),
        (sum, next) => *sum = sum.take().or(next),
    }
}

queries! {
    analyses {
        /// Useful ticks of each PE of a CPU in its interval, in order.
        useful_ticks: crate::sums::UsefulTicks;
        /// Useful ticks of processes, by their main threads.
        main_useful: crate::efficiency::MainUseful;
        /// Times and visits by call path of each PE, as they add up.
        path_sums: crate::times::PathSums;
        /// Executions and transfers by call path, over all PEs.
        operation_sums: crate::sums::SumsByPath;
        /// The run on an ideal network.
        ideals: crate::ideal::Ideals;
        /// Small transfers in a row, and serial ones.
        transfers: crate::transfers::Transfers;
        /// What delayed the causes of the waits.
        delays: crate::Delays;
        /// Waiting by call path, over all PEs.
        waiting: crate::operations::Waiting;
        /// What PEs of CPUs did between start-up and shut-down.
        account: crate::account::Sums;
        /// What was taken of the run by call path.
        taken: crate::top_operations::TakenByPath;
        /// What PEs gave each other.
        exchanges: crate::matrix::Exchanges;
        /// Time of main threads in no region, and useful time of PEs between their first and last events.
        code: crate::profile::Code;
        /// Polls that found nothing, and functions that somebody waited in or for.
        needed: crate::frequency::Needed;
        /// What operations should have taken on the machine.
        expected: crate::expected::ExpectedRows;
        /// What operations, teams and idle threads cost, by place and PE.
        cost_rows: crate::costs::Rows;
        /// Barriers that order nothing.
        barriers: crate::barriers::Redundant;
        /// Useful time in marked phases.
        phase_shares: crate::phases::Shares;
        /// The bounds of the run and of its processes.
        worlds: crate::bounds::Worlds;
        /// Waits by place, and who pays for them.
        wait_places: crate::wait_states::Places;
        /// The critical path, and what PEs did beside it.
        critical: crate::critical_path::Critical;
        /// What PEs did with files.
        file_uses: crate::files::Uses;
        /// What may be wrong with how files are used.
        file_losses: crate::file_findings::Losses;
        /// What counters counted and gauges showed, by call path.
        sampled: crate::metrics::Sampled;
        /// Blocks between synchronisations of all PEs.
        blocks: crate::balance::Blocks;
    }
    comparisons {
        /// How much visits of a call path differ.
        visit_moments: crate::compare::moments::VisitMoments;
        /// How much waits at a call path differ.
        wait_moments: crate::compare::moments::WaitMoments;
    }
}

impl Answers {
    /// Those that are asked for where runs are put side by side, or, if it is, drawn.
    pub(crate) fn for_later(self, is_drawn: bool) -> Answers {
        let Answers { path_sums, operation_sums, waiting, exchanges, code, visit_moments, wait_moments, .. } = self;
        let (exchanges, code) = if is_drawn { (exchanges, code) } else { Default::default() };
        Answers {
            path_sums,
            operation_sums,
            waiting,
            exchanges,
            code,
            visit_moments,
            wait_moments,
            ..Answers::default()
        }
    }
}

/// What is known of the slices of a run that have been looked at.
#[derive(Default)]
pub struct Gathered {
    sums: Sums,
    pes: Vec<OfPe>,
    costs: Costs,
}

/// What transfers cost, as the first slice with any has it; none before it. All are messages: where PEs access memory of each other, a run is not cut.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Costs(Option<TransferCosts>);

/// What a slice answered to all queries, and what else is known of a run by its slices. What ids in it mean is the same for all slices, since all have the tables of the run.
#[derive(Serialize, Deserialize)]
pub struct Answered {
    answers: Answers,
    pes: Vec<OfPe>,
    costs: Costs,
}

/// When a PE was there, and measured, how many events it had, and when its recorder paused.
#[derive(Serialize, Deserialize)]
struct OfPe {
    present: Option<(Time, Time)>,
    window: (Time, Time),
    events: u64,
    pauses: Vec<(Time, Time, PauseKind)>,
}

impl Costs {
    /// What the transfers of a slice cost by itself; `ties` are its own.
    pub fn of(input: &Input<'_>, ties: &Ties) -> Costs {
        input.shared.receptions(input, ties);
        Costs::known(input)
    }

    fn known(input: &Input<'_>) -> Costs {
        Costs(Some(*input.transfer_costs()).filter(|costs| costs.iter().any(|cost| cost.is_known)))
    }

    pub fn is_known(self) -> bool {
        self.0.is_some()
    }

    /// These, or those of a later slice.
    #[must_use]
    pub fn or(self, later: Costs) -> Costs {
        Costs(self.0.or(later.0))
    }

    /// What is to be known of a slice before it is asked: what transfers cost in those before it. `asked` is what was found of it so far.
    pub fn told(self, asked: Shared) -> Shared {
        if self.is_known() { asked.with_costs(self.0) } else { asked }
    }
}

impl Answered {
    /// Asks all queries of a slice, those of comparisons too if it `compares`; `ties` are its own. The answers are in what the input shares, which is [put to it](Answered::with) then.
    pub fn beside(input: &Input<'_>, ties: Ties, compares: bool) -> Answered {
        Shared::prepare(input, ties);
        answer(input, compares);
        let costs = Costs::known(input);
        let of_pe = |pe: PeId| {
            let stream = &input.trace.streams()[pe];
            let is_there = !stream.visits.is_empty() || stream.present.is_some();
            let present = stream.begin().zip(stream.end()).filter(|_| is_there);
            let pauses = stream.pauses.iter().map(|pause| (pause.begin, pause.end, pause.kind)).collect();
            OfPe { present, window: input.windows()[pe], events: stream.events, pauses }
        };
        Answered { answers: Answers::default(), pes: input.trace.pes().ids().map(of_pe).collect(), costs }
    }

    /// With the answers.
    #[must_use]
    pub fn with(self, shared: Shared) -> Answered {
        Answered { answers: shared.answers, ..self }
    }
}

impl Gathered {
    /// Event records of the slices so far.
    pub fn events(&self) -> u64 {
        self.pes.iter().map(|pe| pe.events).sum()
    }

    /// Adds what the next slice answered.
    pub fn add(&mut self, next: Answered) {
        self.sums.add(next.answers);
        self.costs = self.costs.or(next.costs);
        if self.pes.is_empty() {
            self.pes = next.pes;
        } else {
            self.pes.iter_mut().zip(next.pes).for_each(|(sum, next)| sum.add(next));
        }
    }

    /// The run: the tables of its last slice with what is known of all, and the answers to all queries.
    pub fn finish(self, last: Trace) -> (Trace, Shared) {
        let windows: Table<PeId, (Time, Time)> = self.pes.iter().map(|pe| pe.window).collect();
        let pause = |(begin, end, kind)| Pause { begin, end, kind };
        let stream = |pe: OfPe| Stream {
            present: pe.present,
            events: pe.events,
            pauses: pe.pauses.into_iter().map(pause).collect(),
            ..Stream::default()
        };
        let streams = self.pes.into_iter().map(stream).collect();
        (last.into_summed(streams, windows), Shared::known(self.sums.into_answers(), self.costs.0))
    }
}

impl OfPe {
    fn add(&mut self, next: OfPe) {
        let both = |a: (Time, Time), b: (Time, Time)| (a.0.min(b.0), a.1.max(b.1));
        self.present = match (self.present, next.present) {
            (Some(sum), Some(next)) => Some(both(sum, next)),
            (sum, next) => sum.or(next),
        };
        self.window.1 = next.window.1;
        self.events += next.events;
        self.pauses.extend(next.pauses);
    }
}

impl Input<'_> {
    /// Follows the run on an ideal network, if nobody did.
    pub(crate) fn follow_ideally(&self, ties: &Ties) {
        self.shared.answers.ideals.get(|| crate::ideal::Ideals::find(self, ties));
    }
}
