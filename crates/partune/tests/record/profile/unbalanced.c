/* expect 2 ranks
 *
 * Rank 0 works 300 ms, rank 1 100 ms, between two calls in one function; then they meet. With BALANCED both work 300 ms. With SPINNING the
 * milliseconds are those of a processor. Each prints when it came from MPI_Init and when it came to MPI_Finalize, by a clock that both share, and the
 * seconds of its work and of its barriers: a busy machine makes them longer.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int rank;
static double worked, met;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void meet(void)
{
    double came = now();
    MPI_Barrier(MPI_COMM_WORLD);
    met += now() - came;
}

#ifdef SPINNING
/* CPU time of the thread at the end of its work, in nanoseconds. */
static long until(void)
{
    static long end;
    struct timespec used;
    if (end == 0) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
        end = used.tv_sec * 1000000000 + used.tv_nsec + (rank == 0 ? 300000000 : 100000000);
    }
    return end;
}
#endif

/* Sleeping is work that other processes on the machine do not make longer. */
__attribute__((noinline)) static void work(void)
{
    int ready;
    MPI_Initialized(&ready);
    double begin = now();
#if defined SPINNING
    struct timespec used;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    } while (used.tv_sec * 1000000000 + used.tv_nsec < until());
#elif defined BALANCED
    usleep(300000);
#else
    usleep(rank == 0 ? 300000 : 100000);
#endif
    worked = now() - begin;
    MPI_Initialized(&ready);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double begin = now();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    meet();
    work();
    meet();
    double end = now();
    MPI_Finalize();
    printf("rank %d from %.6f to %.6f worked %.6f met %.6f\n", rank, begin, end, worked, met);
    return 0;
}
