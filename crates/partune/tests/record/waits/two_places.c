/* One function that is called from two places, and is late in one of them only.
 *
 * expect 2 ranks
 * expect wait late_sender at HERE: MPI_Recv, ranks 1, 0.30 s, causes 0, path late_phase
 */
#include "work.h"

__attribute__((noinline)) static void exchange(void)
{
    int word = 0;
    if (rank == 0) MEET(MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    else MEET(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* HERE */
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void late_phase(void)
{
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 100);
        exchange();
    }
}

__attribute__((noinline)) static void early_phase(void)
{
    for (int i = 0; i < 3; ++i) exchange();
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("EARLY");
    early_phase();
    part("HERE");
    late_phase();
    MPI_Finalize();
    return 0;
}
