/* Heat in a rod: loops, a callback, recursion, and functions that a compiler inlines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define N 64

static double rod[N];

static inline double flux(double left, double right) {
    double difference = right - left;
    if (difference != difference)
        abort();
    return 0.5 * difference;
}

static inline double update(const double *cell) {
    return cell[0] + flux(cell[0], cell[1]) - flux(cell[-1], cell[0]);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

__attribute__((noinline)) static void step(double *next) {
    for (int i = 1; i < N - 1; i++)
        next[i] = update(&rod[i]) + 1e-9 * rand();
}

__attribute__((noinline)) int depth(int n) {
    return n <= 0 ? 0 : 1 + depth(n - 1) + abs(rand() % 2);
}

int main(int argc, char **argv) {
    double next[N] = {0};
    (void)argv;
    for (int i = 0; i < N; i++)
        rod[i] = sin(i * 0.1 * argc);
    for (int t = 0; t < 10; t++) {
        step(next);
        for (int i = 1; i < N - 1; i++)
            rod[i] = next[i];
    }
    qsort(rod, N, sizeof *rod, by_value);
    printf("%g %d\n", rod[N / 2], depth(argc + 3));
    return 0;
}
