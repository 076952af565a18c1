/* A receiver that is there 0.1 s before its sender, three times.
 *
 * expect 2 ranks
 * expect wait late_sender at HERE: MPI_Recv, ranks 1, 0.30 s, causes 0
 */
#include "work.h"

static void exchange(void)
{
    int word = 0;
    late(rank == 0, 100);
    if (rank == 0) MEET(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    else MEET(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) exchange();
    MPI_Finalize();
    return 0;
}
