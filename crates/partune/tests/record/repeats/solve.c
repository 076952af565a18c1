/* Work that is uneven on two ranks; with the argument 1 it is shared out evenly. 10 turns of 45 ms, or of 30.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include "../predict/pair.h"

void solve(void) { work(repair ? 30 : rank ? 45 : 15); }

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int i = 0; i < 10; ++i) {
        double mine = 1, sum;
        solve();
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
