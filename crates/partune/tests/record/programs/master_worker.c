/* A master that serves whoever asks: five tasks for each of three workers, then a word to stop.
 *
 * expect 4 ranks
 * expect rank 0: MPI_Recv 18, MPI_Send 18, sends 18, sent 72, receives 18, received 72
 * expect rank 1: MPI_Recv 6, MPI_Send 6, sends 6, sent 24, receives 6, received 24
 * expect rank 2: MPI_Recv 6, MPI_Send 6, sends 6, sent 24, receives 6, received 24
 * expect rank 3: MPI_Recv 6, MPI_Send 6, sends 6, sent 24, receives 6, received 24
 */
#include <mpi.h>

enum { TASKS = 5, ASK = 1, TASK = 2, STOP = 3 };

static void serve(int workers)
{
    int given[64] = { 0 }, word;
    MPI_Status status;
    for (int left = workers; left > 0;) {
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        int who = status.MPI_SOURCE, more = given[who]++ < TASKS;
        MPI_Send(&word, 1, MPI_INT, who, more ? TASK : STOP, MPI_COMM_WORLD);
        left -= !more;
    }
}

static void toil(int rank)
{
    MPI_Status status = { 0 };
    do {
        MPI_Send(&rank, 1, MPI_INT, 0, ASK, MPI_COMM_WORLD);
        MPI_Recv(&rank, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } while (status.MPI_TAG == TASK);
}

int main(int argc, char** argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) serve(size - 1);
    else toil(rank);
    MPI_Finalize();
    return 0;
}
