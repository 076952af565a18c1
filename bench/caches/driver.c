/* Cycles of the core for a turn of each of ten loops, with arrays of several sizes together, in KiB on the command line.
 *
 * Arrays are gone through again and again, in pieces, and of each piece the least time counts, so that other programs matter little. The counter of time
 * runs at a rate of its own: passes take turns with a chain of additions that need each other, one a cycle. Prints a line for each loop and size: its name,
 * KiB, turns, ticks of the counter for a turn, and ticks of a cycle. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <x86intrin.h>

enum { COLUMNS = 25, PIECE = 1 << 16, PIECES = 1 << 12, CHAIN = 20000, LEAST = 12 };

typedef void Loop(double*, const double*, const double*, const double*, long);
Loop scale, triad, daxpy, stencil, lfk1, lfk3, lfk5, lfk7, lfk9, lfk12;

static const struct {
    const char* name;
    Loop* loop;
    /* Arrays that it goes through, and elements by which a turn moves. */
    int arrays, step;
} LOOPS[] = {
    {"scale", scale, 2, 1}, {"triad", triad, 3, 1}, {"daxpy", daxpy, 2, 1}, {"stencil", stencil, 2, 1}, {"lfk1", lfk1, 3, 1},
    {"lfk3", lfk3, 2, 1},   {"lfk5", lfk5, 3, 1},   {"lfk7", lfk7, 4, 1},   {"lfk9", lfk9, 1, COLUMNS}, {"lfk12", lfk12, 2, 1},
};

/* Ticks of the counter for so many cycles. */
static double chain(long cycles)
{
    unsigned long long sum = 0, begin = __rdtsc();
    for (long at = 0; at < cycles / 50; ++at)
        __asm__ volatile(".rept 50\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(1L));
    return (double)(__rdtsc() - begin) / (double)cycles;
}

int main(int count, char** sizes)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    static double least[PIECES];
    for (int at = 1; at < count; ++at) {
        long bytes = 1024 * atol(sizes[at]);
        for (size_t which = 0; which < sizeof LOOPS / sizeof *LOOPS; ++which) {
            long elements = bytes / 8 / LOOPS[which].arrays, step = LOOPS[which].step, turns = elements / step;
            double* arrays[4];
            for (int array = 0; array < 4; ++array) {
                arrays[array] = aligned_alloc(4096, (8 * (size_t)(elements + 32) + 4095) & ~4095ul);
                for (long i = 0; i < elements + 32; ++i)
                    arrays[array][i] = 0.001 * (double)(i % 97 + 1);
                if (array >= LOOPS[which].arrays)
                    free(arrays[array]), arrays[array] = arrays[0];
            }
            /* lfk3 stores to one place only. */
            double place[8];
            double *first = LOOPS[which].loop == lfk3 ? place : arrays[0], *second = LOOPS[which].loop == lfk3 ? arrays[0] : arrays[1],
                   *third = LOOPS[which].loop == lfk3 ? arrays[1] : arrays[2];
            long pieces = (turns + PIECE - 1) / PIECE, passes = LEAST + 40000000 / turns;
            double cycle = 1e30;
            for (long piece = 0; piece < pieces; ++piece)
                least[piece] = 1e30;
            for (long pass = 0; pass < passes; ++pass) {
                if (pass % 16 == 0 || turns > PIECE) {
                    double tick = chain(CHAIN);
                    cycle = tick < cycle ? tick : cycle;
                }
                for (long piece = 0; piece < pieces; ++piece) {
                    long begin = piece * PIECE, size = turns - begin < PIECE ? turns - begin : PIECE, to = begin * step;
                    double* output = LOOPS[which].loop == lfk3 ? place : first + to;
                    unsigned long long start = __rdtsc();
                    LOOPS[which].loop(output, second + to, third + to, arrays[3] + to, size);
                    double took = (double)(__rdtsc() - start);
                    least[piece] = took < least[piece] ? took : least[piece];
                }
            }
            double all = 0.0;
            for (long piece = 0; piece < pieces; ++piece)
                all += least[piece];
            printf("%s %ld %ld %.4f %.6f\n", LOOPS[which].name, bytes / 1024, turns, all / (double)turns, cycle);
            fflush(stdout);
            for (int array = 0; array < LOOPS[which].arrays; ++array)
                free(arrays[array]);
        }
    }
    return 0;
}
