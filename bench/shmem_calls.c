/* What calls of OpenSHMEM cost, in ns: the program of shmem.sh, on one PE, whose accesses are to its own memory: the least that the library does.
 *
 * Each line is a call and the best of the repetitions, which is the one that was disturbed least.
 */
#include <shmem.h>
#include <stdio.h>
#include <time.h>

enum { REPETITIONS = 9, TURNS = 20000 };

static long cell;
static volatile long sink;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#define CALL(NAME, ...)                                   \
    static void NAME(void)                                \
    {                                                     \
        for (int i = 0; i < TURNS; ++i) { __VA_ARGS__ }   \
    }

CALL(put, long from = i; shmem_long_put(&cell, &from, 1, 0);)
CALL(p, shmem_long_p(&cell, i, 0);)
CALL(get, long to; shmem_long_get(&to, &cell, 1, 0); sink = to;)
CALL(g, sink = shmem_long_g(&cell, 0);)
CALL(add, shmem_long_atomic_add(&cell, 1, 0);)
CALL(quiet, shmem_quiet();)

static void measure(const char* name, void (*calls)(void))
{
    double best = 1e9;
    for (int i = 0; i < REPETITIONS; ++i) {
        double begin = seconds();
        calls();
        double took = seconds() - begin;
        if (took < best) best = took;
    }
    printf("%s %.1f\n", name, best / TURNS * 1e9);
}

int main(void)
{
    shmem_init();
    measure("put", put);
    measure("p", p);
    measure("get", get);
    measure("g", g);
    measure("add", add);
    measure("quiet", quiet);
    shmem_finalize();
    return 0;
}
