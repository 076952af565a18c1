/* Counts the calls of functions of GCC's OpenMP runtime, and says how many there were when the program ends. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTED(result, name, parameters, arguments) \
    static unsigned long count_##name; \
    result name parameters \
    { \
        static result (*real) parameters; \
        if (!real) real = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
        __atomic_add_fetch(&count_##name, 1, __ATOMIC_RELAXED); \
        return real arguments; \
    }

typedef void (*body)(void*);

#define ALL(DO) \
    DO(void, GOMP_parallel, (body f, void* d, unsigned n, unsigned g), (f, d, n, g)) \
    DO(void, GOMP_barrier, (void), ()) \
    DO(void, GOMP_critical_start, (void), ()) \
    DO(void, GOMP_critical_name_start, (void** n), (n)) \
    DO(void, GOMP_ordered_start, (void), ()) \
    DO(void, GOMP_loop_end, (void), ()) \
    DO(void, GOMP_sections_end, (void), ()) \
    DO(void, GOMP_taskwait, (void), ()) \
    DO(void, omp_set_lock, (void* l), (l)) \
    DO(void, omp_unset_lock, (void* l), (l)) \
    DO(void, GOMP_task, (body f, void* d, body c, long s, long a, _Bool i, unsigned g, void** e, int p, void* t), (f, d, c, s, a, i, g, e, p, t))

ALL(COUNTED)

__attribute__((destructor)) static void say(void)
{
#define SAY(result, name, parameters, arguments) fprintf(stderr, "counted " #name " %lu\n", count_##name);
    ALL(SAY)
}
