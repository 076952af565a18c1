/* A send to a process that there is not, with the error handler that MPI has of its own: it ends the program.
 *
 * expect 2 ranks
 * expect status bad
 */
#include <mpi.h>

__attribute__((noinline)) static void wrong(void)
{
    int value = 0;
    MPI_Send(&value, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) wrong();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
