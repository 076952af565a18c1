/* A wave meets a periodic screen: a small finite-element code on prisms, in the versions of a story of tuning. See README.md beside it.
 *
 *   prism VERSION [-w WIDTH] [-l LAYERS] [-f FREQUENCIES] [-s SWEEPS] [-v NANOSECONDS] [-m MICROSECONDS]
 *
 * The unit cell of the screen is WIDTH by WIDTH/2 squares of two triangles each; a triangle is the foot of a column of LAYERS prisms, and a prism has one
 * unknown. The cell is periodic. For every frequency the coefficients of all prisms and the excitation are made, and SWEEPS sweeps of Jacobi's method follow. With -v a rank
 * also sleeps so long for each unit of its work, and with -m so long for each message that it sends: so what a version takes is known by design.
 *
 * Versions differ where `version->` stands.
 */
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static const struct version {
    const char* name;
    bool strips;      /* a rank has columns that lie together, and not those whose numbers do */
    bool columns;     /* loops go down a column, as memory does, and not along a layer */
    bool distributed; /* a rank makes and keeps what is of its own columns and their neighbours, and not of all */
    bool buffered;    /* a message has all layers of a border, and not one */
} VERSIONS[] = {
    {"P2", 0, 0, 0, 0}, {"P3", 1, 0, 0, 0}, {"P4", 1, 1, 0, 0}, {"P5", 1, 1, 1, 0}, {"P6", 1, 1, 1, 1},
};
static const struct version* version;

/* Not for the recorder: too short to be measured. */
#define SMALL static inline __attribute__((no_instrument_function))

enum { SIDES = 3, TERMS = 4, COEFFICIENT_WORK = 4, EXCITATION_WORK = 1, SWEEP_WORK = 1 };

/* The mesh. */
static int width = 24, layers = 4, frequencies = 8, sweeps = 1, columns;
static int (*neighbour)[SIDES]; /* of a column */
static int* place;              /* of a column: where it lies, along the screen */

/* Who has what. */
static int ranks, rank, owned;
static int *owner, *own;      /* rank of a column; columns of this rank */
static int *slot, slots;      /* where data of a column are kept, -1: not here */
static int **give, *given;    /* to each rank: columns that it needs, and how many */
static int **take, *taken;

/* Data: by slot and layer. */
static double (*coefficient)[TERMS], *excitation, *field[2], *buffer;

static double unit, message; /* virtual work, seconds */
static double designed;      /* seconds that this rank slept */

