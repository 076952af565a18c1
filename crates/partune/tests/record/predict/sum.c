/* A sum that is waited for at once, and needed later. 6 turns: rank 0 works 120 ms before it and 30 after it, the others 30 before it and 120 after it.
 *
 * expect 4 ranks
 * 1: it does not block, 150 ms a turn.
 */
#include <mpi.h>
#include "pair.h"

void before(void) { work(rank == 0 ? 120 : 30); }
void after(void) { work(rank == 0 ? 30 : 120); }

int main(int argc, char** argv)
{
    double mine = 1, sum;
    start(argc, argv);
    for (int i = 0; i < 6; ++i) {
        before();
        if (repair != 1) {
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            after();
        } else {
            MPI_Request request;
            MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
            after();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
