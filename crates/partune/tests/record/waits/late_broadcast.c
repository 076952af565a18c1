/* A root that comes late to its broadcast.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 3 ranks
 * expect wait late_broadcast at HERE: MPI_Bcast, ranks 0 2, 0.30 s, causes 1
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
    int word = 0;
    if (rank == 1 || balanced) work(100);
    MPI_Bcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD); /* HERE */
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
