/* Two PEs that work alike; each puts to the other one, and gets from it, and both take a lock.
 *
 * expect 2 ranks
 */
#include <shmem.h>

static double from[512], to[512];
static long lock;

int main(void)
{
    shmem_init();
    int other = 1 - shmem_my_pe();
    for (int turn = 0; turn < 20; ++turn) {
        for (volatile int i = 0; i < 2000000; ++i) {}
        shmem_barrier_all();
        shmem_putmem(to, from, sizeof to, other);
        shmem_quiet();
        shmem_barrier_all();
        shmem_getmem(from, to, sizeof to, other);
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    shmem_finalize();
    return 0;
}
