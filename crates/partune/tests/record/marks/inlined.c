/* Functions that tell of themselves although the compiler has made them part of their caller.
 *
 * expect 2 ranks
 */
#include <mpi.h>

static double norm(double value)
{
    double sum;
    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static double step(double value) { return norm(value) / 2; }

int main(int argc, char** argv)
{
    double value = 1;
    MPI_Init(&argc, &argv);
    for (int turn = 0; turn < 5; turn++)
        value = step(value);
    MPI_Finalize();
    return value != 1;
}
