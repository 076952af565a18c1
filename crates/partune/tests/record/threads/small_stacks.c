/* Threads with stacks of 16 KiB hold a lock for 10 ms, one after the other, and one with a stack of the program's own says that it lies there. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, SMALL = 16 << 10, OWN = 1 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static void* small(void* argument)
{
    char room[500];
    memset(room, 1, sizeof room);
    pthread_barrier_wait(&barrier);
    pthread_mutex_lock(&mutex);
    usleep(10000);
    pthread_mutex_unlock(&mutex);
    return (void*)(long)(room[5] - 1);
}

static void* own(void* memory)
{
    char here;
    return (void*)(long)(&here < (char*)memory || &here >= (char*)memory + OWN);
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    void *result, *memory = aligned_alloc(4096, OWN);
    long wrong = 0;
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, SMALL)) return 2;
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&threads[i], &attributes, small, NULL)) return 3;
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], &result), wrong |= (long)result;
    size_t size;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_setstack(&attributes, memory, OWN);
    if (pthread_create(&threads[0], &attributes, own, memory)) return 4;
    pthread_join(threads[0], &result);
    pthread_attr_destroy(&attributes);
    return (wrong | (long)result) != 0 || size != SMALL;
}
