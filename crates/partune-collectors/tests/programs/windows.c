/* Accesses to memory of others and what completes them: fence, flush, unlock, complete, requests. Two ranks. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, peer, *memory, in[4], out[4] = {1, 2, 3, 4}, one = 1;
    MPI_Win win;
    MPI_Group all, other;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    MPI_Win_allocate(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);

    MPI_Win_fence(0, win);
    MPI_Put(out, 2, MPI_INT, peer, 0, 2, MPI_INT, win);
    MPI_Get(in, 1, MPI_INT, rank, 4, 1, MPI_INT, win);
    MPI_Put(out, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);

    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
    MPI_Put(out, 3, MPI_INT, peer, 0, 3, MPI_INT, win);
    MPI_Win_flush(peer, win);
    MPI_Accumulate(out, 4, MPI_INT, peer, 0, 4, MPI_INT, MPI_SUM, win);
    MPI_Fetch_and_op(&one, in, MPI_INT, peer, 0, MPI_SUM, win);
    MPI_Win_unlock(peer, win);

    MPI_Win_lock_all(0, win);
    MPI_Rput(out, 4, MPI_INT, peer, 8, 4, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* refused: there is nothing to complete */
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (MPI_Put(out, -1, MPI_INT, peer, 0, 1, MPI_INT, win) == MPI_SUCCESS) return 4;
    MPI_Win_unlock_all(win);

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &peer, &other);
    MPI_Win_post(other, 0, win);
    MPI_Win_start(other, 0, win);
    MPI_Put(out, 1, MPI_INT, peer, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
