/* One late rank at the fence of a window.
 *
 * expect 2 ranks
 * expect wait late_fence at HERE: MPI_Win_fence, ranks 1, 0.30 s, causes 0
 */
#include "work.h"

static double cells[2];
static MPI_Win window;

static void epoch(void)
{
    double mine = rank;
    MPI_Put(&mine, 1, MPI_DOUBLE, 1 - rank, rank, 1, MPI_DOUBLE, window);
    late(rank == 0, 100);
    MEET(MPI_Win_fence(0, window)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window); /* START */
    for (int i = 0; i < 3; ++i) epoch();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
