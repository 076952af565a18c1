/* Fifty barriers; each rank signals itself before the 11th and the 31st, or only before the 11th if a word is given.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <signal.h>

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 50; ++turn) {
        if (turn == 10 || (turn == 30 && argc == 1))
            raise(SIGUSR2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
