/* Two ranks of two threads. Each thread has work of a length of its own, then the main thread works alone, then all ranks meet. Says how long each
 * thread worked, and how long a rank was neither starting up, waiting for the other, nor shutting down.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

static double work(int ms)
{
    double begin = omp_get_wtime();
    usleep(ms * 1000);
    return omp_get_wtime() - begin;
}

int main(int argc, char **argv)
{
    int provided, rank;
    double worked[2] = {0, 0}, busy = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    double run = omp_get_wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 10; turn++) {
        double begin = omp_get_wtime();
#pragma omp parallel num_threads(2)
        {
            int thread = omp_get_thread_num();
            worked[thread] += work((thread ? 10 : 20) * (rank ? 1 : 2));
        }
        worked[0] += work(10);
        busy += omp_get_wtime() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
    }
    run = omp_get_wtime() - run;
    printf("rank %.6f %.6f %.6f %.6f\n", run, busy, worked[0], worked[1]);
    MPI_Finalize();
    return 0;
}
