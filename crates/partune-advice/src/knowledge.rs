//! All that is known: the data files, read once. To add an action is one file and one line of [`ACTIONS`].

use std::sync::OnceLock;

use serde::Deserialize;

use crate::{Action, GapName, Issue, Recheck, Step};

/// The actions, one file each: those of the table of Hung and Davidson in its order, then ours.
const ACTIONS: &[&str] = &[
    include_str!("../actions/a01_domain_decomposition.toml"),
    include_str!("../actions/a02_distributed_caches.toml"),
    include_str!("../actions/a03_subdomain_migration.toml"),
    include_str!("../actions/a04_cut_edges.toml"),
    include_str!("../actions/a05_array_grouping.toml"),
    include_str!("../actions/a06_privatise.toml"),
    include_str!("../actions/a07_coherence_protocol.toml"),
    include_str!("../actions/a08_coherence_directives.toml"),
    include_str!("../actions/a09_relaxed_consistency.toml"),
    include_str!("../actions/a10_message_directives.toml"),
    include_str!("../actions/a11_hierarchical_partitioning.toml"),
    include_str!("../actions/a12_rank_mapping.toml"),
    include_str!("../actions/a13_prefetch.toml"),
    include_str!("../actions/a14_asynchronous_messages.toml"),
    include_str!("../actions/a15_multithreading.toml"),
    include_str!("../actions/a16_group_messages.toml"),
    include_str!("../actions/a17_long_blocks.toml"),
    include_str!("../actions/a18_selective_communication.toml"),
    include_str!("../actions/a19_scramble.toml"),
    include_str!("../actions/a20_compiler_directives.toml"),
    include_str!("../actions/a21_goal_directed_tuning.toml"),
    include_str!("../actions/a22_cache_directives.toml"),
    include_str!("../actions/a23_spatial_locality.toml"),
    include_str!("../actions/a24_loop_blocking.toml"),
    include_str!("../actions/a25_prefetch_memory.toml"),
    include_str!("../actions/a26_hide_memory_latency.toml"),
    include_str!("../actions/a27_repeat_steps.toml"),
    include_str!("../actions/a28_profile_driven_decomposition.toml"),
    include_str!("../actions/a29_self_scheduling.toml"),
    include_str!("../actions/a30_fuzzy_barrier.toml"),
    include_str!("../actions/a31_point_to_point_synchronisation.toml"),
    include_str!("../actions/a32_overdecomposition.toml"),
    include_str!("../actions/a33_critical_phase.toml"),
    include_str!("../actions/a34_multiple_decompositions.toml"),
    include_str!("../actions/a35_multiple_weights.toml"),
    include_str!("../actions/a36_fuse_phases.toml"),
    include_str!("../actions/a37_dynamic_redecomposition.toml"),
    include_str!("../actions/a38_dynamic_scheduling.toml"),
    include_str!("../actions/a39_weights_over_time.toml"),
    include_str!("../actions/a40_relaxed_synchronisation.toml"),
    include_str!("../actions/remove_barrier.toml"),
    include_str!("../actions/combine_synchronisations.toml"),
    include_str!("../actions/double_buffer.toml"),
    include_str!("../actions/late_work.toml"),
    include_str!("../actions/relieve_late_pe.toml"),
    include_str!("../actions/dedicate_master.toml"),
    include_str!("../actions/pipeline_pieces.toml"),
    include_str!("../actions/nonblocking_collective.toml"),
    include_str!("../actions/collective_algorithm.toml"),
    include_str!("../actions/eager_limit.toml"),
    include_str!("../actions/asynchronous_progress.toml"),
    include_str!("../actions/faster_network.toml"),
    include_str!("../actions/stagger_targets.toml"),
    include_str!("../actions/blocking_factor.toml"),
    include_str!("../actions/name_fewer_partners.toml"),
    include_str!("../actions/shorten_critical_section.toml"),
    include_str!("../actions/finer_locks.toml"),
    include_str!("../actions/atomic_for_lock.toml"),
    include_str!("../actions/loop_schedule.toml"),
    include_str!("../actions/split_tasks.toml"),
    include_str!("../actions/parallelise_serial.toml"),
    include_str!("../actions/larger_parallel_regions.toml"),
    include_str!("../actions/threads_while_communicating.toml"),
    include_str!("../actions/more_processes.toml"),
    include_str!("../actions/pad_shared_data.toml"),
    include_str!("../actions/bind_threads.toml"),
    include_str!("../actions/fewer_pes.toml"),
    include_str!("../actions/overlap_device.toml"),
    include_str!("../actions/combine_calls.toml"),
    include_str!("../actions/fewer_small_calls.toml"),
    include_str!("../actions/shorten_start_up.toml"),
    include_str!("../actions/buffer_file_accesses.toml"),
    include_str!("../actions/collective_io.toml"),
    include_str!("../actions/spread_io.toml"),
    include_str!("../actions/read_once.toml"),
    include_str!("../actions/fewer_file_syncs.toml"),
    include_str!("../actions/overlap_io.toml"),
];

/// Steps, issues and actions.
#[derive(Debug)]
pub struct Knowledge {
    /// In order.
    pub steps: Vec<Step>,
    /// By id.
    pub issues: Vec<Issue>,
    pub rechecks: Vec<Recheck>,
    /// In the order of the list.
    pub actions: Vec<Action>,
}

/// What `steps.toml` has.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Steps {
    step: Vec<Step>,
    issue: Vec<Issue>,
    recheck: Vec<Recheck>,
}

/// The knowledge of this build. It is parsed when it is first asked for.
pub fn knowledge() -> &'static Knowledge {
    static KNOWLEDGE: OnceLock<Knowledge> = OnceLock::new();
    KNOWLEDGE.get_or_init(|| {
        let steps: Steps = toml::from_str(include_str!("../steps.toml")).expect("a test reads this file");
        let action = |text: &&str| toml::from_str(text).expect("a test reads every file of the list");
        Knowledge {
            steps: steps.step,
            issues: steps.issue,
            rechecks: steps.recheck,
            actions: ACTIONS.iter().map(action).collect(),
        }
    })
}

impl Knowledge {
    pub fn issue(&self, id: u8) -> Option<&Issue> {
        self.issues.iter().find(|issue| issue.id == id)
    }

    pub fn action(&self, id: &str) -> Option<&Action> {
        self.actions.iter().find(|action| action.id == id)
    }

    /// Gaps that an issue concerns: those that its actions target.
    pub fn targets_of_issue(&self, issue: u8) -> Vec<GapName> {
        let own = self.issue(issue).into_iter().flat_map(|issue| &issue.targets);
        let actions = self.actions.iter().filter(|action| action.issue == issue).flat_map(Action::targeted);
        let mut gaps: Vec<GapName> = own.chain(actions).copied().collect();
        gaps.sort_unstable();
        gaps.dedup();
        gaps
    }
}
