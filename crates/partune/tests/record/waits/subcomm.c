/* A late sender in a communicator of ranks 3 and 1, in this order, and a late rank at its barrier.
 *
 * expect 4 ranks
 * expect wait late_sender at HERE: MPI_Recv, ranks 1, 0.30 s, causes 3
 * expect wait wait_at_barrier at THERE: MPI_Barrier, ranks 3, 0.30 s, causes 1
 */
#include "work.h"

static MPI_Comm half;

static void message(void)
{
    int word = 0;
    late(rank == 3, 100);
    if (rank == 3) MEET(MPI_Send(&word, 1, MPI_INT, 1, 0, half));
    else MEET(MPI_Recv(&word, 1, MPI_INT, 0, 0, half, MPI_STATUS_IGNORE)); /* HERE */
}

static void meeting(void)
{
    late(rank == 1, 100);
    MEET(MPI_Barrier(half)); /* THERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); /* START */
    if (rank % 2 == 1) {
        part("HERE");
        for (int i = 0; i < 3; ++i) message();
        part("THERE");
        for (int i = 0; i < 3; ++i) meeting();
    } else {
        work(600); /* the others have nothing to do */
    }
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
