/* Two ranks on one processor, whose number is the argument, sleep between barriers and compute when MPI has ended.
 *
 * expect 2 ranks
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    struct timespec used;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(argc > 1 ? atoi(argv[1]) : 0, &set);
    sched_setaffinity(0, sizeof set, &set);
    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 20; ++turn) {
        usleep(20000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_sec < 2);
    return 0;
}
