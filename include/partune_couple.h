/* partune: what kernels of a program do to each other, for C and C++; through fortran/partune_couple.f90 for Fortran.
 *
 *   #include <mpi.h>                     before, if the program uses MPI
 *   #include "partune_couple.h"
 *
 *   static void x_solve(void *data) { ... }
 *
 *   partune_couple_kernel("x_solve", x_solve, &grid);     what the program's loop calls, in its order
 *   partune_couple_kernel("y_solve", y_solve, &grid);
 *   partune_couple_doubles(grid.u, grid.cells);           what they change
 *   partune_couple_iterations(200);
 *   if (!partune_couple_measure())
 *       ... the loop as it always was
 *
 * `partune couple` starts the program with PARTUNE_COUPLE set. Then partune_couple_measure times each kernel alone, chains of
 * them, and the loop, appends what it found to a file, and returns 1. Otherwise it does nothing and returns 0.
 *
 * A chain is executed from the saved state on: once to warm up, then few times, and from the saved state again many times;
 * the difference is what executions take, without what comes before and after. Ranks meet before, and the slowest counts.
 * Where a chain does not leave finite numbers when it is executed again on what it left, all are executed one by one instead:
 * each execution from the state that the chain begins with in the loop, and timed by itself.
 * A kernel has to receive all that it sends: one that waits for another kernel's message never ends alone. Kernels may use
 * threads; partune_couple_measure is called by one, on all ranks. It copies the state once, and once more to execute chains one
 * by one. What is asked for is what rank 0 has in its environment.
 *
 * All functions are static. To link them into a program of many files, or of Fortran, compile this file alone:
 * mpicc -x c -O2 -DPARTUNE_COUPLE_MPI -DPARTUNE_COUPLE_LINKAGE= -c partune_couple.h */
#ifndef PARTUNE_COUPLE_H
#define PARTUNE_COUPLE_H

#ifdef PARTUNE_COUPLE_MPI
#include <mpi.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#ifndef PARTUNE_COUPLE_LINKAGE
#define PARTUNE_COUPLE_LINKAGE static __attribute__((unused))
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum { PARTUNE_KERNELS_ = 64, PARTUNE_LOOP_ = 1024, PARTUNE_PIECES_ = 256, PARTUNE_ONCE_ = 16, PARTUNE_ROUNDS_ = 200 };
enum { PARTUNE_BYTES_, PARTUNE_FLOATS_, PARTUNE_DOUBLES_ };
/* Executions one by one in a round, at most; bytes that are restored together. */
enum { PARTUNE_EACH_ = 99, PARTUNE_BLOCK_ = 4096 };

/* A chain, or the whole loop with `many` turns: how often it is executed, and what a turn took, by round. One by one it is
 * executed `each` times, which is 0 otherwise. */
struct partune_chain_ {
    const int *kernels;
    int length, rounds, each;
    long few, many;
    double *seconds, *halves;
    /* Times of which another program took a part; the least seconds of an execution. */
    double disturbed, least;
    double not_finite, subnormal, differs;
};

static struct {
    int kernels, loop_length, pieces, once, rerunnable;
    long turns;
    const char *names[PARTUNE_KERNELS_], *once_names[PARTUNE_ONCE_];
    void (*run[PARTUNE_KERNELS_])(void *);
    void *data[PARTUNE_KERNELS_];
    double once_seconds[PARTUNE_ONCE_];
    /* Twice in a row: chains go round. */
    int loop[2 * PARTUNE_LOOP_];
    /* For executions one by one: what the chain begins with, and which blocks of it the chain changes. */
    struct {
        void *at, *saved, *begin;
        unsigned char *changed;
        size_t bytes;
        int kind;
    } state[PARTUNE_PIECES_];
    /* Seconds that are measured of an execution of nothing, one by one. */
    double empty;
    const char *fault;
} partune_;

static int partune_is_word_(const char *text)
{
    if (!text || !*text)
        return 0;
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || strchr("\"\\*,", *text) || *text == 127)
            return 0;
    return 1;
}

