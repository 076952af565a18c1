/* PPW's case of FT: a transpose fetches a block of each other PE, one after the other. 6 turns of 163.3 ms and 3 blocks of 15 ms: two of these are
 * 14.4 % of the run.
 *
 * expect 4 ranks
 * expect library gets_part.c
 * 1: the blocks are fetched at once.
 */
#include <shmem.h>
#include "pair.h"

enum { PES = 4, BLOCK = 64 };
static double grid[PES][BLOCK], transposed[PES][BLOCK];

void fft(void) { work(163.3); }

void transpose(int pe)
{
    for (int i = 1; i < PES; ++i) {
        int other = (pe + i) % PES;
        if (repair == 1) shmem_getmem_nbi(transposed[other], grid[pe], sizeof grid[pe], other);
        else shmem_getmem(transposed[other], grid[pe], sizeof grid[pe], other);
    }
    if (repair == 1) shmem_quiet();
}

int main(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    shmem_init();
    for (int i = 0; i < 6; ++i) {
        fft();
        shmem_barrier_all();
        transpose(shmem_my_pe());
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
