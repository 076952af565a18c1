/* Recording switched off and on again: ten messages each way, of which the middle four are not wanted.
 *
 * expect 2 ranks
 * expect each: sends 6, sent 24, receives 6, received 24, MPI_Sendrecv 6, MPI_Barrier 1
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, in = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; ++i) {
        if (i == 3) MPI_Pcontrol(0);
        if (i == 7) MPI_Pcontrol(1);
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return in == 9 ? 0 : 1;
}
