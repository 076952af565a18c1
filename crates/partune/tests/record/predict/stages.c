/* What each rank makes of a thing goes on to the next one as a whole. 5 things of 80 ms on each of 4 ranks, (5 + 3) 80 ms.
 *
 * expect 4 ranks
 * 1: in four pieces of 20 ms, (20 + 3) 20 ms.
 */
#include <mpi.h>
#include "pair.h"

void stage(void) { work(repair == 1 ? 20 : 80); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < (repair == 1 ? 20 : 5); ++i) {
        if (rank > 0) MPI_Recv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        stage();
        if (rank + 1 < ranks) MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
