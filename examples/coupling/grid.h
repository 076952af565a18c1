/* What the three programs share: cubes of cells, cut into slabs along z, and what belongs to it. */
#ifndef GRID_H
#define GRID_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "partune_couple.h"

/* n * n * planes cells of this rank, with a plane of neighbours' cells below and above. */
struct grid {
    int n, turns, planes, rank, ranks, below, above;
    size_t plane, cells;
};

static void stop(const char *why)
{
    fprintf(stderr, "%s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct grid grid_of(int argc, char **argv)
{
    struct grid it;
    MPI_Comm_rank(MPI_COMM_WORLD, &it.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &it.ranks);
    it.n = argc > 1 ? atoi(argv[1]) : 32;
    if (it.n < 4 || it.n > 1024 || it.n % it.ranks)
        stop("the first argument is the cells of an edge: 4 to 1024, a multiple of the number of ranks");
    it.turns = argc > 2 ? atoi(argv[2]) : 20;
    it.planes = it.n / it.ranks;
    it.below = it.rank ? it.rank - 1 : MPI_PROC_NULL;
    it.above = it.rank + 1 < it.ranks ? it.rank + 1 : MPI_PROC_NULL;
    it.plane = (size_t)it.n * it.n;
    it.cells = it.plane * it.planes;
    return it;
}

/* Numbers between 0 and a scale that look random: those of a cell are the same in every run, on any number of ranks. There is room for two planes more. */
static double *field(const struct grid *it, double scale)
{
    double *cells = calloc(it->cells + 2 * it->plane, sizeof *cells);
    size_t at;
    if (!cells)
        stop("there is no memory for the cells");
    for (at = 0; at < it->cells + 2 * it->plane; at++) {
        unsigned state = (unsigned)(at + (size_t)it->rank * it->cells) * 2654435761u;
        state = (state ^ state >> 15) * 2246822519u;
        cells[at] = scale * (double)(state >> 8) / (1 << 24);
    }
    return cells;
}

/* Cells of the neighbours' outermost planes. */
static void exchange(const struct grid *it, double *cells)
{
    double *own = cells + it->plane;
    const int count = (int)it->plane;
    MPI_Sendrecv(own, count, MPI_DOUBLE, it->below, 1, own + it->cells, count, MPI_DOUBLE, it->above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(own + it->cells - it->plane, count, MPI_DOUBLE, it->above, 2, cells, count, MPI_DOUBLE, it->below, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* What the program prints: the mean of all cells. */
static void print_mean(const struct grid *it, const double *cells, const char *name)
{
    double sum = 0.0;
    size_t at;
    for (at = 0; at < it->cells; at++)
        sum += cells[it->plane + at];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (it->rank == 0)
        printf("%s: mean %.12f\n", name, sum / ((double)it->cells * it->ranks));
}

/* The loop, as it is or as it is measured. */
static void run(const struct grid *it, void (*const kernels[])(void *), const char *const names[], int count, void *data)
{
    int turn, kernel;
    for (kernel = 0; kernel < count; kernel++)
        partune_couple_kernel(names[kernel], kernels[kernel], data);
    partune_couple_iterations(it->turns);
    if (partune_couple_measure())
        return;
    for (turn = 0; turn < it->turns; turn++)
        for (kernel = 0; kernel < count; kernel++)
            kernels[kernel](data);
}

#endif
