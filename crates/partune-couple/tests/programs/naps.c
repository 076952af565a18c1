/* Kernels that sleep, with what is wrong with them by the first argument. It says how long its naps were, each kind by their median and by what one of ten
 * exceeds, since naps are longer than asked for where the machine is busy. */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include "partune_couple.h"

/* Of several blocks that are restored together, and of a part of one. */
enum { KINDS = 4, NAPS = 100000, MUCH = 1900 };
static const char *mode;
static int before, is_first = 1, calls[KINDS];
static double lengths[KINDS][NAPS], state[100], much[MUCH], factor = 1.0;

static void nap(int kind, double milliseconds)
{
    const double begin = partune_now_();
    struct timespec time = {0, (long)(1e6 * milliseconds * factor)};
    nanosleep(&time, NULL);
    if (calls[kind] < NAPS)
        lengths[kind][calls[kind]++] = partune_now_() - begin;
}

static int is_mode(const char *begin)
{
    return !strncmp(mode, begin, strlen(begin));
}

/* One kernel is long on one rank, the next one on the other. */
static int is_long(int on_first)
{
    return !strcmp(mode, "turns") && is_first == on_first;
}

static void a(void *data)
{
    (void)data;
    nap(0, is_long(1) ? 16.0 : 2.0);
    before = 'a';
}

static void b(void *data)
{
    (void)data;
    if (!strcmp(mode, "short"))
        return;
    if (!strcmp(mode, "nan"))
        state[7] = state[7] * 1e300 + 1e300;
    /* Finite after four times in a row, and not after five; c begins anew. */
    if (!strcmp(mode, "grows"))
        state[7] = state[7] * 1e70 + 1e70;
    /* Finite if it begins with what a or c left, and not with what it left itself. */
    if (is_mode("back"))
        much[MUCH - 1] = much[600] = much[600] > 0.0 ? INFINITY : 1.0;
    /* Never finite, until c begins anew. */
    if (is_mode("lost"))
        state[7] = INFINITY;
    if (!strcmp(mode, "hidden"))
        state[7] = calls[1];
    if (!strcmp(mode, "subnormal"))
        for (int at = 0; at < 100; at++)
            state[at] *= state[at] > 1e-200 ? 1e-155 : 1.0;
    /* Shorter from time to time, and as short as before once the state is restored; by more than a busy machine adds. */
    if (!strcmp(mode, "drift")) {
        state[7] += 1.0;
        nap(1, state[7] < 15.0 ? 12.0 / state[7] : 0.8);
    } else if ((!strcmp(mode, "planted") || is_mode("back")) && before == 'a')
        nap(2, 1.0);
    else
        nap(1, is_long(0) ? 16.0 : 3.0);
    before = 'b';
}

static void c(void *data)
{
    (void)data;
    if (!strcmp(mode, "grows") || is_mode("lost"))
        state[7] = 0.0;
    if (is_mode("back"))
        much[MUCH - 1] = much[600] = 0.0;
    if (!strcmp(mode, "back_short"))
        return;
#ifdef WITH_MPI
    if (!strcmp(mode, "stuck")) {
        int ignored, rank;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Recv(&ignored, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
#endif
    while (!strcmp(mode, "stuck"))
        nap(3, 100.0);
#ifdef WITH_MPI
    /* They meet, and leave the processor to others meanwhile. */
    if (!strcmp(mode, "turns")) {
        MPI_Request request;
        int has_met = 0;
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        while (MPI_Test(&request, &has_met, MPI_STATUS_IGNORE) == MPI_SUCCESS && !has_met)
            nap(3, 0.1);
        return;
    }
#endif
    nap(3, 2.0);
    before = 'c';
}

int main(int argc, char **argv)
{
    int kind, rank = 0, measured = 0;
    mode = argc > 1 ? argv[1] : "";
#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    /* The slowest rank counts. */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_first = rank == 0;
    factor = is_first && strcmp(mode, "turns") ? 0.5 : 1.0;
#endif
    if (!strcmp(mode, "fails")) {
        fprintf(stderr, "there is no input\n");
        return 3;
    }
    partune_couple_kernel("a", a, NULL);
    partune_couple_kernel("b", b, NULL);
    partune_couple_kernel("c", c, NULL);
    if (!strcmp(mode, "loop"))
        partune_couple_loop("a b*2 c");
    if (!strcmp(mode, "bad_loop"))
        partune_couple_loop("a d");
    if (strcmp(mode, "unsaid"))
        partune_couple_doubles(state, 100);
    if (is_mode("back"))
        partune_couple_doubles(much, MUCH);
    for (kind = 0; kind < 100; kind++)
        state[kind] = 1.0;
    partune_couple_iterations(10);
    /* The slowest rank counts here as well. */
    partune_couple_once("init", 0.25 * factor);
    if (!strcmp(mode, "parts") && rank == 1)
        partune_couple_once("more", 0.25);
    if (strcmp(mode, "silent"))
        measured = partune_couple_measure();
    for (kind = 0; kind < KINDS; kind++) {
        qsort(lengths[kind], (size_t)calls[kind], sizeof(double), partune_order_);
#ifdef WITH_MPI
        MPI_Allreduce(MPI_IN_PLACE, &lengths[kind][calls[kind] / 2], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &lengths[kind][calls[kind] * 9 / 10], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
#endif
        if (rank == 0)
            fprintf(stderr, "nap %d %.9f %.9f\n", kind, lengths[kind][calls[kind] / 2], lengths[kind][calls[kind] * 9 / 10]);
    }
    if (!measured)
        printf("not measured\n");
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
