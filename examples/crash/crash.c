/* A crash, as an explicit finite-element code with contact computes it: the tuning story of Hung and Davidson's CRASH, in C.
 *
 * A sheet hits a pole. It is made of elements whose mass is lumped at their centre; bars join each to its neighbours. A
 * time step has two phases:
 *
 *   forces   contact: elements near the pole are tested against all of its facets, others against the ground only;
 *            bars: each element is pulled by its bars. Reads positions of neighbours, writes what only the owner reads.
 *   update   forces make velocities, velocities make positions.
 *
 *   ./crash VERSION [-w WIDTH] [-s STEPS] [-v NANOSECONDS]
 *
 * VERSION is a row of the table below; README.md tells their story. All give the same result, to the last bit: an
 * element is computed by its owner alone, from the same operands in the same order. -v makes work virtual: a thread also
 * sleeps so long per unit of work, so that times are known by design on a machine that is busy.
 *
 * Threads are OMP_NUM_THREADS. With -DUSE_MPI ranks share the sheet too, and exchange positions along their borders.
 */
#define _GNU_SOURCE
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef USE_MPI
#include <mpi.h>
#endif

static const struct version {
    const char* name;
    bool decompose;     /* SD:  subdomains of equal work, by recursive bisection, in place of blocks of numbers */
    bool pad;           /* SD2: a record of an element fills a cache line */
    bool spawn_once;    /* SD3: one parallel region around all steps, each thread bound to a processor */
    bool one_barrier;   /* SD4: of two barriers in a row one is gone */
    bool contact_apart; /* SD7: a decomposition of its own for contact */
    bool two_buffers;   /* SD8: new positions go to another buffer, so that old ones may still be read */
} versions[] = {
    {"SP", 0, 0, 0, 0, 0, 0},
    {"SD", 1, 0, 0, 0, 0, 0},
    {"SD2", 1, 1, 0, 0, 0, 0},
    {"SD3", 1, 1, 1, 0, 0, 0},
    {"SD4", 1, 1, 1, 1, 0, 0},
    {"SD7", 1, 1, 1, 1, 1, 0},
    {"SD8", 1, 1, 1, 1, 0, 1},
};
static const struct version* version;

/* Not for the recorder: too short to be measured. */
#define SMALL static inline __attribute__((no_instrument_function))
#define EACH(axis) for (int axis = 0; axis < 3; ++axis)

enum { DIRECTIONS = 8, FACETS = 24, LINE = 64 };
static const double DT = 1e-3, STIFFNESS = 400, PENALTY = 4000, FACET = 0.9;

/* The mesh. Neighbours come in the order of their directions, whatever the numbers. */
static int width = 160, height, elements;
static int (*neighbour)[DIRECTIONS]; /* -1: none */
static bool* near;                   /* within reach of the pole */
static double (*start)[3];           /* where elements are at first */
static double facet[FACETS][3];

/* The state: a record of `stride` doubles an element. Both positions are one where there are not two buffers. */
static int stride;
static double *position[2], *velocity, *contact_force, *bar_force;
SMALL double* record(double* of, int element) { return of + (size_t)element * stride; }

/* ------------------------------------------------------------------------------------------------ work and time ---- */

static double unit; /* virtual work: seconds that a unit sleeps */
static int steps = 50, ranks = 1, rank = 0, threads;

/* In units: a test against a facet, or against the ground, a bar, and an update. */
SMALL double contact_work(int e) { return near[e] ? FACETS : 1; }
SMALL double bar_work(int e)
{
    double work = 0;
    for (int i = 0; i < DIRECTIONS; ++i) work += neighbour[e][i] >= 0;
    return work;
}
SMALL double all_work(int e) { return contact_work(e) + bar_work(e) + 1; }

SMALL double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

SMALL void sleep_for(double work)
{
    double seconds = work * unit;
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    if (unit > 0) nanosleep(&t, NULL);
}

/* What a thread measures of itself, on cache lines of its own. */
static struct own {
    double contact, bars, update, barriers; /* seconds */
    long met;                               /* barriers */
    char rest[LINE - 4 * sizeof(double) - sizeof(long)];
}* own;

