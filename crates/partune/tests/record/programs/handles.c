/* One place that sends, with handles that mean something else each time: types of other sizes that were freed and made again, in communicators
 * that were too.
 *
 * expect 2 ranks
 * expect each: MPI_Send 300, MPI_Recv 300, sends 300, sent 81600, receives 300, received 81600
 * expect each: MPI_Type_free 100, MPI_Comm_free 100
 */
#include <mpi.h>

static int rank;
static char out[800], in[800];

__attribute__((noinline)) static void exchange(MPI_Comm comm, MPI_Datatype type)
{
    if (rank == 0) MPI_Send(out, 1, type, 1, 0, comm);
    MPI_Recv(in, 1, type, 1 - rank, 0, comm, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(out, 1, type, 0, 0, comm);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; ++i) {
        MPI_Datatype type;
        MPI_Comm comm;
        MPI_Type_contiguous(8 * (i + 1), MPI_CHAR, &type);
        MPI_Type_commit(&type);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        exchange(comm, type);
        exchange(MPI_COMM_WORLD, MPI_DOUBLE);
        exchange(comm, type);
        MPI_Type_free(&type);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return 0;
}
