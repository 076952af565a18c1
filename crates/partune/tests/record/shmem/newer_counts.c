/* A function of every family that OpenSHMEM 1.5 brings, so often as its place says, more often the higher the rank; and what it did is right.
 *
 * expect 4 ranks
 */
#include <shmem.h>
#include <shmemx.h>
#include <stdint.h>
#include <stdio.h>

static uint64_t signals[4];
static long to[64], from[64], counter, swapped, fetched, flags[4];
static int small[4];
static size_t found[4];

#define OFTEN(times) for (int i = 0; i < (times) + rank; ++i)
#define TIMES(times) for (int i = 0; i < (times); ++i)
#define CHECK(what) do { if (!(what)) { printf("PE %d: %s\n", rank, #what); bad = 1; } } while (0)

int main(void)
{
    int bad = 0;
    shmem_init();
    int rank = shmem_my_pe(), next = (rank + 1) % 4;
    long* heap = shmem_malloc_with_hints(4096, SHMEM_MALLOC_SIGNAL_REMOTE);
    CHECK(heap);

    /* Teams: both halves, and rows and columns of two by two. */
    shmem_team_t half, other, row, column, of_context;
    shmem_ctx_t context;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, rank % 2 == 0 ? &half : &other);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, 2, NULL, 0, rank % 2 == 1 ? &half : &other);
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column);
    OFTEN(1) CHECK(shmem_team_n_pes(half) == 2);
    OFTEN(2) CHECK(shmem_team_my_pe(half) == rank / 2);
    OFTEN(3) CHECK(shmem_team_translate_pe(half, 1, SHMEM_TEAM_WORLD) == 2 + rank % 2);
    TIMES(2) shmem_team_sync(half);
    TIMES(3) shmem_team_sync(column);
    CHECK(shmem_team_create_ctx(half, 0, &context) == 0);
    OFTEN(1) CHECK(shmem_ctx_get_team(context, &of_context) == 0 && of_context == half);

    /* Of each team the other PE. */
    int there = 1 - shmem_team_my_pe(half);
    from[0] = 100 + rank;
    OFTEN(1) shmem_ctx_long_put(context, to, from, 1, there);
    OFTEN(2) shmem_ctx_putmem_signal_nbi(context, to + 8, from, 8, &signals[1], 1, SHMEM_SIGNAL_ADD, there);
    shmem_ctx_quiet(context);
    OFTEN(1) shmem_long_put_signal(heap, from, 2, &signals[0], 5, SHMEM_SIGNAL_SET, next);
    OFTEN(3) shmem_putmem_signal(heap + 8, from, 16, &signals[2], 1, SHMEM_SIGNAL_ADD, next);
    OFTEN(2) shmem_long_put_signal_nbi(heap + 16, from, 2, &signals[3], 7, SHMEM_SIGNAL_SET, next);
    OFTEN(1) shmemx_signal_add(&signals[2], 1, next);
    CHECK(shmem_signal_wait_until(&signals[0], SHMEM_CMP_EQ, 5) == 5);
    shmem_barrier_all();
    OFTEN(1) CHECK(shmem_signal_fetch(&signals[1]) == 2 + (rank + 2) % 4);
    CHECK(to[0] == 100 + (rank + 2) % 4 && to[8] == to[0] && heap[0] == 100 + (rank + 3) % 4);
    CHECK(signals[2] == 4 + 2 * ((rank + 3) % 4));

    /* Atomic operations that do not block. */
    OFTEN(1) shmem_long_atomic_fetch_add_nbi(&fetched, &counter, 1, 0);
    OFTEN(2) shmem_long_atomic_fetch_inc_nbi(&fetched, &counter, 0);
    OFTEN(3) shmem_long_atomic_swap_nbi(&fetched, &swapped, rank, next);
    OFTEN(1) shmem_long_atomic_fetch_nbi(&fetched, &counter, next);
    OFTEN(2) shmem_ctx_long_atomic_compare_swap_nbi(context, &fetched, heap + 32, 0, rank, there);
    shmem_ctx_quiet(context);
    shmem_barrier_all();
    CHECK(rank != 0 || counter == 4 * 3 + 2 * 6);
    CHECK(swapped == (rank + 3) % 4 && heap[32] == (rank + 2) % 4);

    /* Several values. */
    OFTEN(1) CHECK(shmem_long_test_all(flags, 4, NULL, SHMEM_CMP_EQ, 1) == 0);
    OFTEN(2) CHECK(shmem_int_test_any(small, 4, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);
    OFTEN(3) CHECK(shmem_long_test_some(flags, 4, found, NULL, SHMEM_CMP_EQ, 1) == 0);
    shmem_barrier_all();
    TIMES(4) shmem_long_p(&flags[i], 1, next);
    shmem_int_p(&small[2], 1, next);
    shmem_long_wait_until_all(flags, 4, NULL, SHMEM_CMP_EQ, 1);
    CHECK(shmem_int_wait_until_any(small, 4, NULL, SHMEM_CMP_EQ, 1) == 2);
    long ones[4] = { 1, 1, 1, 1 };
    CHECK(shmem_long_wait_until_some_vector(flags, 4, found, NULL, SHMEM_CMP_EQ, ones) == 4);
    shmem_barrier_all();

    /* Collectives of teams. */
    for (int i = 0; i < 64; ++i) from[i] = rank;
    shmem_long_broadcast(half, to, from, 2, 1);
    CHECK(to[0] == 2 + rank % 2);
    shmem_team_sync(half);
    shmem_long_collect(half, to, from, 1 + shmem_team_my_pe(half));
    CHECK(to[2] == 2 + rank % 2);
    shmem_barrier_all();
    shmem_fcollectmem(SHMEM_TEAM_WORLD, to, from, 8);
    CHECK(to[3] == 3);
    shmem_barrier_all();
    shmem_long_alltoall(row, to, from, 1);
    CHECK(to[1] == rank / 2 * 2 + 1);
    shmem_team_sync(row);
    shmem_long_alltoalls(row, to, from, 1, 1, 1);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, from, 3);
    CHECK(to[2] == 6);
    shmem_barrier_all();
    shmem_long_max_reduce(half, to, from, 1);
    CHECK(to[0] == 2 + rank % 2);
    shmem_barrier_all();
    shmem_ctx_destroy(context);
    shmem_team_destroy(half);
    shmem_team_destroy(row);
    shmem_free(heap);
    shmem_finalize();
    return bad;
}
