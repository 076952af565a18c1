/* A wait for data of which only the last part of the work has need. 9 turns of 60 + 45 + 15 ms, where 60 + 15 would do.
 *
 * expect 4 ranks
 * 1: it waits after the inner part; 2: and the border takes half of the time.
 */
#include <mpi.h>
#include "pair.h"

void border(void) { work(repair == 2 ? 30 : 60); }
void inner(void) { work(45); }
void outer(void) { work(15); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < 9; ++i) {
        if (rank % 2 == 0) {
            border();
            MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
            MPI_Recv(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Request request;
            MPI_Irecv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &request);
            if (!repair) MPI_Wait(&request, MPI_STATUS_IGNORE);
            inner();
            if (repair) MPI_Wait(&request, MPI_STATUS_IGNORE);
            outer();
            MPI_Send(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
