/* Two threads that work alike and meet twenty times. */
#include <pthread.h>

static pthread_barrier_t barrier;

static void *work(void *none)
{
    for (int turn = 0; turn < 20; ++turn) {
        for (volatile int i = 0; i < 2000000; ++i) {}
        pthread_barrier_wait(&barrier);
    }
    return none;
}

int main(void)
{
    pthread_t other;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&other, 0, work, 0);
    work(0);
    return pthread_join(other, 0);
}
