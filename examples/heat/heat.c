/* Heat that spreads over a plate, as many programs of this kind are written. It gives the right answer, slowly.
 *
 * The plate is N by N cells and is dealt out in bands of rows. Each step replaces a cell by the mean of its four
 * neighbours; a step needs the last row of the neighbour above and the first row of the one below. The upper edge is hot.
 *
 *   mpirun -n 4 ./heat [FILE]      writes the plate to FILE now and then, if one is named
 *
 * What is wrong with it, and what a recording says about that, is in README.md; heat_repaired.c is the same without.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 768, WIDTH = N + 2, STEPS = 300, SNAPSHOT = 100, PIECE = 16 };

static int rank, size;
static int first, rows;   /* my band */
static double *now, *next; /* (rows + 2) * WIDTH cells each: my rows, with one of each neighbour around them */

static double* row(double* plate, int r) { return plate + (size_t)r * WIDTH; }

/* Rank 0 also writes the plate, so it gets half as many rows as the others. */
static void share(int who, int* from, int* count)
{
    int small = N / (2 * size - 1), rest = N - small;
    if (who == 0) {
        *from = 0;
        *count = size == 1 ? N : small;
    } else {
        *from = small + (int)((long)rest * (who - 1) / (size - 1));
        *count = small + (int)((long)rest * who / (size - 1)) - *from;
    }
}

/* Pieces, so that no message is large. */
static void send_row(double* cells, int to)
{
    for (int i = 0; i < N; i += PIECE) MPI_Send(cells + 1 + i, PIECE, MPI_DOUBLE, to, i, MPI_COMM_WORLD);
}

static void receive_row(double* cells, int from)
{
    for (int i = 0; i < N; i += PIECE)
        MPI_Recv(cells + 1 + i, PIECE, MPI_DOUBLE, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* First everything downwards, then everything upwards. */
static void exchange(void)
{
    if (rank > 0) receive_row(row(now, 0), rank - 1);
    if (rank < size - 1) send_row(row(now, rows), rank + 1);
    if (rank < size - 1) receive_row(row(now, rows + 1), rank + 1);
    if (rank > 0) send_row(row(now, 1), rank - 1);
    MPI_Barrier(MPI_COMM_WORLD); /* to be safe */
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
    double all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return all;
}

/* Rank 0 takes the bands one after the other and writes them. */
static void write_plate(const char* name)
{
    if (rank > 0) {
        MPI_Send(row(now, 1), rows * WIDTH, MPI_DOUBLE, 0, N, MPI_COMM_WORLD);
        return;
    }
    FILE* file = fopen(name, "wb");
    double* band = malloc((size_t)N * WIDTH * sizeof *band);
    if (!file || !band) MPI_Abort(MPI_COMM_WORLD, 1);
    fwrite(row(now, 1), sizeof *now, (size_t)rows * WIDTH, file);
    for (int who = 1; who < size; ++who) {
        int from, count;
        share(who, &from, &count);
        MPI_Recv(band, count * WIDTH, MPI_DOUBLE, who, N, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fwrite(band, sizeof *band, (size_t)count * WIDTH, file);
    }
    fclose(file);
    free(band);
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
