/* One late rank at a barrier.
 *
 * expect 2 ranks
 * expect wait wait_at_barrier at HERE: MPI_Barrier, ranks 0, 0.30 s, causes 1
 */
#include "work.h"

static void together(void)
{
    late(rank == 1, 100);
    MEET(MPI_Barrier(MPI_COMM_WORLD)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) together();
    MPI_Finalize();
    return 0;
}
