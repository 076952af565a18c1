/* A row of three processes that exchange with their neighbours. The middle one is late: at once, and while requests are under way.
 *
 * expect 3 ranks
 * expect wait late_sender at AT_ONCE: MPI_Neighbor_alltoall, ranks 0 2, 0.30 s, causes 1
 * expect wait late_sender at LATER: MPI_Wait, ranks 0 2, 0.30 s, causes 1
 */
#include "work.h"

static MPI_Comm row;
static int out[2], in[2];

static void at_once(void)
{
    late(rank == 1, 100);
    MEET(MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, row)); /* AT_ONCE */
}

static void later(void)
{
    const int one[2] = { 1, 1 }, at[2] = { 0, 1 };
    MPI_Request request;
    late(rank == 1, 100);
    if (rank == 1) MEET(MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, one, at, MPI_INT, row, &request));
    else MPI_Ineighbor_allgatherv(out, 1, MPI_INT, in, one, at, MPI_INT, row, &request);
    if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
    else MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* LATER */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Cart_create(MPI_COMM_WORLD, 1, (int[1]){ 3 }, (int[1]){ 0 }, 0, &row);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("AT_ONCE");
    for (int i = 0; i < 3; ++i) at_once();
    MPI_Barrier(MPI_COMM_WORLD);
    part("LATER");
    for (int i = 0; i < 3; ++i) later();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&row);
    MPI_Finalize();
    return 0;
}
