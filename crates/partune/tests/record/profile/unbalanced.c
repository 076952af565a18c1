/* expect 2 ranks
 *
 * Rank 0 works 300 ms, rank 1 100 ms, between two calls in one function; then they meet. With BALANCED both work 300 ms. With SPINNING the
 * milliseconds are those of a processor.
 */
#include <mpi.h>
#include <time.h>
#include <unistd.h>

static int rank;

#ifdef SPINNING
/* CPU time of the thread at the end of its work, in nanoseconds. */
static long until(void)
{
    static long end;
    struct timespec now;
    if (end == 0) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        end = now.tv_sec * 1000000000 + now.tv_nsec + (rank == 0 ? 300000000 : 100000000);
    }
    return end;
}
#endif

/* Sleeping is work that other processes on the machine do not make longer. */
__attribute__((noinline)) static void work(void)
{
    int ready;
    MPI_Initialized(&ready);
#if defined SPINNING
    struct timespec now;
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000000000 + now.tv_nsec < until());
#elif defined BALANCED
    usleep(300000);
#else
    usleep(rank == 0 ? 300000 : 100000);
#endif
    MPI_Initialized(&ready);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    work();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
