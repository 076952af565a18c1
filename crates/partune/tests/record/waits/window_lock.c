/* A lock of a window that another process has until its unlock begins: it is got before that returns.
 *
 * expect 3 ranks
 * expect wait wait_on_lock at HERE: MPI_Win_lock, ranks 0, 0.30 s, causes 1
 */
#include "work.h"

static MPI_Win window;

/* Process 2 has the window, and lets the others get at it from the barrier. */
static void turn(void)
{
    int one = 1;
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
        MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
        MPI_Win_flush(2, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    late(rank == 1, 100);
    if (rank == 1) MEET(MPI_Win_unlock(2, window));
    if (rank == 0) {
        MEET(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window)); /* HERE */
        MPI_Put(&one, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
        MPI_Win_unlock(2, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    int* cell;
    start(argc, argv);
    MPI_Win_allocate(sizeof *cell, sizeof *cell, MPI_INFO_NULL, MPI_COMM_WORLD, &cell, &window);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) turn();
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
