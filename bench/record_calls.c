/* What calls of MPI cost, in ns: the program of record.sh.
 *
 *   record_calls            on one process: calls that do not communicate, and messages of 8 bytes to itself
 *   record_calls            on two: 8 bytes to and fro, half a round trip, see below
 *   record_calls COUNT      COUNT calls of MPI_Test, with the memory of the process before and after them
 *
 * Each line is a name and the best of the repetitions, which rank 0 prints: the one that was disturbed least. One is long enough for
 * a recorder to fill its buffers more than once.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "stamp.h"

enum { REPETITIONS = 5, CALLS = 50000 };

static int rank, sink;
static double cell[2];

static void rank_of(void)
{
    MPI_Comm_rank(MPI_COMM_SELF, &sink);
}

static void iprobe(void)
{
    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &sink, MPI_STATUS_IGNORE);
}

static void test(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Test(&none, &sink, MPI_STATUS_IGNORE);
}

static void sendrecv_self(void)
{
    MPI_Sendrecv(&cell[0], 1, MPI_DOUBLE, 0, 1, &cell[1], 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

/* Three calls. */
static void isend_self(void)
{
    MPI_Request requests[2];
    MPI_Irecv(&cell[1], 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&cell[0], 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Round trips by three ways in turns, so that all of them see the same machine: the library's own functions, which no recorder sees; those
 * between two time stamps, which is the least that a recorder does; and the program's, which may be recorded. */
enum { BLOCKS = 600, BLOCK = 500, WAYS = 3 };

static __attribute__((noinline)) int stamped_send(const void* b, int n, MPI_Datatype d, int p, int t, MPI_Comm c)
{
    stamp(1);
    int result = PMPI_Send(b, n, d, p, t, c);
    stamp(0);
    return result;
}

static __attribute__((noinline)) int stamped_recv(void* b, int n, MPI_Datatype d, int p, int t, MPI_Comm c, MPI_Status* s)
{
    stamp(2);
    int result = PMPI_Recv(b, n, d, p, t, c, s);
    stamp(0);
    return result;
}

#define ROUND_TRIPS(NAME, SEND, RECV)                                                       \
    static void NAME(void)                                                                  \
    {                                                                                       \
        for (int i = 0; i < BLOCK; ++i) {                                                   \
            if (rank == 0) SEND(&cell[0], 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);             \
            RECV(&cell[1], 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  \
            if (rank == 1) SEND(&cell[0], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);             \
        }                                                                                   \
    }
ROUND_TRIPS(bare_trips, PMPI_Send, PMPI_Recv)
ROUND_TRIPS(stamped_trips, stamped_send, stamped_recv)
ROUND_TRIPS(recorded_trips, MPI_Send, MPI_Recv)

static int ascending(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static double median(double* list, int count)
{
    qsort(list, count, sizeof *list, ascending);
    return list[count / 2];
}

/* Of half a round trip each way: the medians of the blocks, the medians of the ratios within a turn, and the ratio of the sums, to which a
 * recorder's pauses count when it writes its buffers. */
static void pingpong(void)
{
    static void (*const ways[WAYS])(void) = { bare_trips, stamped_trips, recorded_trips };
    static double times[WAYS][BLOCKS], of_floor[BLOCKS], of_bare[BLOCKS];
    double sums[WAYS] = { 0 };
    for (int turn = -20; turn < BLOCKS; ++turn) { /* the first ones are not counted */
        for (int i = 0; i < WAYS; ++i) {
            int way = (turn + 20 + i) % WAYS;
            PMPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime();
            ways[way]();
            double time = (MPI_Wtime() - start) / BLOCK / 2 * 1e9;
            if (turn >= 0) times[way][turn] = time, sums[way] += time;
        }
    }
    for (int i = 0; i < BLOCKS; ++i) {
        of_floor[i] = times[2][i] / times[1][i];
        of_bare[i] = times[2][i] / times[0][i];
    }
    if (rank != 0) return;
    printf("pingpong_bare %.1f\npingpong_floor %.1f\n", median(times[0], BLOCKS), median(times[1], BLOCKS));
    printf("pingpong %.1f\n", median(times[2], BLOCKS));
    printf("pingpong_of_floor %.3f\npingpong_of_bare %.3f\n", median(of_floor, BLOCKS), median(of_bare, BLOCKS));
    printf("pingpong_sum_of_floor %.3f\n", sums[2] / sums[1]);
}

/* Prints the time of one call, if one turn makes `calls` of them. */
static void measure(const char* name, void (*turn)(void), int turns, int calls)
{
    double best = 1e30;
    for (int i = -1; i < REPETITIONS; ++i) { /* the first is not counted */
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (int j = 0; j < turns; ++j) turn();
        double time = (MPI_Wtime() - start) / turns / calls * 1e9;
        if (i >= 0 && time < best) best = time;
    }
    if (rank == 0) printf("%s %.1f\n", name, best);
}

static long kibibytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void many(long count)
{
    long before = kibibytes();
    double start = MPI_Wtime();
    for (long i = 0; i < count; ++i) test();
    printf("long_test %.1f\nKiB_before %ld\nKiB_after %ld\n", (MPI_Wtime() - start) / count * 1e9, before, kibibytes());
}

int main(int argc, char** argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        many(atol(argv[1]));
    } else if (size == 2) {
        pingpong();
    } else {
        measure("comm_rank", rank_of, CALLS, 1);
        measure("iprobe", iprobe, CALLS, 1);
        measure("test", test, CALLS, 1);
        measure("sendrecv_self", sendrecv_self, CALLS, 1);
        measure("isend_self", isend_self, CALLS, 3);
    }
    MPI_Finalize();
    return 0;
}
