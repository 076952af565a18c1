/* Rank 1 waits from the begin for a message that rank 0 never sends. Rank 0 sends itself many, and then waits for rank 1, until an alarm ends both.
 *
 * expect 2 ranks
 * expect status any
 */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    int rank, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; rank == 0 && i < 60000; ++i)
        MPI_Sendrecv(&i, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    if (rank == 0)
        alarm(4);
    MPI_Recv(&in, 1, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
