/* Three generations of threads that meet and lock; what each waits for is long before it comes. One of the locks is another thread's each time. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 4, TURNS = 25 };

static pthread_mutex_t free_locks[THREADS] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long sum;

static void* run(void* number)
{
    for (int turn = 0; turn < TURNS; ++turn) {
        pthread_mutex_lock(&free_locks[(size_t)number]);
        pthread_mutex_unlock(&free_locks[(size_t)number]);
        pthread_barrier_wait(&barrier);
    }
    pthread_mutex_lock(&held);
    sum += (long)(size_t)number;
    nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    pthread_mutex_unlock(&held);
    return NULL;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int generation = 0; generation < 3; ++generation) {
        pthread_t threads[THREADS];
        for (size_t i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, run, (void*)i);
        for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    }
    printf("%ld\n", sum);
    return 0;
}
