/* expect 2 ranks
 *
 * Marked phases, regions, a loop and its iterations, nested and with functions between them, and calls in all of them.
 */
#include <mpi.h>
#include <partune.h>

static int rank, other;

__attribute__((noinline)) static void exchange(int bytes)
{
    static char to[4096], from[4096];
    MPI_Sendrecv(to, bytes, MPI_CHAR, other, 0, from, bytes, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void solve(int steps)
{
    double mine = rank, sum;
    int i;
    partune_loop_begin("steps");
    for (i = 0; i < steps; i++) {
        partune_iteration_begin();
        partune_region_begin("halo");
        exchange(8);
        exchange(2000);
        partune_region_end("halo");
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        partune_iteration_end();
    }
    partune_loop_end();
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    partune_phase_begin("first");
    exchange(1);
    solve(3);
    partune_phase_end("first");
    exchange(100);
    partune_phase_begin("second");
    solve(5);
    exchange(1);
    partune_phase_end("second");
    MPI_Finalize();
    return 0;
}
