//! expect 4 ranks
/* Steps with neighbours, polls and groups; all meet in functions of several depths, now and then. */
#include <mpi.h>
#include <stdlib.h>

static double sum;

__attribute__((noinline)) static void compute(int n)
{
    volatile double x = 0;
    for (int i = 0; i < n; i++)
        x += i * 0.5;
    sum += x;
}

__attribute__((noinline)) static void exchange(double *u, int n, int left, int right)
{
    MPI_Request requests[4];
    int done = 0;
    MPI_Irecv(u, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(u + n + 1, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(u + n, 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(u + 1, 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[3]);
    for (int tries = 0; tries < 20 && !done; tries++)
        MPI_Testall(4, requests, &done, MPI_STATUSES_IGNORE);
    if (!done)
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

__attribute__((noinline)) static double norm(MPI_Comm comm)
{
    double part = sum, all;
    compute(2000);
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
    return all;
}

__attribute__((noinline)) static int converged(int turn)
{
    if (turn % 3 == 2)
        return norm(MPI_COMM_WORLD) < 0;
    compute(500);
    return 0;
}

__attribute__((noinline)) static void step(double *u, int n, int rank, int size, MPI_Comm half)
{
    exchange(u, n, (rank + size - 1) % size, (rank + 1) % size);
    compute(n * (rank + 1));
    norm(half);
}

int main(int argc, char **argv)
{
    int rank, size, n = 3000, turns = argc > 1 ? atoi(argv[1]) : 60;
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    double *u = calloc(n + 2, sizeof *u);
    for (int turn = 0; turn < turns; turn++) {
        step(u, n, rank, size, half);
        if (converged(turn))
            break;
        if (turn % 20 == 19)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    free(u);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
