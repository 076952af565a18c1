//! Codes of diagnostics: stable names for what can be noticed, for programs. Messages are for people and may change.

/// Declares the codes: variant, name in JSON, meaning.
macro_rules! codes {
    ($($Code:ident $name:literal $meaning:literal,)*) => {
        /// What kind of thing was noticed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Code {
            $(#[doc = $meaning] $Code,)*
        }

        impl Code {
            pub const ALL: &[Code] = &[$(Code::$Code),*];

            /// The name used in JSON: kebab-case, never used for anything else later.
            pub fn name(self) -> &'static str {
                match self {
                    $(Code::$Code => $name,)*
                }
            }

            /// Whether it is to be expected where only a part of the calls was recorded: something lacks its counterpart.
            pub fn is_of_parts(self) -> bool {
                use Code::*;
                matches!(
                    self,
                    UnmatchedMessages
                        | UncompletedReceives
                        | IncompleteCollectives
                        | UncompletedCollectives
                        | UnprovenBarriers
                        | UncompletedAccesses
                        | UnendedEpochs
                        | UnpairedEpochs
                        | UnpairedSynchronisations
                        | StrayReleases
                )
            }

            /// What it means, in one sentence.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Code::$Code => $meaning,)*
                }
            }
        }
    };
}

codes! {
    // Files and records.
    MissingFile "missing-file" "A file of the archive is not there or cannot be opened; what it would say is unknown.",
    UnreadFile "unread-file" "A file cannot be read to its end; what comes before is used.",
    DamagedFile "damaged-file" "A file has parts that cannot be understood; what can be read is used.",
    CutFile "cut-file" "A file ends early: it was cut, or its writer did not finish.",
    UnknownRecords "unknown-records" "Records of a type that is not known, or not analysed, were skipped.",
    MalformedRecords "malformed-records" "Records whose fields cannot be understood were skipped.",
    LongLines "long-lines" "Lines longer than any record were skipped.",
    LargeNumbers "large-numbers" "Numbers that do not fit 64 bits count as the largest that do.",
    DamagedHeader "damaged-header" "The header of a trace contradicts itself or its records, which count.",
    MiscountedEvents "miscounted-events" "Files have another number of events than the definitions say; what is in the files counts.",
    SamplesLeftOut "samples-left-out" "Samples of calling contexts were not analysed.",
    // Definitions.
    DuplicateDefinitions "duplicate-definitions" "Something is defined more than once; the first definition counts.",
    UnorderedDefinitions "unordered-definitions" "Definitions are not in the order of their numbers, or numbers are left out; they are taken by number.",
    NoLocations "no-locations" "No location is defined, so there is nothing to analyse.",
    UndefinedReference "undefined-reference" "Something that is referred to is not defined; it is taken as unknown.",
    UndefinedWindow "undefined-window" "Accesses to windows that are not defined were left out.",
    UndefinedGroup "undefined-group" "Operations are on a group that is not defined.",
    UndefinedPartner "undefined-partner" "Messages have a partner that is not defined.",
    UndefinedContext "undefined-context" "Statistics or samples of a calling context that is not defined were left out.",
    UnknownMembers "unknown-members" "A group has members that are not in the trace.",
    MissingNames "missing-names" "Functions, counters, nodes or threads have numbers for names.",
    UnlistedThreads "unlisted-threads" "Threads have records that the header does not list; what they did counts.",
    TooManyThreads "too-many-threads" "There are more threads than can be told apart; the others were left out.",
    // Order and nesting.
    BackwardTimes "backward-times" "Time stamps of a PE run backwards; such events were moved to the time of the one before.",
    FarTimes "far-times" "Time stamps lie outside of what a trace can hold; the events were moved to its limit, or skipped.",
    UnorderedRecords "unordered-records" "Records of a PE are not in order of time; they were sorted.",
    StrayLeaves "stray-leaves" "A region is left that was not entered; the event was ignored.",
    MissingLeaves "missing-leaves" "A region is entered and never left; it was closed with what is around it.",
    CrossingVisits "crossing-visits" "A region ends after the one it began in; it was ended with that one.",
    OverlappingStates "overlapping-states" "States of a thread overlap; each counts from the end of the one before.",
    TooManyVisits "too-many-visits" "A PE enters more regions than a stream can hold; what is beyond was left out.",
    BrokenCallers "broken-callers" "A chain of callers is broken; the part below is used.",
    DeepCallers "deep-callers" "Of very deep chains of callers the functions in the middle were left out.",
    StatesOnly "states-only" "Threads have states and no events; operations are what the states say.",
    RecordedInBursts "recorded-in-bursts" "Between long computations only a summary was recorded.",
    // What belongs together.
    UnmatchedMessages "unmatched-messages" "Sends or receives have no partner; no wait is claimed from them.",
    OneSidedMessages "one-sided-messages" "Of some messages only the sending or only the processing is recorded, as of the runtime's own; no wait is claimed from them.",
    HalfMessages "half-messages" "Messages have an end without a time; they were skipped.",
    UncompletedReceives "uncompleted-receives" "Receives were posted whose completion is not recorded.",
    IncompleteCollectives "incomplete-collectives" "Collective operations lack the record of members.",
    UncompletedCollectives "uncompleted-collectives" "Non-blocking collective operations were started whose completion is not recorded.",
    ContradictingCollectives "contradicting-collectives" "Members disagree about what a collective operation was; such operations are left out.",
    ContradictingRoots "contradicting-roots" "Several members say that they are the root of one operation; the first counts.",
    UnprovenBarriers "unproven-barriers" "Barriers without record of their group do not fit together over PEs; no wait is claimed from them.",
    UncompletedAccesses "uncompleted-accesses" "Accesses to remote memory have no recorded completion; they count as complete when their call came back.",
    UnendedEpochs "unended-epochs" "Epochs of windows begin and do not end, or end and did not begin.",
    UnpairedEpochs "unpaired-epochs" "Epochs of windows have no counterpart that is certain; no wait is claimed from them.",
    UnpairedSynchronisations "unpaired-synchronisations" "Synchronisations with named PEs have no counterpart that is certain; no wait is claimed from them.",
    CrowdedEpochs "crowded-epochs" "Epochs of windows name so many partners that they were not paired.",
    StrayReleases "stray-releases" "Locks were released that were never acquired; they count as held since the first event.",
    UnknownTeams "unknown-teams" "Threads took part in a team whose fork is not recorded; barriers of such teams are not analysed.",
    NestedTeams "nested-teams" "Nested parallel regions without record of their teams are not analysed.",
    // The run and its recording.
    LostEvents "lost-events" "The recorder could not keep all events.",
    LostCalls "lost-calls" "The recorder could not count all calls.",
    MissingStatistics "missing-statistics" "Statistics of a PE are missing.",
    MissingProcesses "missing-processes" "What processes recorded is missing.",
    EndedEarly "ended-early" "Processes were killed, crashed or aborted; what they did until then was recorded.",
    RecorderNote "recorder-note" "What the recorder said about itself.",
    SeparateJobs "separate-jobs" "Sets of processes share no communicator with each other.",
    IsProfile "is-profile" "Sums were recorded and no events, so much cannot be known.",
    MedianRun "median-run" "The folder holds several runs of a program; this is the one with the median run time.",
    NeedsEvents "needs-events" "An analysis was asked for that needs events, and this is a profile.",
    UnusedOperation "unused-operation" "What a file of operations names does not occur in the run, or changes nothing.",
    DamagedOperations "damaged-operations" "The file of operations beside the archive cannot be used.",
    LostSamples "lost-samples" "The recorder had no room for some samples.",
    TimeBySamples "time-by-samples" "Time between operations is shared out by samples, so times of functions are estimates.",
    TimeOfOutermost "time-of-outermost" "Time between operations counts for the outermost function, for want of knowing better.",
    HiddenCalls "hidden-calls" "Calls of a library that was linked into the program could not be recorded.",
    LeftOutCalls "left-out-calls" "Calls of some functions were not recorded, by choice of the user.",
    RecorderPaused "recorder-paused" "The recorder paused for a considerable part of the run.",
    ShallowCallPaths "shallow-call-paths" "Call paths lack outer frames, since deeper ones took too much of the run.",
    RecordingCost "recording-cost" "Recording took a considerable part of the run, and figures contain it.",
    ClocksDisagree "clocks-disagree" "Effects come before their causes as recorded; time stamps were moved, or are shown as recorded.",
    ClocksNotAligned "clocks-not-aligned" "Clocks of processes were never aligned, so no wait is claimed between processes.",
    ClockRateUnknown "clock-rate-unknown" "The rate of the clock is not known, so the unit of times is a guess.",
    NoDebugData "no-debug-data" "A module has no debug data: functions have names and no lines.",
    DamagedDebugData "damaged-debug-data" "The debug data of a module is damaged: some functions have names and no lines.",
    // What a copy or an export leaves out.
    UnnamedDefinitions "unnamed-definitions" "Names are not defined; the copy calls them (undefined).",
    MissingThumbnails "missing-thumbnails" "Thumbnails are missing.",
    LeftOutLockAttempts "left-out-lock-attempts" "Attempts to get a lock were left out.",
    LeftOutMessages "left-out-messages" "Messages whose ends are in no common group were left without a partner.",
    LeftOutCallLines "left-out-call-lines" "Lines of calls were left out.",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case_and_differ() {
        let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.name()).collect();
        let is_kebab = |name: &&str| {
            name.split('-').all(|word| !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase()))
        };
        assert_eq!(names.iter().find(|name| !is_kebab(name)), None);
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(Code::ALL.iter().all(|code| code.meaning().ends_with('.')));
    }
}
