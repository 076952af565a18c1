/* What each rank makes goes on to the next one, and rank 2 is the slow one. 8 things, 48 ms on each but 120 on rank 2.
 *
 * expect 4 ranks
 * 1: all have the mean, 66 ms; 2: rank 2 takes 48 ms too.
 */
#include <mpi.h>
#include "pair.h"

void stage(void) { work(repair == 1 ? 66 : rank == 2 && repair != 2 ? 120 : 48); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < 8; ++i) {
        if (rank > 0) MPI_Recv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        stage();
        if (rank + 1 < ranks) MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