SMALL void* room(size_t count, size_t size)
{
    void* memory = calloc(count ? count : 1, size);
    if (!memory) {
        fprintf(stderr, "prism: no memory for %zu elements of %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

SMALL void sleep_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    designed += seconds;
    if (seconds > 0) nanosleep(&t, NULL);
}

SMALL size_t at(int column, int layer) { return (size_t)slot[column] * layers + layer; }

/* ---------------------------------------------------------------------------------------------------------- mesh ---- */

/* Where the triangle of a square lies: 0 above its diagonal, 1 below. */
SMALL int position(int x, int y, int half)
{
    int height = width / 2;
    x = (x + width) % width, y = (y + height) % height;
    return 2 * (x * height + y) + half;
}

/* The mesh generator numbers columns as it comes upon them, which has nothing to do with where they lie. */
void make_mesh(void)
{
    int height = width / 2;
    columns = 2 * width * height;
    neighbour = room(columns, sizeof *neighbour);
    place = room(columns, sizeof *place);
    int* number = room(columns, sizeof *number);
    unsigned seed = 1;
    for (int i = 0; i < columns; ++i) number[i] = i;
    for (int i = columns - 1; i > 0; --i) {
        seed = seed * 1664525u + 1013904223u;
        int j = (int)((seed >> 8) % (unsigned)(i + 1)), other = number[j];
        number[j] = number[i], number[i] = other;
    }
    for (int x = 0; x < width; ++x) {
        for (int y = 0; y < height; ++y) {
            int above = number[position(x, y, 0)], below = number[position(x, y, 1)];
            place[above] = position(x, y, 0), place[below] = position(x, y, 1);
            neighbour[above][0] = below, neighbour[below][0] = above;
            neighbour[above][1] = number[position(x - 1, y, 1)], neighbour[below][1] = number[position(x + 1, y, 0)];
            neighbour[above][2] = number[position(x, y + 1, 1)], neighbour[below][2] = number[position(x, y - 1, 0)];
        }
    }
    free(number);
}

void decompose(void)
{
    owner = room(columns, sizeof *owner);
    own = room(columns, sizeof *own);
    for (int c = 0; c < columns; ++c) {
        int order = version->strips ? place[c] : c;
        owner[c] = (int)((long)order * ranks / columns);
        if (owner[c] == rank) own[owned++] = c;
    }
    /* What a rank takes from another one, both have in the order of numbers. */
    give = room(ranks, sizeof *give), given = room(ranks, sizeof *given);
    take = room(ranks, sizeof *take), taken = room(ranks, sizeof *taken);
    for (int r = 0; r < ranks; ++r) {
        give[r] = room(columns, sizeof *give[r]), take[r] = room(columns, sizeof *take[r]);
        for (int c = 0; c < columns && r != rank; ++c) {
            bool here = false, there = false;
            for (int side = 0; side < SIDES; ++side) {
                here |= owner[neighbour[c][side]] == rank;
                there |= owner[neighbour[c][side]] == r;
            }
            if (owner[c] == rank && there) give[r][given[r]++] = c;
            if (owner[c] == r && here) take[r][taken[r]++] = c;
        }
        give[r] = realloc(give[r], (given[r] + 1) * sizeof *give[r]);
        take[r] = realloc(take[r], (taken[r] + 1) * sizeof *take[r]);
    }
}

void make_room(void)
{
    slot = room(columns, sizeof *slot);
    if (version->distributed) {
        memset(slot, -1, columns * sizeof *slot);
        for (int i = 0; i < owned; ++i) slot[own[i]] = slots++;
        for (int r = 0; r < ranks; ++r)
            for (int i = 0; i < taken[r]; ++i) slot[take[r][i]] = slots++;
    } else {
        for (int c = 0; c < columns; ++c) slot[c] = slots++;
    }
    size_t prisms = (size_t)slots * layers;
    coefficient = room(prisms, sizeof *coefficient);
    excitation = room(prisms, sizeof *excitation);
    field[0] = room(prisms, sizeof **field), field[1] = room(prisms, sizeof **field);
    buffer = room(2 * (size_t)columns * layers * TERMS, sizeof *buffer);
}

/* --------------------------------------------------------------------------------------------------------- borders ---- */

/* Brings `terms` numbers of each prism at a border, from this layer on in so many layers, to those ranks that need them. */
void send_borders(double* of, int terms, int from, int count)
{
    static MPI_Request* requests;
    if (!requests) requests = room(2 * ranks, sizeof *requests);
    int messages = 0, begun = 0;
    double *out = buffer, *in = buffer + (size_t)columns * layers * TERMS;
    for (int r = 0; r < ranks; ++r) {
        if (!taken[r]) continue;
        int numbers = taken[r] * count * terms;
        MPI_Irecv(in, numbers, MPI_DOUBLE, r, from, MPI_COMM_WORLD, &requests[begun++]);
        in += numbers;
    }
    for (int r = 0; r < ranks; ++r) {
        if (!given[r]) continue;
        double* begin = out;
        for (int i = 0; i < given[r]; ++i) {
            memcpy(out, of + at(give[r][i], from) * terms, sizeof *of * count * terms);
            out += count * terms;
        }
        ++messages;
        sleep_for(message);
        MPI_Isend(begin, (int)(out - begin), MPI_DOUBLE, r, from, MPI_COMM_WORLD, &requests[begun++]);
    }
    MPI_Waitall(begun, requests, MPI_STATUSES_IGNORE);
    in = buffer + (size_t)columns * layers * TERMS;
    for (int r = 0; r < ranks; ++r)
        for (int i = 0; i < taken[r]; ++i, in += count * terms)
            memcpy(of + at(take[r][i], from) * terms, in, sizeof *of * count * terms);
}

void exchange(double* of, int terms)
{
    int together = version->buffered ? layers : 1;
    for (int layer = 0; layer < layers; layer += together) send_borders(of, terms, layer, together);
}

/* ------------------------------------------------------------------------------------------------------------ work ---- */

SMALL void coefficients_of(int c, int layer, double wave)
{
    double* it = coefficient[at(c, layer)];
    double material = 1 + 0.5 * sin(0.37 * place[c]) * cos(0.61 * layer + wave);
    for (int term = 0; term < TERMS; ++term) it[term] = material / (1 + 0.1 * term);
}

SMALL void excitation_of(int c, int layer, double wave)
{
    excitation[at(c, layer)] = cos(wave * place[c] + 0.2 * layer) * coefficient[at(c, layer)][0];
}

SMALL void relax(const double* from, double* to, int c, int layer)
{
    const double* own_terms = coefficient[at(c, layer)];
    double sum = excitation[at(c, layer)], diagonal = 0.5 + own_terms[3];
    for (int side = 0; side < SIDES; ++side) {
        size_t other = at(neighbour[c][side], layer);
        double weight = 0.5 * (own_terms[side] + coefficient[other][side]);
        sum += weight * (from[other] + 0.01 * excitation[other]), diagonal += weight;
    }
    if (layer > 0) sum += own_terms[1] * from[at(c, layer - 1)], diagonal += own_terms[1];
    if (layer + 1 < layers) sum += own_terms[2] * from[at(c, layer + 1)], diagonal += own_terms[2];
    to[at(c, layer)] = sum / diagonal;
}

/* Does something for columns and all layers: `each` and `count` say which columns. */
#define FOR_PRISMS(count, each, action)                                            \
    do {                                                                           \
        if (version->columns) {                                                    \
            for (int i = 0; i < (count); ++i)                                      \
                for (int layer = 0; layer < layers; ++layer) { int c = each; action; } \
        } else {                                                                   \
            for (int layer = 0; layer < layers; ++layer)                           \
                for (int i = 0; i < (count); ++i) { int c = each; action; }        \
        }                                                                          \
    } while (0)

void make_coefficients(double wave)
{
    int count = version->distributed ? owned : columns;
    FOR_PRISMS(count, version->distributed ? own[i] : i, coefficients_of(c, layer, wave));
    sleep_for(unit * COEFFICIENT_WORK * count * layers);
}

void make_excitation(double wave)
{
    int count = version->distributed ? owned : columns;
    FOR_PRISMS(count, version->distributed ? own[i] : i, excitation_of(c, layer, wave));
    sleep_for(unit * EXCITATION_WORK * count * layers);
}

void sweep(const double* from, double* to)
{
    FOR_PRISMS(owned, own[i], relax(from, to, c, layer));
    sleep_for(unit * SWEEP_WORK * owned * layers);
}

void solve(double wave)
{
    make_coefficients(wave);
    if (version->distributed) exchange(*coefficient, TERMS);
    make_excitation(wave);
    if (version->distributed) exchange(excitation, 1);
    memset(field[0], 0, (size_t)slots * layers * sizeof **field);
    for (int s = 0; s < sweeps; ++s) {
        sweep(field[s % 2], field[1 - s % 2]);
        exchange(field[1 - s % 2], 1);
    }
}

/* The sum of the field over all prisms in the order of their columns' numbers, so that it is the same to the last bit for all versions and ranks. */
SMALL double reflected(void)
{
    double *mine = room((size_t)columns * layers, sizeof *mine), *all = room((size_t)columns * layers, sizeof *all);
    for (int i = 0; i < owned; ++i)
        memcpy(mine + (size_t)own[i] * layers, field[sweeps % 2] + at(own[i], 0), layers * sizeof *mine);
    MPI_Reduce(mine, all, columns * layers, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    double sum = 0;
    for (size_t i = 0; i < (size_t)columns * layers; ++i) sum += all[i];
    free(mine), free(all);
    return sum;
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (size_t i = 0; i < sizeof VERSIONS / sizeof *VERSIONS; ++i)
        if (argc > 1 && !strcmp(argv[1], VERSIONS[i].name)) version = &VERSIONS[i];
    bool wrong = !version;
    for (int option; !wrong && (option = getopt(argc - 1, argv + 1, "w:l:f:s:v:m:")) != -1;) {
        switch (option) {
        case 'w': width = atoi(optarg); break;
        case 'l': layers = atoi(optarg); break;
        case 'f': frequencies = atoi(optarg); break;
        case 's': sweeps = atoi(optarg); break;
        case 'v': unit = 1e-9 * atof(optarg); break;
        case 'm': message = 1e-6 * atof(optarg); break;
        default: wrong = true;
        }
    }
    if (wrong || width < 2 || layers < 1 || frequencies < 1 || sweeps < 1) {
        if (rank == 0) fprintf(stderr, "usage: prism P2|P3|P4|P5|P6 [-w WIDTH] [-l LAYERS] [-f FREQUENCIES] [-s SWEEPS] [-v NANOSECONDS] [-m MICROSECONDS]\n");
        MPI_Finalize();
        return 2;
    }
    prctl(PR_SET_TIMERSLACK, 1000);
    make_mesh();
    decompose();
    make_room();
    MPI_Barrier(MPI_COMM_WORLD);
    designed = 0;
    double begin = MPI_Wtime(), wave = 0;
    for (int f = 0; f < frequencies; ++f) solve(wave = 0.01 * (f + 1));
    MPI_Barrier(MPI_COMM_WORLD);
    double took = MPI_Wtime() - begin, longest, sum = reflected();
    MPI_Reduce(&designed, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%s: %d prisms on %d ranks, field %.17g, %.4f s, by design at least %.4f\n", version->name, columns * layers, ranks, sum, took, longest);
    MPI_Finalize();
    return 0;
}