#define BARRIER(thread)                            \
    do {                                           \
        double came = now();                       \
        _Pragma("omp barrier");                    \
        own[thread].barriers += now() - came;      \
        own[thread].met += 1;                      \
    } while (0)

/* ---------------------------------------------------------------------------------------------------- the mesh ---- */

SMALL double chance(void)
{
    static unsigned long state = 1998;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Numbers as a generator gives them that meshes the contact surface first, and the rest as it comes: neighbours have
 * numbers far apart, and whoever has the first numbers has the contact. */
static void make_mesh(void)
{
    height = width / 2;
    elements = width * height;
    neighbour = malloc((size_t)elements * sizeof *neighbour);
    start = malloc((size_t)elements * sizeof *start);
    near = calloc((size_t)elements, sizeof *near);
    int* number = malloc((size_t)elements * sizeof *number); /* of a place in the grid */
    int* place = malloc((size_t)elements * sizeof *place);   /* of a number */
    double reach = 0.3 * height, pole_x = 0.2 * width, pole_y = 0.5 * height;
    int first = 0, last = elements;
    for (int p = 0; p < elements; ++p) {
        bool reached = hypot(p % width - pole_x, p / width - pole_y) < reach;
        place[reached ? first++ : --last] = p;
    }
    for (int e = elements - 1; e > 0; --e) { /* shuffled, the contact surface by itself */
        int least = e < first ? 0 : first, other = least + (int)(chance() * (e + 1 - least));
        int p = place[e];
        place[e] = place[other];
        place[other] = p;
    }
    for (int e = 0; e < elements; ++e) number[place[e]] = e;
    for (int e = 0; e < elements; ++e) {
        int x = place[e] % width, y = place[e] / width, i = 0;
        near[e] = e < first;
        start[e][0] = x;
        start[e][1] = y;
        start[e][2] = 0.95 + 0.2 * sin(0.1 * x) * cos(0.1 * y);
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                bool inside = x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height;
                if (dx || dy) neighbour[e][i++] = inside ? number[(y + dy) * width + x + dx] : -1;
            }
    }
    for (int f = 0; f < FACETS; ++f) {
        double turn = 2 * M_PI * f / FACETS;
        facet[f][0] = pole_x + 0.5 * reach * cos(turn);
        facet[f][1] = pole_y + 0.5 * reach * sin(turn);
        facet[f][2] = 0;
    }
    free(number);
    free(place);
}

static double* records(void)
{
    void* memory = NULL;
    size_t bytes = (size_t)elements * (size_t)stride * sizeof(double);
    if (posix_memalign(&memory, LINE, bytes)) abort();
    return memset(memory, 0, bytes);
}

static void make_state(void)
{
    stride = version->pad ? LINE / sizeof(double) : 3; /* 4 on the paper's machine, whose lines had 32 bytes */
    position[0] = records();
    position[1] = version->two_buffers ? records() : position[0];
    velocity = records();
    contact_force = records();
    bar_force = records();
    for (int e = 0; e < elements; ++e) {
        memcpy(record(position[0], e), start[e], sizeof start[e]);
        record(velocity, e)[2] = -20;
    }
}

/* ------------------------------------------------------------------------------------------------ decomposition ---- */

/* Elements by owner: those of thread t of all ranks are elements[first[t]] to elements[first[t + 1] - 1]. */
struct decomposition {
    int *element, *first;
};
static struct decomposition domains, contact_domains;
static int axis_of_sort;

SMALL int by_axis(const void* a, const void* b)
{
    int x = *(const int*)a, y = *(const int*)b;
    double d = start[x][axis_of_sort] - start[y][axis_of_sort];
    return d < 0 ? -1 : d > 0 ? 1 : x - y;
}

