/* Senders that cannot go on before their receiver comes: once because they ask for it, once because the message is large.
 *
 * With the argument `balanced` everybody comes at the same time, and there is nothing to tell.
 *
 * expect 2 ranks
 * expect wait late_receiver at HERE: MPI_Ssend, ranks 0, 0.30 s, causes 1
 * expect wait late_receiver at THERE: MPI_Send, ranks 0, 0.30 s, causes 1
 */
#include <mpi.h>
#include <string.h>
#include <time.h>

static int rank, balanced;

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

enum { LARGE = 1 << 20 };

static char room[LARGE];

static void small(void)
{
    if (rank == 1 || balanced) work(100);
    if (rank == 0) MPI_Ssend(room, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD); /* HERE */
    else MPI_Recv(room, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void large(void)
{
    if (rank == 1 || balanced) work(100);
    if (rank == 0) MPI_Send(room, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD); /* THERE */
    else MPI_Recv(room, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    balanced = argc > 1 && strcmp(argv[1], "balanced") == 0;
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) small();
    for (int i = 0; i < 3; ++i) large();
    MPI_Finalize();
    return 0;
}
