/* Six parallel regions, each with a critical section of three threads: one before, three in and two after a phase. */
#include <omp.h>
#include <partune.h>

static int sum;

static void work(void)
{
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        ++sum;
    }
}

int main(void)
{
    work();
    partune_phase_begin("solve");
    for (int i = 0; i < 3; ++i)
        work();
    partune_phase_end("solve");
    work();
    work();
    return sum != 18;
}
