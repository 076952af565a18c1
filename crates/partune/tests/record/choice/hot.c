/* Asks again and again who it is, which tells nothing, and sends messages, which do. One rank is late once.
 *
 * expect 2 ranks
 * expect each: MPI_Comm_rank 20001, MPI_Allreduce 1, sends 50, receives 50, MPI_Send 50, MPI_Recv 50
 */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    int rank, value = 1, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) usleep(50000);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 50; ++i) {
        if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
