/* Three ranks use one processor, whose number is the argument, for a second of CPU time each, between two barriers.
 *
 * expect 3 ranks
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv)
{
    struct timespec used;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
    sched_setaffinity(0, sizeof set, &set);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec < 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
