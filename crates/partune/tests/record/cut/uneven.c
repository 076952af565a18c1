/* Messages in a ring, and of rank 0 as many to itself besides, so that its events need twice the room: 20000 of a rank, or as many as said. Each sends
 * 25 before it receives 25: where others use the machine, each time that one waits for the other takes long.
 *
 * expect 2 ranks
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
    int rank, size, in, messages = argc > 1 ? atoi(argv[1]) : 20000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < messages; ++i) {
        int next = (rank + 1) % size, last = (rank + size - 1) % size;
        MPI_Send(&i, 1, MPI_INT, next, 0, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Sendrecv(&i, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        for (int j = 0; i % 25 == 24 && j < 25; ++j)
            MPI_Recv(&in, 1, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    printf("done\n");
    return 0;
}
