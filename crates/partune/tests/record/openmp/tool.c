/* A tool of OpenMP's tools interface that counts, and says how many there were of each when the program ends. */
#include <omp-tools.h>
#include <stdio.h>

enum { BARRIER, IMPLICIT, TASKWAIT, CRITICAL, ORDERED, LOCK, CREATED, COMPLETE, SINGLE, PARTS, TEAMS, KINDS };

static unsigned long counts[KINDS];
static const char* const names[KINDS] = { "omp barrier", "omp implicit barrier", "omp taskwait", "omp critical", "omp ordered",
                                          "omp_set_lock", "omp create task", "complete", "omp single", "parts", "teams" };

static void count(int kind) { __atomic_add_fetch(&counts[kind], 1, __ATOMIC_RELAXED); }

static void sync_region(ompt_sync_region_t kind, ompt_scope_endpoint_t end, ompt_data_t* team, ompt_data_t* task, const void* from)
{
    (void)team, (void)task, (void)from;
    if (end != ompt_scope_begin) return;
    if (kind == ompt_sync_region_barrier_explicit) count(BARRIER);
    if (kind == ompt_sync_region_barrier_implicit || kind == ompt_sync_region_barrier_implicit_workshare ||
        kind == ompt_sync_region_barrier_implicit_parallel)
        count(IMPLICIT);
    if (kind == ompt_sync_region_taskwait) count(TASKWAIT);
}

static void acquired(ompt_mutex_t kind, ompt_wait_id_t what, const void* from)
{
    (void)what, (void)from;
    if (kind == ompt_mutex_critical) count(CRITICAL);
    if (kind == ompt_mutex_ordered) count(ORDERED);
    if (kind == ompt_mutex_lock) count(LOCK);
}

static void create(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* created, int flags, int depends, const void* from)
{
    (void)task, (void)frame, (void)created, (void)depends, (void)from;
    if (flags & ompt_task_explicit) count(CREATED);
}

static void schedule(ompt_data_t* task, ompt_task_status_t status, ompt_data_t* next)
{
    (void)task, (void)next;
    if (status == ompt_task_complete) count(COMPLETE);
}

static void work(ompt_work_t kind, ompt_scope_endpoint_t end, ompt_data_t* team, ompt_data_t* task, uint64_t n, const void* from)
{
    (void)team, (void)task, (void)n, (void)from;
    if (end == ompt_scope_begin && kind == ompt_work_single_executor) count(SINGLE);
}

static void part(ompt_scope_endpoint_t end, ompt_data_t* team, ompt_data_t* task, unsigned threads, unsigned thread, int flags)
{
    (void)team, (void)task, (void)threads, (void)thread;
    if (end == ompt_scope_begin && !(flags & ompt_task_initial)) count(PARTS);
}

static void fork_team(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* team, unsigned threads, int flags, const void* from)
{
    (void)task, (void)frame, (void)team, (void)threads, (void)flags, (void)from;
    count(TEAMS);
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* data)
{
    (void)device, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_sync_region, (ompt_callback_t)sync_region);
    set(ompt_callback_mutex_acquired, (ompt_callback_t)acquired);
    set(ompt_callback_task_create, (ompt_callback_t)create);
    set(ompt_callback_task_schedule, (ompt_callback_t)schedule);
    set(ompt_callback_work, (ompt_callback_t)work);
    set(ompt_callback_implicit_task, (ompt_callback_t)part);
    set(ompt_callback_parallel_begin, (ompt_callback_t)fork_team);
    return 1;
}

static void finalize(ompt_data_t* data)
{
    (void)data;
    for (int kind = 0; kind < KINDS; ++kind) fprintf(stderr, "counted %s %lu\n", names[kind], counts[kind]);
}

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime)
{
    (void)version, (void)runtime;
    static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };
    return &result;
}
