/* Communicators made in every way; in each, a message from its rank 0 to its rank 1 and a sum.
 *
 * Halves have two members (0 and 2, 1 and 3); the reversed world has rank 3 as its rank 0; one part has ranks 0 to 2.
 *
 * expect 4 ranks
 * expect each: MPI_Comm_split 3, MPI_Comm_dup 1, MPI_Comm_dup_with_info 1, MPI_Comm_idup 1, MPI_Comm_create 1
 * expect each: MPI_Comm_split_type 1
 * expect rank 0: sends 7, sent 28, receives 0, collectives 8, MPI_Comm_create_group 1
 * expect rank 1: sends 1, sent 4, receives 6, received 24, collectives 8, MPI_Comm_create_group 1
 * expect rank 2: sends 0, receives 2, received 8, collectives 8, MPI_Comm_create_group 1
 * expect rank 3: sends 1, sent 4, receives 1, received 4, collectives 6
 */
#include <mpi.h>

static int wrong;

/* A message and a sum over the members, which are `size`. */
static void use(MPI_Comm comm, int size)
{
    int me, sum, one = 1;
    MPI_Comm_rank(comm, &me);
    if (me == 0) MPI_Send(&me, 1, MPI_INT, 1, 1, comm);
    if (me == 1) MPI_Recv(&sum, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    wrong |= sum != size;
    MPI_Comm_free(&comm);
}

int main(int argc, char** argv)
{
    int rank;
    MPI_Comm comm;
    MPI_Group world, part;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 3, (int[3]){ 0, 1, 2 }, &part);

    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);
    use(comm, 2);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    use(comm, 4);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 3 ? 0 : MPI_UNDEFINED, 0, &comm);
    if (comm != MPI_COMM_NULL) use(comm, 3);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    use(comm, 4);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use(comm, 4);
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &comm);
    use(comm, 4);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    use(comm, 4);
    MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (rank < 3) {
        MPI_Comm_create_group(MPI_COMM_WORLD, part, 9, &comm);
        use(comm, 3);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&world);
    MPI_Finalize();
    return wrong;
}
