/* PE 0 produces for 90 ms and sets a flag of PE 1, which then works 30 ms and sets one of PE 0. 9 turns of 120 ms.
 *
 * expect 2 ranks
 * 1: produced in 36 ms.
 */
#include <shmem.h>
#include "pair.h"

void produce(void) { work(repair == 1 ? 36 : 90); }
void consume(void) { work(30); }

int main(int argc, char** argv)
{
    static long flag;
    repair = argc > 1 ? atoi(argv[1]) : 0;
    shmem_init();
    int pe = shmem_my_pe();
    for (int i = 1; i <= 9; ++i) {
        if (pe == 0) {
            produce();
            shmem_long_p(&flag, i, 1);
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, i);
        } else {
            shmem_long_wait_until(&flag, SHMEM_CMP_GE, i);
            consume();
            shmem_long_p(&flag, i, 0);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
