/* Calls that fail, and calls that the program leaves by an exception or by a long jump, have ended, sent nothing and met nobody. What comes after them
 * is recorded: in the function that caught it, in its callers, and in functions that it calls, whose frames lie deeper than the one left.
 *
 * expect 2 ranks
 * expect each: MPI_Barrier 1, MPI_Bcast 1, collectives 1, MPI_Isend 2, MPI_Sendrecv 1, MPI_Wait 2
 * expect rank 0: MPI_Send 606, MPI_Recv 0, sends 601, sent 2404, receives 1, received 4
 * expect rank 1: MPI_Send 6, MPI_Recv 600, sends 1, sent 4, receives 601, received 2404
 */
#include <mpi.h>

#include <csetjmp>
#include <cstdlib>

enum { NOBODY = 99999, MESSAGES = 100 };

static int rank, word;
static jmp_buf place;

static void throwing(MPI_Comm*, int* code, ...) { throw *code; }
static void jumping(MPI_Comm*, int*, ...) { longjmp(place, 1); }

static void handle(MPI_Comm_errhandler_function* function)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Errhandler_free(&handler);
}

__attribute__((noinline)) static void exchange()
{
    for (int i = 0; i < MESSAGES; ++i) {
        if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* Acts so many frames deeper. */
__attribute__((noinline)) static int below(int depth, void (*act)())
{
    volatile int frames = depth;
    if (depth == 0) act();
    else frames = below(depth - 1, act);
    return frames + 1;
}

__attribute__((noinline)) static void fail() { MPI_Send(&word, 1, MPI_INT, NOBODY, 0, MPI_COMM_WORLD); }

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    handle(throwing);
    /* Twice, since the second call from a place goes another way. */
    for (int i = 0; i < 2; ++i) {
        try {
            MPI_Send(&word, 1, MPI_INT, NOBODY, 0, MPI_COMM_WORLD);
            abort();
        } catch (int) {
        }
        /* From the same frame: the compiler puts these calls here. */
        for (int n = 0; n < MESSAGES; ++n) {
            if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
            if (rank == 1) MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    try {
        fail();
    } catch (int) {
    }
    below(40, exchange);
    try {
        below(40, fail);
    } catch (int) {
    }
    exchange();

    handle(jumping);
    if (setjmp(place) == 0) {
        fail();
        abort();
    }
    below(7, exchange);

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Request request = MPI_REQUEST_NULL;
    int other;
    if (MPI_Send(&word, 1, MPI_INT, NOBODY, 0, MPI_COMM_WORLD) == MPI_SUCCESS
        || MPI_Isend(&word, 1, MPI_INT, NOBODY, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS
        || MPI_Sendrecv(&word, 1, MPI_INT, NOBODY, 0, &other, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
            == MPI_SUCCESS
        || MPI_Bcast(&word, 1, MPI_INT, NOBODY, MPI_COMM_WORLD) == MPI_SUCCESS)
        abort();
    exchange();
    /* One that succeeds is one. */
    MPI_Request second;
    MPI_Isend(&word, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &request);
    MPI_Irecv(&other, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &second);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&second, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
