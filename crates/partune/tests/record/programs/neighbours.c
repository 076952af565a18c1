/* Neighbourhoods: a periodic grid of two by two, and rings that are given as graphs. Each call is messages to and from all neighbours.
 *
 * expect 4 ranks
 * expect each: MPI_Cart_create 1, MPI_Cart_sub 1, MPI_Dist_graph_create_adjacent 1, MPI_Dist_graph_create 1
 * expect each: MPI_Neighbor_allgather 3, MPI_Neighbor_allgatherv 1, MPI_Neighbor_alltoall 1, MPI_Neighbor_alltoallv 1
 * expect each: MPI_Neighbor_alltoallw 1, MPI_Ineighbor_alltoall 1, MPI_Ineighbor_allgather 1, MPI_Allreduce 1
 * expect each: MPI_Sendrecv 1, sends 31, sent 124, receives 31, received 124, collectives 1
 */
#include <mpi.h>

static const int one[4] = { 1, 1, 1, 1 }, at[4] = { 0, 1, 2, 3 };

static int on_grid(void)
{
    int me, from, to, out[4], in[4], sum;
    MPI_Comm grid, row;
    MPI_Request requests[2];
    MPI_Datatype types[4] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT };
    MPI_Aint bytes[4] = { 0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int) };
    MPI_Cart_create(MPI_COMM_WORLD, 2, (int[2]){ 2, 2 }, (int[2]){ 1, 1 }, 1, &grid);
    MPI_Comm_rank(grid, &me);
    for (int i = 0; i < 4; ++i) out[i] = me;

    MPI_Cart_shift(grid, 0, 1, &from, &to);
    MPI_Sendrecv(&me, 1, MPI_INT, to, 1, &sum, 1, MPI_INT, from, 1, grid, MPI_STATUS_IGNORE);
    MPI_Neighbor_allgather(&me, 1, MPI_INT, in, 1, MPI_INT, grid);
    MPI_Neighbor_allgatherv(&me, 1, MPI_INT, in, one, at, MPI_INT, grid);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
    MPI_Neighbor_alltoallv(out, one, at, MPI_INT, in, one, at, MPI_INT, grid);
    MPI_Neighbor_alltoallw(out, one, bytes, types, in, one, bytes, types, grid);
    int late[4], later[4];
    MPI_Ineighbor_alltoall(out, 1, MPI_INT, late, 1, MPI_INT, grid, &requests[0]);
    MPI_Ineighbor_allgather(&me, 1, MPI_INT, later, 1, MPI_INT, grid, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);

    MPI_Cart_sub(grid, (int[2]){ 0, 1 }, &row);
    MPI_Allreduce(&one[0], &sum, 1, MPI_INT, MPI_SUM, row);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    return sum == 2 && in[0] == from ? 0 : 1;
}

static int on_rings(int rank)
{
    int left = (rank + 3) % 4, right = (rank + 1) % 4, in[2] = { -1, -1 };
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one[0], &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, in + 1, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
    return in[0] == left && in[1] == left ? 0 : 1;
}

int main(int argc, char** argv)
{
    int rank, wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wrong = on_grid();
    wrong |= on_rings(rank);
    MPI_Finalize();
    return wrong;
}
