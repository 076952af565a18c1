/* Rank 0 kills the launcher, as a time limit may, and waits with all but rank 1, which is in no call. MPI's own threads end them all.
 *
 * expect 3 ranks
 * expect status any
 */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        sleep(1);
        pid_t launcher = getppid();
        kill(launcher, SIGTERM);
        usleep(1000);
        if (getppid() == launcher) kill(launcher, SIGTERM);
    }
    if (rank == 1)
        for (;;)
            pause();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