SMALL int by_number(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

/* Recursive coordinate bisection: cuts the longest side where the work on both sides is as their numbers of parts. */
static void bisect(int* element, int count, int parts, double (*work)(int), int* first)
{
    if (parts == 1) {
        qsort(element, (size_t)count, sizeof *element, by_number); /* in the order of memory */
        return;
    }
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY}, total = 0, sum = 0;
    for (int i = 0; i < count; ++i) {
        for (int axis = 0; axis < 2; ++axis) {
            least[axis] = fmin(least[axis], start[element[i]][axis]);
            most[axis] = fmax(most[axis], start[element[i]][axis]);
        }
        total += work(element[i]);
    }
    axis_of_sort = most[1] - least[1] > most[0] - least[0];
    qsort(element, (size_t)count, sizeof *element, by_axis);
    int lower = parts / 2, cut = 0;
    while (cut < count && sum + 0.5 * work(element[cut]) < total * lower / parts) sum += work(element[cut++]);
    first[lower] = first[0] + cut;
    bisect(element, cut, lower, work, first);
    bisect(element + cut, count - cut, parts - lower, work, first + lower);
}

/* First among ranks, by all work, then each rank's part among its threads. */
static struct decomposition decompose(double (*work)(int))
{
    struct decomposition it = {malloc((size_t)elements * sizeof(int)), calloc((size_t)(ranks * threads) + 1, sizeof(int))};
    int* of_ranks = calloc((size_t)ranks + 1, sizeof(int));
    for (int e = 0; e < elements; ++e) it.element[e] = e;
    of_ranks[ranks] = elements;
    bisect(it.element, elements, ranks, all_work, of_ranks);
    for (int r = 0; r < ranks; ++r) {
        int* first = it.first + r * threads;
        first[0] = of_ranks[r];
        bisect(it.element + of_ranks[r], of_ranks[r + 1] - of_ranks[r], threads, work, first);
    }
    it.first[ranks * threads] = elements;
    free(of_ranks);
    return it;
}

static struct decomposition blocks(void)
{
    struct decomposition it = {malloc((size_t)elements * sizeof(int)), calloc((size_t)(ranks * threads) + 1, sizeof(int))};
    for (int e = 0; e < elements; ++e) it.element[e] = e;
    for (int t = 0; t <= ranks * threads; ++t) it.first[t] = (int)((long)elements * t / (ranks * threads));
    return it;
}

#define EACH_OF(e, domains, thread)                                                               \
    for (int i_ = domains.first[rank * threads + thread], e;                                      \
         i_ < domains.first[rank * threads + thread + 1] && ((e = domains.element[i_]), true); ++i_)

/* ------------------------------------------------------------------------------------------------- a time step ---- */

static void contact(int thread, double* from)
{
    double came = now(), work = 0;
    EACH_OF(e, contact_domains, thread) {
        double *x = record(from, e), *force = record(contact_force, e);
        EACH(a) force[a] = 0;
        if (x[2] < 0) force[2] -= PENALTY * x[2];
        for (int f = 0; near[e] && f < FACETS; ++f) {
            double d[3], square = 0;
            EACH(a) d[a] = x[a] - facet[f][a];
            EACH(a) square += d[a] * d[a];
            double distance = sqrt(square), push = distance < FACET ? PENALTY * (FACET - distance) / distance : 0;
            EACH(a) force[a] += push * d[a];
        }
        work += contact_work(e);
    }
    sleep_for(work);
    own[thread].contact += now() - came;
}

static void bars(int thread, double* from)
{
    double came = now(), work = 0;
    EACH_OF(e, domains, thread) {
        double *x = record(from, e), *force = record(bar_force, e);
        EACH(a) force[a] = 0;
        for (int i = 0; i < DIRECTIONS; ++i) {
            int other = neighbour[e][i];
            if (other < 0) continue;
            double d[3], square = 0, rest = 0, *y = record(from, other);
            EACH(a) d[a] = y[a] - x[a];
            EACH(a) square += d[a] * d[a];
            EACH(a) rest += (start[other][a] - start[e][a]) * (start[other][a] - start[e][a]);
            double pull = STIFFNESS * (1 - sqrt(rest / square));
            EACH(a) force[a] += pull * d[a];
        }
        work += bar_work(e);
    }
    sleep_for(work);
    own[thread].bars += now() - came;
}

static void update(int thread, double* from, double* to)
{
    double came = now(), work = 0;
    EACH_OF(e, domains, thread) {
        double *x = record(from, e), *next = record(to, e), *v = record(velocity, e);
        EACH(a) v[a] += DT * (record(contact_force, e)[a] + record(bar_force, e)[a]);
        EACH(a) next[a] = x[a] + DT * v[a];
        work += 1;
    }
    sleep_for(work);
    own[thread].update += now() - came;
}

