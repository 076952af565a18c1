/* One-sided operations between fences: each rank writes to the right, reads from the left, adds to rank 0.
 *
 * expect 4 ranks
 * expect each: MPI_Win_create 1, MPI_Win_allocate 1, MPI_Win_fence 6, MPI_Put 2, MPI_Get 1, MPI_Accumulate 1, MPI_Win_free 2
 * expect each: puts 1, put 8, gets 1, got 8, atomics 1, sends 0, receives 0
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, size;
    double cells[3] = { 0 }, mine, seen = -1, *more;
    MPI_Win window, other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    mine = cells[1] = rank;
    MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_allocate(sizeof *more, sizeof *more, MPI_INFO_NULL, MPI_COMM_WORLD, &more, &other);

    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(&mine, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window);
    MPI_Put(&mine, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, window); /* to nobody */
    MPI_Win_fence(0, window);
    MPI_Get(&seen, 1, MPI_DOUBLE, left, 1, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Accumulate(&mine, 1, MPI_DOUBLE, 0, 2, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, other); /* an epoch in which nothing happens */
    MPI_Win_fence(MPI_MODE_NOSUCCEED, other);

    MPI_Win_free(&other);
    MPI_Win_free(&window);
    MPI_Finalize();
    return cells[0] == left && seen == left && (rank != 0 || cells[2] == 6) ? 0 : 1;
}
