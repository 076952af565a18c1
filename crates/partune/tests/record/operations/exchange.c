/* Exchanges that the program measures itself: how long they take, and gaps above 50 ms since the one before. */
#define _GNU_SOURCE
#include "partune.h"
#include <stdio.h>
#include <time.h>
__attribute__((no_instrument_function)) static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}
__attribute__((no_instrument_function)) static void rest(int ms) {
    struct timespec time = {0, ms * 1000000L};
    nanosleep(&time, NULL);
}
void pack(void) { rest(5); }
void my_halo_exchange(void) {
    pack();
    rest(10);
}
void work(int step) {
    if (step == 2)
        rest(100);
}
int main(void) {
    double before = 0, exchanged = 0, gaps = 0, begin;
    int count = 0;
    for (int step = 0; step < 5; step++) {
        work(step);
        begin = now();
        if (step > 0 && begin - before > 0.05) {
            count++;
            gaps += begin - before;
        }
        my_halo_exchange();
        before = now();
        exchanged += before - begin;
    }
    begin = now();
    partune_region_begin("store");
    rest(20);
    partune_region_end("store");
    printf("%.9f %d %.9f %.9f\n", exchanged, count, gaps, now() - begin);
    return 0;
}
