/* A receive that is posted in time and waited for among others.
 *
 * expect 2 ranks
 * expect wait late_sender at HERE: MPI_Waitall, ranks 1, 0.30 s, causes 0
 */
#include "work.h"

static void exchange(void)
{
    int in = 0, out = rank;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    late(rank == 0, 100);
    if (rank == 0) MEET(MPI_Isend(&out, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[1]));
    else MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[1]);
    if (rank == 0) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    else MEET(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) exchange();
    MPI_Finalize();
    return 0;
}
