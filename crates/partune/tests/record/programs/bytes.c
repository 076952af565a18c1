/* Bytes of collective operations, as Score-P counts them: a block to each process that data goes to, oneself included.
 *
 * For ints and doubles from root 1, in the order of the calls: sent by the root 32 + 8 + 32 + 4 + 16 + 16 + 16, by the
 * others 0 + 8 + 32 + 4 + 0 + 16 + 16; received by the root 8 + 32 + 32 + 16 + 4 + 16 + 16, by the others
 * 8 + 0 + 32 + 0 + 4 + 16 + 16.
 *
 * expect 4 ranks
 * expect each: collectives 8
 * expect rank 0: shared 76, collected 76
 * expect rank 1: shared 124, collected 124
 * expect rank 2: shared 76, collected 76
 * expect rank 3: shared 76, collected 76
 */
#include <mpi.h>

enum { RANKS = 4, ROOT = 1 };

int main(int argc, char** argv)
{
    const int one[RANKS] = { 1, 1, 1, 1 }, at[RANKS] = { 0, 1, 2, 3 };
    int out[RANKS] = { 0 }, in[RANKS];
    double x = 1, y;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&x, 1, MPI_DOUBLE, ROOT, MPI_COMM_WORLD);
    MPI_Reduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD);
    MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Scatterv(out, one, at, MPI_INT, in, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, one, at, MPI_INT, in, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return y == RANKS ? 0 : 1;
}
