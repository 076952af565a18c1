/* A receive that waits, although there is other work to do before its data are needed. 8 turns of 90 + 75 ms; at once it is 120.
 *
 * expect 4 ranks
 * 1: the receive does not block.
 */
#include <mpi.h>
#include "pair.h"

void produce(void) { work(90); }
void more(void) { work(30); }
void solve(void) { work(75); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < 8; ++i) {
        if (rank % 2 == 0) {
            produce();
            MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
            more();
        } else if (repair != 1) {
            MPI_Recv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            solve();
        } else {
            MPI_Request request;
            MPI_Irecv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &request);
            solve();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
