/* Work that grows with the rank, and some that is equal. 10 turns of 120 + 30 ms.
 *
 * expect 4 ranks
 * 1: each has the mean; 2: the last rank is as quick as the third, 90 + 22.5 ms; 3: the first, for which nobody waits, is a tenth; 4: as 1, and
 * the equal work is half.
 */
#include <mpi.h>
#include "pair.h"

void solve(void) { work(repair == 1 || repair == 4 ? 75 : repair == 3 && rank == 0 ? 3 : repair == 2 && rank == 3 ? 90 : 30 * (rank + 1)); }
void other(void) { work(repair == 4 ? 15 : repair == 3 && rank == 0 ? 3 : repair == 2 && rank == 3 ? 22.5 : 30); }

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 10; ++i) {
        double mine = 1, sum;
        solve();
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        other();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
