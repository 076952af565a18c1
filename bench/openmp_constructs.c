/* What constructs of OpenMP cost, in ns: the program of openmp.sh, whose runtime tells tools what it does.
 *
 * One thread, so that nobody waits: what is left is the runtime and whoever it tells. Each line is a construct and the best of the repetitions, which is the one that
 * was disturbed least.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPETITIONS = 9, TURNS = 20000 };

static volatile long sink;
static omp_lock_t lock;

#define CONSTRUCT(NAME, ...)             \
    static void NAME(void)               \
    {                                    \
        for (int i = 0; i < TURNS; ++i) { \
            __VA_ARGS__                  \
        }                                \
    }

CONSTRUCT(parallel, _Pragma("omp parallel") sink = i;)
CONSTRUCT(barrier, _Pragma("omp barrier"))
CONSTRUCT(loop, _Pragma("omp for schedule(dynamic, 8)") for (int k = 0; k < 16; ++k) sink = k;)
CONSTRUCT(single, _Pragma("omp single nowait") sink = i;)
CONSTRUCT(critical, _Pragma("omp critical") sink = i;)
CONSTRUCT(locks, omp_set_lock(&lock); sink = i; omp_unset_lock(&lock);)
CONSTRUCT(task, _Pragma("omp task") sink = i;)
CONSTRUCT(taskwait, _Pragma("omp taskwait"))

static void measure(const char* name, void (*constructs)(void))
{
    double best = 1e9;
    for (int i = 0; i < REPETITIONS; ++i) {
        double begin = omp_get_wtime();
        constructs();
        double took = omp_get_wtime() - begin;
        if (took < best) best = took;
    }
    printf("%s %.1f\n", name, best / TURNS * 1e9);
}

int main(void)
{
    omp_set_num_threads(1);
    omp_init_lock(&lock);
    measure("parallel", parallel);
#pragma omp parallel
    {
        measure("barrier", barrier);
        measure("loop", loop);
        measure("single", single);
        measure("critical", critical);
        measure("locks", locks);
        measure("task", task);
        measure("taskwait", taskwait);
    }
    return 0;
}
