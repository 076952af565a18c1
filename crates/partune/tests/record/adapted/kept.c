// What a program may rely on, whatever its regions are run with: loops of all kinds do each iteration once, what is ordered is in order, and teams and schedules that the program says itself
// are those. Exits with the number of the first thing that is not so. Built with -DLIBRARY it is a library, whose runtime nobody else has.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { TURNS = 400, N = 300 };
static int a[N], b[N], times[N];

static void is(int true_, int number)
{
    if (!true_) {
        printf("not kept: %d\n", number);
        exit(number);
    }
}

// Each iteration once: up, down, in steps, of few and of none, with numbers of all kinds.
static void loops(int turn)
{
    int few = turn % 3, empty = 0;
    for (int i = 0; i < N; i++)
        times[i] = 0;
#pragma omp parallel
    {
#pragma omp for schedule(runtime) nowait
        for (int i = N - 1; i >= 0; i--)
#pragma omp atomic
            times[i]++;
#pragma omp for schedule(runtime) nowait
        for (unsigned i = 0; i < N; i += 7)
#pragma omp atomic
            times[i]++;
#pragma omp for schedule(runtime) nowait
        for (unsigned long i = 4000000000ul; i < 4000000000ul + few; i++)
#pragma omp atomic
            times[i - 4000000000ul]++;
#pragma omp for schedule(runtime)
        for (long i = 5; i < empty; i++)
#pragma omp atomic
            times[i]++;
    }
    for (int i = 0; i < N; i++)
        is(times[i] == 1 + (i % 7 == 0) + (i < few), 1);
}

// Iterations that wait for the one before, and code that is in order.
static void ordered(void)
{
    a[0] = 1;
#pragma omp parallel for ordered(1) schedule(runtime)
    for (int i = 1; i < N; i++) {
#pragma omp ordered depend(sink : i - 1)
        a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
    }
    is(a[N - 1] == N, 2);
    int next = 0;
#pragma omp parallel for ordered schedule(runtime)
    for (int i = 0; i < N; i++)
#pragma omp ordered
        next += next == i;
    is(next == N, 3);
}

// A team that is serial now and then, and one whose size the program says.
static void teams(int turn)
{
    int most = 0;
#pragma omp parallel if (turn % 5 != 0) reduction(max : most)
    most = omp_get_num_threads();
    is(turn % 5 != 0 || most == 1, 4);
    most = 0;
#pragma omp parallel num_threads(2) reduction(max : most)
    most = omp_get_num_threads();
    is(most == 2, 5);
}

// Under a static schedule the same thread has the same iterations: the second loop may read what its own thread wrote.
static void same(void)
{
#pragma omp parallel
    {
#pragma omp for schedule(runtime) nowait
        for (int i = 0; i < N; i++)
            a[i] = omp_get_thread_num();
#pragma omp for schedule(runtime)
        for (int i = 0; i < N; i++)
            b[i] = a[i] == omp_get_thread_num();
    }
    for (int i = 0; i < N; i++)
        is(b[i], 6);
}

int all(void)
{
    for (int turn = 0; turn < TURNS; turn++) {
        loops(turn);
        ordered();
        teams(turn);
    }
    omp_set_schedule(omp_sched_static, 0);
    for (int turn = 0; turn < TURNS; turn++)
        same();
    puts("kept");
    return 0;
}

#ifndef LIBRARY
int main(void)
{
    return all();
}
#endif
