/* A function of every family, so often as its place says, more often the higher the rank; and what it did is right.
 *
 * expect 4 ranks
 */
#include <shmem.h>
#include <stdio.h>

static long sync_all[SHMEM_BARRIER_SYNC_SIZE], sync_move[SHMEM_COLLECT_SYNC_SIZE], sync_sum[SHMEM_REDUCE_SYNC_SIZE];
static long sync_broadcast[SHMEM_BCAST_SYNC_SIZE], sync_change[SHMEM_ALLTOALL_SYNC_SIZE];
static long room[SHMEM_REDUCE_MIN_WRKDATA_SIZE], counter, swapped, flag, lock, ones = 1, total;
static float real;
static long double wide;
static short narrow[8];
static int many[64], others[64];

#define OFTEN(times) for (int i = 0; i < (times) + rank; ++i)
#define CHECK(what) do { if (!(what)) { printf("PE %d: %s\n", rank, #what); bad = 1; } } while (0)

int main(void)
{
    int bad = 0;
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; ++i) sync_all[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; ++i) sync_move[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; ++i) sync_sum[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; ++i) sync_broadcast[i] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < SHMEM_ALLTOALL_SYNC_SIZE; ++i) sync_change[i] = SHMEM_SYNC_VALUE;
    shmem_init();
    int rank = shmem_my_pe(), size = shmem_n_pes(), next = (rank + 1) % size;
    long* heap = shmem_malloc(4096);
    shmem_ctx_t context;
    CHECK(shmem_ctx_create(0, &context) == 0);
    for (int i = 0; i < 512; ++i) heap[i] = 0;
    for (int i = 0; i < 64; ++i) many[i] = rank;
    shmem_barrier_all();

    long source[16] = { rank, 1, 2, 3 }, sink[16];
    OFTEN(1) shmem_long_put(heap, source, 4, next);
    OFTEN(2) shmem_putmem(heap + 8, source, 24, next);
    OFTEN(3) shmem_put32(heap + 16, source, 5, next);
    OFTEN(1) shmem_short_iput(narrow, (short*)source, 2, 1, 2, next);
    OFTEN(2) shmem_float_p(&real, 1.5f, next);
    OFTEN(3) shmem_longdouble_p(&wide, 2.5L + i, next);
    OFTEN(1) shmem_ctx_longdouble_p(context, (long double*)(heap + 64), 7.5L, next);
    OFTEN(2) shmem_ctx_double_put(context, (double*)heap + 24, (double*)source, 2, next);
    OFTEN(3) shmem_long_put_nbi(heap + 32, source, 4, next);
    OFTEN(1) shmem_ctx_putmem_nbi(context, heap + 40, source, 8, next);
    OFTEN(2) shmem_fence();
    OFTEN(1) shmem_ctx_quiet(context);
    OFTEN(2) shmem_quiet();
    shmem_barrier_all();
    CHECK(heap[0] == (rank + size - 1) % size && heap[3] == 3 && heap[32] == heap[0] && real == 1.5f);
    CHECK(wide == 4.5L + (rank + size - 1) % size);
    OFTEN(3) shmem_long_get(sink, heap, 4, next);
    CHECK(sink[0] == rank);
    OFTEN(1) shmem_getmem(sink, heap, 8, next);
    OFTEN(2) shmem_get64_nbi(sink, heap, 2, next);
    OFTEN(1) shmem_quiet();
    OFTEN(3) CHECK(shmem_float_g(&real, next) == 1.5f);
    OFTEN(1) CHECK(shmem_longdouble_g(&wide, next) == 4.5L + rank);
    OFTEN(2) CHECK(shmem_ctx_longdouble_g(context, (long double*)(heap + 64), next) == 7.5L);
    shmem_barrier_all();

    OFTEN(2) shmem_long_atomic_add(&counter, 1, 0);
    OFTEN(3) shmem_long_atomic_inc(&counter, 0);
    OFTEN(1) shmem_long_atomic_fetch_add(&counter, 1, 0);
    OFTEN(2) shmem_long_finc(&counter, 0);
    OFTEN(3) shmem_long_atomic_swap(&swapped, rank, next);
    OFTEN(1) shmem_long_atomic_compare_swap(&swapped, -1, 5, next);
    OFTEN(2) shmem_long_atomic_fetch(&swapped, next);
    OFTEN(3) shmem_double_set((double*)(heap + 48), 2.5, next);
    shmem_barrier_all();
    CHECK(rank != 0 || counter == 4 * 8 + 4 * 6);
    CHECK(swapped == (rank + size - 1) % size);

#define TIMES(times) for (int i = 0; i < (times); ++i)
    TIMES(2) shmem_sync_all();
    TIMES(3) shmem_barrier(0, 0, 4, sync_all);
    if (rank % 2 == 0) TIMES(2) shmem_barrier(0, 1, 2, sync_all);
    shmem_barrier_all();
    shmem_broadcast64(many, others, 2, 0, 0, 0, 4, sync_broadcast);
    shmem_barrier_all();
    shmem_fcollect32(others, many, 1, 0, 0, 4, sync_move);
    shmem_barrier_all();
    shmem_collect64(heap, heap + 100, 1 + rank, 0, 0, 4, sync_move);
    shmem_barrier_all();
    shmem_alltoall32(others, many, 2, 0, 0, 4, sync_change);
    shmem_barrier_all();
    shmem_long_sum_to_all(&total, &ones, 1, 0, 0, 4, room, sync_sum);
    CHECK(total == 4);
    OFTEN(1) {
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    if (rank == 3) {
        CHECK(shmem_test_lock(&lock) == 0);
        shmem_clear_lock(&lock);
    }
    OFTEN(3) shmem_long_test(&flag, SHMEM_CMP_EQ, 7);
    shmem_long_p(&flag, 1, next);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    heap = shmem_realloc(heap, 8192);
    shmem_ctx_destroy(context);
    shmem_free(heap);
    shmem_finalize();
    return bad;
}
