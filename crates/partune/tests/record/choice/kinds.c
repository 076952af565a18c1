/* Functions of many kinds, so that some can be left out. Requests are given by one function and completed by others, which may be another
 * choice; messages of 4 bytes are completed by MPI_Waitall, those of 8 by MPI_Wait, those of 16 are blocking, those of 32 persistent.
 *
 * expect 2 ranks
 * expect each: MPI_Isend 9, MPI_Irecv 9, MPI_Waitall 5, MPI_Wait 12, MPI_Send 3, MPI_Recv 3, MPI_Start 4
 * expect each: sends 14, sent 164, receives 14, received 164, MPI_Comm_dup 1, MPI_Allreduce 2, MPI_Barrier 3, MPI_Comm_rank 1
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, flag;
    int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8];
    MPI_Request both[2];
    MPI_Comm mine;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    int other = 1 - rank;
    MPI_Barrier(mine);
    for (int i = 0; i < 5; ++i) {
        MPI_Irecv(in, 1, MPI_INT, other, 1, mine, &both[0]);
        MPI_Isend(out, 1, MPI_INT, other, 1, mine, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; ++i) {
        MPI_Irecv(in, 2, MPI_INT, other, 2, mine, &both[0]);
        MPI_Isend(out, 2, MPI_INT, other, 2, mine, &both[1]);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        MPI_Wait(&both[1], MPI_STATUS_IGNORE);
        MPI_Iprobe(other, 7, mine, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(mine);
    for (int i = 0; i < 3; ++i) {
        if (rank == 0) MPI_Send(out, 4, MPI_INT, other, 3, mine);
        MPI_Recv(in, 4, MPI_INT, other, 3, mine, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(out, 4, MPI_INT, other, 3, mine);
    }
    MPI_Recv_init(in, 8, MPI_INT, other, 4, mine, &both[0]);
    MPI_Send_init(out, 8, MPI_INT, other, 4, mine, &both[1]);
    for (int i = 0; i < 2; ++i) {
        MPI_Start(&both[0]);
        MPI_Start(&both[1]);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    MPI_Allreduce(out, in, 8, MPI_INT, MPI_SUM, mine);
    MPI_Allreduce(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return in[1] == 4 ? 0 : 1;
}
