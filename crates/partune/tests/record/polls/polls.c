/* Rank 0 waits for rank 1 in every way there is; each waits in a function and at a line of its own. Rank 1 works before it sends.
 *
 * expect 2 ranks
 *
 * For each way rank 0 prints `way MARK POLLS WAITED LONG INSIDE AWAY`: its calls, the seconds from the first of them until rank 1 sent, those in
 * turns of the loop of more than 50 microseconds, in which the program may have been off its core, those in calls, and those between two
 * calls where that took more than twice as long as the work that may be there, so that most of it was off the core.
 * Arguments: the ways, as letters; how often each, and for how many milliseconds.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds of work between two polls, where there is any. */
#define WORK 200e-6

static int rank, in, other, rounds, milliseconds;
static long polls;
static double first, last, left, waited, longs, inside, away;
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void turn(double begin, double end)
{
    if (begin - last > 50e-6) longs += begin - last;
    if (begin - left > 2 * WORK) away += begin - left;
    last = begin;
    left = end;
    inside += end - begin;
    ++polls;
}

/* One call, and how long it took. */
#define POLL(call) do { double begin = now(); call; turn(begin, now()); } while (0)

static void spin(double seconds)
{
    for (double begin = now(); now() - begin < seconds;) {}
}

#define COMM MPI_COMM_WORLD
#define NONE MPI_STATUS_IGNORE

static void receive(void) { MPI_Recv(&in, 1, MPI_INT, 1, 7, COMM, NONE); }

static void way(char letter)
{
    int there = 0, index, which[2];
    MPI_Request request[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Message message;
    MPI_Status status[2];
    if (letter == 'p') {
        POLL(MPI_Probe(1, 7, COMM, status)); /* p */
        receive();
    } else if (letter == 'm') {
        POLL(MPI_Mprobe(1, 7, COMM, &message, status)); /* m */
        MPI_Mrecv(&in, 1, MPI_INT, &message, NONE);
    } else if (letter == 'r') {
        POLL(MPI_Recv(&in, 1, MPI_INT, 1, 7, COMM, NONE)); /* r */
    } else if (letter == 'i') {
        while (!there) POLL(MPI_Iprobe(1, 7, COMM, &there, NONE)); /* i */
        receive();
    } else if (letter == 'j') {
        while (!there) POLL(MPI_Improbe(1, 7, COMM, &there, &message, NONE)); /* j */
        MPI_Mrecv(&in, 1, MPI_INT, &message, NONE);
    } else if (letter == 't') {
        MPI_Irecv(&in, 1, MPI_INT, 1, 7, COMM, request);
        while (!there) POLL(MPI_Test(request, &there, NONE)); /* t */
    } else if (letter == 'a') {
        MPI_Irecv(&in, 1, MPI_INT, 1, 7, COMM, request);
        while (!there) POLL(MPI_Testany(2, request, &index, &there, NONE)); /* a */
    } else if (letter == 's') {
        MPI_Irecv(&in, 1, MPI_INT, 1, 7, COMM, request);
        while (there < 1) POLL(MPI_Testsome(2, request, &there, which, status)); /* s */
    } else if (letter == 'l') {
        MPI_Irecv(&in, 1, MPI_INT, 1, 7, COMM, request);
        while (!there) POLL(MPI_Testall(2, request, &there, MPI_STATUSES_IGNORE)); /* l */
    } else if (letter == 'g') {
        MPI_Irecv(&in, 1, MPI_INT, 1, 7, COMM, request);
        while (!there) POLL(MPI_Request_get_status(request[0], &there, NONE)); /* g */
        MPI_Wait(request, NONE);
    } else if (letter == 'w') {
        /* Work between the polls is none. */
        while (!there) {
            spin(WORK);
            POLL(MPI_Iprobe(1, 7, COMM, &there, NONE)); /* w */
        }
        receive();
    } else if (letter == 'x') {
        /* Two places in turns: the first never finds anything. */
        while (!there) {
            POLL(MPI_Iprobe(1, 8, COMM, &there, NONE)); /* x */
            POLL(MPI_Iprobe(1, 7, COMM, &there, NONE)); /* y */
        }
        receive();
    } else if (letter == 'n') {
        /* Never found, and given up. */
        for (double begin = now(); now() - begin < 1e-3 * milliseconds;)
            POLL(MPI_Iprobe(1, 8, COMM, &there, NONE)); /* n */
    } else if (letter == 'k') {
        /* Killed after so many, or as many as a busy machine lets it make in a time, since each may give the core away. */
        MPI_Irecv(&in, 1, MPI_INT, 1, 9, COMM, request);
        for (double begin = now(); polls < 100000 && now() - begin < 4; ++polls) MPI_Test(request, &there, NONE); /* k */
        printf("killed after %ld\n", polls);
        fflush(stdout);
        raise(SIGKILL);
    }
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(COMM, &rank);
    rounds = atoi(argv[2]);
    milliseconds = atoi(argv[3]);
    for (const char* letter = argv[1]; *letter; ++letter) {
        polls = 0;
        waited = longs = inside = away = 0;
        for (int i = 0; i < rounds; ++i) {
            double sent = 0;
            MPI_Barrier(COMM);
            if (rank == 1) {
                double work = 1e-3 * milliseconds;
                nanosleep(&(struct timespec){ (long)work, (long)((work - (long)work) * 1e9) }, NULL);
                sent = now();
                if (*letter != 'n') MPI_Send(&rank, 1, MPI_INT, 0, 7, COMM);
                MPI_Send(&sent, 1, MPI_DOUBLE, 0, 6, COMM);
            } else {
                first = last = left = now();
                way(*letter);
                MPI_Recv(&sent, 1, MPI_DOUBLE, 1, 6, COMM, NONE);
                if (sent > first) waited += sent - first;
            }
        }
        if (rank == 0) printf("way %c %ld %.6f %.6f %.6f %.6f\n", *letter, polls, waited, longs, inside, away);
    }
    MPI_Finalize();
    return 0;
}
