/* One late rank at the fence of a window.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 2 ranks
 * expect wait late_fence at HERE: MPI_Win_fence, ranks 1, 0.30 s, causes 0
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, balanced;

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

static double cells[2];
static MPI_Win window;

static void epoch(void)
{
    double mine = rank;
    MPI_Put(&mine, 1, MPI_DOUBLE, 1 - rank, rank, 1, MPI_DOUBLE, window);
    if (rank == 0 || balanced) work(100);
    MPI_Win_fence(0, window); /* HERE */
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window); /* START */
    for (int i = 0; i < 3; ++i) epoch();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
