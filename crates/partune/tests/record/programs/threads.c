/* Four threads a rank, all inside MPI at once: thread i of one rank sends 50 messages to thread i of the other and back.
 *
 * expect 2 ranks
 * expect flags -pthread
 * expect each: MPI_Send 200, MPI_Recv 200, MPI_Barrier 1, sends 200, sent 800, receives 200, received 800, threads 5
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

enum { THREADS = 4, ROUNDS = 50 };

static int rank;
static pthread_barrier_t all;

static void* talk(void* argument)
{
    int tag = (int)(intptr_t)argument, word = tag;
    intptr_t wrong = 0;
    pthread_barrier_wait(&all);
    for (int i = 0; i < ROUNDS; ++i) {
        if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        wrong |= word != tag;
    }
    return (void*)wrong;
}

int main(int argc, char** argv)
{
    int provided;
    void* wrong;
    intptr_t any = 0;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 3);
    pthread_barrier_init(&all, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, talk, (void*)i);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], &wrong), any |= (intptr_t)wrong;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return (int)any;
}
