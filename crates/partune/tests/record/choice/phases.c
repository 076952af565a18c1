/* Messages before, in and after a marked loop, and barriers in a phase. What is used inside of the loop is made outside of it: a communicator
 * and a persistent request.
 *
 * expect 2 ranks
 * expect each: MPI_Sendrecv 14, sends 24, sent 136, receives 24, received 136, MPI_Comm_dup 1, output 3, steps 11, inner 30
 * expect each: main/MPI_Barrier 3, main/MPI_Startall 10, main/MPI_Waitall 10
 */
#include <mpi.h>
#include "partune.h"

int main(int argc, char** argv)
{
    int rank, in[3], out[3] = {1, 2, 3};
    MPI_Comm mine;
    MPI_Request both[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    int other = 1 - rank;
    MPI_Recv_init(&in[1], 2, MPI_INT, other, 1, mine, &both[0]);
    MPI_Send_init(&out[1], 2, MPI_INT, other, 1, mine, &both[1]);
    for (int i = 0; i < 2; ++i)
        MPI_Sendrecv(out, 1, MPI_INT, other, 0, in, 1, MPI_INT, other, 0, mine, MPI_STATUS_IGNORE);
    partune_loop_begin("steps");
    for (int i = 0; i < 10; ++i) {
        partune_iteration_begin();
        partune_loop_begin("inner");
        MPI_Sendrecv(out, 1, MPI_INT, other, 0, in, 1, MPI_INT, other, 0, mine, MPI_STATUS_IGNORE);
        partune_iteration_begin();
        MPI_Startall(2, both);
        partune_iteration_begin();
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        partune_loop_end();
        partune_iteration_end();
    }
    partune_loop_end();
    for (int i = 0; i < 3; ++i) {
        partune_phase_begin("output");
        MPI_Barrier(mine);
        partune_phase_end("output");
    }
    for (int i = 0; i < 2; ++i)
        MPI_Sendrecv(out, 1, MPI_INT, other, 0, in, 1, MPI_INT, other, 0, mine, MPI_STATUS_IGNORE);
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return 0;
}
