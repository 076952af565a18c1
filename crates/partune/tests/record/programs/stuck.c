/* What a recorder may put off: 8,000 exchanges, of which nothing is written before they return, and messages by turns from two callers. Then
 * both ranks send 8 MiB that nobody receives, from the place of the messages before, until an alarm ends them: the send is there.
 *
 * expect 2 ranks
 * expect status bad
 * expect each: MPI_Sendrecv 8000, MPI_Send 41, MPI_Recv 40, sends 8041, sent 8452928, receives 8040, received 64320
 * expect each: odd/MPI_Send 20, even/MPI_Send 21, odd/MPI_Recv 20, even/MPI_Recv 20
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static int rank;
static double *out, in;

__attribute__((noinline)) static void send(int count)
{
    MPI_Send(out, count, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD);
}

__attribute__((noinline)) static void receive(void)
{
    MPI_Recv(&in, 1, MPI_DOUBLE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Two callers with frames of one size; both ranks send first, or rank 0 does. */
#define CALLER(NAME)                                               \
    __attribute__((noinline, noclone)) static void NAME(int count) \
    {                                                              \
        if (rank == 0 || count > 1) send(count);                   \
        receive();                                                 \
        if (rank == 1) send(count);                                \
        __asm__ volatile("" ::"r"(#NAME));                         \
    }
CALLER(even)
CALLER(odd)

int main(int argc, char** argv)
{
    enum { LARGE = 1 << 20 };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    out = calloc(LARGE, sizeof *out);
    for (int i = 0; i < 8000; ++i)
        MPI_Sendrecv(out, 1, MPI_DOUBLE, 1 - rank, 0, &in, 1, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 40; ++i) (i % 2 ? odd : even)(1);
    alarm(2);
    even(LARGE);
    return 1;
}
