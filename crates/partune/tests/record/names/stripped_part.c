/* The library of stripped.c. */
#include <mpi.h>

__attribute__((noipa)) static void hidden(int wanted)
{
    if (wanted)
        MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}

/* In a section that comes before the others. */
__attribute__((section(".text.unlikely"))) void exported(void)
{
    hidden(1);
    __asm__ volatile("");
}
