/* Persistent requests around a ring: three rounds with MPI_Start, two with MPI_Startall, one request never started.
 *
 * expect 4 ranks
 * expect each: MPI_Send_init 2, MPI_Ssend_init 1, MPI_Recv_init 2, MPI_Start 6, MPI_Startall 2
 * expect each: sends 7, sent 56, receives 7, received 56
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, size, done = 0;
    double in[2] = { 0 }, out[2];
    MPI_Request pair[4], never;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    MPI_Recv_init(&in[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &pair[0]);
    MPI_Send_init(&out[0], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &pair[1]);
    MPI_Recv_init(&in[1], 1, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &pair[2]);
    MPI_Ssend_init(&out[1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &pair[3]);
    MPI_Send_init(&out[1], 1, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &never);

    for (int round = 0; round < 3; ++round) {
        out[0] = 10 * round + rank;
        MPI_Start(&pair[0]);
        MPI_Start(&pair[1]);
        MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
        while (!done) MPI_Test(&pair[1], &done, MPI_STATUS_IGNORE);
        done = 0;
    }
    for (int round = 0; round < 2; ++round) {
        out[0] = out[1] = 100 * round + rank;
        MPI_Startall(4, pair);
        MPI_Waitall(4, pair, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; ++i) MPI_Request_free(&pair[i]);
    MPI_Request_free(&never);
    MPI_Finalize();
    return in[0] == 100 + left && in[1] == 100 + left ? 0 : 1;
}
