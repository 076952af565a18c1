/* A barrier at the bottom of functions that align their stack anew, as vectors on it need, between others with small numbers on theirs. With REALIGNED
 * unset it is the same program without that.
 *
 * expect 2 ranks
 * expect each: MPI_Barrier 20
 */
#include <mpi.h>
#include <unistd.h>

#ifdef REALIGNED
#define ALIGNED __attribute__((aligned(64)))
#else
#define ALIGNED
#endif
#define FUNCTION __attribute__((noinline, noclone)) static void

static void step(int level);

FUNCTION touch(double* numbers)
{
    __asm__ volatile("" : : "r"(numbers) : "memory");
}

FUNCTION exchange(void)
{
    usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    touch(NULL);
}

/* With an array of unknown size below it, the place of the caller's frame is kept in a word. */
FUNCTION solve(int level, int size)
{
    double some[size], vector[16] ALIGNED;
    touch(some);
    touch(vector);
    if (level == 0)
        exchange();
    else
        step(level - 1);
    touch(vector);
}

FUNCTION step(int level)
{
    volatile long numbers[50];
    for (int i = 0; i < 50; ++i) numbers[i] = i;
    solve(level, 8 + level);
    touch((double*)numbers);
}

FUNCTION run(int turns)
{
    for (int turn = 0; turn < turns; ++turn) {
        step(turn % 4);
        touch(NULL);
    }
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    run(20);
    MPI_Finalize();
    return 0;
}
