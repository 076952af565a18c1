/* Requests: many at once, libraries' shared handles, freed and cancelled ones, errors that are returned. Two ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 200 };

int main(int argc, char **argv) {
    int rank, peer;
    static int in[MANY], out[MANY];
    static MPI_Request requests[2 * MANY];
    static MPI_Status statuses[2 * MANY];
    int indices[2 * MANY];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;

    /* 200 each way, completed at once: more than fit the recorder's stack */
    for (int i = 0; i < MANY; i++) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < MANY; i++) MPI_Isend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[MANY + i]);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * MANY; i++) if (requests[i] != MPI_REQUEST_NULL) exit(2);

    /* and some at a time */
    for (int i = 0; i < MANY; i++) MPI_Irecv(&in[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < MANY; i++) MPI_Isend(&out[i], 1, MPI_INT, peer, i, MPI_COMM_WORLD, &requests[MANY + i]);
    for (int done = 0; done < 2 * MANY;) {
        int count;
        MPI_Waitsome(2 * MANY, requests, &count, indices, done % 3 ? statuses : MPI_STATUSES_IGNORE);
        done += count;
    }

    /* the program's statuses are its own */
    memset(statuses, 0, sizeof statuses);
    MPI_Irecv(in, 4, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 3, MPI_INT, peer, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    int count;
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    if (count != 3 || statuses[0].MPI_SOURCE != peer || statuses[0].MPI_TAG != 5) exit(3);

    /* one freed, one cancelled */
    MPI_Isend(out, 2, MPI_INT, peer, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv(in, 2, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 2, MPI_INT, peer, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);

    /* too long for its receiver: the error is returned, nothing was received */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) MPI_Send(out, 3, MPI_INT, 1, 8, MPI_COMM_WORLD);
    else if (MPI_Recv(in, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS) exit(4);

    /* to and from nobody */
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
