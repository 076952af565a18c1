/* Every blocking collective operation, and those that can work in place.
 *
 * expect 4 ranks
 * expect each: MPI_Barrier 1, MPI_Bcast 1, MPI_Reduce 2, MPI_Allreduce 2, MPI_Gather 2, MPI_Gatherv 1, MPI_Scatter 2
 * expect each: MPI_Scatterv 1, MPI_Allgather 2, MPI_Allgatherv 1, MPI_Alltoall 2, MPI_Alltoallv 1, MPI_Alltoallw 1
 * expect each: MPI_Reduce_scatter 1, MPI_Reduce_scatter_block 2, MPI_Scan 2, MPI_Exscan 1, MPI_Reduce_local 1
 * expect each: collectives 25, sends 0, receives 0
 */
#include <mpi.h>
#include <stddef.h>

enum { RANKS = 4, ROOT = 1 };

static int in[RANKS], out[RANKS];
static const int one[RANKS] = { 1, 1, 1, 1 }, at[RANKS] = { 0, 1, 2, 3 };

static void plain(void)
{
    int bytes[RANKS] = { 0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int) };
    MPI_Datatype types[RANKS] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT };
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(out, RANKS, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Reduce(out, in, RANKS, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, RANKS, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Gatherv(out, 1, MPI_INT, in, one, at, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Scatterv(out, one, at, MPI_INT, in, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(out, 1, MPI_INT, in, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, one, at, MPI_INT, in, one, at, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallw(out, one, bytes, types, in, one, bytes, types, MPI_COMM_WORLD);
    MPI_Reduce_scatter(out, in, one, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_local(out, in, 1, MPI_INT, MPI_SUM);
}

static void in_place(int rank)
{
    int root = rank == ROOT;
    MPI_Reduce(root ? MPI_IN_PLACE : out, root ? in : NULL, 1, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    /* What only the root gives is nonsense elsewhere, on purpose. */
    MPI_Gather(root ? MPI_IN_PLACE : out, 1, MPI_INT, root ? in : NULL, root ? 1 : -7, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Scatter(root ? out : NULL, root ? 1 : -7, MPI_INT, root ? MPI_IN_PLACE : in, 1, MPI_INT, ROOT, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < RANKS; ++i) in[i] = 1;
    MPI_Scan(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    plain();
    in_place(rank);
    MPI_Finalize();
    return in[0] == rank + 1 ? 0 : 1;
}
