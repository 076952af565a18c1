/* So many calls that their events fill a small buffer many times over; none may be lost.
 *
 * expect 1 ranks
 * expect each: MPI_Test 100000, MPI_Sendrecv 1000, sends 1000, sent 4000, receives 1000, received 4000
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int done, in = 0;
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100000; ++i) {
        MPI_Test(&none, &done, MPI_STATUS_IGNORE);
        if (i % 100 == 0) MPI_Sendrecv(&i, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return in == 99900 ? 0 : 1;
}
