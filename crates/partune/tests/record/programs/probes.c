/* Probes, and messages that are received by handle: rank 0 sends five to rank 1.
 *
 * expect 2 ranks
 * expect rank 0: MPI_Send 5, sends 5, sent 40, receives 0
 * expect rank 1: MPI_Probe 1, MPI_Mprobe 2, MPI_Mrecv 3, MPI_Imrecv 1, MPI_Recv 2, receives 5, received 40, sends 0
 */
#include <mpi.h>
#include <stddef.h>

static int take(void)
{
    double in[5] = { 0 };
    int there = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;

    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(&in[0], 1, MPI_DOUBLE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!there) MPI_Iprobe(0, 2, MPI_COMM_WORLD, &there, &status);
    MPI_Recv(&in[1], 1, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &status);

    MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&in[2], 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status); /* gives MPI_MESSAGE_NO_PROC */
    MPI_Mrecv(NULL, 0, MPI_DOUBLE, &message, &status);

    for (there = 0; !there;) MPI_Improbe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &there, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&in[3], 1, MPI_DOUBLE, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (there = 0; !there;) MPI_Improbe(0, 5, MPI_COMM_WORLD, &there, &message, &status);
    MPI_Mrecv(&in[4], 1, MPI_DOUBLE, &message, &status);
    return in[0] + in[1] + in[2] + in[3] + in[4] == 15 ? 0 : 1;
}

int main(int argc, char** argv)
{
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) wrong = take();
    for (double tag = 1; rank == 0 && tag <= 5; ++tag) MPI_Send(&tag, 1, MPI_DOUBLE, 1, (int)tag, MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
