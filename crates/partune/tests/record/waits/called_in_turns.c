/* Who is late works in a function without operations, and one that communicates is called after it in every turn, from the same line. What is between
 * the turns is not the work of that function; what is between the operations of one call is.
 *
 * expect 2 ranks
 * expect wait wait_at_nxn at EXCHANGE: MPI_Allreduce, ranks 1, 0.24 s, causes 0, in main
 * expect wait wait_at_nxn at HALO: MPI_Allreduce, ranks 1, 0.24 s, causes 0, in main
 * expect wait wait_at_nxn at SOLVE: MPI_Allreduce, ranks 1, 0.24 s, causes 0, in solve
 */
#include "work.h"

__attribute__((noinline)) static void compute(void)
{
    late(rank == 0, 60);
}

__attribute__((noinline)) static void exchange(void)
{
    int one = 1, sum;
    MEET(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* EXCHANGE */
    MPI_Barrier(MPI_COMM_WORLD);
}

__attribute__((noinline)) static void halo(void)
{
    int one = 1, sum;
    MEET(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD)); /* HALO */
    MPI_Barrier(MPI_COMM_WORLD);
}

/* With a function of its own around both. */
__attribute__((noinline)) static void step(void)
{
    compute();
    halo();
    if (rank > 1) puts("");
}

/* Works between two operations of its own. */
__attribute__((noinline)) static void solve(void)
{
    int one = 1, sum;
    MPI_Barrier(MPI_COMM_WORLD);
    compute();
    MEET(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD)); /* SOLVE */
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("EXCHANGE");
    for (int i = 0; i < 4; ++i) {
        compute();
        exchange();
    }
    part("HALO");
    for (int i = 0; i < 4; ++i) step();
    part("SOLVE");
    for (int i = 0; i < 4; ++i) solve();
    MPI_Finalize();
    return 0;
}
