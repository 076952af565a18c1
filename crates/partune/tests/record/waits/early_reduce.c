/* A root that is there before one of those who bring something.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 3 ranks
 * expect wait early_reduce at HERE: MPI_Reduce, ranks 0, 0.30 s, causes 2
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
    int in = 0, out = 1;
    if (rank == 2 || balanced) work(100);
    MPI_Reduce(&out, &in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); /* HERE */
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
