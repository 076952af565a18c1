/* All PEs put large blocks into the memory of PE 0 at the same time; with the argument `ring` each puts into its neighbour's, where nobody else does.
 *
 * expect 4 ranks
 * expect each: shmem_putmem 10, puts 10, put 167772160
 */
#include <shmem.h>
#include <string.h>

enum { BYTES = 16 << 20 };

int main(int argc, char** argv)
{
    shmem_init();
    int rank = shmem_my_pe(), size = shmem_n_pes();
    int is_ring = strcmp(argv[argc - 1], "ring") == 0;
    char* all = shmem_malloc(4 * (size_t)BYTES);
    char* own = shmem_malloc(BYTES);
    memset(own, rank + 1, BYTES);
    shmem_barrier_all();
    for (int i = 0; i < 10; ++i) {
        shmem_putmem(all + rank * (size_t)BYTES, own, BYTES, is_ring ? (rank + 1) % size : 0); /* HERE */
        shmem_barrier_all();
    }
    int good = is_ring || rank != 0 || all[3 * (size_t)BYTES + BYTES - 1] == 4;
    shmem_free(own);
    shmem_free(all);
    shmem_finalize();
    return good ? 0 : 1;
}
