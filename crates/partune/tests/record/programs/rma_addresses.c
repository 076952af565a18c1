/* Twelve doubles, four on each of three ranks, but rank q reads elements q, q + 3, q + 6, q + 9: half of them lie on another rank, and would
 * not if the elements were dealt out one by one. Rank 1 counts in bytes. A column has holes, so where it is touched is not told.
 *
 * expect 3 ranks
 * expect each: MPI_Win_create 2, MPI_Win_fence 4, MPI_Get 5, gets 5, got 48, MPI_Win_free 2
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, size, good;
    double mine[4], holes[4] = { 0 }, seen[4], pair[2];
    MPI_Win window, other;
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 4; i++)
        mine[i] = 4 * rank + i;
    MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Win_create(mine, sizeof mine, rank == 1 ? 1 : sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_create(holes, sizeof holes, sizeof *holes, MPI_INFO_NULL, MPI_COMM_WORLD, &other);

    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    for (int i = rank; i < 12; i += 3) {
        int owner = i / 4;
        MPI_Get(&seen[i / 3], 1, MPI_DOUBLE, owner, owner == 1 ? i % 4 * sizeof *mine : i % 4, 1, MPI_DOUBLE, window);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, other);
    good = seen[0] == rank && seen[3] == 9 + rank;
    MPI_Get(pair, 2, MPI_DOUBLE, (rank + 1) % size, 0, 1, column, other);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, other);

    MPI_Win_free(&other);
    MPI_Win_free(&window);
    MPI_Type_free(&column);
    MPI_Finalize();
    return good ? 0 : 1;
}
