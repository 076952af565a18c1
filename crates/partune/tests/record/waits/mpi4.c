/* What MPI 4 added: requests of messages in both directions, of collectives that are started again, and of messages in partitions.
 *
 * expect mpich
 * expect 2 ranks
 * expect wait late_sender at BOTH: MPI_Wait, ranks 1, 0.18 s, causes 0
 * expect wait late_sender at REPLACE: MPI_Wait, ranks 0, 0.18 s, causes 1
 * expect wait wait_at_nxn at REDUCE: MPI_Wait, ranks 1, 0.18 s, causes 0
 * expect wait wait_at_barrier at BARRIER: MPI_Wait, ranks 0, 0.18 s, causes 1
 * expect wait late_sender at PARTS: MPI_Wait, ranks 1, 0.36 s, causes 0
 */
#include "work.h"

static double mine, theirs, two[2];
static MPI_Request request;

/* A place is a function: each kind of message has its own. */
__attribute__((noinline)) static void both(void)
{
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 60);
        if (rank == 0) MEET(MPI_Isendrecv(&mine, 1, MPI_DOUBLE, 1, 3, &theirs, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, &request));
        else MPI_Isendrecv(&mine, 1, MPI_DOUBLE, 0, 3, &theirs, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD, &request);
        if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        else MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* BOTH */
    }
}

__attribute__((noinline)) static void replace(void)
{
    for (int i = 0; i < 3; ++i) {
        late(rank == 1, 60);
        if (rank == 1) MEET(MPI_Isendrecv_replace(&mine, 1, MPI_DOUBLE, 0, 4, 0, 4, MPI_COMM_WORLD, &request));
        else MPI_Isendrecv_replace(&mine, 1, MPI_DOUBLE, 1, 4, 1, 4, MPI_COMM_WORLD, &request);
        if (rank == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
        else MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* REPLACE */
    }
}

__attribute__((noinline)) static void parts(void)
{
    if (rank == 0) MPI_Psend_init(two, 2, 1, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else MPI_Precv_init(two, 2, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        MPI_Start(&request);
        late(rank == 0, 60);
        if (rank == 0) MPI_Pready(1, request);
        late(rank == 0, 60);
        if (rank == 0) MEET(MPI_Pready(0, request));
        if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
        else MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* PARTS */
    }
    MPI_Request_free(&request);
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("BOTH");
    both();
    part("REPLACE");
    replace();
    part("REDUCE");
    MPI_Allreduce_init(&mine, &theirs, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 60);
        MPI_Start(&request);
        MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* REDUCE */
    }
    MPI_Request_free(&request);
    part("BARRIER");
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
        late(rank == 1, 60);
        MPI_Start(&request);
        MEET(MPI_Wait(&request, MPI_STATUS_IGNORE)); /* BARRIER */
    }
    MPI_Request_free(&request);
    part("PARTS");
    parts();
    MPI_Finalize();
    return 0;
}
