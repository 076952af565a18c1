/* An ADI solver, as NPB's BT is one: heat in a cube, implicit in one direction after the other. A turn computes the right-hand side from the cells and
 * their neighbours, solves lines of cells along x and y, which are whole on each rank, and along z, which go through all ranks: the cells are
 * transposed and back. Then what came out is added to the cells.
 *
 *   mpirun -n 2 ./adi 64 20         cells of an edge, and turns
 *
 * Kernels may be run again: a right-hand side is made from cells that it does not change, a solve damps what it solves, and what is added shrinks. */
#include "grid.h"

static struct {
    struct grid it;
    double *u, *rhs, *turned, *sent, *ratio;
} solver;

/* Lines of n cells with the matrix (-a, 1 + 2a, -a), all solved at the same time: `line` apart from cell to cell, `count` lines side by side. */
static void solve(double *cells, int n, size_t line, size_t count)
{
    const double a = 0.3;
    double *ratio = solver.ratio;
    size_t at;
    int cell;
    for (cell = 0; cell < n; cell++) {
        const double pivot = 1.0 / (1.0 + 2.0 * a - (cell ? a * ratio[cell - 1] : 0.0));
        double *own = cells + cell * line;
        const double *before = own - line;
        ratio[cell] = a * pivot;
        if (cell)
            for (at = 0; at < count; at++)
                own[at] = (own[at] + a * before[at]) * pivot;
        else
            for (at = 0; at < count; at++)
                own[at] *= pivot;
    }
    for (cell = n - 2; cell >= 0; cell--) {
        double *own = cells + cell * line;
        const double *after = own + line;
        for (at = 0; at < count; at++)
            own[at] += ratio[cell] * after[at];
    }
}

static void compute_rhs(void *data)
{
    const struct grid *it = &solver.it;
    const int n = it->n;
    int x, y, z;
    (void)data;
    exchange(it, solver.u);
    for (z = 0; z < it->planes; z++)
        for (y = 0; y < n; y++) {
            const double *u = solver.u + it->plane + z * it->plane + (size_t)y * n;
            double *rhs = solver.rhs + z * it->plane + (size_t)y * n;
            const size_t up = y + 1 < n ? (size_t)n : 0, down = y ? (size_t)n : 0;
            for (x = 0; x < n; x++) {
                const double left = u[x ? x - 1 : x], right = u[x + 1 < n ? x + 1 : x];
                const double sum = left + right + *(u + x - down) + u[x + up] + *(u + x - it->plane) + u[x + it->plane];
                rhs[x] = 0.05 * (sum - 6.0 * u[x]);
            }
        }
}

static void x_solve(void *data)
{
    const struct grid *it = &solver.it;
    size_t row;
    (void)data;
    for (row = 0; row < it->plane / it->n * it->planes; row++)
        solve(solver.rhs + row * it->n, it->n, 1, 1);
}

static void y_solve(void *data)
{
    const struct grid *it = &solver.it;
    int z;
    (void)data;
    for (z = 0; z < it->planes; z++)
        solve(solver.rhs + z * it->plane, it->n, (size_t)it->n, (size_t)it->n);
}

/* Rows of y for ranks: each gets its part of all planes, and back. */
static void z_solve(void *data)
{
    const struct grid *it = &solver.it;
    const size_t part = it->plane / it->ranks, block = part * it->planes;
    int rank, z;
    (void)data;
    for (rank = 0; rank < it->ranks; rank++)
        for (z = 0; z < it->planes; z++)
            memcpy(solver.sent + rank * block + z * part, solver.rhs + z * it->plane + rank * part, part * sizeof(double));
    MPI_Alltoall(solver.sent, (int)block, MPI_DOUBLE, solver.turned, (int)block, MPI_DOUBLE, MPI_COMM_WORLD);
    solve(solver.turned, it->n, part, part);
    MPI_Alltoall(solver.turned, (int)block, MPI_DOUBLE, solver.sent, (int)block, MPI_DOUBLE, MPI_COMM_WORLD);
    for (rank = 0; rank < it->ranks; rank++)
        for (z = 0; z < it->planes; z++)
            memcpy(solver.rhs + z * it->plane + rank * part, solver.sent + rank * block + z * part, part * sizeof(double));
}

/* Bounded, since it is added again and again where this kernel is alone. */
static void add(void *data)
{
    double *u = solver.u + solver.it.plane;
    size_t at;
    (void)data;
    for (at = 0; at < solver.it.cells; at++)
        u[at] = 0.999 * (u[at] + solver.rhs[at]) + 0.0005;
}

int main(int argc, char **argv)
{
    static void (*const kernels[])(void *) = {compute_rhs, x_solve, y_solve, z_solve, add};
    static const char *const names[] = {"compute_rhs", "x_solve", "y_solve", "z_solve", "add"};
    const struct grid *it = &solver.it;
    MPI_Init(&argc, &argv);
    solver.it = grid_of(argc, argv);
    solver.u = field(it, 1.0);
    solver.rhs = field(it, 0.1);
    solver.turned = field(it, 0.1);
    solver.sent = field(it, 0.1);
    solver.ratio = calloc((size_t)it->n, sizeof(double));
    partune_couple_doubles(solver.u, it->cells + 2 * it->plane);
    partune_couple_doubles(solver.rhs, it->cells);
    run(it, kernels, names, 5, NULL);
    print_mean(it, solver.u, "adi");
    MPI_Finalize();
    return 0;
}
