/* Four gets of 15 ms each, and 60 ms of work that does not need their data. 9 turns of 120 ms.
 *
 * expect 4 ranks
 * expect library gets_part.c
 * 1: they do not block.
 */
#include <shmem.h>
#include "pair.h"

void solve(void) { work(60); }

int main(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    shmem_init();
    long to[4], *from = shmem_malloc(sizeof to);
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int i = 0; i < 9; ++i) {
        for (int j = 0; j < 4; ++j) {
            if (repair == 1) shmem_getmem_nbi(&to[j], &from[j], sizeof(long), next);
            else shmem_getmem(&to[j], &from[j], sizeof(long), next);
        }
        solve();
        if (repair == 1) shmem_quiet();
        shmem_barrier_all();
    }
    shmem_finalize();
    return 0;
}
