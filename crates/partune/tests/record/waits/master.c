/* A master that takes what comes. Its workers take turns: one is ready each 0.05 s.
 *
 * expect 3 ranks
 * expect wait late_sender at HERE: MPI_Recv, ranks 0, 0.30 s, causes 1 2
 */
#include "work.h"

static void master(void)
{
    int word;
    late(0, 300);
    for (int i = 0; i < 6; ++i)
        MEET(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE */
}

static void worker(void)
{
    for (int i = 0; i < 3; ++i) {
        work(rank == 1 ? 50 : 100);
        MEET(MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
        if (rank == 1) work(50);
    }
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    if (rank == 0) master();
    else worker();
    MPI_Finalize();
    return 0;
}
