/* A persistent receive whose message comes late.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 2 ranks
 * expect wait late_sender at HERE: MPI_Wait, ranks 1, 0.30 s, causes 0
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, balanced;

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

static MPI_Request request;

static void exchange(void)
{
    if (rank == 0 || balanced) work(100);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* HERE */
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    int word = 0;
    if (rank == 0) MPI_Send_init(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    else MPI_Recv_init(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) exchange();
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
