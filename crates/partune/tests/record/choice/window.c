/* Barriers every few milliseconds, until some time after the window that the recorder was told of; prints how many were wholly inside of it.
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
    unsigned long long from = 0, to = 0;
    int inside = 0, goes_on = 1, rank;
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
        inside += begin > from && now() < to;
        goes_on = now() < to + 300000000ull;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    printf("inside %d %d\n", rank, inside);
    MPI_Finalize();
    return 0;
}
