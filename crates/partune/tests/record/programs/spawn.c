/* A rank that starts two more, talks to them and leaves them.
 *
 * expect openmpi
 * expect 1 ranks
 * expect rank 0: MPI_Comm_spawn 1, MPI_Send 2, MPI_Recv 2, MPI_Comm_disconnect 1
 */
#include <mpi.h>

enum { CHILDREN = 2 };

static int parent(char* self)
{
    int word, wrong = 0;
    MPI_Comm between;
    MPI_Comm_spawn(self, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between, MPI_ERRCODES_IGNORE);
    for (int child = 0; child < CHILDREN; ++child) {
        MPI_Send(&child, 1, MPI_INT, child, 1, between);
        MPI_Recv(&word, 1, MPI_INT, child, 1, between, MPI_STATUS_IGNORE);
        wrong |= word != child + 100;
    }
    MPI_Comm_disconnect(&between);
    return wrong;
}

static void child(MPI_Comm between)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE);
    word += 100;
    MPI_Send(&word, 1, MPI_INT, 0, 1, between);
    MPI_Comm_disconnect(&between);
}

int main(int argc, char** argv)
{
    int wrong = 0;
    MPI_Comm between;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&between);
    if (between == MPI_COMM_NULL) wrong = parent(argv[0]);
    else child(between);
    MPI_Finalize();
    return wrong;
}
