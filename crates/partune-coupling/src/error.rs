//! Why there is no coupling or no prediction: each fault with what it is about.

use crate::flow::KernelId;

/// What a number is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// What was measured of a chain; of one kernel, of it alone.
    Chain(Vec<KernelId>),
    /// What is done once, by its position.
    Once(usize),
    /// The whole of a configuration, by its position.
    Whole(usize),
    /// A value of a series, or its position on the axis.
    Point(usize),
    /// The position that is asked for.
    Position,
    /// What the clock can tell.
    Resolution,
    /// What comes out.
    Result,
}

/// What is wrong with counts, with measurements, or with what is asked of them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CouplingError {
    #[error("no path of the flow has {0} kernels")]
    Length(usize),
    #[error("the path {0:?} has another length than is asked for")]
    OtherLength(Vec<KernelId>),
    #[error("the path {0:?} is counted twice")]
    Twice(Vec<KernelId>),
    /// `there` of the paths have the kernel at one position, and so many cannot be.
    #[error("{kernel:?} is executed {executions} times, but {there} paths have it at one position")]
    Counts { kernel: KernelId, executions: u64, there: u128 },
    /// What is entered is left, but for as many times as the flow begins and ends.
    #[error("{path:?} is entered {entered} times and left {left} times, and the flow does not begin or end so often")]
    Ends { path: Vec<KernelId>, entered: u128, left: u128 },
    #[error("the flow begins {0} times with a path that is not known")]
    Begins(u64),
    #[error("{0:?} is executed, and on no path")]
    Uncovered(KernelId),
    #[error("the chain {0:?} was not measured")]
    Missing(Vec<KernelId>),
    #[error("{0:?} is no finite number")]
    NotFinite(Subject),
    #[error("{0:?} is negative")]
    Negative(Subject),
    #[error("{0:?} is zero, and couplings divide by it")]
    Zero(Subject),
    #[error("{subject:?} is {value}, of which the clock cannot tell less than {resolution}")]
    TooShort { subject: Subject, value: f64, resolution: f64 },
    #[error("nothing is repeated")]
    NoIterations,
    #[error("{0:?} is on more or fewer paths than others, so that the mean of chains is not that of the flow")]
    Uneven(KernelId),
    #[error("only what adds up along a path can be followed on it")]
    NotAdditive,
    #[error("{given} given where {needed} are needed")]
    Number { given: usize, needed: usize },
}
