/* Two threads share eight iterations, the first four of 30 ms and the others of 5 ms, eight times. In halves that is 120 ms, in the order in which threads come
 * 70 ms. Without an argument the environment says how they are shared; with 1 it says so for equal iterations; with 2 the program says it. */
#include <stdlib.h>
#include <time.h>

static void work(int milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

int main(int argc, char** argv)
{
    int kind = argc > 1 ? atoi(argv[1]) : 0;
    for (int turn = 0; turn < 8; ++turn) {
        if (kind == 2) {
            #pragma omp parallel for schedule(static) num_threads(2)
            for (int i = 0; i < 8; ++i)
                work(i < 4 ? 30 : 5);
        } else if (turn % 2 == 0) {
            #pragma omp parallel for schedule(runtime) num_threads(2)
            for (int i = 0; i < 8; ++i)
                work(kind == 1 ? 15 : i < 4 ? 30 : 5);
        } else {
            #pragma omp parallel num_threads(2)
            {
                work(1);
                #pragma omp for schedule(runtime)
                for (int i = 0; i < 8; ++i)
                    work(kind == 1 ? 15 : i < 4 ? 30 : 5);
                work(1);
            }
        }
    }
    return 0;
}
