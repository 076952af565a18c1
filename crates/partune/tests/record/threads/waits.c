/* Threads that wait for each other, once for each way in which they can.
 *
 * `waits WAY [balanced]`; balanced: nobody waits long. Work is sleep, so that cores do not matter. Threads note when they came to where they wait, when they
 * went on, and when they let others go on: `met THREAD CAME LEFT GONE`, 0 for what did not happen. Thread 0 is the main one; the others begin one after the
 * other. Lines that threads wait at have a mark in capitals.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { WORKERS = 4, THREADS = WORKERS + 1, MOST = 16 };

static int balanced;
static struct { double came, left, gone; } meetings[THREADS][MOST];
static int met[THREADS];
static _Thread_local int self;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static sem_t semaphore;
static mtx_t mtx;
static cnd_t cnd;
static volatile int ready;
/* The thread that began last: they begin in order, however busy the machine is, so that their numbers are known. */
static volatile int begun;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ milliseconds / 1000, milliseconds % 1000 * 1000000L }, NULL);
}

static void come(void) { meetings[self][met[self]].came = now(); }
static void left(void) { meetings[self][met[self]].left = now(); }
static void gone(void) { meetings[self][met[self]++].gone = now(); }

__attribute__((noinline)) static void guarded(void) { work(balanced ? 0 : 40); }

static void at_mutex(void)
{
    for (int turn = 0; turn < 2; ++turn) {
        if (balanced) work(20 * self);
        come();
        pthread_mutex_lock(&mutex); /* MUTEX */
        left();
        guarded();
        gone();
        pthread_mutex_unlock(&mutex);
        /* The others have their turns. */
        work(turn == 0 ? 10 : 0);
    }
}

static void at_spin(void)
{
    if (self > 2) return;
    if (self == 2) work(balanced ? 150 : 10);
    come();
    pthread_spin_lock(&spin); /* SPIN */
    left();
    work(self == 1 ? 80 : 0);
    gone();
    pthread_spin_unlock(&spin);
}

__attribute__((noinline)) static void write_all(void)
{
    pthread_rwlock_wrlock(&rwlock);
    come();
    left();
    work(balanced ? 0 : 90);
    gone();
    pthread_rwlock_unlock(&rwlock);
}

static void at_rwlock(void)
{
    if (self == 1) return write_all();
    work(20);
    come();
    pthread_rwlock_rdlock(&rwlock); /* RWLOCK */
    left();
    work(10);
    gone();
    pthread_rwlock_unlock(&rwlock);
}

__attribute__((noinline)) static void produce(void)
{
    work(balanced ? 0 : 90);
    pthread_mutex_lock(&mutex);
    ready = 1;
    come();
    left();
    gone();
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
}

static void at_condition(void)
{
    if (self == 1) return produce();
    work(20);
    pthread_mutex_lock(&mutex);
    come();
    while (!ready) pthread_cond_wait(&condition, &mutex); /* CONDITION */
    left();
    pthread_mutex_unlock(&mutex);
    gone();
}

__attribute__((noinline)) static void post(void)
{
    work(balanced ? 0 : 90);
    come();
    left();
    gone();
    for (int i = 2; i < THREADS; ++i) sem_post(&semaphore);
}

static void at_semaphore(void)
{
    if (self == 1) return post();
    work(20);
    come();
    sem_wait(&semaphore); /* SEMAPHORE */
    left();
    gone();
}

static void at_barrier(void)
{
    for (int turn = 0; turn < 2; ++turn) {
        work(self == WORKERS || balanced ? 60 : 0);
        come();
        pthread_barrier_wait(&barrier); /* BARRIER */
        left();
        gone();
    }
}

/* Two threads, with the functions of ISO C. */
static void in_c11(void)
{
    if (self > 2) return;
    if (self == 1) {
        work(balanced ? 0 : 90);
        mtx_lock(&mtx);
        ready = 1;
        come();
        left();
        gone();
        cnd_signal(&cnd);
        mtx_unlock(&mtx);
        return;
    }
    work(20);
    mtx_lock(&mtx);
    come();
    while (!ready) cnd_wait(&cnd, &mtx); /* C11 */
    left();
    mtx_unlock(&mtx);
    gone();
}

static void late(void)
{
    work(self == 1 && !balanced ? 150 : 0);
    come();
    left();
    gone();
}

static const struct { const char* name; void (*go)(void); } ways[] = {
    { "mutex", at_mutex }, { "spin", at_spin }, { "rwlock", at_rwlock }, { "condition", at_condition }, { "semaphore", at_semaphore },
    { "barrier", at_barrier }, { "c11", in_c11 }, { "join", late },
};
static void (*go)(void);

static void* worker(void* number)
{
    begun = self = (int)(size_t)number;
    go();
    return NULL;
}

static int c11_worker(void* number)
{
    worker(number);
    return 7;
}

int main(int argc, char** argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) go = ways[i].go;
    }
    if (!go) return 2;
    balanced = argc > 2;
    pthread_barrier_init(&barrier, NULL, WORKERS);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&semaphore, 0, 0);
    mtx_init(&mtx, mtx_plain);
    cnd_init(&cnd);
    pthread_t threads[THREADS];
    thrd_t c11[THREADS];
    for (size_t i = 1; i < THREADS; ++i) {
        if (go == in_c11) thrd_create(&c11[i], c11_worker, (void*)i);
        else pthread_create(&threads[i], NULL, worker, (void*)i);
        do work(2);
        while (begun < (int)i);
    }
    work(go == late && balanced ? 100 : 0);
    for (size_t i = 1; i < THREADS; ++i) {
        come();
        int result = 7;
        if (go == in_c11) thrd_join(c11[i], &result);
        else pthread_join(threads[i], NULL); /* JOIN */
        left();
        gone();
        if (result != 7) return 3;
    }
    for (int i = 0; i < THREADS; ++i) {
        for (int k = 0; k < met[i]; ++k) {
            printf("met %d %.9f %.9f %.9f\n", i, meetings[i][k].came, meetings[i][k].left, meetings[i][k].gone);
        }
    }
    return 0;
}