/* Names a kernel. The name is one word, and is kept by its address. */
PARTUNE_COUPLE_LINKAGE void partune_couple_kernel(const char *name, void (*run)(void *), void *data)
{
    int kernel, at = partune_.kernels;
    for (kernel = 0; kernel < at; kernel++)
        if (name && !strcmp(partune_.names[kernel], name))
            partune_.fault = "two kernels have one name";
    if (at == PARTUNE_KERNELS_ || !partune_is_word_(name) || !run) {
        partune_.fault = "a kernel needs a name of one word and a function, and there may be 64";
        return;
    }
    partune_.names[at] = name;
    partune_.run[at] = run;
    partune_.data[at] = data;
    partune_.kernels++;
}

/* The kernels of one turn of the loop, in words, with counts where a kernel is executed several times in a row: "rhs x y*2
 * add". Otherwise a turn is each kernel once, as they were named. */
PARTUNE_COUPLE_LINKAGE void partune_couple_loop(const char *kernels)
{
    const char *word = kernels;
    while (*(word += strspn(word, " ")) != 0) {
        size_t length = strcspn(word, " *");
        int kernel;
        long count = 1;
        char *end = (char *)word + length;
        for (kernel = 0; kernel < partune_.kernels; kernel++)
            if (strlen(partune_.names[kernel]) == length && !memcmp(partune_.names[kernel], word, length))
                break;
        if (*end == '*')
            count = strtol(end + 1, &end, 10);
        if (kernel == partune_.kernels || count < 1 || count > PARTUNE_LOOP_ - partune_.loop_length || (*end && *end != ' ')) {
            partune_.fault = "the loop has a kernel that was not named before, or a count that cannot be";
            return;
        }
        while (count--)
            partune_.loop[partune_.loop_length++] = kernel;
        word = end;
    }
}

/* How often the program does its loop. */
PARTUNE_COUPLE_LINKAGE void partune_couple_iterations(long turns)
{
    partune_.turns = turns;
}

/* Seconds that the program takes beside the loop, as it measured them; of one name they are added up. */
PARTUNE_COUPLE_LINKAGE void partune_couple_once(const char *name, double seconds)
{
    int at;
    for (at = 0; at < partune_.once; at++)
        if (name && !strcmp(partune_.once_names[at], name) && seconds >= 0.0 && seconds < 1e9) {
            partune_.once_seconds[at] += seconds;
            return;
        }
    if (partune_.once == PARTUNE_ONCE_ || !partune_is_word_(name) || !(seconds >= 0.0 && seconds < 1e9)) {
        partune_.fault = "what is done once needs a name of one word and its seconds, and there may be 16";
        return;
    }
    partune_.once_names[partune_.once] = name;
    partune_.once_seconds[partune_.once++] = seconds;
}

static void partune_piece_(void *at, size_t bytes, int kind)
{
    if (partune_.pieces == PARTUNE_PIECES_ || (!at && bytes)) {
        partune_.fault = "state needs an address, and there may be 256 pieces of it";
        return;
    }
    partune_.state[partune_.pieces].at = at;
    partune_.state[partune_.pieces].bytes = bytes;
    partune_.state[partune_.pieces++].kind = kind;
}

/* What kernels change. Floating-point numbers are also looked through for what is none. */
PARTUNE_COUPLE_LINKAGE void partune_couple_bytes(void *state, size_t bytes)
{
    partune_piece_(state, bytes, PARTUNE_BYTES_);
}
PARTUNE_COUPLE_LINKAGE void partune_couple_floats(float *state, size_t count)
{
    partune_piece_(state, count * sizeof *state, PARTUNE_FLOATS_);
}
PARTUNE_COUPLE_LINKAGE void partune_couple_doubles(double *state, size_t count)
{
    partune_piece_(state, count * sizeof *state, PARTUNE_DOUBLES_);
}

/* Kernels may be run again on what they left, as often as one likes, and take as long: there is no state to restore. */
PARTUNE_COUPLE_LINKAGE void partune_couple_rerunnable(void)
{
    partune_.rerunnable = 1;
}

/* What is asked for. */
struct partune_asked_ {
    int is_asked;
    double budget, confidence, rounds;
    char lengths[512], run[512];
};

