/* A rank that starts two more twice, talks to them, on communicators between and of all, and leaves them.
 *
 * expect openmpi
 * expect 1 ranks
 * expect rank 0: MPI_Comm_spawn 2, MPI_Send 4, MPI_Recv 4, MPI_Intercomm_merge 2, MPI_Comm_disconnect 2
 * expect rank 0: sends 4, sent 16, receives 4, received 16, collectives 2
 */
#include <mpi.h>

enum { CHILDREN = 2 };

/* Of parent and children. */
static int together(MPI_Comm between, int is_child)
{
    int sum, one = 1;
    MPI_Comm all;
    MPI_Intercomm_merge(between, is_child, &all);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    return sum != CHILDREN + 1;
}

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
    wrong |= together(between, 0);
    MPI_Comm_disconnect(&between);
    return wrong;
}

static int child(MPI_Comm between)
{
    int word, wrong;
    MPI_Recv(&word, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE);
    word += 100;
    MPI_Send(&word, 1, MPI_INT, 0, 1, between);
    wrong = together(between, 1);
    MPI_Comm_disconnect(&between);
    return wrong;
}

int main(int argc, char** argv)
{
    int wrong;
    MPI_Comm between;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&between);
    wrong = between == MPI_COMM_NULL ? parent(argv[0]) | parent(argv[0]) : child(between);
    MPI_Finalize();
    return wrong;
}
