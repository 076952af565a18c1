/* expect 2 ranks
 * expect status bad
 *
 * Each rank sends 50 messages to itself; then rank 0 kills all by ending itself, while rank 1 waits for a message that never comes.
 */
#include <mpi.h>
#include <partune.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, data = 0, i;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partune_phase_begin("all of it");
    for (i = 0; i < 50; i++) {
        MPI_Irecv(&data, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (i = 0; i < 50; i++) {
        MPI_Request other;
        MPI_Isend(&i, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &other);
        MPI_Recv(&data, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(100000);
    if (rank == 0) {
        usleep(200000);
        kill(getpid(), SIGKILL);
    }
    MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    partune_phase_end("all of it");
    MPI_Finalize();
    return 0;
}
