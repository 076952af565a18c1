/* A heap of the program's own, which nothing is given back to. Each thread takes something from it, holds it for a while each time, and others wait. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, TURNS = 10 };

static _Alignas(16) char room[256 << 20];
static size_t used;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int slow;

static void* take(size_t size)
{
    pthread_mutex_lock(&mutex);
    if (slow) nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
    size_t* place = (size_t*)(room + used);
    used += (size + 31) / 16 * 16;
    pthread_mutex_unlock(&mutex);
    *place = size;
    return place + 2;
}

void* malloc(size_t size) { return take(size); }
void free(void* at) { (void)at; }
void* calloc(size_t count, size_t size) { return take(count * size); }
void* realloc(void* at, size_t size)
{
    void* other = take(size);
    size_t before = at ? ((size_t*)at)[-2] : 0;
    return at ? memcpy(other, at, before < size ? before : size) : other;
}
void* memalign(size_t alignment, size_t size)
{
    size_t at = (size_t)take(size + alignment);
    return (void*)((at + alignment - 1) / alignment * alignment);
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
void* __libc_memalign(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** at, size_t alignment, size_t size) { return *at = memalign(alignment, size), 0; }

static void* run(void* argument)
{
    for (int turn = 0; turn < TURNS; ++turn) *(char volatile*)malloc(100 + turn) = 1;
    return argument;
}

int main(void)
{
    pthread_t threads[THREADS];
    slow = 1;
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    return 0;
}
