/* Everybody exchanges with its neighbours, and rank 2 takes twice as long for its work. 10 turns of 120 ms.
 *
 * expect 4 ranks
 * 1: it takes 60 ms as the others; 2: all have the mean, 75 ms.
 */
#include <mpi.h>
#include "pair.h"

void solve(void) { work(repair == 2 ? 75 : repair != 1 && rank == 2 ? 120 : 60); }

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 10; ++i) {
        double mine = 1, of[2];
        int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
        MPI_Request requests[4];
        solve();
        MPI_Irecv(&of[0], 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&of[1], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&mine, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&mine, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
