// The same, ended by the ends of blocks.
#include <cstdio>
#include "partune.h"
int main() {
    {
        PARTUNE_PHASE("setup");
        PARTUNE_LOOP("steps");
        for (int i = 0; i < 2; i++) {
            PARTUNE_ITERATION();
            PARTUNE_REGION("solve");
        }
    }
    partune_record_off();
    {
        PARTUNE_REGION("unseen");
    }
    partune_record_on();
    std::puts("done");
}
