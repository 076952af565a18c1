/* An SSOR solver, as NPB's LU is one: a residual, then one triangular solve from the lowest cell to the highest and one back, each cell after its neighbours
 * in all three directions. Ranks follow each other like a wave, row by row: small messages, and one has to wait for the other.
 *
 *   mpirun -n 2 ./wavefront 64 20   cells of an edge, and turns */
#include "grid.h"

static struct {
    struct grid it;
    double *u, *d, *edge, *outside;
} solver;

static void residual(void *data)
{
    const struct grid *it = &solver.it;
    const int n = it->n;
    int x, y, z;
    (void)data;
    exchange(it, solver.u);
    for (z = 0; z < it->planes; z++)
        for (y = 1; y + 1 < n; y++) {
            const double *u = solver.u + it->plane + z * it->plane + (size_t)y * n;
            double *d = solver.d + z * it->plane + (size_t)y * n;
            for (x = 1; x + 1 < n; x++)
                d[x] = 0.1 * (u[x - 1] + u[x + 1] + *(u + x - n) + u[x + n] + *(u + x - it->plane) + u[x + it->plane]) - 0.55 * u[x] + 0.01;
        }
}

/* All cells of a row after the row before it in y and the one in z: forwards with step 1, back with step -1. */
static void triangular(int from, int to, int step, int tag)
{
    const struct grid *it = &solver.it;
    const int n = it->n, begin = step > 0 ? 0 : n - 1;
    int line, plane, cell;
    for (line = 1; line < n; line++) {
        const int y = step > 0 ? line : n - 1 - line;
        const double *beside = (from == MPI_PROC_NULL ? solver.outside : solver.edge) + (size_t)y * n;
        MPI_Recv(solver.edge + (size_t)y * n, n, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (plane = 0; plane < it->planes; plane++) {
            const int z = step > 0 ? plane : it->planes - 1 - plane;
            double *d = solver.d + z * it->plane + (size_t)y * n;
            const double *before = d - step * n;
            for (cell = 1; cell < n; cell++) {
                const int x = begin + step * cell;
                d[x] = 0.7 * d[x] + 0.08 * (d[x - step] + before[x] + beside[x]);
            }
            beside = d;
        }
        MPI_Send(beside, n, MPI_DOUBLE, to, tag, MPI_COMM_WORLD);
    }
}

static void lower(void *data)
{
    (void)data;
    triangular(solver.it.below, solver.it.above, 1, 5);
}

static void upper(void *data)
{
    (void)data;
    triangular(solver.it.above, solver.it.below, -1, 6);
}

static void relax(void *data)
{
    double *u = solver.u + solver.it.plane;
    size_t at;
    (void)data;
    /* Less than the cells are, but never so small that computing becomes slow. */
    for (at = 0; at < solver.it.cells; at++) {
        u[at] = 0.95 * u[at] + 0.05 * solver.d[at] + 1e-3;
        solver.d[at] += 1e-6;
    }
}

int main(int argc, char **argv)
{
    static void (*const kernels[])(void *) = {residual, lower, upper, relax};
    static const char *const names[] = {"residual", "lower", "upper", "relax"};
    const struct grid *it = &solver.it;
    MPI_Init(&argc, &argv);
    solver.it = grid_of(argc, argv);
    solver.u = field(it, 1.0);
    solver.d = field(it, 0.1);
    solver.edge = field(it, 0.0);
    solver.outside = field(it, 0.0);
    partune_couple_doubles(solver.u, it->cells + 2 * it->plane);
    partune_couple_doubles(solver.d, it->cells);
    partune_couple_doubles(solver.edge, it->plane);
    run(it, kernels, names, 4, NULL);
    print_mean(it, solver.u, "wavefront");
    MPI_Finalize();
    return 0;
}
