/* What a number of ranks makes of a program; its first argument says of which one:
 * 1: even work of 960 ms, and a sum; 2: rank 0 prepares for 60 ms what all share 480 ms of work on; 3: 8 things go through all ranks, 30 ms on each;
 * 4: rank r works 20 + 10 r ms; 5: 80 ms on each, and a ring of messages.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include "pair.h"

void solve(double milliseconds) { work(milliseconds); }
void prepare(void) { work(60); }
void stage(void) { work(30); }

static void sum(void)
{
    double one = rank, all;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void even(void)
{
    solve(960.0 / ranks);
    sum();
}

static void serial(void)
{
    int data = 0;
    if (rank == 0) prepare();
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    solve(480.0 / ranks);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void wave(void)
{
    int data = 0;
    if (rank > 0) MPI_Recv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    stage();
    if (rank + 1 < ranks) MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
}

static void uneven(void)
{
    solve(20 + 10 * rank);
    sum();
}

static void weak(void)
{
    int out = rank, in;
    solve(80);
    MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 0, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 8; ++i) {
        switch (repair) {
        case 1: even(); break;
        case 2: serial(); break;
        case 3: wave(); break;
        case 4: uneven(); break;
        default: weak(); break;
        }
    }
    MPI_Finalize();
    return 0;
}
