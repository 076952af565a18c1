/* Other programs run from the middle of an MPI program, and a child that only forks: none of them is recorded.
 *
 * expect 2 ranks
 * expect each: MPI_Sendrecv 2, sends 2, sent 8, receives 2, received 8
 */
#include <mpi.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void exchange(int peer)
{
    int in;
    MPI_Sendrecv(&peer, 1, MPI_INT, peer, 0, &in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
    int rank, status, wrong;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    exchange(1 - rank);
    wrong = system("test \"$(echo one)\" = one");
    pid_t child = fork();
    if (child == 0) execlp("true", "true", (char*)NULL);
    waitpid(child, &status, 0);
    wrong |= status;
    child = fork();
    if (child == 0) exit(0); /* runs what is left for the end of the process */
    waitpid(child, &status, 0);
    exchange(1 - rank);
    MPI_Finalize();
    return wrong | status ? 1 : 0;
}
