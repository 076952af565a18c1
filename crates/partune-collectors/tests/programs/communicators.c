/* Communicators with the same members are told apart, also after their handles were used again. Four ranks. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, x = 0;
    MPI_Comm half, again, inter, reversed, nobody;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_set_name(half, "half of it");
    MPI_Barrier(half);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(half, &again);
        MPI_Bcast(&x, 1, MPI_INT, 0, again);
        MPI_Comm_free(&again);
    }
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    MPI_Bcast(&x, 1, MPI_INT, 3, reversed);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &nobody);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter);
    MPI_Barrier(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&reversed);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
