/* The floor of a tool that OpenMP's runtime tells what it does: for each event that partune asks for, a time and what it is, two stores, no more.
 *
 * It writes nothing out: its buffer is used again from its begin. What a real recorder costs above this is what it does.
 */
#include <omp-tools.h>

#include "stamp.h"

/* The types of these events differ, and none of what they say is looked at. */
#define EVENTS(EVENT)                                                                                                                  \
    EVENT(parallel_begin) EVENT(parallel_end) EVENT(implicit_task) EVENT(task_create) EVENT(task_schedule) EVENT(sync_region)          \
    EVENT(sync_region_wait) EVENT(reduction) EVENT(mutex_acquire) EVENT(mutex_acquired) EVENT(mutex_released) EVENT(nest_lock)         \
    EVENT(work) EVENT(masked) EVENT(cancel)

#define STAMP(NAME) \
    static void on_##NAME(void) { stamp(ompt_callback_##NAME); }
EVENTS(STAMP)

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t* data)
{
    (void)device, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
#define SET(NAME) set(ompt_callback_##NAME, (ompt_callback_t)on_##NAME);
    EVENTS(SET)
    return 1;
}

static void finalize(ompt_data_t* data) { (void)data; }

ompt_start_tool_result_t* ompt_start_tool(unsigned version, const char* runtime)
{
    (void)version, (void)runtime;
    static ompt_start_tool_result_t result = { initialize, finalize, { 0 } };
    return &result;
}
