/* As many threads as the environment says: they share sixteen iterations of 20 ms, four times; with 1 they meet at barriers instead, with next to nothing to
 * do between them. */
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv)
{
    if (argc > 1 && atoi(argv[1]) == 1) {
        #pragma omp parallel
        for (int i = 0; i < 20000; ++i) {
            #pragma omp barrier
        }
        return 0;
    }
    for (int turn = 0; turn < 4; ++turn) {
        #pragma omp parallel for schedule(static)
        for (int i = 0; i < 16; ++i)
            nanosleep(&(struct timespec){ 0, 20000000L }, NULL);
    }
    return 0;
}
