/* Rank 1 has 64 MiB for a while, and gives them back long before the end.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 64 << 20 };

int main(int argc, char** argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        char* memory = malloc(SIZE);
        memset(memory, 1, SIZE);
        MPI_Barrier(MPI_COMM_WORLD);
        /* So that nobody takes the memory for unused. */
        MPI_Bcast(memory + SIZE / 2, 1, MPI_CHAR, 1, MPI_COMM_WORLD);
        free(memory);
    } else {
        char byte;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(&byte, 1, MPI_CHAR, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
