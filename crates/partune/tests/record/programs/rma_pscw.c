/* Epochs of some ranks only: rank 0 exposes its window, ranks 1 and 2 write to it.
 *
 * expect 3 ranks
 * expect rank 0: MPI_Win_post 2, MPI_Win_wait 1, puts 0
 * expect rank 1: MPI_Win_start 2, MPI_Win_complete 2, MPI_Put 2, puts 2, put 16
 * expect rank 2: MPI_Win_start 2, MPI_Win_complete 2, MPI_Put 2, puts 2, put 16
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, done = 0;
    double cells[3] = { 0 }, mine;
    MPI_Win window;
    MPI_Group world, writers, target;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, (int[2]){ 2, 1 }, &writers);
    MPI_Group_incl(world, 1, (int[1]){ 0 }, &target);
    MPI_Win_create(cells, rank == 0 ? sizeof cells : 0, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int epoch = 0; epoch < 2; ++epoch) {
        mine = 10 * epoch + rank;
        if (rank == 0) {
            MPI_Win_post(writers, 0, window);
            if (epoch == 0) MPI_Win_wait(window);
            else while (!done) MPI_Win_test(window, &done);
        } else {
            MPI_Win_start(target, 0, window);
            MPI_Put(&mine, 1, MPI_DOUBLE, 0, rank, 1, MPI_DOUBLE, window);
            MPI_Win_complete(window);
        }
    }
    MPI_Win_free(&window);
    MPI_Group_free(&target);
    MPI_Group_free(&writers);
    MPI_Group_free(&world);
    MPI_Finalize();
    return rank != 0 || (cells[1] == 11 && cells[2] == 12) ? 0 : 1;
}
