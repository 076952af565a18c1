/* Barriers every few milliseconds, until some time after the window that the recorder was told of. A timer may be late: prints how many were in the window
 * even if it began and ended that late, and how many may have been.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static unsigned long long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return time.tv_sec * 1000000000ull + time.tv_nsec;
}

int main(int argc, char** argv)
{
    const unsigned long long late = 100000000;
    unsigned long long from = 0, to = 0;
    int surely = 0, perhaps = 0, goes_on = 1, rank;
    const char* window = getenv("PARTUNE_WINDOW");
    if (window == NULL || sscanf(window, "%llu..%llu", &from, &to) != 2)
        return 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (goes_on) {
        struct timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
        unsigned long long begin = now();
        MPI_Barrier(MPI_COMM_WORLD);
        unsigned long long end = now();
        surely += begin > from + late && end < to;
        perhaps += end > from && begin < to + late;
        goes_on = end < to + 3 * late;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    printf("inside %d %d %d\n", rank, surely, perhaps);
    MPI_Finalize();
    return 0;
}
