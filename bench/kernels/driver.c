/* Cycles of the core for an iteration of each of the Livermore kernels 1 to 12, whose loops another file has, in C or Fortran.
 *
 * The counter of time runs at a rate of its own, so samples take turns with a chain of additions that need each other, one a cycle; of many
 * samples of both the least counts. All data fit the first cache. Prints a line a kernel: its number, ticks of the counter, and ticks of a cycle. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <x86intrin.h>

enum { SIZE = 1024, COLUMNS = 25, PLANE = 101 };

_Alignas(64) double x[SIZE], y[SIZE], z[SIZE], u[SIZE], v[SIZE], w[SIZE];
_Alignas(64) double b[64][64], px[128][COLUMNS], cx[128][COLUMNS];
_Alignas(64) double u1[2][PLANE][5], u2[2][PLANE][5], u3[2][PLANE][5], du1[PLANE], du2[PLANE], du3[PLANE];
double q = 0.05, r = 0.02, t = 0.01;

/* Each returns how often its innermost loop ran. */
long lfk1(void), lfk2(void), lfk3(void), lfk4(void), lfk5(void), lfk6(void), lfk7(void), lfk8(void), lfk9(void), lfk10(void),
    lfk11(void), lfk12(void);

static void fill(double* of, size_t count)
{
    for (size_t at = 0; at < count; ++at)
        of[at] = 0.001 * (double)(at % 97 + 1);
}

static void reset(void)
{
#define FILL(array) fill((double*)(array), sizeof(array) / sizeof(double))
    FILL(x), FILL(y), FILL(z), FILL(u), FILL(v), FILL(w), FILL(b), FILL(px), FILL(cx);
    FILL(u1), FILL(u2), FILL(u3), FILL(du1), FILL(du2), FILL(du3);
}

/* Ticks of the counter for so many cycles. */
static double chain(long cycles)
{
    unsigned long long sum = 0, begin = __rdtsc();
    for (long at = 0; at < cycles / 50; ++at)
        __asm__ volatile(".rept 50\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(1L));
    return (double)(__rdtsc() - begin) / (double)cycles;
}

int main(void)
{
    static long (*const kernels[])(void) = {lfk1, lfk2, lfk3, lfk4, lfk5, lfk6, lfk7, lfk8, lfk9, lfk10, lfk11, lfk12};
    enum { SAMPLES = 400, CALLS = 8, CHAIN = 20000 };
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int kernel = 0; kernel < 12; ++kernel) {
        double ticks = 1e30, cycle = 1e30;
        for (int sample = 0; sample < SAMPLES; ++sample) {
            reset();
            kernels[kernel]();
            double tick = chain(CHAIN);
            long iterations = 0;
            unsigned long long begin = __rdtsc();
            for (int call = 0; call < CALLS; ++call)
                iterations += kernels[kernel]();
            double took = (double)(__rdtsc() - begin) / (double)iterations;
            ticks = took < ticks ? took : ticks;
            cycle = tick < cycle ? tick : cycle;
        }
        printf("%d %.4f %.6f\n", kernel + 1, ticks, cycle);
    }
    return 0;
}
