/* Every way to complete a request, with the statuses wanted and not: 15 messages of 4 bytes around a ring.
 *
 * expect 4 ranks
 * expect each: sends 15, sent 60, receives 15, received 60
 * expect each: MPI_Isend 15, MPI_Irecv 16, MPI_Wait 6, MPI_Waitall 2, MPI_Cancel 1, MPI_Request_free 1
 */
#include <mpi.h>

static int left, right, in, out;

static void post(MPI_Request requests[2])
{
    MPI_Irecv(&in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
}

static void wait_for(MPI_Status* one, MPI_Status* many)
{
    MPI_Request requests[2];
    int index, count, indices[2];

    post(requests);
    MPI_Wait(&requests[0], one);
    MPI_Wait(&requests[1], one);

    post(requests);
    MPI_Waitall(2, requests, many);

    post(requests);
    do MPI_Waitany(2, requests, &index, one);
    while (index != MPI_UNDEFINED);

    post(requests);
    do MPI_Waitsome(2, requests, &count, indices, many);
    while (count != MPI_UNDEFINED);
}

static void test_for(MPI_Status* one, MPI_Status* many)
{
    MPI_Request requests[2];
    int done, index, count, indices[2];

    post(requests);
    do MPI_Test(&requests[0], &done, one);
    while (!done);
    do MPI_Test(&requests[1], &done, one);
    while (!done);

    post(requests);
    do MPI_Testall(2, requests, &done, many);
    while (!done);

    post(requests);
    do MPI_Testany(2, requests, &index, &done, one);
    while (!done || index != MPI_UNDEFINED);

    post(requests);
    do MPI_Testsome(2, requests, &count, indices, many);
    while (count != MPI_UNDEFINED);
}

/* A send whose request nobody waits for, and a receive that is taken back. */
static int odd_ends(void)
{
    MPI_Request requests[2], never;
    MPI_Status status;
    int cancelled, seen = 0;
    MPI_Irecv(&cancelled, 1, MPI_INT, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &never);
    MPI_Cancel(&never);
    MPI_Wait(&never, &status);
    MPI_Test_cancelled(&status, &cancelled);

    post(requests);
    MPI_Request_free(&requests[1]);
    while (!seen) MPI_Request_get_status(requests[0], &seen, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], &status);
    return cancelled ? 0 : 1;
}

int main(int argc, char** argv)
{
    int rank, size, wrong;
    MPI_Status statuses[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    out = rank;
    wait_for(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE);
    wait_for(&statuses[0], statuses);
    test_for(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE);
    wrong = odd_ends();
    wrong |= in != left;
    /* One family again with statuses, for the two messages that make fifteen. */
    MPI_Request requests[2];
    int done;
    post(requests);
    do MPI_Testall(2, requests, &done, statuses);
    while (!done);
    wrong |= statuses[0].MPI_SOURCE != left;
    post(requests);
    do MPI_Testsome(2, requests, &done, (int[2]){ 0 }, statuses);
    while (done != MPI_UNDEFINED);
    MPI_Finalize();
    return wrong;
}
