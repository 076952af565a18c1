/* Two halves that talk: messages and collective operations between groups, and the two merged.
 *
 * Rank i of the even half (0, 2) sends to rank i of the odd half (1, 3); then rank 0 sends a word to all odd ones.
 *
 * expect 4 ranks
 * expect each: MPI_Comm_split 1, MPI_Intercomm_create 1, MPI_Intercomm_merge 1, collectives 4
 * expect each: MPI_Allreduce 2, MPI_Bcast 1, MPI_Barrier 1
 * expect rank 0: sends 1, sent 4, receives 0
 * expect rank 2: sends 1, sent 4, receives 0
 * expect rank 1: sends 0, receives 1, received 4
 * expect rank 3: sends 0, receives 1, received 4
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, me, in, sum, one = 1, wrong = 0;
    MPI_Comm half, between, merged;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int odd = rank % 2;
    MPI_Comm_split(MPI_COMM_WORLD, odd, 0, &half);
    MPI_Comm_rank(half, &me);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - odd, 7, &between);

    if (!odd) MPI_Send(&rank, 1, MPI_INT, me, 1, between);
    else MPI_Recv(&in, 1, MPI_INT, me, 1, between, MPI_STATUS_IGNORE);
    wrong |= odd && in != rank - 1;

    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, between); /* the sum of the others */
    wrong |= sum != (odd ? 2 : 4);
    int root = odd ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, word = odd ? 0 : 42;
    MPI_Bcast(&word, 1, MPI_INT, root, between);
    wrong |= word != 42;
    MPI_Barrier(between);

    MPI_Intercomm_merge(between, odd, &merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    wrong |= sum != 4;
    MPI_Comm_free(&merged);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return wrong;
}
