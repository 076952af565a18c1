/* A root that comes late to its broadcast.
 *
 * expect 2 ranks
 * expect wait late_broadcast at HERE: MPI_Bcast, ranks 0, 0.30 s, causes 1
 */
#include "work.h"

static void together(void)
{
    int word = 0;
    late(rank == 1, 100);
    MEET(MPI_Bcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD)); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) together();
    MPI_Finalize();
    return 0;
}
