/* Further collective operations with one late rank, three times each: who waits depends on where the data goes.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 3 ranks
 * expect wait late_broadcast at SCATTER: MPI_Scatter, ranks 0 2, 0.18 s, causes 1
 * expect wait early_reduce at GATHER: MPI_Gatherv, ranks 1, 0.18 s, causes 0
 * expect wait wait_at_nxn at ALLTOALL: MPI_Alltoall, ranks 1 2, 0.18 s, causes 0
 * expect wait early_scan at SCAN: MPI_Scan, ranks 2, 0.18 s, causes 1
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, balanced, in[3], out[3];
static const int one[3] = { 1, 1, 1 }, at[3] = { 0, 1, 2 };

/* Work of those who are late. */
static void work(int late)
{
    if (late || balanced) nanosleep(&(struct timespec){ 0, 60000000L }, NULL);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) {
        work(rank == 1);
        MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 1, MPI_COMM_WORLD); /* SCATTER */
    }
    for (int i = 0; i < 3; ++i) {
        work(rank == 0);
        MPI_Gatherv(out, 1, MPI_INT, in, one, at, MPI_INT, 1, MPI_COMM_WORLD); /* GATHER */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; ++i) {
        work(rank == 0);
        MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD); /* ALLTOALL */
    }
    for (int i = 0; i < 3; ++i) {
        work(rank == 1);
        MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* SCAN */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
