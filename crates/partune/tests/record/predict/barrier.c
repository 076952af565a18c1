/* Steps that even out over the ranks, but for a barrier after each. 12 turns of 90 ms; without it 3 of 90 and 9 of 30 on each rank.
 *
 * expect 4 ranks
 * 1: no barrier.
 */
#include <mpi.h>
#include "pair.h"

void step(int i) { work((rank + i) % 4 == 0 ? 90 : 30); }

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 12; ++i) {
        step(i);
        if (repair != 1) MPI_Barrier(MPI_COMM_WORLD); /* BETWEEN */
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
