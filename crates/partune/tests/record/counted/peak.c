/* Work whose instructions can be counted: 500 turns of 1,000 products on each rank, and 15,000 on rank 0 while the other waits.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <stdio.h>

enum { CELLS = 1000, TURNS = 500, ALONE = 15000 };

static double one[CELLS], other[CELLS];

static double __attribute__((noinline)) product(void)
{
    double sum = 0;
    for (int at = 0; at < CELLS; at++)
        sum += one[at] * other[at];
    __asm__ volatile("" ::: "memory"); /* each call is one */
    return sum;
}

int main(int argc, char** argv)
{
    int rank, turn;
    double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (turn = 0; turn < CELLS; turn++)
        one[turn] = other[turn] = turn % 7;
    MPI_Barrier(MPI_COMM_WORLD);
    for (turn = 0; turn < TURNS; turn++)
        sum += product();
    MPI_Barrier(MPI_COMM_WORLD);
    for (turn = 0; rank == 0 && turn < ALONE; turn++)
        sum += product();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", sum);
    MPI_Finalize();
    return 0;
}
