/* Further collective operations with one late rank, three times each: who waits depends on where the data goes.
 *
 * expect 2 ranks
 * expect wait late_broadcast at SCATTER: MPI_Scatter, ranks 0, 0.18 s, causes 1
 * expect wait early_reduce at GATHER: MPI_Gatherv, ranks 1, 0.18 s, causes 0
 * expect wait wait_at_nxn at ALLTOALL: MPI_Alltoall, ranks 1, 0.18 s, causes 0
 * expect wait early_scan at SCAN: MPI_Scan, ranks 1, 0.18 s, causes 0
 */
#include "work.h"

static int in[2], out[2];
static const int one[2] = { 1, 1 }, at[2] = { 0, 1 };

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("SCATTER");
    for (int i = 0; i < 3; ++i) {
        late(rank == 1, 60);
        MEET(MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD)); /* SCATTER */
    }
    part("GATHER");
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 60);
        MEET(MPI_Gatherv(out, 1, MPI_INT, in, one, at, MPI_INT, 1, MPI_COMM_WORLD)); /* GATHER */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    part("ALLTOALL");
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 60);
        MEET(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD)); /* ALLTOALL */
    }
    part("SCAN");
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 60);
        MEET(MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* SCAN */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
