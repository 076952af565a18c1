/* Three ranks that end as their argument says. Those that hang are ended by an alarm, long after all hang.
 *
 * expect 3 ranks
 * expect status any
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, value;
static double* large;

__attribute__((noinline)) static void fault(volatile int* where)
{
    *where = 1; /* FAULT */
}

__attribute__((noinline)) static void give_up(void)
{
    MPI_Abort(MPI_COMM_WORLD, 3); /* ABORT */
    rank = -1;
}

__attribute__((noinline)) static void forever(void)
{
    for (;;)
        *(volatile int*)&value += 1;
}

__attribute__((noinline)) static void await(int from)
{
    MPI_Recv(&value, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* AWAIT */
}

int main(int argc, char** argv)
{
    enum { LARGE = 1 << 20 };
    MPI_Comm halves, only;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char* way = argv[1];
    large = calloc(LARGE, sizeof *large);
    /* In it the ranks are the other way round. */
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &halves);
    /* Of ranks 1 and 2. */
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &only);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(way, "orderly")) {
        if (rank == 1)
            MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        if (rank == 0)
            await(1);
        MPI_Finalize();
        return 0;
    }
    if (!strcmp(way, "fault")) {
        if (rank == 1)
            usleep(500000), fault((int*)8);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!strcmp(way, "abort")) {
        if (rank == 2)
            usleep(500000), give_up();
        await((rank + 1) % 2);
    }
    for (int turn = 0; !strcmp(way, "lively"); ++turn) {
        /* All are in the middle of it when they are killed, which takes less long than they waited there before. */
        if (turn == 0) {
            if (rank == 0)
                sleep(5);
            MPI_Send(&value, 1, MPI_INT, (rank + 2) % 3, 0, MPI_COMM_WORLD);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            alarm(1);
        }
        await((rank + 1) % 3);
    }
    alarm(2);
    if (!strcmp(way, "cycle"))
        await((rank + 1) % 3);
    if (!strcmp(way, "split"))
        /* Rank 2 of this is rank 0 of the world: 0 waits for 1, 1 for 2 and 2 for 0, the other way round in this. */
        MPI_Recv(&value, 1, MPI_INT, (2 - rank + 2) % 3, 0, halves, MPI_STATUS_IGNORE);
    if (!strcmp(way, "sends"))
        MPI_Send(large, LARGE, MPI_DOUBLE, (rank + 2) % 3, 0, MPI_COMM_WORLD);
    if (!strcmp(way, "requests")) {
        /* The message of the rank before comes, that of the next one does not. */
        MPI_Request two[2];
        int next = (rank + 1) % 3, before = (rank + 2) % 3, values[2];
        MPI_Irecv(&values[0], 1, MPI_INT, before, 1, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &two[1]);
        MPI_Send(&value, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        MPI_Waitall(2, two, MPI_STATUSES_IGNORE);
    }
    if (!strcmp(way, "any")) {
        /* One of two messages is enough for rank 0, and nobody knows which: rank 2 could send it. */
        MPI_Request two[2];
        int values[2], which;
        if (rank == 2)
            forever();
        if (rank == 1)
            await(0);
        MPI_Irecv(&values[0], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &two[0]);
        MPI_Irecv(&values[1], 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &two[1]);
        MPI_Waitany(2, two, &which, MPI_STATUS_IGNORE);
    }
    if (!strcmp(way, "isends")) {
        MPI_Request one;
        MPI_Isend(large, LARGE, MPI_DOUBLE, (rank + 2) % 3, 0, MPI_COMM_WORLD, &one);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
    }
    if (!strcmp(way, "persistent")) {
        /* Nobody sends; rank 0 is busy. */
        MPI_Request one;
        if (rank == 0)
            forever();
        MPI_Recv_init(&value, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, &one);
        MPI_Start(&one);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
    }
    if (!strcmp(way, "chain")) {
        if (rank == 0)
            forever();
        await(rank - 1);
    }
    if (!strcmp(way, "anybody") || !strcmp(way, "busy")) {
        /* A master that nobody asks for work, since all wait for it, or one of them works. */
        if (rank == 2 && !strcmp(way, "busy"))
            forever();
        await(rank == 0 ? MPI_ANY_SOURCE : 0);
    }
    if (!strcmp(way, "file")) {
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, "ends.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        if (rank == 0) {
            unlink("ends.out");
            forever();
        }
        MPI_File_write_at_all(file, rank * sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    }
    if (!strcmp(way, "collectives")) {
        if (rank == 0)
            await(MPI_ANY_SOURCE);
        if (rank == 1)
            MPI_Allreduce(&value, large, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        MPI_Barrier(only);
    }
    return 1;
}
