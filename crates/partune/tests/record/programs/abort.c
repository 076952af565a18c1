/* Twenty exchanges, then rank 1 gives up with status 7. What happened before is kept.
 *
 * expect 2 ranks
 * expect status 7
 * expect each: MPI_Sendrecv 20, sends 20, sent 80, receives 20, received 80
 * expect rank 1: MPI_Abort 1
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, in;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 20; ++i)
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
