/* A ring of processes with three faults whose cost is known.
 *
 * Work is sleeping, so that the answer does not depend on the machine and two cores are enough for four processes.
 *
 *   ten times:  compute    10 ms, but 20 ms on rank 2
 *               exchange   with both neighbours: ranks 1 and 3 wait 10 ms each for rank 2        late_sender     0.20 s in all
 *               residual   all-reduce: rank 0 waits 10 ms for ranks 1 to 3, which come together  wait_at_nxn     0.10 s
 *   once:       report     rank 0 works 30 ms before it broadcasts; the others wait              late_broadcast  0.09 s
 */
#include "phase.h"

#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { ITERATIONS = 10, TAG = 7, CELLS = 64 };

static void work(long milliseconds)
{
    nanosleep(&(struct timespec){ 0, milliseconds * 1000000L }, NULL);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    double out[2][CELLS] = { { 0 } }, in[2][CELLS], sum = 0;

    PHASE("solve") {
        for (int i = 0; i < ITERATIONS; ++i) {
            PHASE("compute") { work(rank == 2 ? 20 : 10); }
            PHASE("exchange") {
                MPI_Request requests[4];
                MPI_Irecv(in[0], CELLS, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[0]);
                MPI_Irecv(in[1], CELLS, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[1]);
                MPI_Isend(out[0], CELLS, MPI_DOUBLE, left, TAG, MPI_COMM_WORLD, &requests[2]);
                MPI_Isend(out[1], CELLS, MPI_DOUBLE, right, TAG, MPI_COMM_WORLD, &requests[3]);
                MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
            }
            PHASE("residual") { MPI_Allreduce(&out[0][0], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
        }
        PHASE("report") {
            if (rank == 0) work(30);
            MPI_Bcast(&sum, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 0) printf("ring: %d processes, %d iterations\n", size, ITERATIONS);
    MPI_Finalize();
    return 0;
}
