/* Switches recording off and on by turns, at each iteration of a benchmark's main loop, and says how long the iterations took: linked into the
 * benchmarks by npb.sh, which puts a call of npb_turn at the begin of the loop.
 *
 * NPB_FIRST is 1 if the first iteration is recorded, else 0. Rank 0 prints a line for each two iterations that follow each other: what the recorded
 * one took longer, in per cent.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double begin, before;
static int turns, rank;

void npb_turn_(void)
{
    double now = MPI_Wtime();
    if (turns == 0) PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* first = getenv("NPB_FIRST");
    int is_recorded = (turns + (first ? atoi(first) : 0)) % 2;
    /* What ended has the same state as what begins after two turns. */
    double took = now - begin;
    if (turns > 0 && turns % 2 == 0 && rank == 0)
        fprintf(stderr, "npb_turn %.4f\n", 100 * (is_recorded ? before / took - 1 : took / before - 1));
    before = took;
    ++turns;
    MPI_Pcontrol(is_recorded);
    begin = MPI_Wtime();
}
