/* A receive that is posted in time and waited for among others.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 2 ranks
 * expect wait late_sender at HERE: MPI_Waitall, ranks 1, 0.30 s, causes 0
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, balanced;

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

static void exchange(void)
{
    int in = 0, out = rank;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
    if (rank == 0 || balanced) work(100);
    MPI_Isend(&out, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* HERE */
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) exchange();
    MPI_Finalize();
    return 0;
}
