/* Steps that the program counts itself, as an event that PAPI offers to whoever measures: 7 in a turn, 1 more in the turns of odd ranks.
 *
 * expect 2 ranks
 * expect flags -lsde -pthread
 */
#include <mpi.h>
#include <pthread.h>
#include <sde_lib.h>

enum { TURNS = 10 };

static long long steps;

static void __attribute__((noinline)) work(int rank)
{
    steps += 7 + rank % 2;
}

/* Another thread, which counts the same: its own begin is where it starts. */
static void* other(void* unused)
{
    (void)unused;
    MPI_Barrier(MPI_COMM_SELF);
    steps += 5;
    MPI_Barrier(MPI_COMM_SELF);
    return NULL;
}

int main(int argc, char** argv)
{
    int rank, got;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    papi_sde_register_counter(papi_sde_init("Work"), "steps", PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long, &steps);
    for (int turn = 0; turn < TURNS; ++turn) {
        MPI_Barrier(MPI_COMM_WORLD);
        work(rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
