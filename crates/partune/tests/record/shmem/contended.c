/* All others want a lock while one has it for long, and get it one after another. At its end a PE says when it came, got it and gave it back:
 * `had TURN RANK CAME GOT GAVE`.
 *
 * expect 4 ranks
 */
#define SHMEM
#include "../waits/work.h"

#define TURNS 5
/* The last call is no jump. */
#define STAY __asm__ volatile("")

static long lock;
static struct { double came, got, gave; } had[TURNS];

__attribute__((noinline)) static void hold(int turn)
{
    shmem_set_lock(&lock);
    had[turn].came = had[turn].got = now();
    shmem_barrier_all();
    if (!balanced) work(300);
    had[turn].gave = now();
    shmem_clear_lock(&lock);
    STAY;
}

__attribute__((noinline)) static void want(int turn)
{
    shmem_barrier_all();
    had[turn].came = now();
    shmem_set_lock(&lock); /* LOCK */
    had[turn].got = had[turn].gave = now();
    shmem_clear_lock(&lock);
    STAY;
}

int main(int argc, char** argv)
{
    start(argc, argv);
    for (int turn = 0; turn < TURNS; ++turn) {
        if (rank == 0) hold(turn);
        else want(turn);
        shmem_barrier_all();
    }
    shmem_finalize();
    for (int turn = 0; turn < TURNS; ++turn)
        printf("had %d %d %.9f %.9f %.9f\n", turn, rank, had[turn].came, had[turn].got, had[turn].gave);
    return 0;
}
