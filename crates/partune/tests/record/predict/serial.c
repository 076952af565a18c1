/* One rank prepares what all wait for. 7 turns of 120 + 60 ms.
 *
 * expect 4 ranks
 * 1: all prepare their share; 2: it takes half.
 */
#include <mpi.h>
#include "pair.h"

void prepare(void) { work(repair == 1 ? 30 : repair == 2 ? 60 : 120); }
void solve(void) { work(60); }

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 7; ++i) {
        int data = i;
        if (rank == 0 || repair == 1) prepare();
        MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
        solve();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
