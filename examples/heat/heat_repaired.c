/* Heat that spreads over a plate: heat.c with its faults repaired, for the same answer sooner.
 *
 * The plate is N by N cells and is dealt out in bands of rows. Each step replaces a cell by the mean of its four
 * neighbours; a step needs the last row of the neighbour above and the first row of the one below. The upper edge is hot.
 *
 *   mpirun -n 4 ./heat_repaired [FILE]      writes the plate to FILE now and then, if one is named
 *
 * What was repaired, and what recordings of the two say, is in README.md.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 768, WIDTH = N + 2, STEPS = 300, SNAPSHOT = 100 };

static int rank, size;
static int first, rows;   /* my band */
static double *now, *next; /* (rows + 2) * WIDTH cells each: my rows, with one of each neighbour around them */

static double* row(double* plate, int r) { return plate + (size_t)r * WIDTH; }

/* Everybody gets the same number of rows, give or take one. */
static void share(int who, int* from, int* count)
{
    *from = (int)((long)N * who / size);
    *count = (int)((long)N * (who + 1) / size) - *from;
}

/* Both directions at once, a row a message. */
static void exchange(void)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Request requests[4];
    MPI_Irecv(row(now, 0) + 1, N, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(row(now, rows + 1) + 1, N, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(row(now, rows) + 1, N, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(row(now, 1) + 1, N, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* One step; returns the largest change of a cell of mine. */
static double step(void)
{
    double change = 0;
    for (int r = 1; r <= rows; ++r) {
        const double *up = row(now, r - 1), *here = row(now, r), *down = row(now, r + 1);
        double* to = row(next, r);
        for (int c = 1; c <= N; ++c) {
            to[c] = 0.25 * (up[c] + down[c] + here[c - 1] + here[c + 1]);
            change = fmax(change, fabs(to[c] - here[c]));
        }
    }
    double* swap = now;
    now = next;
    next = swap;
    return change;
}

/* The largest change of all, known to all. */
static double largest(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all;
}

/* Everybody writes its own band. */
static void write_plate(const char* name)
{
    MPI_File file;
    MPI_Offset at = (MPI_Offset)first * WIDTH * sizeof *now;
    if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_write_at_all(file, at, row(now, 1), rows * WIDTH, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    share(rank, &first, &rows);
    now = calloc((size_t)(rows + 2) * WIDTH, sizeof *now);
    next = calloc((size_t)(rows + 2) * WIDTH, sizeof *next);
    if (!now || !next) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int c = 0; rank == 0 && c < WIDTH; ++c) now[c] = next[c] = 100;

    double start = MPI_Wtime(), change = 0;
    for (int i = 1; i <= STEPS; ++i) {
        exchange();
        change = largest(step());
        if (argc > 1 && i % SNAPSHOT == 0) write_plate(argv[1]);
    }
    if (rank == 0) printf("heat: %d steps on %d processes, last change %.12f, %.2f s\n", STEPS, size, change, MPI_Wtime() - start);
    free(now);
    free(next);
    MPI_Finalize();
    return 0;
}
