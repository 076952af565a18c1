/* The shared library of library.c and plugin.c. */
#include <mpi.h>

int exchange(int times)
{
    int rank, in = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < times; ++i)
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return in != times - 1;
}

/* The whole life of MPI inside the library, for a program that knows nothing of it. */
int run(int times)
{
    MPI_Init(0, 0);
    int wrong = exchange(times);
    MPI_Finalize();
    return wrong;
}
