/* Broadcasts of 50 kB, six times, after 20 ms of work each. With an argument they are of 4 bytes, and their root works 40 ms more than the others.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include "../predict/pair.h"

static char data[50000];

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 6; ++i) {
        work(repair && rank == 0 ? 60 : 20);
        MPI_Bcast(data, repair ? 4 : sizeof data, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
