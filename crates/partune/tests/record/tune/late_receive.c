/* Sends of 40,000 bytes that last until their receives are posted, 90 ms later, and 60 ms of work after each: 8 turns of 150 ms. Sent at once they take
 * 90 ms. With an argument nothing is sent, and everybody works 90 ms.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include "../predict/pair.h"

static char data[40000];

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 8; ++i) {
        if (repair) {
            work(90);
        } else if (rank == 0) {
            MPI_Send(data, sizeof data, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            work(60);
        } else {
            work(90);
            MPI_Recv(data, sizeof data, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
