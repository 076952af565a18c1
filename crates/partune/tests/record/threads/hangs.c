/* Threads that wait for each other for ever, until an alarm ends them. The main thread waits for the end of the first. `hangs WAY` */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t all;

static void forever(void)
{
    for (;;) pause();
}

/* Long after all others came to where they wait. */
static void later(void)
{
    usleep(300000);
}

static void* cycle_1(void* argument)
{
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&second); /* SECOND 1 */
    return argument;
}

static void* cycle_2(void* argument)
{
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&first); /* SECOND 2 */
    return argument;
}

/* The first waits for the third, and the second for the first. */
static void* forever_1(void* argument)
{
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&second);
    return argument;
}

static void* forever_2(void* argument)
{
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&first);
    return argument;
}

static void* forever_3(void* argument)
{
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&all);
    forever();
    return argument;
}

/* The first waits for what it holds. */
static void* itself_1(void* argument)
{
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&first);
    return argument;
}

static void* itself_2(void* argument)
{
    pthread_barrier_wait(&all);
    forever();
    return argument;
}

static void* handed_1(void* argument)
{
    pthread_mutex_lock(&first);
    pthread_barrier_wait(&all);
    later();
    pthread_mutex_unlock(&first);
    forever();
    return argument;
}

static void* handed_to(void* argument)
{
    pthread_barrier_wait(&all);
    pthread_mutex_lock(&first);
    forever();
    return argument;
}

static void* condition_1(void* argument)
{
    pthread_mutex_lock(&first);
    for (;;) pthread_cond_wait(&condition, &first);
    return argument;
}

static void* condition_2(void* argument)
{
    pthread_mutex_lock(&first);
    for (;;) pthread_cond_wait(&condition, &first);
    return argument;
}

static void* spin_1(void* argument)
{
    pthread_spin_lock(&spin);
    pthread_barrier_wait(&all);
    forever();
    return argument;
}

static void* spin_2(void* argument)
{
    pthread_barrier_wait(&all);
    pthread_spin_lock(&spin);
    return argument;
}

int main(int argc, char** argv)
{
    struct { const char* way; void* (*threads[3])(void*); } ways[] = {
        { "cycle", { cycle_1, cycle_2, NULL } },
        { "forever", { forever_1, forever_2, forever_3 } },
        { "itself", { itself_1, itself_2, NULL } },
        { "handed", { handed_1, handed_to, handed_to } },
        { "condition", { condition_1, condition_2, NULL } },
        { "spin", { spin_1, spin_2, NULL } },
    };
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    alarm(2);
    for (unsigned i = 0; argc > 1 && i < sizeof ways / sizeof *ways; ++i)
        if (!strcmp(argv[1], ways[i].way)) {
            pthread_t threads[3];
            long count = ways[i].threads[2] ? 3 : 2;
            pthread_barrier_init(&all, NULL, count);
            for (long n = 0; n < count; ++n) pthread_create(&threads[n], NULL, ways[i].threads[n], NULL);
            pthread_join(threads[0], NULL);
        }
    return 1;
}
