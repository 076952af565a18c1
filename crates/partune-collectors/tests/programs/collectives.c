/* Bytes of collectives: what the test beside it expects of each rank, in this order. Three ranks. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int rank, size, in[64] = {0}, out[64] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm w = MPI_COMM_WORLD;
    int counts[3] = {1, 2, 3}, displs[3] = {0, 1, 3};
    MPI_Datatype types[3] = {MPI_INT, MPI_SHORT, MPI_BYTE};
    int wdispls[3] = {0, 16, 32};

    /* 0..4: rooted, with rubbish where MPI says that it is ignored */
    MPI_Bcast(in, 5, MPI_INT, 1, w);
    MPI_Gather(in, 2, MPI_INT, out, rank == 0 ? 2 : -7, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0, w);
    if (rank == 0) MPI_Gather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, 2, MPI_INT, 0, w);
    else MPI_Gather(in, 2, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, 0, w);
    MPI_Gatherv(in, counts[rank], MPI_INT, out, rank == 2 ? counts : NULL, rank == 2 ? displs : NULL, MPI_INT, 2, w);
    if (rank == 0) MPI_Scatterv(out, counts, displs, MPI_INT, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, 0, w);
    else MPI_Scatterv(NULL, NULL, NULL, MPI_DATATYPE_NULL, in, counts[rank], MPI_INT, 0, w);
    /* 5..8: everybody */
    MPI_Allreduce(in, out, 4, MPI_INT, MPI_SUM, w);
    MPI_Allreduce(MPI_IN_PLACE, out, 4, MPI_INT, MPI_SUM, w);
    MPI_Allgatherv(in, counts[rank], MPI_INT, out, counts, displs, MPI_INT, w);
    MPI_Allgatherv(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, out, counts, displs, MPI_INT, w);
    /* 9..10: of each its own type */
    {
        int mine[3], zero[3] = {0, 0, 0};
        MPI_Datatype all[3];
        for (int i = 0; i < 3; i++) { mine[i] = 2; all[i] = types[(rank + i) % 3]; }
        MPI_Alltoallw(in, mine, wdispls, all, out, mine, wdispls, all, w);
        MPI_Alltoallv(in, zero, zero, MPI_INT, out, zero, zero, MPI_INT, w);
    }
    /* 11..14: reductions in parts and prefixes */
    MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, w);
    MPI_Reduce_scatter_block(in, out, 2, MPI_INT, MPI_SUM, w);
    MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, w);
    MPI_Exscan(in, out, 1, MPI_INT, MPI_SUM, w);
    MPI_Finalize();
    return 0;
}
