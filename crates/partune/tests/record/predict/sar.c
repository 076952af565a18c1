/* PPW's case of SAR: PE 0 reads a piece of an image for 66 ms, then all process their part of it for 99 ms. 8 pieces of 165 ms. A master that leaves
 * the processing to others still waits for them before it reads, and flags in place of the barrier help no master that processes; both together
 * let it read while others process.
 *
 * expect 4 ranks
 * 1: a dedicated master, 66 + 132 ms; 2: flags, 66 + 99 ms; 3: both, 132 ms after the first 66.
 */
#include <shmem.h>
#include "pair.h"

enum { PES = 4, PIECES = 8 };
static long done[PES];

void read_piece(void) { work(66); }
void process(int dedicated) { work(dedicated ? 132 : 99); }

int main(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    int dedicated = repair == 1 || repair == 3, flags = repair >= 2;
    shmem_init();
    int pe = shmem_my_pe();
    for (long i = 1; i <= PIECES; ++i) {
        if (pe == 0) read_piece();
        if (pe == 0 && flags)
            for (int other = 1; other < PES; ++other) shmem_long_wait_until(&done[other], SHMEM_CMP_GE, i - 1);
        shmem_barrier_all();
        if (pe > 0 || !dedicated) process(dedicated);
        if (flags && pe > 0) shmem_long_p(&done[pe], i, 0);
        if (!flags) shmem_barrier_all(); /* END */
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