#if defined(MPI_VERSION) || defined(PARTUNE_COUPLE_MPI)
/* Of rank 0 for all: not every launcher passes its environment on. */
static void partune_share_(struct partune_asked_ *asked)
{
    int is_there = 0, is_over = 0;
    MPI_Initialized(&is_there);
    if (is_there)
        MPI_Finalized(&is_over);
    if (is_there && !is_over)
        MPI_Bcast(asked, (int)sizeof *asked, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (asked->is_asked)
        fprintf(stderr, "partune: partune_couple_measure is called between MPI_Init and MPI_Finalize\n");
    asked->is_asked &= is_there && !is_over;
}
static void partune_meet_(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void partune_most_(double *values, int count)
{
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}
static void partune_ranks_(int *rank, int *ranks)
{
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, ranks);
}
#else
static void partune_share_(struct partune_asked_ *asked) { (void)asked; }
static void partune_meet_(void) {}
static void partune_most_(double *values, int count) { (void)values, (void)count; }
static void partune_ranks_(int *rank, int *ranks) { *rank = 0, *ranks = 1; }
#endif

static double partune_now_(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double partune_setting_(const char *name, double otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atof(text) : otherwise;
}

static void partune_restore_(void)
{
    int at;
    for (at = 0; at < partune_.pieces; at++)
        if (partune_.state[at].bytes)
            memcpy(partune_.state[at].at, partune_.state[at].saved, partune_.state[at].bytes);
}

static void partune_execute_(const struct partune_chain_ *chain, long times)
{
    int at;
    while (times-- > 0)
        for (at = 0; at < chain->length; at++)
            partune_.run[chain->kernels[at]](partune_.data[chain->kernels[at]]);
}

static size_t partune_block_(int piece, size_t block)
{
    const size_t most = PARTUNE_BLOCK_, left = partune_.state[piece].bytes - block * most;
    return left < most ? left : most;
}

/* Executes a chain from the state on that it begins with in the loop, in its first turn, and remembers that state and the blocks
 * that the chain changes. */
static void partune_begin_(const struct partune_chain_ *chain)
{
    const int *kernel;
    int at;
    partune_restore_();
    for (kernel = partune_.loop; kernel < chain->kernels; kernel++)
        partune_.run[*kernel](partune_.data[*kernel]);
    for (at = 0; at < partune_.pieces; at++)
        if (partune_.state[at].bytes)
            memcpy(partune_.state[at].begin, partune_.state[at].at, partune_.state[at].bytes);
    partune_execute_(chain, 1);
    for (at = 0; at < partune_.pieces; at++) {
        const char *begin = (const char *)partune_.state[at].begin, *now = (const char *)partune_.state[at].at;
        size_t block;
        for (block = 0; block * PARTUNE_BLOCK_ < partune_.state[at].bytes; block++)
            partune_.state[at].changed[block] =
                memcmp(begin + block * PARTUNE_BLOCK_, now + block * PARTUNE_BLOCK_, partune_block_(at, block)) != 0;
    }
}

/* After an execution from that state, that state. What the chain did not change remains in the caches as it left it there. */
static void partune_renew_(void)
{
    int at;
    for (at = 0; at < partune_.pieces; at++) {
        const char *begin = (const char *)partune_.state[at].begin;
        size_t block;
        for (block = 0; block * PARTUNE_BLOCK_ < partune_.state[at].bytes; block++)
            if (partune_.state[at].changed[block])
                memcpy((char *)partune_.state[at].at + block * PARTUNE_BLOCK_, begin + block * PARTUNE_BLOCK_, partune_block_(at, block));
    }
}

/* What comes before an execution that is timed, so that it finds the caches warm. */
static void partune_again_(const struct partune_chain_ *chain)
{
    partune_renew_();
    partune_execute_(chain, 1);
}

/* How often another program was given the processor of this one. */
static double partune_interruptions_(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0.0 : (double)usage.ru_nivcsw;
}

/* Seconds of executions from the saved state on, or of one of those that are one by one, on the slowest rank; and what one of the
 * second half takes by one of the first half, where ranks have met and may first have to make up for each other's delays: not of
 * the first few. What ought to be short is measured again if another program came in between. */
static double partune_time_(struct partune_chain_ *chain, long times, long warm, double *halves)
{
    enum { TRIES = 4 };
    const double brief = 0.02;
    const long half = times / 2, first = chain->few < half ? chain->few : 0;
    double shortest = 1e300;
    int left = TRIES;
    *halves = 1.0;
    while (left--) {
        double begin, seconds[4];
        if (left < TRIES - 1) {
            /* Who has just slept is left in peace for longer. */
            struct timespec moment = {0, 200000};
            nanosleep(&moment, NULL);
            if (chain->each)
                partune_again_(chain);
        }
        if (chain->each)
            partune_renew_();
        else {
            partune_restore_();
            partune_execute_(chain, warm);
        }
        partune_meet_();
        seconds[3] = partune_interruptions_();
        begin = partune_now_();
        partune_execute_(chain, first);
        seconds[2] = partune_now_() - begin;
        partune_execute_(chain, half - first);
        seconds[1] = partune_now_() - begin;
        partune_execute_(chain, times - half);
        seconds[0] = partune_now_() - begin;
        seconds[3] = partune_interruptions_() - seconds[3];
        partune_most_(seconds, 4);
        if (seconds[0] < shortest) {
            shortest = seconds[0];
            if (times > 1 && seconds[1] > seconds[2])
                *halves = (seconds[0] - seconds[1]) / (double)(times - half) * (double)(half - first) / (seconds[1] - seconds[2]);
        }
        if (chain->least <= 0.0 || shortest / (double)times < chain->least)
            chain->least = shortest / (double)times;
        if (seconds[3] <= 0.0)
            return shortest;
        if (chain->least * (double)times > brief)
            break;
    }
    chain->disturbed += 1.0;
    return shortest;
}

/* What is in the state now: two sums over it, how much is no finite number, and how much too small to be computed with as
 * fast as with others. */
static void partune_look_(double sums[2], double *not_finite, double *subnormal)
{
    int at;
    size_t item;
    double value, weight = 1.0;
    sums[0] = sums[1] = *not_finite = *subnormal = 0.0;
    for (at = 0; at < partune_.pieces; at++) {
        const int kind = partune_.state[at].kind;
        const size_t size = kind == PARTUNE_DOUBLES_ ? sizeof(double) : kind == PARTUNE_FLOATS_ ? sizeof(float) : 1;
        for (item = 0; item < partune_.state[at].bytes / size; item++) {
            int class_;
            if (kind == PARTUNE_BYTES_) {
                value = ((const unsigned char *)partune_.state[at].at)[item];
                class_ = FP_NORMAL;
            } else if (kind == PARTUNE_FLOATS_) {
                float single = ((const float *)partune_.state[at].at)[item];
                value = (double)single;
                class_ = fpclassify(single);
            } else {
                value = ((const double *)partune_.state[at].at)[item];
                class_ = fpclassify(value);
            }
            if (class_ == FP_NAN || class_ == FP_INFINITE) {
                *not_finite += 1.0;
                continue;
            }
            *subnormal += class_ == FP_SUBNORMAL ? 1.0 : 0.0;
            /* Weights that repeat after many values: what has changed places is seen too. */
            weight = weight > 1.9 ? 1.0 : weight + 1e-5;
            sums[0] += fabs(value);
            sums[1] += weight * fabs(value);
        }
    }
}

static int partune_order_(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The median, and as what share of it its standard error can be told by the spread around it. */
static double partune_error_(const double *values, int count)
{
    double sorted[PARTUNE_ROUNDS_], median;
    int at;
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, partune_order_);
    median = sorted[count / 2];
    for (at = 0; at < count; at++)
        sorted[at] = fabs(values[at] - median);
    qsort(sorted, (size_t)count, sizeof *sorted, partune_order_);
    return median > 0.0 ? 1.858 * sorted[count / 2] / sqrt((double)count) / median : 1.0;
}

/* Seconds of an execution, one by one: the median. Each follows one of the same chain, so that caches have what that left, but for
 * what had to be restored. */
static double partune_each_(struct partune_chain_ *chain)
{
    double seconds[PARTUNE_EACH_], ignored;
    int at;
    partune_begin_(chain);
    partune_again_(chain);
    for (at = 0; at < chain->each; at++)
        seconds[at] = partune_time_(chain, 1, 0, &ignored);
    qsort(seconds, (size_t)chain->each, sizeof *seconds, partune_order_);
    return seconds[chain->each / 2] - partune_.empty;
}

/* By what share two looks at the state differ. */
static double partune_differ_(const double before[2], const double after[2])
{
    const double first = fabs(after[0] - before[0]) / (before[0] > 0.0 ? before[0] : 1.0);
    const double second = fabs(after[1] - before[1]) / (before[1] > 0.0 ? before[1] : 1.0);
    return first > second ? first : second;
}

/* So many executions that many of them take about as long as asked, and few of them a fifth; fewer where the state would not stay
 * finite; and what is in the state then. What one execution leaves is compared with what it leaves after all those. */
static void partune_calibrate_(struct partune_chain_ *chain, double target, double values)
{
    double seconds, again, halves, found[3], before[2], after[2], ignored[2];
    long times = 1;
    partune_restore_();
    partune_execute_(chain, 1);
    partune_look_(before, &ignored[0], &ignored[1]);
    for (;;) {
        /* The shorter of two: a disturbance would make it believe that one execution is long enough. */
        double more;
        seconds = partune_time_(chain, times, 1, &halves);
        again = partune_time_(chain, times, 1, &halves);
        seconds = again < seconds ? again : seconds;
        if (seconds >= 0.7 * target || times >= 100000000)
            break;
        more = seconds > 0.0 ? target / seconds : 10.0;
        times = (long)((double)times * (more > 10.0 ? 10.0 : more)) + 1;
    }
    chain->disturbed = 0.0;
    chain->many = times < 4 ? 4 : times;
    for (;;) {
        /* As many as were just executed need not be again. */
        if (chain->many != times) {
            partune_restore_();
            partune_execute_(chain, 1 + chain->many);
        }
        partune_look_(after, &found[0], &found[1]);
        seconds = found[0];
        partune_most_(&seconds, 1);
        if (seconds <= 0.0 || chain->many <= 2)
            break;
        chain->many = chain->many > 4 ? chain->many / 2 : 2;
    }
    chain->few = chain->many / 5 < 1 ? 1 : chain->many / 5;
    /* As a share of what a rank has; ranks may have more or less. */
    found[1] /= values > 0.0 ? values : 1.0;
    partune_restore_();
    partune_execute_(chain, 1);
    partune_look_(after, &ignored[0], &ignored[1]);
    found[2] = partune_differ_(before, after);
    partune_most_(found, 3);
    chain->not_finite = found[0];
    chain->subnormal = found[1];
    chain->differs = found[2];
}

/* Where chains do not leave finite numbers when they are executed again on what they left, though the loop does: executes all
 * chains one by one if that is so for fewer of them then. All, kernels alone too, since what is compared has to be measured
 * alike. */
static void partune_separate_(struct partune_chain_ *chains, int count, double target, double values)
{
    struct partune_chain_ empty;
    double failed[1] = {0.0}, *found;
    int at, is_wanted = 0, helps = 0, harms = 0;
    for (at = 1; at < count; at++)
        is_wanted |= chains[at].not_finite > 0.0;
    if (!is_wanted || chains[0].not_finite > 0.0)
        return;
    found = (double *)calloc((size_t)count, 3 * sizeof *found);
    failed[0] = found ? 0.0 : 1.0;
    for (at = 0; at < partune_.pieces; at++) {
        partune_.state[at].begin = malloc(partune_.state[at].bytes + 1);
        partune_.state[at].changed = (unsigned char *)calloc(partune_.state[at].bytes / PARTUNE_BLOCK_ + 1, 1);
        if (!partune_.state[at].begin || !partune_.state[at].changed)
            failed[0] = 1.0;
    }
    partune_most_(failed, 1);
    for (at = 1; at < count && failed[0] <= 0.0; at++) {
        double before[2], after[2], ignored[2], *const own = &found[3 * at];
        partune_begin_(&chains[at]);
        partune_look_(before, &own[0], &own[1]);
        own[1] /= values > 0.0 ? values : 1.0;
        /* Shows what is not named, and that to restore blocks is enough. */
        partune_again_(&chains[at]);
        partune_again_(&chains[at]);
        partune_look_(after, &ignored[0], &ignored[1]);
        own[2] = partune_differ_(before, after);
        own[2] = chains[at].differs > own[2] ? chains[at].differs : own[2];
        partune_most_(own, 3);
        helps |= chains[at].not_finite > 0.0 && own[0] <= 0.0;
        harms |= chains[at].not_finite <= 0.0 && own[0] > 0.0;
    }
    if (failed[0] <= 0.0 && helps && !harms) {
        for (at = 1; at < count; at++) {
            const double most = PARTUNE_EACH_, each = chains[at].least > 0.0 ? target / chains[at].least : most;
            chains[at].each = each < 5.0 ? 5 : each > most ? (int)most : (int)each | 1;
            chains[at].few = chains[at].many = 0;
            chains[at].not_finite = found[3 * at];
            chains[at].subnormal = found[3 * at + 1];
            chains[at].differs = found[3 * at + 2];
        }
        /* As the last one, without kernels: what meeting and the clock make of nothing. */
        empty = chains[count - 1];
        empty.length = 0;
        empty.each = PARTUNE_EACH_;
        partune_.empty = partune_each_(&empty);
    }
    free(found);
}

static void partune_nothing_(void *data) { (void)data; }

/* The least step of the clock, and seconds of calling a kernel that does nothing. */
static void partune_clock_(double *step, double *call)
{
    enum { TIMES = 100000 };
    void (*volatile nothing)(void *) = partune_nothing_;
    double begin = partune_now_(), now = begin;
    int at;
    *step = 1.0;
    for (at = 0; at < 2000; at++) {
        const double next = partune_now_();
        *step = next > now && next - now < *step ? next - now : *step;
        now = next;
    }
    begin = partune_now_();
    for (at = 0; at < TIMES; at++)
        nothing(NULL);
    *call = (partune_now_() - begin) / TIMES;
}

static void partune_numbers_(FILE *file, const char *name, const double *values, int count)
{
    int at;
    fprintf(file, ",\"%s\":[", name);
    for (at = 0; at < count; at++)
        fprintf(file, "%s%.9g", at ? "," : "", isfinite(values[at]) ? values[at] : 0.0);
    fputc(']', file);
}

static void partune_names_(FILE *file, const char *name, const int *kernels, int count)
{
    int at;
    fprintf(file, ",\"%s\":[", name);
    for (at = 0; at < count; at++)
        fprintf(file, "%s\"%s\"", at ? "," : "", partune_.names[kernels[at]]);
    fputc(']', file);
}

/* All different chains of a length, behind those that are there. */
static int partune_chains_(struct partune_chain_ *chains, int count, int length)
{
    const int before = count;
    int begin, other;
    for (begin = 0; begin < partune_.loop_length && length <= partune_.loop_length; begin++) {
        for (other = before; other < count; other++)
            if (!memcmp(chains[other].kernels, partune_.loop + begin, (size_t)length * sizeof(int)))
                break;
        if (other == count) {
            chains[count].kernels = partune_.loop + begin;
            chains[count++].length = length;
        }
    }
    return count;
}

static const char *partune_prepare_(void)
{
    int at;
    if (!partune_.fault && !partune_.kernels)
        partune_.fault = "no kernel was named";
    if (!partune_.fault && !partune_.pieces && !partune_.rerunnable)
        partune_.fault = "nothing is said of the state that kernels change: partune_couple_doubles and others name it, "
                         "partune_couple_rerunnable says that there is none";
    if (partune_.fault)
        return partune_.fault;
    if (!partune_.loop_length)
        for (at = 0; at < partune_.kernels; at++)
            partune_.loop[partune_.loop_length++] = at;
    memcpy(partune_.loop + partune_.loop_length, partune_.loop, (size_t)partune_.loop_length * sizeof(int));
    for (at = 0; at < partune_.pieces; at++) {
        partune_.state[at].saved = malloc(partune_.state[at].bytes + 1);
        if (!partune_.state[at].saved)
            return partune_.fault = "there is no memory for a copy of the state";
        if (partune_.state[at].bytes)
            memcpy(partune_.state[at].saved, partune_.state[at].at, partune_.state[at].bytes);
    }
    return NULL;
}

/* Rounds of one sample each, the chains in another order each time, until errors are small or time is over. The first is the
 * loop, which need not be in all of them. Returns why it ended. */
static const char *partune_rounds_(struct partune_chain_ *chains, int count, double begin, const struct partune_asked_ *asked)
{
    const double confidence = asked->confidence, budget = asked->budget;
    const int least = (int)asked->rounds;
    double on_loop = 0.0, started = partune_now_();
    int round, at;
    for (round = 0; round < PARTUNE_ROUNDS_; round++) {
        double now = partune_now_() - begin, so_far = partune_now_() - started, worst = 0.0, ignored;
        partune_most_(&now, 1);
        partune_most_(&so_far, 1);
        for (at = 0; at < count && round >= least; at++) {
            const double error = partune_error_(chains[at].seconds, chains[at].rounds);
            worst = error > worst ? error : worst;
        }
        if (round && now + so_far / round > budget)
            return "budget";
        if (round >= least && worst <= confidence)
            return "confidence";
        for (at = 0; at < count; at++) {
            struct partune_chain_ *chain = &chains[(at + round * 7) % count];
            double *const seconds = &chain->seconds[chain->rounds];
            if (chain == chains) {
                if (round > 2 && on_loop > 0.3 * so_far)
                    continue;
                *seconds = partune_time_(chain, chain->many, 0, &ignored);
                chain->halves[chain->rounds++] = 1.0;
                on_loop += *seconds;
                *seconds /= (double)chain->many;
            } else if (chain->each) {
                *seconds = partune_each_(chain);
                chain->rounds++;
            } else {
                const double few = partune_time_(chain, chain->few, 1, &ignored);
                const double many = partune_time_(chain, chain->many, 1, &chain->halves[chain->rounds]);
                *seconds = (many - few) / (double)(chain->many - chain->few);
                chain->rounds++;
            }
        }
    }
    return "rounds";
}

static void partune_write_(FILE *file, const char *run, const struct partune_chain_ *chains, int count, double values)
{
    int at;
    for (at = 0; at < count; at++) {
        const struct partune_chain_ *chain = &chains[at];
        fprintf(file, "{\"run\":\"%s\"", run);
        if (at)
            partune_names_(file, "chain", chain->kernels, chain->length);
        if (chain->each)
            fprintf(file, ",\"one_by_one\":%d,\"empty_s\":%.9g", chain->each, partune_.empty);
        else
            fprintf(file, ",\"few\":%ld,\"many\":%ld", chain->few, chain->many);
        partune_numbers_(file, "seconds", chain->seconds, chain->rounds);
        if (!chain->each)
            partune_numbers_(file, "halves", chain->halves, chain->rounds);
        fprintf(file, ",\"disturbed\":%.0f,\"not_finite\":%.0f,\"subnormal\":%.0f,\"differs\":%.9g}\n", chain->disturbed, chain->not_finite, ceil(values * chain->subnormal),
                isfinite(chain->differs) ? chain->differs : 1.0);
    }
}

static void partune_measure_(FILE *file, const struct partune_asked_ *asked, int ranks)
{
    const double begin = partune_now_();
    const char *lengths = asked->lengths, *ended;
    struct partune_chain_ *chains;
    double target, ignored, values = 0.0;
    /* Of the rank that has most: bytes of state, values, step of the clock, seconds of a call, threads, turns. */
    double figures[6] = {0.0, 0.0, 0.0, 0.0, 1.0, 0.0};
    int at, count = 1;
#ifdef _OPENMP
    figures[4] = omp_get_max_threads();
#endif
    for (at = 0; at < partune_.pieces; at++) {
        figures[0] += (double)partune_.state[at].bytes;
        if (partune_.state[at].kind != PARTUNE_BYTES_)
            values += (double)partune_.state[at].bytes / (partune_.state[at].kind == PARTUNE_DOUBLES_ ? 8.0 : 4.0);
    }
    figures[1] = values;
    partune_clock_(&figures[2], &figures[3]);
    figures[5] = (double)partune_.turns;
    partune_most_(figures, 6);
    partune_most_(partune_.once_seconds, partune_.once);
    chains = (struct partune_chain_ *)calloc((size_t)(partune_.loop_length * (partune_.loop_length + 2) + 2), sizeof *chains);
    chains[0].kernels = partune_.loop;
    chains[0].length = partune_.loop_length;
    count = partune_chains_(chains, count, 1);
    for (; *lengths; lengths += *lengths == ',') {
        char *end;
        const long length = strtol(lengths, &end, 10);
        if (end == lengths)
            break;
        if (length > 1 && length <= partune_.loop_length)
            count = partune_chains_(chains, count, (int)length);
        lengths = end;
    }
    for (at = 0; at < count; at++) {
        chains[at].seconds = (double *)calloc(2 * PARTUNE_ROUNDS_, sizeof(double));
        chains[at].halves = chains[at].seconds + PARTUNE_ROUNDS_;
    }
    /* Short beside what a scheduler gives to one program at a time; and many short ones say more than a long one. */
    target = 0.001;
    for (at = 0; at < count; at++)
        partune_calibrate_(&chains[at], target, values);
    partune_separate_(chains, count, target, values);
    chains[0].few = 0;
    chains[0].many = figures[5] > 0.0 ? (long)figures[5] : chains[0].many;
    partune_time_(&chains[0], 1, 1, &ignored);
    ended = partune_rounds_(chains, count, begin, asked);
    partune_restore_();
    if (!file)
        return;
    fprintf(file, "{\"run\":\"%s\",\"couple\":1,\"ranks\":%d,\"threads\":%.0f", asked->run, ranks, figures[4]);
    partune_names_(file, "loop", partune_.loop, partune_.loop_length);
    fprintf(file, ",\"iterations\":%ld,\"state_bytes\":%.0f,\"values\":%.0f,\"clock_s\":%.9g,\"call_s\":%.9g,\"once\":{",
            chains[0].many, figures[0], figures[1], figures[2], figures[3]);
    for (at = 0; at < partune_.once; at++)
        fprintf(file, "%s\"%s\":%.9g", at ? "," : "", partune_.once_names[at], partune_.once_seconds[at]);
    fprintf(file, "}}\n");
    partune_write_(file, asked->run, chains, count, figures[1]);
    fprintf(file, "{\"run\":\"%s\",\"ended\":\"%s\",\"took_s\":%.6g,\"budget_s\":%.17g,\"confidence\":%.17g,\"rounds\":%.17g}\n", asked->run, ended,
            partune_now_() - begin, asked->budget, asked->confidence, asked->rounds);
}

static void partune_copy_(char *to, size_t size, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    if (length && length < size && !strpbrk(text, "\"\\"))
        memcpy(to, text, length + 1);
}

/* Measures if it is asked to, and returns 1; otherwise returns 0. All ranks call it. The state is afterwards as before. */
PARTUNE_COUPLE_LINKAGE int partune_couple_measure(void)
{
    const char *path = getenv("PARTUNE_COUPLE");
    struct partune_asked_ asked;
    FILE *file = NULL;
    double failed[1], once[2];
    int rank, ranks;
    memset(&asked, 0, sizeof asked);
    asked.is_asked = path && *path;
    asked.budget = partune_setting_("PARTUNE_COUPLE_BUDGET", 20.0);
    asked.confidence = partune_setting_("PARTUNE_COUPLE_CONFIDENCE", 0.005);
    asked.rounds = partune_setting_("PARTUNE_COUPLE_ROUNDS", 7.0);
    partune_copy_(asked.lengths, sizeof asked.lengths, "2");
    partune_copy_(asked.lengths, sizeof asked.lengths, getenv("PARTUNE_COUPLE_LENGTHS"));
    partune_copy_(asked.run, sizeof asked.run, getenv("PARTUNE_COUPLE_RUN"));
    partune_share_(&asked);
    if (!asked.is_asked)
        return 0;
    partune_ranks_(&rank, &ranks);
    once[0] = partune_.once;
    once[1] = -partune_.once;
    partune_most_(once, 2);
    if (once[0] + once[1] > 0.0)
        partune_.fault = "ranks differ in what is done once: each says all of it, with 0 seconds where it has no part";
    failed[0] = partune_prepare_() ? 1.0 : 0.0;
    if (rank == 0 && !(file = fopen(path, "a"))) {
        fprintf(stderr, "partune: %s cannot be written, so nothing is measured\n", path);
        failed[0] = 1.0;
    }
    partune_most_(failed, 1);
    if (failed[0] <= 0.0)
        partune_measure_(file, &asked, ranks);
    else if (file)
        fprintf(file, "{\"run\":\"%s\",\"fault\":\"%s\"}\n", asked.run,
                partune_.fault ? partune_.fault : "a rank cannot be measured, for a reason that others do not have");
    if (file && fclose(file))
        fprintf(stderr, "partune: %s could not be written to its end\n", path);
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
