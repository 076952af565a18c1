/* Whoever is late in each thing that PEs of OpenSHMEM do together. Sleep has no samples: it is in what the calls before and after it have in common.
 *
 * expect 4 ranks
 * expect wait wait_on_value at VALUE: shmem_long_wait_until, ranks 1, 0.30 s, causes 0, path value, in main
 * expect wait wait_on_lock at LOCK: shmem_set_lock, ranks 3, 0.30 s, causes 2, path locked, in locked
 * expect wait wait_at_barrier at BARRIER: shmem_barrier_all, ranks 0 2 3, 0.30 s, causes 1, path meet, in main
 * expect wait wait_at_barrier at SET: shmem_barrier, ranks 0, 0.30 s, causes 2, path meet_in_set, in main
 * expect wait late_broadcast at BROADCAST: shmem_broadcast, ranks 0 2 3, 0.30 s, causes 1, path cast, in main
 * expect wait wait_at_nxn at REDUCTION: shmem_long_sum_to_all, ranks 0 1 2, 0.30 s, causes 3, path reduce, in main
 */
#define SHMEM
#include "said.h"

static long flag, lock, one = 1, sum;
static int from[16], to[16], bad;
static long for_set[SHMEM_BARRIER_SYNC_SIZE], for_broadcast[SHMEM_BCAST_SYNC_SIZE];
static long for_sum[SHMEM_REDUCE_SYNC_SIZE], room[SHMEM_REDUCE_MIN_WRKDATA_SIZE];

PART value(void)
{
    late(rank == 0, 100);
    if (rank == 0) {
        shmem_long_p(&flag, turn, 1);
        say("gives", now(), 0);
    }
    if (rank == 1) IN(shmem_long_wait_until(&flag, SHMEM_CMP_GE, turn)); /* VALUE */
    bad |= rank == 1 && flag < turn;
}

PART locked(void)
{
    if (rank == 2) shmem_set_lock(&lock);
    shmem_barrier_all();
    late(rank == 2, 100);
    if (rank == 2) {
        say("gives", now(), 0);
        shmem_clear_lock(&lock);
    }
    if (rank == 3) {
        IN(shmem_set_lock(&lock)); /* LOCK */
        shmem_clear_lock(&lock);
    }
    STAY;
}

PART meet(void)
{
    late(rank == 1, 100);
    IN(shmem_barrier_all()); /* BARRIER */
    STAY;
}

PART meet_in_set(void)
{
    late(rank == 2, 100);
    if (rank % 2 == 0) IN(shmem_barrier(0, 1, 2, for_set)); /* SET */
    STAY;
}

PART cast(void)
{
    from[0] = turn;
    late(rank == 1, 100);
    if (rank == 1) say("gives", now(), 0);
    IN(shmem_broadcast32(to, from, 16, 1, 0, 0, 4, for_broadcast)); /* BROADCAST */
    bad |= rank != 1 && to[0] != turn;
}

PART reduce(void)
{
    late(rank == 3, 100);
    IN(shmem_long_sum_to_all(&sum, &one, 1, 0, 0, 4, room, for_sum)); /* REDUCTION */
    bad |= sum != 4;
}

int main(int argc, char** argv)
{
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) for_set[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) for_broadcast[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) for_sum[i] = SHMEM_SYNC_VALUE;
    start(argc, argv);
    shmem_barrier_all(); /* START */
    THRICE("VALUE", value())
    THRICE("LOCK", locked())
    THRICE("BARRIER", meet())
    THRICE("SET", meet_in_set())
    THRICE("BROADCAST", cast())
    THRICE("REDUCTION", reduce())
    shmem_finalize();
    tell_all();
    return bad;
}
