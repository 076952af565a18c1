//! expect 2 ranks
/* Teams of three threads with loops, tasks and barriers in functions of several depths; all ranks meet outside of teams, now and then, and once inside of one. */
#include <mpi.h>
#include <omp.h>

static double sum;

__attribute__((noinline)) static double compute(int n)
{
    volatile double x = 0;
    for (int i = 0; i < n; i++)
        x += i * 0.5;
    return x;
}

__attribute__((noinline)) static void relax(int n)
{
#pragma omp parallel num_threads(3)
    {
#pragma omp for
        for (int i = 0; i < 6; i++)
            compute(n * (i + 1));
        compute(300);
#pragma omp barrier
        compute(n * (1 + omp_get_thread_num()));
    }
    sum += n;
}

__attribute__((noinline)) static void assemble(int n)
{
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 5; i++)
    {
#pragma omp task
        compute(n * i);
    }
}

__attribute__((noinline)) static double norm(void)
{
    double part = sum, all;
    compute(2000);
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

__attribute__((noinline)) static int converged(int turn)
{
    if (turn % 3 == 2)
        return norm() < 0;
    compute(500);
    return 0;
}

__attribute__((noinline)) static void step(int turn, int rank)
{
    relax(1000 * (rank + 1));
    if (turn % 2)
        assemble(2000);
    if (turn == 7)
    {
#pragma omp parallel num_threads(3)
        {
            compute(1000);
#pragma omp master
            MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
            compute(1000);
        }
    }
    compute(1000);
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 40; turn++)
    {
        step(turn, rank);
        if (converged(turn))
            break;
        if (turn % 10 == 9)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
