/* A solver of lines, as NPB's SP is one: lines along x and y are whole on each rank; those along z are swept through all ranks, forwards and back, in pieces,
 * so that a rank works on one piece while the next one works on the piece before. Each line has its own coefficients, which are kept.
 *
 *   mpirun -n 2 ./sweep 64 20       cells of an edge, and turns */
#include "grid.h"

enum { PIECES = 8 };

static struct {
    struct grid it;
    double *u, *rhs, *speed, *edge, *outside;
} solver;

static void derivatives(void *data)
{
    const struct grid *it = &solver.it;
    const double *u = solver.u + it->plane;
    size_t at;
    (void)data;
    exchange(it, solver.u);
    for (at = 0; at < it->cells; at++) {
        const double below = *(u + at - it->plane), above = u[at + it->plane];
        solver.rhs[at] = 0.2 * u[at] + 0.05 * (below + above) + 0.01;
        solver.speed[at] = 0.1 + 0.2 / (1.0 + u[at] * u[at]);
    }
}

/* A sweep forwards and back along lines whose cells are `line` apart. */
static void sweep_lines(size_t begin, int n, size_t line, size_t count)
{
    double *rhs = solver.rhs + begin;
    const double *speed = solver.speed + begin;
    size_t at;
    int cell;
    for (cell = 1; cell < n; cell++)
        for (at = 0; at < count; at++)
            rhs[cell * line + at] = (rhs[cell * line + at] + speed[cell * line + at] * rhs[(cell - 1) * line + at]) / (1.0 + speed[cell * line + at]);
    for (cell = n - 2; cell >= 0; cell--)
        for (at = 0; at < count; at++)
            rhs[cell * line + at] = (rhs[cell * line + at] + speed[cell * line + at] * rhs[(cell + 1) * line + at]) / (1.0 + speed[cell * line + at]);
}

static void x_sweep(void *data)
{
    size_t row;
    (void)data;
    for (row = 0; row < solver.it.cells / solver.it.n; row++)
        sweep_lines(row * solver.it.n, solver.it.n, 1, 1);
}

static void y_sweep(void *data)
{
    int z;
    (void)data;
    for (z = 0; z < solver.it.planes; z++)
        sweep_lines(z * solver.it.plane, solver.it.n, (size_t)solver.it.n, (size_t)solver.it.n);
}

/* One way along z: from the rank before comes its last plane, piece by piece. */
static void z_one_way(int from, int to, int first, int step, int tag)
{
    const struct grid *it = &solver.it;
    const size_t piece = (it->plane + PIECES - 1) / PIECES;
    size_t begin, at;
    for (begin = 0; begin < it->plane; begin += piece) {
        const size_t count = begin + piece < it->plane ? piece : it->plane - begin;
        const double *before = (from == MPI_PROC_NULL ? solver.outside : solver.edge) + begin;
        int plane;
        MPI_Recv(solver.edge + begin, (int)count, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (plane = first; plane >= 0 && plane < it->planes; plane += step) {
            double *rhs = solver.rhs + plane * it->plane + begin;
            const double *speed = solver.speed + plane * it->plane + begin;
            for (at = 0; at < count; at++)
                rhs[at] = (rhs[at] + speed[at] * before[at]) / (1.0 + speed[at]);
            before = rhs;
        }
        MPI_Send(before, (int)count, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
    }
}

static void z_sweep(void *data)
{
    const struct grid *it = &solver.it;
    (void)data;
    z_one_way(it->below, it->above, 0, 1, 3);
    z_one_way(it->above, it->below, it->planes - 1, -1, 4);
}

static void update(void *data)
{
    double *u = solver.u + solver.it.plane;
    size_t at;
    (void)data;
    for (at = 0; at < solver.it.cells; at++)
        u[at] = 0.9 * u[at] + 0.1 * solver.rhs[at];
}

int main(int argc, char **argv)
{
    static void (*const kernels[])(void *) = {derivatives, x_sweep, y_sweep, z_sweep, update};
    static const char *const names[] = {"derivatives", "x_sweep", "y_sweep", "z_sweep", "update"};
    const struct grid *it = &solver.it;
    MPI_Init(&argc, &argv);
    solver.it = grid_of(argc, argv);
    solver.u = field(it, 1.0);
    solver.rhs = field(it, 1.0);
    solver.speed = field(it, 0.3);
    solver.edge = field(it, 0.0);
    solver.outside = field(it, 0.0);
    partune_couple_doubles(solver.u, it->cells + 2 * it->plane);
    partune_couple_doubles(solver.rhs, it->cells);
    partune_couple_doubles(solver.speed, it->cells);
    partune_couple_doubles(solver.edge, it->plane);
    run(it, kernels, names, 5, NULL);
    print_mean(it, solver.u, "sweep");
    MPI_Finalize();
    return 0;
}