static void forces_phase(int thread, double* from)
{
    contact(thread, from);
    bars(thread, from);
    if (!version->two_buffers) BARRIER(thread); /* nobody needs old positions any more */
}

static void update_phase(int thread, double* from, double* to)
{
    update(thread, from, to);
    BARRIER(thread); /* all new positions are there */
}

/* --------------------------------------------------------------------------------------------------- the ranks ---- */

#ifdef USE_MPI
static struct border {
    int sent, received, *send, *receive; /* elements that the other rank needs, and that it has */
    double *out, *in;
}* borders;

SMALL int rank_of(const int* owner, int e) { return owner[e] / threads; }

/* Who needs my elements: owners of their neighbours. */
static void make_borders(void)
{
    int* owner = malloc((size_t)elements * sizeof *owner);
    for (int t = 0; t < ranks * threads; ++t)
        for (int i = domains.first[t]; i < domains.first[t + 1]; ++i) owner[domains.element[i]] = t;
    borders = calloc((size_t)ranks, sizeof *borders);
    for (int r = 0; r < ranks; ++r) {
        struct border* it = &borders[r];
        it->send = malloc((size_t)elements * sizeof(int));
        it->receive = malloc((size_t)elements * sizeof(int));
        for (int e = 0; r != rank && e < elements; ++e) {
            bool touches_me = false, touches_it = false;
            for (int i = 0; i < DIRECTIONS; ++i) {
                int other = neighbour[e][i];
                touches_me |= other >= 0 && rank_of(owner, other) == rank;
                touches_it |= other >= 0 && rank_of(owner, other) == r;
            }
            if (rank_of(owner, e) == rank && touches_it) it->send[it->sent++] = e;
            if (rank_of(owner, e) == r && touches_me) it->receive[it->received++] = e;
        }
        it->out = malloc(3 * (size_t)it->sent * sizeof(double));
        it->in = malloc(3 * (size_t)it->received * sizeof(double));
    }
    free(owner);
}

/* New positions along the borders. */
static void exchange(double* to)
{
    MPI_Request request[2 * ranks];
    int count = 0;
    for (int r = 0; r < ranks; ++r)
        if (borders[r].received)
            MPI_Irecv(borders[r].in, 3 * borders[r].received, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &request[count++]);
    for (int r = 0; r < ranks; ++r) {
        struct border* it = &borders[r];
        for (int i = 0; i < it->sent; ++i) memcpy(it->out + 3 * i, record(to, it->send[i]), 3 * sizeof(double));
        if (it->sent) MPI_Isend(it->out, 3 * it->sent, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &request[count++]);
    }
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    for (int r = 0; r < ranks; ++r) {
        struct border* it = &borders[r];
        for (int i = 0; i < it->received; ++i) memcpy(record(to, it->receive[i]), it->in + 3 * i, 3 * sizeof(double));
    }
}

/* All elements at rank 0: others add nothing but zeros. */
static void collect(double* of)
{
    for (int t = 0; t < ranks * threads; ++t)
        for (int i = domains.first[t]; t / threads != rank && i < domains.first[t + 1]; ++i)
            memset(record(of, domains.element[i]), 0, 3 * sizeof(double));
    MPI_Reduce(rank ? of : MPI_IN_PLACE, of, elements * stride, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
#endif

/* -------------------------------------------------------------------------------------------------- all of them ---- */

static void a_region_per_phase(void)
{
    for (int step = 0; step < steps; ++step) {
        double *from = position[step % 2], *to = position[(step + 1) % 2];
        #pragma omp parallel
        forces_phase(omp_get_thread_num(), from);
        #pragma omp parallel
        update_phase(omp_get_thread_num(), from, to);
#ifdef USE_MPI
        exchange(to);
#endif
    }
}

/* To one of the processors that the process may use, if there are enough for its threads. */
static void bind(int thread)
{
    cpu_set_t may, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof may, &may) || CPU_COUNT(&may) < threads) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &may) && thread-- == 0) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void one_region(void)
{
    #pragma omp parallel
    {
        int thread = omp_get_thread_num();
        bind(thread);
        for (int step = 0; step < steps; ++step) {
            double *from = position[step % 2], *to = position[(step + 1) % 2];
            forces_phase(thread, from);
            if (!version->one_barrier) BARRIER(thread); /* as the join was before there was one region */
            update_phase(thread, from, to);
            if (!version->one_barrier) BARRIER(thread); /* likewise */
#ifdef USE_MPI
            if (thread == 0) exchange(to);
            BARRIER(thread);
#endif
        }
    }
}

