//! OpenMP: directives as OPARI2, Score-P's OMPT adapter, its predecessors and EZTrace write them, and the runtime's functions.
//!
//! A directive's row is its name alone: `omp parallel` stands for `!$omp parallel @file.c:12`. A region that encloses code of the
//! user is transparent; the exceptions are `critical` and `ordered`, whose operation is the wait for entry: their body is an
//! own region (`critical sblock`), where a producer writes one, and ends the wait.

use crate::row::{Names, constructs};
use crate::{Class, Construct, Paradigm};
use std::sync::LazyLock;

pub static OPENMP: Paradigm = Paradigm {
    name: "OpenMP",
    aliases: &["ompt", "omp"],
    class: Class::Team,
    otf2: Some(3),
    constructs: CONSTRUCTS,
    recognise,
    recognise_hinted,
};

static EXACT: LazyLock<Names> = LazyLock::new(|| Names::new(CONSTRUCTS));

fn recognise(name: &str) -> Option<&'static Construct> {
    if let Some(rest) = ["!$omp ", "!$OMP ", "#pragma omp ", "OpenMP "].iter().find_map(|mark| name.strip_prefix(mark))
    {
        return directive(rest);
    }
    if name.starts_with("omp_") || name.starts_with("OMP_") {
        let lower = name.to_ascii_lowercase();
        let name = lower.trim_end_matches('_');
        // Fortran with integers of 8 bytes has its own entries.
        return EXACT.get(name).or_else(|| EXACT.get(name.strip_suffix("_8")?));
    }
    None
}

/// With the producer's word for it the mark can be missing: `omp parallel`, `parallel`.
fn recognise_hinted(name: &str) -> Option<&'static Construct> {
    recognise(name).or_else(|| directive(name.strip_prefix("omp ").unwrap_or(name)))
}

/// What stands before the place (`@cg.f:178`), the schedule of a loop (`for schedule(runtime)`) and the name of a critical section (`critical (queue)`).
fn directive(text: &str) -> Option<&'static Construct> {
    let known = |words: &str| EXACT.get(&format!("omp {}", words.trim().replace('_', " ")));
    let text = text.split('@').next().unwrap_or(text);
    let text = text.split(" schedule(").next().unwrap_or(text);
    known(text).or_else(|| known(text.split('(').next()?))
}

