/* Partitioned messages of MPI 4: four partitions of 8 bytes, three rounds.
 *
 * expect mpich
 * expect 2 ranks
 * expect rank 0: MPI_Psend_init 1, MPI_Start 3, MPI_Pready 6, MPI_Pready_range 3, MPI_Wait 3
 * expect rank 1: MPI_Precv_init 1, MPI_Start 3, MPI_Wait 3
 */
#include <mpi.h>

enum { PARTS = 4 };

int main(int argc, char** argv)
{
    int rank, there, wrong = 0;
    double cells[PARTS] = { 0 };
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Psend_init(cells, PARTS, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    else MPI_Precv_init(cells, PARTS, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int round = 1; round <= 3; ++round) {
        MPI_Start(&request);
        if (rank == 0) {
            for (int i = 0; i < PARTS; ++i) cells[i] = round;
            MPI_Pready(0, request);
            MPI_Pready(1, request);
            MPI_Pready_range(2, 3, request);
        } else {
            MPI_Parrived(request, 0, &there);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong |= cells[PARTS - 1] != round;
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return wrong;
}