/* Kinetic energy and that of the bars, summed in the order of numbers. */
static double energy(double* x)
{
    double sum = 0;
    for (int e = 0; e < elements; ++e) {
        EACH(a) sum += 0.5 * record(velocity, e)[a] * record(velocity, e)[a];
        for (int i = 0; i < DIRECTIONS; ++i) {
            int other = neighbour[e][i];
            if (other < e) continue;
            double square = 0, rest = 0;
            EACH(a) square += pow(record(x, other)[a] - record(x, e)[a], 2);
            EACH(a) rest += pow(start[other][a] - start[e][a], 2);
            sum += 0.5 * STIFFNESS * pow(sqrt(square) - sqrt(rest), 2);
        }
    }
    return sum;
}

/* Seconds of virtual work from barrier to barrier, of whoever has most. */
static double by_design(void)
{
    double forces = 0, updates = 0, both = 0;
    for (int t = 0; t < threads; ++t) {
        double force = 0, update = 0;
        EACH_OF(e, contact_domains, t) force += contact_work(e);
        EACH_OF(e, domains, t) force += bar_work(e), update += 1;
        forces = fmax(forces, force);
        updates = fmax(updates, update);
        both = fmax(both, force + update);
    }
    return steps * unit * (version->two_buffers ? both : forces + updates);
}

static void options(int argc, char** argv)
{
    int count = (int)(sizeof versions / sizeof *versions);
    for (int i = 0; argc > 1 && i < count; ++i)
        if (!strcmp(argv[1], versions[i].name)) version = &versions[i];
    for (int i = 2; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-w")) width = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "-s")) steps = atoi(argv[i + 1]);
        if (!strcmp(argv[i], "-v")) unit = 1e-9 * atof(argv[i + 1]);
    }
    if (!version || width < 8 || steps < 1) {
        fprintf(stderr, "usage: crash SP|SD|SD2|SD3|SD4|SD7|SD8 [-w WIDTH] [-s STEPS] [-v NANOSECONDS]\n");
        exit(2);
    }
}

int main(int argc, char** argv)
{
    options(argc, argv);
#ifdef USE_MPI
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    threads = omp_get_max_threads();
    omp_set_dynamic(0);
    if (posix_memalign((void**)&own, LINE, (size_t)threads * sizeof *own)) abort();
    memset(own, 0, (size_t)threads * sizeof *own);
    make_mesh();
    make_state();
    domains = version->decompose ? decompose(all_work) : blocks();
    contact_domains = version->contact_apart ? decompose(contact_work) : domains;
#ifdef USE_MPI
    make_borders();
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    double begin = now();
    if (version->spawn_once) one_region();
    else a_region_per_phase();
    double seconds = now() - begin;
#ifdef USE_MPI
    collect(position[steps % 2]);
    collect(velocity);
#endif
    for (int t = 0; t < threads; ++t)
        printf("thread %d.%d  %d elements  contact %.6f s  bars %.6f s  update %.6f s  at %ld barriers %.6f s\n", rank, t,
            domains.first[rank * threads + t + 1] - domains.first[rank * threads + t], own[t].contact, own[t].bars,
            own[t].update, own[t].met, own[t].barriers);
    if (rank == 0)
        printf("%s  %d elements  %d steps  energy %.15g  %.6f s", version->name, elements, steps,
            energy(position[steps % 2]), seconds);
    if (rank == 0 && ranks == 1 && unit > 0) printf("  by design %.6f s", by_design());
    if (rank == 0) printf("\n");
#ifdef USE_MPI
    MPI_Finalize();
#endif
    return 0;
}
