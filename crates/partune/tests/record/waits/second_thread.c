/* A receiver is there 0.1 s before its sender, three times: that is the second thread of rank 0, on the other side of an
 * intercommunicator. PE 0 is rank 0, PE 1 its second thread, PE 2 is rank 1.
 *
 * expect 2 ranks
 * expect flags -pthread
 * expect wait late_sender at HERE: MPI_Recv, ranks 2, 0.30 s, causes 1, in speak
 */
#include <pthread.h>

#include "work.h"

static MPI_Comm between;

static void begin(void)
{
    MPI_Barrier(between); /* START */
}

static void* speak(void* unused)
{
    begin();
    for (int i = 0; i < 3; ++i) {
        late(1, 100);
        MEET(MPI_Send(&i, 1, MPI_INT, 0, 1, between));
    }
    return unused;
}

static void listen(void)
{
    int word;
    begin();
    for (int i = 0; i < 3; ++i) {
        late(0, 100);
        MEET(MPI_Recv(&word, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE)); /* HERE */
    }
}

int main(int argc, char** argv)
{
    int provided, me;
    MPI_Comm side;
    pthread_t speaker;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    balanced = argc > 1;
    MPI_Comm_split(MPI_COMM_WORLD, me > 0, me, &side);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, me == 0, 7, &between);
    if (me == 0) {
        pthread_create(&speaker, NULL, speak, NULL);
        /* As long as the speaker works. */
        nanosleep(&(struct timespec){ 0, 301000000L }, NULL);
        pthread_join(speaker, NULL);
    } else {
        listen();
    }
    rank = me + 1; /* its PE that works */
    tell();
    MPI_Comm_free(&between);
    MPI_Comm_free(&side);
    MPI_Finalize();
    return 0;
}
