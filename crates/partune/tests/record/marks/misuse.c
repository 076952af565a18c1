/* Everything that can be wrong with marks. */
#include <pthread.h>
#include <stdio.h>
#include "partune.h"
static void *other(void *unused) {
    partune_region_end("of main");
    return unused;
}
int main(void) {
    pthread_t thread;
    partune_region_end("never begun");
    partune_region_end("never begun");
    partune_region_begin("outer");
    partune_region_begin("inner");
    partune_region_end("outer");
    partune_region_end("inner");
    partune_iteration_begin();
    partune_iteration_end();
    partune_loop_end();
    partune_loop_begin("steps");
    partune_iteration_begin();
    partune_iteration_begin();
    partune_loop_end();
    partune_region_begin("of main");
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    partune_region_end("of main");
    partune_region_begin(NULL);
    partune_region_begin("open at the end");
    puts("done");
    return 0;
}
