/* Three functions take turns between calls of MPI, 5 : 3 : 2; a fourth sleeps. Each rank prints the CPU time of each function, and how often
 * a sleep was interrupted. With an argument it handles SIGURG itself, and prints how many it got too many.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double used[4];

__attribute__((noinline)) static double work(long turns)
{
    volatile double sum = 0;
    for (long i = 1; i <= turns; ++i)
        sum += 1.0 / (double)i;
    return sum;
}

#define FUNCTION(NAME, NUMBER)                          \
    __attribute__((noinline)) static void NAME(long turns) \
    {                                                   \
        double begin = now(CLOCK_THREAD_CPUTIME_ID);    \
        work(turns);                                    \
        used[NUMBER] += now(CLOCK_THREAD_CPUTIME_ID) - begin; \
    }

FUNCTION(first, 0)
FUNCTION(second, 1)
FUNCTION(third, 2)

__attribute__((noinline)) static int rest(void)
{
    struct timespec short_time = {0, 2000000};
    return nanosleep(&short_time, NULL) != 0 || poll(NULL, 0, 1) != 0;
}

static volatile sig_atomic_t got;

static void get(int signal)
{
    (void)signal;
    ++got;
}

int main(int argc, char** argv)
{
    if (argc > 1)
        signal(SIGURG, get);
    int broken = 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while (used[0] + used[1] + used[2] < 2) {
        for (int turn = 0; turn < 20; ++turn) {
            first(50000);
            second(30000);
            third(20000);
        }
        broken += rest();
        MPI_Barrier(MPI_COMM_SELF);
    }
    if (argc > 1)
        raise(SIGURG);
    printf("rank %d used %.6f %.6f %.6f broken %d too-many %d\n", rank, used[0], used[1], used[2], broken,
           argc > 1 ? (int)got - 1 : 0);
    MPI_Finalize();
    return 0;
}
