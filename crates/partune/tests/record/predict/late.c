/* Even ranks produce for 120 ms what odd ones then consume for 60. 10 turns.
 *
 * expect 4 ranks
 * 1: produced in 30 ms, so that consumers are the slow ones; 2: consumed in 6 ms, for which nobody waits but the end.
 */
#include <mpi.h>
#include "pair.h"

void produce(void) { work(repair == 1 ? 30 : 120); }
void consume(void) { work(repair == 2 ? 6 : 60); }

int main(int argc, char** argv)
{
    int data = 0;
    start(argc, argv);
    for (int i = 0; i < 10; ++i) {
        if (rank % 2 == 0) {
            produce();
            MPI_Send(&data, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&data, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            consume();
        }
    }
    MPI_Finalize();
    return 0;
}
