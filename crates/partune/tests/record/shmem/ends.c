/* Ten puts, and an end that is none: by the argument.
 *
 * expect 2 ranks
 * expect status any
 * expect rank 1: shmem_long_p 10, puts 10, put 80
 */
#include <shmem.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long there;

int main(int argc, char** argv)
{
    shmem_init();
    int rank = shmem_my_pe();
    shmem_barrier_all();
    for (int i = 0; i < 10; ++i)
        shmem_long_p(&there, i, 1 - rank);
    shmem_barrier_all();
    if (rank == 0) pause();
    if (strcmp(argv[argc - 1], "kill") == 0) raise(SIGKILL);
    if (strcmp(argv[argc - 1], "abort") == 0) abort();
    if (strcmp(argv[argc - 1], "exit") == 0) _exit(3);
    shmem_global_exit(3);
    return 0;
}
