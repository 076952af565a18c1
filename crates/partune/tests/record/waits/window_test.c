/* An exposure epoch whose end is asked for again and again, and comes late.
 *
 * expect 2 ranks
 * expect wait late_fence at HERE: MPI_Win_test, ranks 1, 0.30 s, causes 0
 */
#include "work.h"

static double cells[2];
static MPI_Win window;

static void test(void)
{
    int over = 0;
    while (!over) MPI_Win_test(window, &over); /* HERE */
}

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_Group world, origin, target;
    MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){ 0 }, &origin);
    MPI_Group_incl(world, 1, (int[]){ 1 }, &target);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    for (int i = 0; i < 3; ++i) {
        double mine = i;
        if (rank == 0) {
            MPI_Win_start(target, 0, window);
            MPI_Put(&mine, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window);
        } else {
            MPI_Win_post(origin, 0, window);
        }
        late(rank == 0, 100);
        if (rank == 0) MEET(MPI_Win_complete(window));
        else MEET(test());
    }
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
