/* Rank 0 serves the others, and computes for 90 ms before it does; they compute for 30 ms before they ask. 12 turns of 90 ms.
 *
 * expect 4 ranks
 * 1: it only serves, and the others compute what it had, in 60 ms.
 */
#include <mpi.h>
#include "pair.h"

void compute(void) { work(repair == 1 ? 60 : rank == 0 ? 90 : 30); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < 12; ++i) {
        if (rank != 0) {
            compute();
            MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            MPI_Recv(&data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            continue;
        }
        if (repair != 1) compute();
        for (int worker = 1; worker < ranks; ++worker) {
            MPI_Recv(&data, 1, MPI_INT, worker, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int worker = 1; worker < ranks; ++worker) MPI_Send(&data, 1, MPI_INT, worker, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
