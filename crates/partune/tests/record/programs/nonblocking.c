/* Every collective operation that does not block; two are completed by tests, the others by waits.
 *
 * expect 4 ranks
 * expect each: MPI_Ibarrier 1, MPI_Ibcast 1, MPI_Ireduce 1, MPI_Iallreduce 1, MPI_Igather 1, MPI_Igatherv 1
 * expect each: MPI_Iscatter 1, MPI_Iscatterv 1, MPI_Iallgather 1, MPI_Iallgatherv 1, MPI_Ialltoall 1, MPI_Ialltoallv 1
 * expect each: MPI_Ialltoallw 1, MPI_Ireduce_scatter 1, MPI_Ireduce_scatter_block 1, MPI_Iscan 1, MPI_Iexscan 1
 * expect each: MPI_Waitall 1, MPI_Wait 1, collectives 17, sends 0, receives 0
 */
#include <mpi.h>

enum { RANKS = 4, ROOT = 2, OPS = 14 };

static const int one[RANKS] = { 1, 1, 1, 1 }, at[RANKS] = { 0, 1, 2, 3 };

int main(int argc, char** argv)
{
    int rank, done = 0, out[RANKS] = { 1, 1, 1, 1 }, in[OPS][RANKS], sum[RANKS], *to = in[0];
    int bytes[RANKS] = { 0, sizeof(int), 2 * sizeof(int), 3 * sizeof(int) };
    MPI_Request all[OPS], *next = all, single;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Datatype types[RANKS] = { MPI_INT, MPI_INT, MPI_INT, MPI_INT };

    MPI_Ibarrier(MPI_COMM_WORLD, &single);
    while (!done) MPI_Test(&single, &done, MPI_STATUS_IGNORE);
    MPI_Ibcast(out, RANKS, MPI_INT, ROOT, MPI_COMM_WORLD, &single);
    for (done = 0; !done;) MPI_Testall(1, &single, &done, MPI_STATUSES_IGNORE);
    MPI_Iallreduce(out, sum, RANKS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &single);
    MPI_Wait(&single, MPI_STATUS_IGNORE);

    MPI_Ireduce(out, to, RANKS, MPI_INT, MPI_SUM, ROOT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Igather(out, 1, MPI_INT, to, 1, MPI_INT, ROOT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Igatherv(out, 1, MPI_INT, to, one, at, MPI_INT, ROOT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Iscatter(out, 1, MPI_INT, to, 1, MPI_INT, ROOT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Iscatterv(out, one, at, MPI_INT, to, 1, MPI_INT, ROOT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Iallgather(out, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Iallgatherv(out, 1, MPI_INT, to, one, at, MPI_INT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Ialltoall(out, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Ialltoallv(out, one, at, MPI_INT, to, one, at, MPI_INT, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Ialltoallw(out, one, bytes, types, to, one, bytes, types, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Ireduce_scatter(out, to, one, MPI_INT, MPI_SUM, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Ireduce_scatter_block(out, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Iscan(out, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, next++), to += RANKS;
    MPI_Iexscan(out, to, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, next++);
    MPI_Waitall(OPS, all, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return sum[0] == RANKS && in[OPS - 2][0] == rank + 1 ? 0 : 1;
}
