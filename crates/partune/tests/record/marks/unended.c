/* Marks that begin after MPI does, one of them without an end.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include "partune.h"
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    partune_loop_begin("steps");
    for (int i = 0; i < 3; i++) {
        partune_iteration_begin();
        MPI_Barrier(MPI_COMM_WORLD);
        partune_iteration_end();
    }
    partune_loop_end();
    partune_region_begin("open at the end");
    MPI_Finalize();
    return 0;
}
