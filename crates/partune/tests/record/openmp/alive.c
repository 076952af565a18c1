/* Threads that GCC's runtime makes anew for each region: those of inner teams, to a depth, or those of a team that was smaller before. */
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

static void work(int depth)
{
    #pragma omp parallel num_threads(2)
    {
        usleep(5000);
        if (depth > 1) work(depth - 1);
    }
}

int main(int argc, char** argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 0;
    omp_set_max_active_levels(depth > 1 ? depth : 1);
    for (int turn = 0; turn < 6; ++turn) {
        if (depth > 0) {
            work(depth);
        } else {
            #pragma omp parallel num_threads(turn % 2 ? 2 : 4)
            usleep(20000);
        }
    }
    return 0;
}
