/* What the programs here have in common: `work` is sleep, so that cores do not matter, and tells how long it really took.
 *
 * With the argument `balanced` everybody works when one would, and nobody is late.
 * A process that worked prints `worked RANK RATIO PART` at its end: what its sleep took, over what it asked for; and for each call at which one waits
 * for another `met RANK CAME LEFT PART`, by a clock that all processes of a machine share. A program of several parts names each after the mark of
 * the line where others wait in it.
 */
#ifdef SHMEM
#include <shmem.h>
#else
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, balanced;
static double asked, took;
static const char* part_now = "";

/* Of the part. */
static struct { double came, left; } meetings[16];
static int met;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(void)
{
    if (asked > 0) printf("worked %d %.6f %s\n", rank, took / asked, part_now);
    for (int i = 0; i < met; ++i) printf("met %d %.6f %.6f %s\n", rank, meetings[i].came, meetings[i].left, part_now);
}

/* Begins a part. */
static void part(const char* mark)
{
    tell();
    part_now = mark;
    asked = took = 0;
    met = 0;
}

static void work(long milliseconds)
{
    double start = now();
    nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000L }, NULL);
    took += now() - start;
    asked += 1e-3 * (double)milliseconds;
}

/* One call at which one waits for another. */
#define MEET(call) do { meetings[met].came = now(); call; meetings[met++].left = now(); } while (0)

/* Work of a rank that is late, or of all. */
static void late(int is_late, long milliseconds)
{
    if (is_late || balanced) work(milliseconds);
}

static void start(int argc, char** argv)
{
#ifdef SHMEM
    shmem_init();
    rank = shmem_my_pe();
#else
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    atexit(tell);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
}
