/* PE 0 puts five hundred elements one by one where one put would do.
 *
 * expect 2 ranks
 * expect rank 0: shmem_double_p 500, puts 500, put 4000
 */
#include <shmem.h>

static double values[500];

int main(void)
{
    shmem_init();
    int rank = shmem_my_pe();
    shmem_barrier_all();
    for (int i = 0; i < 500; ++i)
        if (rank == 0) shmem_double_p(&values[i], i, 1); /* HERE */
    shmem_barrier_all();
    int good = rank == 0 || values[499] == 499;
    shmem_finalize();
    return good ? 0 : 1;
}
