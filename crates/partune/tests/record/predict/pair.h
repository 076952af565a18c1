/* What the programs here have in common: `work` is sleep, so that cores do not matter. With an argument N a program is the one that its N-th change
 * promises; without, it is the one that is changed. */
#include <stdlib.h>
#include <time.h>

#define OURS static inline __attribute__((no_instrument_function))

static int repair;

OURS void work(double milliseconds)
{
    long nanoseconds = (long)(milliseconds * 1e6);
    nanosleep(&(struct timespec){ nanoseconds / 1000000000L, nanoseconds % 1000000000L }, NULL);
}

#ifdef MPI_VERSION
static int rank, ranks;

OURS void start(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}
#endif
