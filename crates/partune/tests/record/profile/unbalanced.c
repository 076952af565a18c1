/* expect 2 ranks
 *
 * Rank 0 works 300 ms, rank 1 100 ms, between two calls in one function; then they meet. With BALANCED both work 300 ms.
 */
#include <mpi.h>
#include <unistd.h>

static int rank;

/* Sleeping is work that other processes on the machine do not make longer. */
__attribute__((noinline)) static void work(void)
{
    int ready;
    MPI_Initialized(&ready);
#ifdef BALANCED
    usleep(300000);
#else
    usleep(rank == 0 ? 300000 : 100000);
#endif
    MPI_Initialized(&ready);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    work();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
