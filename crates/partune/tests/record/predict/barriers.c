/* Two barriers, one right after the other, of 15 ms each; before them works one rank for 60 ms in turn. 12 turns of 90 ms.
 *
 * expect 4 ranks
 * expect library calls_part.c
 * 1: one barrier; 2: barriers of 3 ms.
 */
#include <mpi.h>
#include "pair.h"

extern double call_takes;

void solve(int i) { work(rank == i % 4 ? 60 : 15); }

int main(int argc, char** argv)
{
    start(argc, argv);
    call_takes = repair == 2 ? 3 : 15;
    for (int i = 0; i < 12; ++i) {
        solve(i);
        MPI_Barrier(MPI_COMM_WORLD);
        if (repair != 1) MPI_Barrier(MPI_COMM_WORLD); /* AGAIN */
    }
    MPI_Finalize();
    return 0;
}
