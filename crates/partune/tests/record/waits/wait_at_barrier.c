/* One late rank at a barrier.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 3 ranks
 * expect wait wait_at_barrier at HERE: MPI_Barrier, ranks 0 1, 0.30 s, causes 2
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, balanced;

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

static void together(void)
{
    if (rank == 2 || balanced) work(100);
    MPI_Barrier(MPI_COMM_WORLD); /* HERE */
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) together();
    MPI_Finalize();
    return 0;
}
