/* Rank 1 waits 60 ms for rank 0, but rank 2 is the one that all wait for: 9 turns of 135 ms.
 *
 * expect 4 ranks
 * 1: the wait is gone; 2: no barrier; 3: rank 2 works 27 ms, so that rank 0 is the slow one; 4: and that half as long.
 */
#include <mpi.h>
#include "pair.h"

void produce(void) { work(repair == 1 ? 3 : repair == 4 ? 30 : 60); }
void heavy(void) { work(repair >= 3 ? 27 : 135); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < 9; ++i) {
        if (rank == 0) {
            produce();
            MPI_Send(&data, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        } else if (rank == 1) {
            MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == 2) {
            heavy();
        }
        if (repair != 2) MPI_Barrier(MPI_COMM_WORLD); /* BETWEEN */
    }
    MPI_Finalize();
    return 0;
}
