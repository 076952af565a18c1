/* Eight threads a rank, all inside MPI at once, which get a lock between two messages; one holds it long. And they meet.
 *
 * expect 2 ranks
 * expect flags -pthread
 * expect each: MPI_Send 80, MPI_Recv 80, MPI_Barrier 1, pthread_create 8, pthread_join 8, pthread_barrier_wait 16, sends 80, sent 320, receives 80, received 320, threads 9
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

enum { THREADS = 8, ROUNDS = 10 };

static int rank;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void* talk(void* argument)
{
    int tag = (int)(intptr_t)argument, word = tag;
    intptr_t wrong = 0;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < ROUNDS; ++i) {
        if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
        MPI_Recv(&word, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_mutex_lock(&mutex);
        if (tag == 3 && i == 5) nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
        pthread_mutex_unlock(&mutex);
        if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
        wrong |= word != tag;
    }
    pthread_barrier_wait(&barrier);
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
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, talk, (void*)i);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], &wrong), any |= (intptr_t)wrong;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return (int)any;
}