static CONSTRUCTS: &[Construct] = constructs! {
    // Teams and threads
    "omp parallel" => Parallel;
    "omp parallel do" => Parallel;
    "omp parallel for" => Parallel;
    "omp parallel loop" => Parallel;
    "omp parallel sections" => Parallel;
    "omp parallel workshare" => Parallel;
    "omp parallel master" => Parallel;
    "omp parallel masked" => Parallel;
    "omp teams" => Parallel;
    "omp implicit task" => Parallel;
    "omp initial task" => Parallel;
    // Sharing of work; code inside is the user's
    "omp do" => WorkSharing;
    "omp for" => WorkSharing;
    "omp for/do" => WorkSharing;
    "omp loop" => WorkSharing;
    "omp simd" => WorkSharing;
    "omp distribute" => WorkSharing;
    "omp taskloop" => WorkSharing;
    "omp sections" => WorkSharing;
    "omp section" => WorkSharing;
    "omp single" => WorkSharing;
    "omp single sblock" => WorkSharing;
    "omp workshare" => WorkSharing;
    "omp scope" => WorkSharing;
    "omp master" => WorkSharing;
    "omp masked" => WorkSharing;
    // Synchronisation of a team
    "omp barrier" => GroupSync of Team;
    "omp implicit barrier" => GroupSync of Team;
    "omp implicit barrier (teams)" => GroupSync of Team;
    "omp implementation barrier" => GroupSync of Team;
    "omp wait barrier" => GroupSync of Team;
    "omp reduction" => AllToOne of Team;
    "omp idle" => WaitOnValue;
    "omp flush" => CommSync;
    // Exclusion
    "omp critical" => LockAcquire;
    "omp wait critical" => LockAcquire;
    "omp atomic" => LockAcquire;
    "omp wait atomic" => LockAcquire;
    "omp acquire mutex" => LockAcquire;
    "omp wait lock" => LockAcquire;
    "omp wait nest lock" => LockAcquire;
    "omp critical sblock" => User;
    "omp ordered" => WaitOnValue;
    "omp wait ordered" => WaitOnValue;
    "omp ordered sblock" => User;
    // Tasks
    "omp task" => TaskRun;
    "omp task untied" => TaskRun;
    "omp untied task" => TaskRun;
    "omp create task" => TaskCreate;
    "omp create untied" => TaskCreate;
    "omp create untied task" => TaskCreate;
    "omp taskwait" => TaskWait;
    "omp wait taskwait" => TaskWait;
    "omp wait for tasks" => TaskWait;
    "omp taskwait depend" => TaskWait;
    "omp taskwait depend nowait" => TaskWait, NonBlocking;
    "omp taskgroup" => TaskWait;
    "omp wait taskgroup" => TaskWait;
    "omp taskyield" => TaskWait, NonBlocking;
    // Devices, seen from the host
    "omp target" => TaskWait;
    "omp target submit" => TaskCreate, NonBlocking;
    "omp target (kernel execution)" => User;
    "omp target data" => User;
    "omp target data op" => Put;
    "omp target enter data" => Put;
    "omp target exit data" => Get;
    "omp target update" => Put;
    "omp target alloc" => Management;
    "omp target free" => Management;
    "omp cancel" => Management;
    "omp cancellation point" => Management;
    "omp unknown" => Management;
    // Locks
    "omp_set_lock" => LockAcquire;
    "omp_set_nest_lock" => LockAcquire;
    "omp_test_lock" => LockAcquire, NonBlocking;
    "omp_test_nest_lock" => LockAcquire, NonBlocking;
    "omp_unset_lock" => LockRelease;
    "omp_unset_nest_lock" => LockRelease;
    "omp_init_lock" => Management;
    "omp_init_lock_with_hint" => Management;
    "omp_init_nest_lock" => Management;
    "omp_init_nest_lock_with_hint" => Management;
    "omp_destroy_lock" => Management;
    "omp_destroy_nest_lock" => Management;
    // Inquiry
    "omp_get_active_level" => Inquiry;
    "omp_capture_affinity" => Inquiry;
    "omp_get_affinity_format" => Inquiry;
    "omp_get_ancestor_thread_num" => Inquiry;
    "omp_get_cancellation" => Inquiry;
    "omp_get_default_device" => Inquiry;
    "omp_get_device_num" => Inquiry;
    "omp_get_dynamic" => Inquiry;
    "omp_get_initial_device" => Inquiry;
    "omp_get_level" => Inquiry;
    "omp_get_max_active_levels" => Inquiry;
    "omp_get_max_task_priority" => Inquiry;
    "omp_get_max_teams" => Inquiry;
    "omp_get_max_threads" => Inquiry;
    "omp_get_nested" => Inquiry;
    "omp_get_num_devices" => Inquiry;
    "omp_get_num_places" => Inquiry;
    "omp_get_num_procs" => Inquiry;
    "omp_get_num_teams" => Inquiry;
    "omp_get_num_threads" => Inquiry;
    "omp_get_partition_num_places" => Inquiry;
    "omp_get_partition_place_nums" => Inquiry;
    "omp_get_place_num" => Inquiry;
    "omp_get_place_num_procs" => Inquiry;
    "omp_get_place_proc_ids" => Inquiry;
    "omp_get_proc_bind" => Inquiry;
    "omp_get_schedule" => Inquiry;
    "omp_get_supported_active_levels" => Inquiry;
    "omp_get_team_num" => Inquiry;
    "omp_get_team_size" => Inquiry;
    "omp_get_teams_thread_limit" => Inquiry;
    "omp_get_thread_limit" => Inquiry;
    "omp_get_thread_num" => Inquiry;
    "omp_get_wtick" => Inquiry;
    "omp_get_wtime" => Inquiry;
    "omp_in_final" => Inquiry;
    "omp_in_parallel" => Inquiry;
    "omp_is_initial_device" => Inquiry;
    "omp_target_is_accessible" => Inquiry;
    "omp_target_is_present" => Inquiry;
    // Settings
    "omp_set_default_device" => Management;
    "omp_set_dynamic" => Management;
    "omp_set_max_active_levels" => Management;
    "omp_set_nested" => Management;
    "omp_set_num_teams" => Management;
    "omp_set_num_threads" => Management;
    "omp_set_schedule" => Management;
    "omp_set_teams_thread_limit" => Management;
    "omp_set_affinity_format" => Management;
    "omp_control_tool" => Management;
    "omp_display_affinity" => Management;
    "omp_display_env" => Management;
    "omp_fulfill_event" => Signal;
    "omp_pause_resource" => Management;
    "omp_pause_resource_all" => Management;
    // Memory
    "omp_alloc" => Management;
    "omp_aligned_alloc" => Management;
    "omp_calloc" => Management;
    "omp_aligned_calloc" => Management;
    "omp_realloc" => Management;
    "omp_free" => Management;
    "omp_init_allocator" => Management;
    "omp_destroy_allocator" => Management;
    "omp_get_default_allocator" => Inquiry;
    "omp_set_default_allocator" => Management;
    "omp_target_alloc" => Management;
    "omp_target_free" => Management;
    "omp_target_associate_ptr" => Management;
    "omp_target_disassociate_ptr" => Management;
    "omp_target_memcpy" => Put;
    "omp_target_memcpy_rect" => Put;
    "omp_target_memcpy_async" => Put, NonBlocking;
    "omp_target_memcpy_rect_async" => Put, NonBlocking;
};
