/* Threads that communicate at the same time: handles of requests go from one to another. Two ranks, three threads each. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 300, EACH = 3 };

static int peer;

static void *exchange(void *argument) {
    int thread = (int)(long)argument, in[EACH], out[EACH] = {thread, thread, thread};
    MPI_Request requests[2 * EACH];
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < EACH; k++)
            MPI_Irecv(&in[k], 1, MPI_INT, peer, 10 * thread + k, MPI_COMM_WORLD, &requests[k]);
        for (int k = 0; k < EACH; k++)
            MPI_Isend(&out[k], 1, MPI_INT, peer, 10 * thread + k, MPI_COMM_WORLD, &requests[EACH + k]);
        MPI_Waitall(2 * EACH, requests, (MPI_Status *)MPI_STATUSES_IGNORE);
        if (in[0] != thread) abort();
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided, rank;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, exchange, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
