/* ADI, alternating direction implicit, on columns that processes share: one sweep in four versions, of which each is the fastest somewhere. See README.md beside it.
 *
 *   adi VERSION|all [-n ROWS] [-m MESSAGES] [-v NANOSECONDS] [-l MICROSECONDS] [-e NANOSECONDS]
 *
 * The grid has ROWS rows and as many columns, which the processes share evenly. A sweep updates every element by the one above it, and then by the one to its left, which for
 * the first column of a process is with another one. With -v a process also sleeps so long for each element that it updates, with -l so long for each message that it sends, and with -e
 * for each element in it: so what a version takes is known by design, on a network that is as slow as one likes.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Not for the recorder: too short to be measured. */
#define SMALL static inline __attribute__((no_instrument_function))

static int rank, ranks, size = 32, columns, messages = 4;
static double element, message, moved; /* seconds of sleep */
static double *grid, *turned;          /* all rows of the own columns, by row; and as many whole rows, by column */
static double* blocks;                 /* what goes to all others */
static double* border;                 /* the last column of the process before; zeros for the first */

SMALL double* room(size_t count)
{
    double* memory = calloc(count, sizeof *memory);
    if (!memory) {
        fprintf(stderr, "adi: no memory for %zu elements\n", count);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

SMALL void sleep_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    if (seconds > 0) nanosleep(&time, NULL);
}

/* Lines one after the other, each by the one before it: they lie `apart`, and elements of a line `step`. Before the first one is `before`, if anything is. */
void update(double* first, int lines, int apart, int length, int step, const double* before)
{
    for (int line = 0; line < lines; ++line) {
        for (int at = 0; at < length; ++at) {
            double* own = first + (size_t)line * apart + (size_t)at * step;
            *own += 0.25 * (line > 0 ? own[-apart] : before ? before[at] : 0);
        }
    }
    sleep_for(element * lines * length);
}

/* Along columns, all of which the process has. */
void down(void) { update(grid, size, columns, columns, 1, NULL); }

/* The last own column of some rows, to the process that has the next one. */
void send_border(int row, int rows)
{
    if (rank + 1 == ranks) return;
    double* packed = blocks;
    for (int at = 0; at < rows; ++at) packed[at] = grid[(size_t)(row + at) * columns + columns - 1];
    sleep_for(message + moved * rows);
    MPI_Send(packed, rows, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD);
}

/* Along rows, `rows` at a time: each process waits for the one before it. */
void across(int rows)
{
    for (int row = 0; row < size; row += rows) {
        if (rank > 0) MPI_Recv(border, rows, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        update(grid + (size_t)row * columns, columns, 1, rows, columns, border);
        send_border(row, rows);
    }
}

/* A square of the grid goes to each process, turned over: rows that were cut become whole, and back. */
void send_blocks(const double* from, double* to)
{
    size_t square = (size_t)columns * columns;
    for (int other = 0; other < ranks; ++other) {
        const double* own = from + other * square;
        for (int i = 0; i < columns; ++i)
            for (int j = 0; j < columns; ++j) blocks[other * square + (size_t)j * columns + i] = own[(size_t)i * columns + j];
        if (other != rank) sleep_for(message + moved * (double)square);
    }
    MPI_Alltoall(blocks, (int)square, MPI_DOUBLE, to, (int)square, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* To whole rows, along these, and back. A process has rows then as it has columns else, so the sweep along rows is the one along columns, of the grid turned over. */
void transposed(void)
{
    send_blocks(grid, turned);
    update(turned, size, columns, columns, 1, NULL);
    send_blocks(turned, grid);
}

static const char* const VERSIONS[] = {"strips", "rows", "blocks", "transposed"};

/* Not for the recorder either: what it calls is. */
SMALL void run(int version)
{
    for (int at = 0; at < size * columns; ++at) {
        int row = at / columns, column = rank * columns + at % columns;
        grid[at] = 1 + (row * 7 + column * 3) % 11;
    }
    memset(border, 0, size * sizeof *border);
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    down();
    switch (version) {
    case 0: across(size); break;
    case 1: across(1); break;
    case 2: across(size / messages); break;
    default: transposed();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - begin, sum = 0, all = 0;
    for (int at = 0; at < size * columns; ++at) sum += grid[at] * (1 + at / columns % 5);
    MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: sum %.9g, %.6f s\n", VERSIONS[version], all, took);
}

int main(int count, char** words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    prctl(PR_SET_TIMERSLACK, 1);
    int first = -1, after = 4;
    bool wrong = false;
    for (int option; (option = getopt(count, words, "n:m:v:l:e:")) != -1;) {
        switch (option) {
        case 'n': size = atoi(optarg); break;
        case 'm': messages = atoi(optarg); break;
        case 'v': element = 1e-9 * atof(optarg); break;
        case 'l': message = 1e-6 * atof(optarg); break;
        case 'e': moved = 1e-9 * atof(optarg); break;
        default: wrong = true;
        }
    }
    for (int version = 0; version < 4 && optind < count; ++version) {
        if (strcmp(words[optind], VERSIONS[version]) == 0) first = version, after = version + 1;
        if (strcmp(words[optind], "all") == 0) first = 0;
    }
    if (wrong || first < 0 || size < ranks || size % ranks || messages < 1 || size % messages) {
        if (rank == 0)
            fprintf(stderr, "usage: adi strips|rows|blocks|transposed|all [-n ROWS] [-m MESSAGES] [-v NANOSECONDS] [-l MICROSECONDS] [-e NANOSECONDS]\n"
                            "ROWS must be a multiple of the processes and of MESSAGES\n");
        MPI_Finalize();
        return 2;
    }
    columns = size / ranks;
    grid = room((size_t)size * columns), turned = room((size_t)size * columns);
    blocks = room((size_t)size * columns), border = room(size);
    for (int version = first; version < after; ++version) run(version);
    MPI_Finalize();
    return 0;
}
