/* A persistent receive whose message comes late.
 *
 * expect 2 ranks
 * expect wait late_sender at HERE: MPI_Wait, ranks 1, 0.30 s, causes 0
 */
#include "work.h"

static MPI_Request request;

static void exchange(void)
{
    late(rank == 0, 100);
    if (rank == 0) MEET(MPI_Start(&request));
    else MPI_Start(&request);
    if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    else MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    int word = 0;
    if (rank == 0) MPI_Send_init(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    else MPI_Recv_init(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) exchange();
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
