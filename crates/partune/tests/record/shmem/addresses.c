/* Twelve doubles in the symmetric heap, four on each of three PEs, but PE q reads elements q, q + 3, q + 6, q + 9: half of them lie on another PE, and
 * would not if the elements were dealt out one by one. What is read with holes has no address, and neither has what is read of the heap by no call.
 *
 * expect 3 ranks
 * expect each: shmem_double_g 4, shmem_double_iget 1, gets 5, got 48
 */
#include <shmem.h>

int main(void)
{
    static double global[4];
    shmem_init();
    int rank = shmem_my_pe(), size = shmem_n_pes(), good = 1;
    double* mine = shmem_malloc(4 * sizeof *mine);
    double pair[2];
    for (int i = 0; i < 4; i++)
        mine[i] = global[i] = 4 * rank + i;
    shmem_barrier_all();
    for (int i = rank; i < 12; i += 3)
        good = good && shmem_double_g(&mine[i % 4], i / 4) == i;
    shmem_double_iget(pair, global, 1, 2, 2, (rank + 1) % size);
    good = good && pair[1] == (rank + 1) % size * 4 + 2;
    shmem_barrier_all();
    shmem_free(mine);
    shmem_finalize();
    return good ? 0 : 1;
}
