/* One late rank at an all-reduce.
 *
 * expect 2 ranks
 * expect wait wait_at_nxn at HERE: MPI_Allreduce, ranks 0, 0.30 s, causes 1
 */
#include "work.h"

static void together(void)
{
    int in = 0, out = 1;
    late(rank == 1, 100);
    MEET(MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) together();
    MPI_Finalize();
    return 0;
}
