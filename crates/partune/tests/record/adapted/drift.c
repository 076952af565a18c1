// A load that drifts: four iterations that two threads share, in three phases of as many turns. Work is sleep, in units.
//   even   2 2 2 2   every schedule takes 4
//   uneven 3 3 1 1   static takes 6, one by one 4
//   behind 1 3 2 2   static takes 4, one by one 5
// Prints what each phase took, and the sum of what was done, which no schedule changes. The loop is a region of its own, or with `inside` one of two in a region.
// With `nested` each thread begins a team of its own as well. With `crowded` there is no such loop: each thread works for a unit while it keeps the others out, so that one thread is the best team.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int LOAD[3][4] = { { 2, 2, 2, 2 }, { 3, 3, 1, 1 }, { 1, 3, 2, 2 } };
static long unit;

static void work(int units)
{
    struct timespec time = { 0, units * unit };
    nanosleep(&time, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static long alone(const int *load)
{
    long done = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : done)
    for (int i = 0; i < 4; i++) {
        work(load[i]);
        done += load[i] * (i + 1);
    }
    return done;
}

__attribute__((noinline)) static long inside(const int *load)
{
    long done = 0;
#pragma omp parallel reduction(+ : done)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 100; i++)
            done += i;
#pragma omp for schedule(runtime)
        for (unsigned long i = 0; i < 4; i++) {
            work(load[i]);
            done += load[i] * (i + 1);
        }
    }
    return done - 4950;
}

// Each of two threads begins a team of its own for such a loop: no setting of the region around may reach a part of that.
__attribute__((noinline)) static long nested(const int *load)
{
    long done = 0;
#pragma omp parallel num_threads(2) reduction(+ : done)
    {
#pragma omp for schedule(runtime)
        for (int i = 0; i < 4; i++)
            work(load[i]);
        long own = 0;
#pragma omp parallel for schedule(runtime) num_threads(2) reduction(+ : own)
        for (int i = 0; i < 4; i++)
            own += load[i] * (i + 1);
        done += own;
    }
    return done / 2;
}

__attribute__((noinline)) static void crowded(void)
{
#pragma omp parallel
#pragma omp critical
    work(1);
}

int main(int count, char **words)
{
    int turns = count > 1 ? atoi(words[1]) : 100;
    unit = count > 2 ? atol(words[2]) : 500000;
    long (*turn_of)(const int *) = count < 4 || !strcmp(words[3], "alone") ? alone : !strcmp(words[3], "nested") ? nested : inside;
    omp_set_max_active_levels(2);
    if (count > 3 && !strcmp(words[3], "crowded")) {
        for (int turn = 0; turn < turns; turn++)
            crowded();
        return 0;
    }
    long done = 0;
    omp_sched_t kind;
    int chunk;
    for (int phase = 0; phase < 3; phase++) {
        double begin = now();
        for (int turn = 0; turn < turns; turn++)
            done += turn_of(LOAD[phase]);
        printf("phase %d took %.6f\n", phase, now() - begin);
    }
    omp_get_schedule(&kind, &chunk);
    printf("done %ld schedule %d of %d\n", done, (int)kind & 0xff, chunk);
    return done == turns * 57L ? 0 : 3;
}
