/* A thread for each little task, four at a time, and pauses in which there is none; the first four wait for each other, since a busy machine may well run
 * each to its end before it lets the next be created. It says how long the functions of all threads ran together as they saw
 * it, and for how long there were four threads at most, times four; and the CPU time of all tasks and of the whole process. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { ALIVE = 4, TURNS = 100 };

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

static double computed[ALIVE], lasted[ALIVE];
static atomic_int begun;

static void* task(void* argument)
{
    long which = (long)argument;
    double begin = now(CLOCK_MONOTONIC), seconds = which == ALIVE - 1 ? 0.004 : 0.001;
    ++begun;
    while (begun < ALIVE) sched_yield();
    while (now(CLOCK_THREAD_CPUTIME_ID) < seconds) {}
    computed[which] += now(CLOCK_THREAD_CPUTIME_ID);
    lasted[which] += now(CLOCK_MONOTONIC) - begin;
    return argument;
}

int main(void)
{
    pthread_t threads[ALIVE];
    double alive = 0;
    for (int turn = 0; turn < TURNS; ++turn) {
        double begin = now(CLOCK_MONOTONIC);
        for (long i = 0; i < ALIVE; ++i)
            if (pthread_create(&threads[i], NULL, task, (void*)i)) return 1;
        for (int i = 0; i < ALIVE; ++i) pthread_join(threads[i], NULL);
        alive += ALIVE * (now(CLOCK_MONOTONIC) - begin);
        struct timespec pause = {0, 2000000};
        nanosleep(&pause, NULL);
    }
    for (int i = 1; i < ALIVE; ++i) computed[0] += computed[i], lasted[0] += lasted[i];
    printf("lasted %.6f\nalive %.6f\ncomputed %.6f\n", lasted[0], alive, computed[0]);
    printf("process %.6f\n", now(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
