/* Eight messages of 15 ms each, which could be one. 8 turns: 120 ms of messages and 30 of work.
 *
 * expect 4 ranks
 * expect library calls_part.c
 * 1: one message for all eight.
 */
#include <mpi.h>
#include "pair.h"

extern double call_takes;

void produce(void) { work(30); }
void consume(void) { work(15); }

int main(int argc, char** argv)
{
    int data[8] = { 0 }, times = 8;
    start(argc, argv);
    call_takes = 15;
    if (repair == 1) times = 1;
    for (int i = 0; i < 8; ++i) {
        if (rank % 2 == 0) produce();
        for (int j = 0; j < times; ++j) {
            if (rank % 2 == 0) MPI_Send(data + j, 8 / times, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
            else MPI_Recv(data + j, 8 / times, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank % 2 == 1) consume();
    }
    MPI_Finalize();
    return 0;
}
