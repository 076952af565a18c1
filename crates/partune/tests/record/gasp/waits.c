/* Four threads that wait for each other, once for each way in which UPC makes them wait.
 *
 * `… WAY [balanced]`; as in openmp/waits.c, each wait is a line at the end: `met THREAD CAME LEFT GONE`. `… kill|abort|exit`: threads end in that way after
 * three barriers. */
#define _GNU_SOURCE
#include "runtime.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 64 };

static int balanced;
static struct { double came, left, gone; } meetings[MOST];
static int met;

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

static void late(long milliseconds)
{
    if (balanced || MYTHREAD == THREADS - 1) work(milliseconds);
}

static void come(void) { meetings[met].came = now(); }
static void left(void) { meetings[met++].left = now(); }
static void gone(void) { meetings[met - 1].gone = now(); }

static void at_barrier(void)
{
    for (int i = 0; i < 2; ++i) {
        late(60);
        come();
        BARRIER(); /* BARRIER */
        left();
    }
}

static void in_halves(void)
{
    for (int i = 0; i < 2; ++i) {
        late(80);
        NOTIFY();
        work(20);
        come();
        WAIT(); /* HALVES */
        left();
    }
}

static void at_lock(void)
{
    BARRIER();
    if (balanced) work(60 * MYTHREAD);
    come();
    LOCK(0); /* LOCK */
    left();
    work(balanced ? 20 : 30);
    gone();
    UNLOCK(0);
}

static void end(const char *way)
{
    for (int i = 0; i < 3; ++i) BARRIER();
    if (strcmp(way, "kill") == 0) raise(SIGKILL);
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "exit") == 0) exit(3);
}

void program(int argc, char **argv)
{
    balanced = argc > 2 && strcmp(argv[2], "balanced") == 0;
    if (strcmp(argv[1], "barrier") == 0) at_barrier();
    if (strcmp(argv[1], "halves") == 0) in_halves();
    if (strcmp(argv[1], "lock") == 0) at_lock();
    if (met == 0) end(argv[1]);
    for (int i = 0; i < met; ++i)
        printf("met %d %.9f %.9f %.9f\n", MYTHREAD, meetings[i].came, meetings[i].left, meetings[i].gone);
}
