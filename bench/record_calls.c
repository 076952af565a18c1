/* What calls of MPI cost, in ns: the program of record.sh.
 *
 *   record_calls            on one process: calls that do not communicate, and messages of 8 bytes to itself
 *   record_calls            on two: 8 bytes to and fro, half a round trip
 *   record_calls COUNT      COUNT calls of MPI_Test, with the memory of the process before and after them
 *
 * Each line is a name and the best of the repetitions, which rank 0 prints: the one that was disturbed least. One is long enough for
 * a recorder to fill its buffers more than once.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { REPETITIONS = 5, CALLS = 50000, TRIPS = 20000 };

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

static void round_trip(void)
{
    if (rank == 0) {
        MPI_Send(&cell[0], 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&cell[1], 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&cell[1], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&cell[0], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
    }
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
        measure("pingpong", round_trip, TRIPS, 2);
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
