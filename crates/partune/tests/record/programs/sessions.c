/* A program of MPI 4 without MPI_Init: a session, a group of the world, a communicator.
 *
 * expect mpich
 * expect 2 ranks
 * expect each: MPI_Session_init 1, MPI_Comm_create_from_group 1, MPI_Allreduce 3, MPI_Session_finalize 1, collectives 3
 * expect rank 0: MPI_Send 1, sends 1, sent 4
 * expect rank 1: MPI_Recv 1, receives 1, received 4
 */
#include <mpi.h>

int main(void)
{
    int rank, sum, one = 1;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "partune.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) MPI_Send(&one, 1, MPI_INT, 1, 1, comm);
    if (rank == 1) MPI_Recv(&one, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; ++i) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return sum == 2 ? 0 : 1;
}
