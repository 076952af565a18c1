/* Point-to-point in every mode. Even ranks send to the odd rank above them.
 *
 * expect 4 ranks
 * expect rank 0: MPI_Send 3, MPI_Ssend 1, MPI_Bsend 1, MPI_Rsend 1, MPI_Sendrecv 1, MPI_Sendrecv_replace 1, MPI_Recv 2
 * expect rank 2: MPI_Send 3, MPI_Ssend 1, MPI_Bsend 1, MPI_Rsend 1, MPI_Sendrecv 1, MPI_Sendrecv_replace 1, MPI_Recv 2
 * expect rank 1: MPI_Send 2, MPI_Recv 5, MPI_Irecv 1, MPI_Wait 1, MPI_Sendrecv 1, MPI_Sendrecv_replace 1
 * expect rank 3: MPI_Send 2, MPI_Recv 5, MPI_Irecv 1, MPI_Wait 1, MPI_Sendrecv 1, MPI_Sendrecv_replace 1
 * expect rank 0: sends 7, sent 64, receives 3, received 16
 * expect rank 2: sends 7, sent 64, receives 3, received 16
 * expect rank 1: sends 3, sent 16, receives 7, received 64
 * expect rank 3: sends 3, sent 16, receives 7, received 64
 */
#include <mpi.h>
#include <stddef.h>

enum { TAG = 3 };

static void even(int peer)
{
    double two[2] = { 1, 2 }, in;
    int one = 7, six[6] = { 1, 0, 2, 0, 3, 0 };
    char room[64 + MPI_BSEND_OVERHEAD];
    void* detached;
    MPI_Datatype column;
    MPI_Type_vector(3, 1, 2, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Buffer_attach(room, sizeof room);

    MPI_Send(two, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    MPI_Ssend(two, 2, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD);
    MPI_Bsend(&one, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* the peer is ready */
    MPI_Rsend(two, 1, MPI_DOUBLE, peer, TAG + 2, MPI_COMM_WORLD);
    MPI_Send(&one, 1, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Recv(&in, 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(two, 1, MPI_DOUBLE, peer, TAG, &in, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(two, 1, MPI_DOUBLE, peer, TAG, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(six, 1, column, peer, TAG, MPI_COMM_WORLD);

    MPI_Buffer_detach(&detached, &one);
    MPI_Type_free(&column);
}

static int odd(int peer)
{
    double in[4];
    int three[3] = { 0 }, count;
    MPI_Request request;
    MPI_Status status;

    MPI_Recv(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, 4, MPI_DOUBLE, peer, MPI_ANY_TAG, MPI_COMM_WORLD, &status); /* room for more than comes */
    MPI_Get_count(&status, MPI_DOUBLE, &count);
    MPI_Recv(three, 1, MPI_INT, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 1, MPI_DOUBLE, peer, TAG + 2, MPI_COMM_WORLD, &request);
    MPI_Send(NULL, 0, MPI_BYTE, peer, TAG + 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(in, 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    MPI_Sendrecv(in, 1, MPI_DOUBLE, peer, TAG, in + 1, 1, MPI_DOUBLE, peer, TAG, MPI_COMM_WORLD, &status);
    MPI_Sendrecv_replace(in, 1, MPI_DOUBLE, peer, TAG, peer, TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(three, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(in, 1, MPI_DOUBLE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return count == 2 && three[2] == 3 && status.MPI_SOURCE == peer ? 0 : 1;
}

int main(int argc, char** argv)
{
    int rank, status = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank % 2 == 0) even(rank + 1);
    else status = odd(rank - 1);
    MPI_Finalize();
    return status;
}
