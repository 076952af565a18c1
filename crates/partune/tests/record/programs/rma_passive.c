/* One-sided operations in passive target epochs: rank 1 works on the memory of rank 0.
 *
 * expect 2 ranks
 * expect rank 1: MPI_Win_lock 2, MPI_Win_unlock 2, MPI_Win_lock_all 2, MPI_Win_unlock_all 2, MPI_Win_flush 2
 * expect rank 1: MPI_Win_flush_local 1, MPI_Win_flush_all 1, MPI_Put 2, MPI_Rput 1, MPI_Rget 1, MPI_Get_accumulate 1
 * expect rank 1: MPI_Fetch_and_op 1, MPI_Compare_and_swap 1, MPI_Raccumulate 1, MPI_Win_attach 1, MPI_Win_create_dynamic 1
 * expect rank 1: puts 3, put 24, gets 1, got 8, atomics 4
 * expect rank 0: puts 0, gets 0, atomics 0, MPI_Barrier 1, MPI_Win_create_dynamic 1, MPI_Win_create 1
 */
#include <mpi.h>

static int wrong;

static void on_memory(MPI_Win window)
{
    double one = 1, two = 2, old = -1, seen = -1;
    MPI_Request request;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(0, window);

    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Rput(&two, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_flush(0, window);
    MPI_Rget(&seen, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(0, window);
    wrong |= seen != 1;

    MPI_Win_lock_all(0, window);
    MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, 0, 0, MPI_SUM, window);
    MPI_Win_flush(0, window);
    wrong |= old != 1;
    MPI_Get_accumulate(&one, 1, MPI_DOUBLE, &old, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_flush_local(0, window);
    wrong |= old != 2;
    MPI_Raccumulate(&one, 1, MPI_DOUBLE, 0, 1, 1, MPI_DOUBLE, MPI_SUM, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    long expected = 0, wanted = 5, before = -1;
    MPI_Compare_and_swap(&wanted, &expected, &before, MPI_LONG, 0, 2, window);
    MPI_Win_flush_all(window);
    wrong |= before != 0;
    MPI_Win_unlock_all(window);
}

/* The target says where its memory is. */
static void dynamic(int rank)
{
    double cell = 0, three = 3;
    MPI_Aint address;
    MPI_Win window;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, &cell, sizeof cell);
    MPI_Get_address(&cell, &address);
    MPI_Bcast(&address, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Win_lock_all(0, window);
        MPI_Put(&three, 1, MPI_DOUBLE, 0, address, 1, MPI_DOUBLE, window);
        MPI_Win_unlock_all(window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    wrong |= rank == 0 && cell != 3;
    MPI_Win_detach(window, &cell);
    MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
    int rank;
    double cells[3] = { 0 };
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 1) on_memory(window);
    MPI_Win_free(&window);
    dynamic(rank);
    MPI_Finalize();
    return wrong;
}
