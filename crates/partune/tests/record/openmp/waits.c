/* Four threads that wait for each other, once for each way in which OpenMP makes them wait.
 *
 * `waits WAY [balanced]`; balanced: everybody works equally long, and nobody waits long. Work is sleep, so that cores do not matter. Threads note when
 * they came to where they wait, where they can when they went on, and where one goes after the other when they let the next one go on; at the end each of
 * these is a line: `met THREAD CAME LEFT GONE`, 0 for what cannot be seen from here. Lines that threads wait at have a mark in capitals.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, MOST = 64 };

static int balanced;
static struct { double came, left, gone; } meetings[THREADS][MOST];
static int met[THREADS];

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

/* Its number among all that can be there at a time: in a nested team of two, two by two. */
static int self(void)
{
    return omp_get_level() == 2 ? 2 * omp_get_ancestor_thread_num(1) + omp_get_thread_num() : omp_get_thread_num();
}

static void come(void) { meetings[self()][met[self()]].came = now(); }
static void seen(void) { ++met[self()]; }
static void left(void) { meetings[self()][met[self()]].left = now(); seen(); }
static void gone(void) { meetings[self()][met[self()] - 1].gone = now(); }

/* The last thread is late. */
static void late(long milliseconds)
{
    if (balanced || omp_get_thread_num() == THREADS - 1) work(milliseconds);
}

static void at_barrier(void)
{
    #pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 2; ++i) {
        late(60);
        come();
        #pragma omp barrier /* BARRIER */
        left();
    }
}

static void after_region(void)
{
    #pragma omp parallel num_threads(THREADS) /* REGION */
    {
        late(100);
        come();
        seen();
    }
}

static void after_loop(void)
{
    #pragma omp parallel num_threads(THREADS)
    {
        #pragma omp for schedule(dynamic, 1) /* LOOP */
        for (int i = 0; i < THREADS; ++i) {
            work(balanced || i == 0 ? 120 : 20);
            come();
        }
        left();
    }
}

static void at_critical(void)
{
    #pragma omp parallel num_threads(THREADS)
    {
        if (balanced) work(40 * omp_get_thread_num());
        come();
        #pragma omp critical(one) /* CRITICAL */
        {
            left();
            work(25);
            gone();
        }
    }
}

static void at_lock(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    #pragma omp parallel num_threads(THREADS)
    {
        if (balanced) work(40 * omp_get_thread_num());
        come();
        omp_set_lock(&lock); /* LOCK */
        left();
        work(25);
        gone();
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
}

static void at_ordered(void)
{
    #pragma omp parallel for ordered schedule(dynamic, 1) num_threads(THREADS)
    for (int i = 0; i < THREADS; ++i) {
        if (balanced) work(40 * i);
        come();
        #pragma omp ordered /* ORDERED */
        {
            left();
            work(25);
            gone();
        }
    }
}

/* Threads without a task wait for the one that has the long one. */
static void for_tasks(void)
{
    #pragma omp parallel num_threads(THREADS) /* TASKS */
    {
        #pragma omp single nowait
        for (int i = 0; i < THREADS; ++i) {
            #pragma omp task
            {
                work(balanced || i == 0 ? 120 : 20);
                come();
                seen();
            }
        }
    }
}

/* As many tasks of a loop as threads. */
static void for_tasks_of_loop(void)
{
    #pragma omp parallel num_threads(THREADS) /* TASKLOOP */
    {
        #pragma omp single nowait
        {
            #pragma omp taskloop num_tasks(THREADS) nogroup
            for (int i = 0; i < THREADS; ++i) {
                work(balanced || i == 0 ? 120 : 20);
                come();
                seen();
            }
        }
    }
}

/* What is between two teams has no line of its own: the regions around it do. */
static void serial(void)
{
    for (int i = 0; i < 2; ++i) {
        #pragma omp parallel num_threads(THREADS) /* SERIAL */
        work(20);
        if (balanced || i > 0) continue;
        come();
        work(70);
        left();
    }
}

static void nested(void)
{
    omp_set_max_active_levels(2);
    #pragma omp parallel num_threads(2)
    {
        #pragma omp parallel num_threads(2) /* NESTED */
        {
            if (balanced || omp_get_thread_num() == 0) work(90);
            come();
            seen();
        }
    }
}

int main(int argc, char** argv)
{
    static const struct { const char* name; void (*run)(void); } ways[] = {
        { "barrier", at_barrier }, { "region", after_region }, { "loop", after_loop }, { "critical", at_critical },
        { "lock", at_lock }, { "ordered", at_ordered }, { "tasks", for_tasks }, { "taskloop", for_tasks_of_loop }, { "serial", serial }, { "nested", nested },
    };
    balanced = argc > 2;
    /* Threads are there before anybody is measured. */
    #pragma omp parallel num_threads(THREADS)
    work(10);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) ways[i].run();
    for (int thread = 0; thread < THREADS; ++thread)
        for (int i = 0; i < met[thread]; ++i)
            printf("met %d %.6f %.6f %.6f\n", thread, meetings[thread][i].came, meetings[thread][i].left, meetings[thread][i].gone);
    return 0;
}
