/* Whoever is late in what OpenSHMEM 1.5 brings: signals, waits for several values, teams and their contexts. Says at its end what `late.c` says.
 *
 * expect 4 ranks
 * expect wait wait_on_value at SIGNAL: shmem_signal_wait_until, ranks 1, 0.30 s, causes 0, path signalled, in main
 * expect wait wait_on_value at CONTEXT: shmem_signal_wait_until, ranks 2, 0.30 s, causes 0, path in_context, in main
 * expect wait wait_on_value at ALL: shmem_long_wait_until_all, ranks 3, 0.30 s, causes 1, path all, in main
 * expect wait wait_on_value at ANY: shmem_int_wait_until_any, ranks 2, 0.30 s, causes 3, path any, in main
 * expect wait wait_at_barrier at TEAM: shmem_team_sync, ranks 0, 0.30 s, causes 2, path meet, in main
 * expect wait late_broadcast at BROADCAST: shmem_long_broadcast, ranks 3, 0.30 s, causes 1, path cast, in main
 * expect wait wait_at_nxn at REDUCTION: shmem_long_sum_reduce, ranks 2, 0.30 s, causes 3, path reduce, in main
 */
#define SHMEM
#include "said.h"

static uint64_t signals[2];
static long flags[8], from[4], to[4], one = 1, sum;
static int any_flags[8], bad;
static shmem_team_t evens, odds, row, column;
static shmem_ctx_t of_evens;

PART signalled(void)
{
    late(rank == 0, 100);
    from[0] = turn;
    if (rank == 0) {
        shmem_long_put_signal(to, from, 4, &signals[0], turn, SHMEM_SIGNAL_SET, 1);
        say("gives", now(), 0);
    }
    if (rank == 1) IN(shmem_signal_wait_until(&signals[0], SHMEM_CMP_GE, turn)); /* SIGNAL */
    bad |= rank == 1 && to[0] != turn;
}

/* PE 2 is number 1 of its team. */
PART in_context(void)
{
    late(rank == 0, 100);
    from[0] = turn;
    if (rank == 0) {
        shmem_ctx_putmem_signal_nbi(of_evens, to, from, sizeof from, &signals[1], 1, SHMEM_SIGNAL_ADD, 1);
        shmem_ctx_quiet(of_evens);
        say("gives", now(), 0);
    }
    if (rank == 2) IN(shmem_signal_wait_until(&signals[1], SHMEM_CMP_GE, turn)); /* CONTEXT */
    bad |= rank == 2 && to[0] != turn;
}

/* The other values come early, and one is not asked for. */
PART all(void)
{
    static int status[4] = { 0, 1, 0, 0 };
    if (rank == 0) {
        shmem_long_p(&flags[0], turn, 3);
        shmem_long_p(&flags[3], turn, 3);
        shmem_quiet();
    }
    late(rank == 1, 100);
    if (rank == 1) {
        shmem_long_p(&flags[2], turn, 3);
        say("gives", now(), 0);
    }
    if (rank == 3) IN(shmem_long_wait_until_all(flags, 4, status, SHMEM_CMP_GE, turn)); /* ALL */
}

PART any(void)
{
    late(rank == 3, 100);
    if (rank == 3) {
        shmem_int_p(&any_flags[5], turn, 2);
        say("gives", now(), 0);
    }
    size_t found = 5;
    if (rank == 2) IN(found = shmem_int_wait_until_any(any_flags, 8, NULL, SHMEM_CMP_EQ, turn)); /* ANY */
    bad |= found != 5;
}

PART meet(void)
{
    late(rank == 2, 100);
    if (rank % 2 == 0) IN(shmem_team_sync(evens)); /* TEAM */
    STAY;
}

PART cast(void)
{
    from[0] = turn;
    late(rank == 1, 100);
    if (rank == 1) say("gives", now(), 0);
    if (rank % 2 == 1) IN(shmem_long_broadcast(odds, to, from, 4, 0)); /* BROADCAST */
    bad |= rank % 2 == 1 && to[0] != turn;
}

PART reduce(void)
{
    late(rank == 3, 100);
    if (rank >= 2) IN(shmem_long_sum_reduce(row, &sum, &one, 1)); /* REDUCTION */
    bad |= rank >= 2 && sum != 2;
}

int main(int argc, char** argv)
{
    start(argc, argv);
    bad |= shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &evens);
    bad |= shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 2, NULL, 0, &odds);
    bad |= shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column);
    if (rank % 2 == 0) bad |= shmem_team_create_ctx(evens, 0, &of_evens);
    shmem_barrier_all(); /* START */
    THRICE("SIGNAL", signalled())
    THRICE("CONTEXT", in_context())
    THRICE("ALL", all())
    THRICE("ANY", any())
    THRICE("TEAM", meet())
    THRICE("BROADCAST", cast())
    THRICE("REDUCTION", reduce())
    if (rank % 2 == 0) shmem_ctx_destroy(of_evens);
    shmem_finalize();
    tell_all();
    return bad;
}
