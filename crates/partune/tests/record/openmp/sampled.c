/* Two threads work in two functions, a known time each, and call nothing else: nine tenths of it in one. */
#include <stdio.h>
#include <time.h>

static volatile double sink;

static double used(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((noinline)) static void quick(void) {
    for (double end = used() + 0.05; used() < end;)
        for (int i = 0; i < 20000; i++) sink += i;
}

__attribute__((noinline)) static void slow(void) {
    for (double end = used() + 0.45; used() < end;)
        for (int i = 0; i < 20000; i++) sink += i;
}

int main(void) {
#pragma omp parallel num_threads(2)
    {
        quick();
        slow();
    }
    return sink < 0;
}
