/* Paths that are all different: a tree of calls from two lines each, with a collective operation of one process at each of its 1,024 leaves. Afterwards one
 * operation 14 calls deep.
 *
 * expect 2 ranks
 * expect each: MPI_Allreduce 1024, MPI_Barrier 1
 */
#include <mpi.h>

static int wrong;

__attribute__((noinline)) static int walk(int levels)
{
    int sum = 0, one = 1;
    if (levels == 0) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
        return sum;
    }
    sum += walk(levels - 1);
    sum += walk(levels - 1);
    return sum;
}

__attribute__((noinline)) static void descend(int levels)
{
    static volatile int calls;

    if (levels == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        descend(levels - 1);
    calls++; /* so that the call is not the last thing, which compilers make a loop of */
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    wrong |= walk(10) != 1024;
    descend(12);
    MPI_Finalize();
    return wrong;
}
