/* A phase, a loop of two iterations with a region in each, a region while nothing is recorded, and one in a shared library if there is one. */
#include <stdio.h>
#include "partune.h"
#ifdef LIBRARY
void library(void) {
    partune_region_begin("library");
    partune_region_end(NULL);
}
#else
#ifdef WITH_LIBRARY
void library(void);
#endif
int main(void) {
    partune_phase_begin("setup");
    partune_loop_begin("steps");
    for (int i = 0; i < 2; i++) {
        partune_iteration_begin();
        partune_region_begin("solve");
        partune_region_end("solve");
        partune_iteration_end();
    }
    partune_loop_end();
    partune_phase_end("setup");
    partune_record_off();
    partune_region_begin("unseen");
    partune_region_end("unseen");
    partune_record_on();
#ifdef WITH_LIBRARY
    library();
#endif
    puts("done");
    return 0;
}
#endif
