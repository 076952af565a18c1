/* Senders that cannot go on before their receiver comes: once because they ask for it, once because the message is large.
 *
 * expect 2 ranks
 * expect wait late_receiver at HERE: MPI_Ssend, ranks 0, 0.30 s, causes 1
 * expect wait late_receiver at THERE: MPI_Send, ranks 0, 0.30 s, causes 1
 */
#include "work.h"

enum { LARGE = 1 << 20 };

static char room[LARGE];

static void small(void)
{
    late(rank == 1, 100);
    if (rank == 0) MEET(MPI_Ssend(room, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD)); /* HERE */
    else MEET(MPI_Recv(room, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void large(void)
{
    late(rank == 1, 100);
    if (rank == 0) MEET(MPI_Send(room, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD)); /* THERE */
    else MEET(MPI_Recv(room, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("HERE");
    for (int i = 0; i < 3; ++i) small();
    part("THERE");
    for (int i = 0; i < 3; ++i) large();
    MPI_Finalize();
    return 0;
}
