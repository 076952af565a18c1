/* A call every ten of 200 levels of recursion, and one at the bottom.
 *
 * expect 2 ranks
 * expect each: MPI_Allreduce 21, collectives 21
 */
#include <mpi.h>

static int wrong;

__attribute__((noinline)) static int descend(int level)
{
    int sum = 0, one = 1;
    if (level % 10 == 0) {
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong |= sum != 2;
    }
    return level == 0 ? 0 : 1 + descend(level - 1);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    wrong |= descend(200) != 200;
    MPI_Finalize();
    return wrong;
}
