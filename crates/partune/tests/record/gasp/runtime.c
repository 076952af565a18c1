#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct context *gasp_context_t;
gasp_context_t gasp_init(int model, int *argc, char ***argv);
void gasp_event_notify(gasp_context_t, unsigned, int, const char *, int, int, ...);
void gasp_event_notifyVA(gasp_context_t, unsigned, int, const char *, int, int, va_list);
int gasp_control(gasp_context_t, int on);
unsigned gasp_create_event(gasp_context_t, const char *name, const char *description);

enum { MOST = 16, BLOCK = 1 << 12, PHASE_BITS = 20, THREAD_BITS = 10, LOCKS = 2 };

int MYTHREAD, THREADS;
static int is_berkeley;
static gasp_context_t context;

static struct {
    pthread_barrier_t barrier;
    /* A barrier in two halves: who has notified, and of which round. */
    pthread_mutex_t mutex;
    pthread_cond_t all;
    int notified, round;
    pthread_mutex_t locks[LOCKS];
    char blocks[MOST][BLOCK];
} * shared;

shared_pointer shared_at(int thread, size_t offset)
{
    return (uint64_t)offset << (PHASE_BITS + THREAD_BITS) | (uint64_t)thread << PHASE_BITS;
}

long *shared_value(shared_pointer at)
{
    return (long *)(shared->blocks[at >> PHASE_BITS & ((1 << THREAD_BITS) - 1)] + (at >> (PHASE_BITS + THREAD_BITS)));
}

void tell(unsigned gnu, unsigned berkeley, int kind, const char *file, int line, ...)
{
    unsigned event = is_berkeley ? berkeley : gnu;
    if (event == 0)
        return;
    va_list arguments;
    va_start(arguments, line);
    gasp_event_notifyVA(context, event, kind, file, line, 0, arguments);
    va_end(arguments);
}

unsigned create_event(const char *name, const char *description)
{
    return gasp_create_event(context, name, description);
}

int control(int on) { return gasp_control(context, on); }

void meet(void) { pthread_barrier_wait(&shared->barrier); }

void rt_barrier(const char *file, int line)
{
    /* Berkeley's has no event of its own. */
    if (is_berkeley) {
        rt_notify(file, line);
        rt_wait(file, line);
        return;
    }
    tell(9, 0, START, file, line, 0, 0);
    meet();
    tell(9, 0, END, file, line, 0, 0);
}

static int mine;

void rt_notify(const char *file, int line)
{
    tell(7, 1100, START, file, line, 0, 0);
    pthread_mutex_lock(&shared->mutex);
    mine = shared->round;
    if (++shared->notified == THREADS) {
        shared->notified = 0;
        shared->round++;
        pthread_cond_broadcast(&shared->all);
    }
    pthread_mutex_unlock(&shared->mutex);
    tell(7, 1100, END, file, line, 0, 0);
}

void rt_wait(const char *file, int line)
{
    tell(8, 1101, START, file, line, 0, 0);
    pthread_mutex_lock(&shared->mutex);
    while (shared->round == mine)
        pthread_cond_wait(&shared->all, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    tell(8, 1101, END, file, line, 0, 0);
}

void rt_lock(int lock, const char *file, int line)
{
    shared_pointer at = shared_at(0, 64 * lock);
    /* The one that takes its arguments by itself. */
    gasp_event_notify(context, is_berkeley ? 1014 : 19, START, file, line, 0, &at);
    pthread_mutex_lock(&shared->locks[lock]);
    gasp_event_notify(context, is_berkeley ? 1014 : 19, END, file, line, 0, &at);
}

void rt_unlock(int lock, const char *file, int line)
{
    shared_pointer at = shared_at(0, 64 * lock);
    tell(21, 1015, START, file, line, &at);
    pthread_mutex_unlock(&shared->locks[lock]);
    tell(21, 1015, END, file, line, &at);
}

void rt_put(shared_pointer to, long value, const char *file, int line)
{
    tell(27, 1110, START, file, line, 1, &to, &value, sizeof value);
    *shared_value(to) = value;
    tell(27, 1110, END, file, line, 1, &to, &value, sizeof value);
}

long rt_get(shared_pointer from, const char *file, int line)
{
    long value;
    tell(26, 1111, START, file, line, 1, &value, &from, sizeof value);
    value = *shared_value(from);
    tell(26, 1111, END, file, line, 1, &value, &from, sizeof value);
    return value;
}

static void run(int argc, char **argv)
{
    pthread_barrier_wait(&shared->barrier);
    context = gasp_init(0, &argc, &argv);
    program(argc, argv);
    tell(5, 1210, START, NULL, 0, 0);
    meet();
    tell(5, 1210, END, NULL, 0, 0);
    fflush(stdout);
    exit(0);
}

/* `program gnu|berkeley THREADS ARGUMENT…` */
int main(int argc, char **argv)
{
    is_berkeley = strcmp(argv[1], "berkeley") == 0;
    THREADS = atoi(argv[2]);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_t barrier;
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, THREADS);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    for (int lock = 0; lock < LOCKS; ++lock)
        pthread_mutex_init(&shared->locks[lock], &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->all, &condition);
    for (MYTHREAD = 0; MYTHREAD < THREADS; ++MYTHREAD)
        if (fork() == 0)
            run(argc - 2, argv + 2);
    int failed = 0, status;
    while (wait(&status) > 0)
        failed |= status;
    return failed ? 1 : 0;
}
