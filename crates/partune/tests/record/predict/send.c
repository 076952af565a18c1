/* A send that lasts until its receiver comes, 90 ms later, and 60 ms of work after it. 8 turns of 150 ms; at once it is 90.
 *
 * expect 4 ranks
 * 1: the send does not block. With -DLONG its length makes it wait, else that it is synchronous.
 * 2: with -DLONG, messages of this length are sent at once.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <mpi.h>
#include "pair.h"

#ifdef LONG
enum { COUNT = 5000 };
#define SEND MPI_Send
#define ISEND MPI_Isend
#else
enum { COUNT = 1 };
#define SEND MPI_Ssend
#define ISEND MPI_Issend
#endif

static int data[COUNT];

void before(void) { work(90); }
void after(void) { work(60); }

int main(int argc, char** argv)
{
    if (argc > 1 && atoi(argv[1]) == 2) setenv("OMPI_MCA_btl_vader_eager_limit", "1048576", 1);
    start(argc, argv);
    for (int i = 0; i < 8; ++i) {
        MPI_Request request;
        if (rank % 2 == 1) {
            before();
            MPI_Recv(data, COUNT, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (repair != 1) {
            SEND(data, COUNT, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
            after();
        } else {
            ISEND(data, COUNT, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, &request);
            after();
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
