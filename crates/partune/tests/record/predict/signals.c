/* Each PE writes to the next one, and all meet, although only neighbours need each other. PE 0 takes 60 ms in each second turn, PE 3 in the others;
 * all else takes 20. 12 turns of 60 ms; nobody hears of the other slow one soon enough to wait for it where neighbours tell each other.
 *
 * expect 6 ranks
 * 1: flags of neighbours in place of the barrier.
 */
#include <shmem.h>
#include "pair.h"

static long data, ready, unused;

void solve(int pe, int turn) { work(pe == (turn % 2 ? 3 : 0) ? 60 : 20); }

int main(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    shmem_init();
    int pe = shmem_my_pe(), pes = shmem_n_pes(), next = (pe + 1) % pes, before = (pe + pes - 1) % pes;
    shmem_barrier_all();
    for (long i = 1; i <= 12; ++i) {
        solve(pe, (int)i);
        shmem_long_p(&data, i, next);
        if (repair != 1) {
            shmem_barrier_all();
        } else {
            shmem_fence();
            shmem_long_p(&ready, i, next);
            shmem_long_wait_until(&ready, SHMEM_CMP_GE, i);
            shmem_long_p(&unused, i, before);
            shmem_long_wait_until(&unused, SHMEM_CMP_GE, i);
        }
    }
    shmem_finalize();
    return 0;
}
