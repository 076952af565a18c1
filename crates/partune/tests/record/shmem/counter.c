/* Counts calls that a program makes of OpenSHMEM, and not those that the library makes of itself; by the library's names for tools, and with none of our
 * code. Says them when the program is done: `counted RANK NAME CALLS`.
 */
#include <pshmem.h>
#include <shmem.h>
#include <stdio.h>

static __thread int inside;

/* What another PE may change. */
#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAS_TEAMS
typedef long word;
#else
typedef volatile long word;
#endif

#define FUNCTIONS(GIVES, DOES) \
    DOES(void, shmem_long_put, (long* a, const long* b, size_t c, int d), (a, b, c, d)) \
    DOES(void, shmem_putmem, (void* a, const void* b, size_t c, int d), (a, b, c, d)) \
    DOES(void, shmem_put32, (void* a, const void* b, size_t c, int d), (a, b, c, d)) \
    DOES(void, shmem_short_iput, (short* a, const short* b, ptrdiff_t c, ptrdiff_t d, size_t e, int f), (a, b, c, d, e, f)) \
    DOES(void, shmem_float_p, (float* a, float b, int c), (a, b, c)) \
    DOES(void, shmem_longdouble_p, (long double* a, long double b, int c), (a, b, c)) \
    DOES(void, shmem_ctx_longdouble_p, (shmem_ctx_t a, long double* b, long double c, int d), (a, b, c, d)) \
    DOES(void, shmem_ctx_double_put, (shmem_ctx_t a, double* b, const double* c, size_t d, int e), (a, b, c, d, e)) \
    DOES(void, shmem_long_put_nbi, (long* a, const long* b, size_t c, int d), (a, b, c, d)) \
    DOES(void, shmem_ctx_putmem_nbi, (shmem_ctx_t a, void* b, const void* c, size_t d, int e), (a, b, c, d, e)) \
    DOES(void, shmem_fence, (void), ()) \
    DOES(void, shmem_quiet, (void), ()) \
    DOES(void, shmem_ctx_quiet, (shmem_ctx_t a), (a)) \
    DOES(void, shmem_long_get, (long* a, const long* b, size_t c, int d), (a, b, c, d)) \
    DOES(void, shmem_getmem, (void* a, const void* b, size_t c, int d), (a, b, c, d)) \
    DOES(void, shmem_get64_nbi, (void* a, const void* b, size_t c, int d), (a, b, c, d)) \
    GIVES(float, shmem_float_g, (const float* a, int b), (a, b)) \
    GIVES(long double, shmem_longdouble_g, (const long double* a, int b), (a, b)) \
    GIVES(long double, shmem_ctx_longdouble_g, (shmem_ctx_t a, const long double* b, int c), (a, b, c)) \
    DOES(void, shmem_long_p, (long* a, long b, int c), (a, b, c)) \
    DOES(void, shmem_long_atomic_add, (long* a, long b, int c), (a, b, c)) \
    DOES(void, shmem_long_atomic_inc, (long* a, int b), (a, b)) \
    GIVES(long, shmem_long_atomic_fetch_add, (long* a, long b, int c), (a, b, c)) \
    GIVES(long, shmem_long_finc, (long* a, int b), (a, b)) \
    GIVES(long, shmem_long_atomic_swap, (long* a, long b, int c), (a, b, c)) \
    GIVES(long, shmem_long_atomic_compare_swap, (long* a, long b, long c, int d), (a, b, c, d)) \
    GIVES(long, shmem_long_atomic_fetch, (const long* a, int b), (a, b)) \
    DOES(void, shmem_double_set, (double* a, double b, int c), (a, b, c)) \
    DOES(void, shmem_barrier_all, (void), ()) \
    DOES(void, shmem_sync_all, (void), ()) \
    DOES(void, shmem_barrier, (int a, int b, int c, long* d), (a, b, c, d)) \
    DOES(void, shmem_broadcast64, (void* a, const void* b, size_t c, int d, int e, int f, int g, long* h), (a, b, c, d, e, f, g, h)) \
    DOES(void, shmem_fcollect32, (void* a, const void* b, size_t c, int d, int e, int f, long* g), (a, b, c, d, e, f, g)) \
    DOES(void, shmem_collect64, (void* a, const void* b, size_t c, int d, int e, int f, long* g), (a, b, c, d, e, f, g)) \
    DOES(void, shmem_alltoall32, (void* a, const void* b, size_t c, int d, int e, int f, long* g), (a, b, c, d, e, f, g)) \
    DOES(void, shmem_long_sum_to_all, (long* a, const long* b, int c, int d, int e, int f, long* g, long* h), (a, b, c, d, e, f, g, h)) \
    DOES(void, shmem_set_lock, (word* a), (a)) \
    DOES(void, shmem_clear_lock, (word* a), (a)) \
    GIVES(int, shmem_test_lock, (word* a), (a)) \
    DOES(void, shmem_long_wait_until, (word* a, int b, long c), (a, b, c)) \
    GIVES(void*, shmem_malloc, (size_t a), (a)) \
    GIVES(void*, shmem_realloc, (void* a, size_t b), (a, b)) \
    DOES(void, shmem_free, (void* a), (a)) \
    GIVES(int, shmem_ctx_create, (long a, shmem_ctx_t* b), (a, b)) \
    DOES(void, shmem_ctx_destroy, (shmem_ctx_t a), (a)) \
    NEWER(GIVES, DOES)

#ifdef HAS_TEAMS
typedef shmem_ctx_t ctx;
typedef shmem_team_t team;
typedef const shmem_team_config_t config;
typedef uint64_t u64;
#define NEWER(GIVES, DOES) \
    GIVES(void*, shmem_malloc_with_hints, (size_t a, long b), (a, b)) \
    GIVES(int, shmem_team_split_strided, (team a, int b, int c, int d, config* e, long f, team* g), (a, b, c, d, e, f, g)) \
    GIVES(int, shmem_team_split_2d, (team a, int b, config* c, long d, team* e, config* f, long g, team* h), (a, b, c, d, e, f, g, h)) \
    GIVES(int, shmem_team_n_pes, (team a), (a)) \
    GIVES(int, shmem_team_my_pe, (team a), (a)) \
    GIVES(int, shmem_team_translate_pe, (team a, int b, team c), (a, b, c)) \
    GIVES(int, shmem_team_sync, (team a), (a)) \
    GIVES(int, shmem_team_create_ctx, (team a, long b, ctx* c), (a, b, c)) \
    GIVES(int, shmem_ctx_get_team, (ctx a, team* b), (a, b)) \
    DOES(void, shmem_int_p, (int* a, int b, int c), (a, b, c)) \
    DOES(void, shmem_ctx_long_put, (ctx a, long* b, const long* c, size_t d, int e), (a, b, c, d, e)) \
    DOES(void, shmem_long_put_signal, (long* a, const long* b, size_t c, u64* d, u64 e, int f, int g), (a, b, c, d, e, f, g)) \
    DOES(void, shmem_putmem_signal, (void* a, const void* b, size_t c, u64* d, u64 e, int f, int g), (a, b, c, d, e, f, g)) \
    DOES(void, shmem_long_put_signal_nbi, (long* a, const long* b, size_t c, u64* d, u64 e, int f, int g), (a, b, c, d, e, f, g)) \
    DOES(void, shmem_ctx_putmem_signal_nbi, (ctx a, void* b, const void* c, size_t d, u64* e, u64 f, int g, int h), (a, b, c, d, e, f, g, h)) \
    DOES(void, shmemx_signal_add, (u64* a, u64 b, int c), (a, b, c)) \
    GIVES(u64, shmem_signal_fetch, (const u64* a), (a)) \
    GIVES(u64, shmem_signal_wait_until, (u64* a, int b, u64 c), (a, b, c)) \
    DOES(void, shmem_long_atomic_fetch_add_nbi, (long* a, long* b, long c, int d), (a, b, c, d)) \
    DOES(void, shmem_long_atomic_fetch_inc_nbi, (long* a, long* b, int c), (a, b, c)) \
    DOES(void, shmem_long_atomic_swap_nbi, (long* a, long* b, long c, int d), (a, b, c, d)) \
    DOES(void, shmem_long_atomic_fetch_nbi, (long* a, const long* b, int c), (a, b, c)) \
    DOES(void, shmem_ctx_long_atomic_compare_swap_nbi, (ctx a, long* b, long* c, long d, long e, int f), (a, b, c, d, e, f)) \
    GIVES(int, shmem_long_test_all, (long* a, size_t b, const int* c, int d, long e), (a, b, c, d, e)) \
    GIVES(size_t, shmem_int_test_any, (int* a, size_t b, const int* c, int d, int e), (a, b, c, d, e)) \
    GIVES(size_t, shmem_long_test_some, (long* a, size_t b, size_t* c, const int* d, int e, long f), (a, b, c, d, e, f)) \
    DOES(void, shmem_long_wait_until_all, (long* a, size_t b, const int* c, int d, long e), (a, b, c, d, e)) \
    GIVES(size_t, shmem_int_wait_until_any, (int* a, size_t b, const int* c, int d, int e), (a, b, c, d, e)) \
    GIVES(size_t, shmem_long_wait_until_some_vector, (long* a, size_t b, size_t* c, const int* d, int e, long* f), (a, b, c, d, e, f)) \
    GIVES(int, shmem_long_broadcast, (team a, long* b, const long* c, size_t d, int e), (a, b, c, d, e)) \
    GIVES(int, shmem_long_collect, (team a, long* b, const long* c, size_t d), (a, b, c, d)) \
    GIVES(int, shmem_fcollectmem, (team a, void* b, const void* c, size_t d), (a, b, c, d)) \
    GIVES(int, shmem_long_alltoall, (team a, long* b, const long* c, size_t d), (a, b, c, d)) \
    GIVES(int, shmem_long_alltoalls, (team a, long* b, const long* c, ptrdiff_t d, ptrdiff_t e, size_t f), (a, b, c, d, e, f)) \
    GIVES(int, shmem_long_sum_reduce, (team a, long* b, const long* c, size_t d), (a, b, c, d)) \
    GIVES(int, shmem_long_max_reduce, (team a, long* b, const long* c, size_t d), (a, b, c, d))
#else
#define NEWER(GIVES, DOES)
#endif

#define NUMBER(type, name, parameters, arguments) static long calls_##name;
FUNCTIONS(NUMBER, NUMBER)

#define GIVES(type, name, parameters, arguments) \
    type name parameters { calls_##name += !inside++; type result = p##name arguments; --inside; return result; }
#define DOES(type, name, parameters, arguments) \
    type name parameters { calls_##name += !inside++; p##name arguments; --inside; }
FUNCTIONS(GIVES, DOES)

#define TELL(type, name, parameters, arguments) printf("counted %d " #name " %ld\n", rank, calls_##name);
void shmem_finalize(void)
{
    int rank = pshmem_my_pe();
    FUNCTIONS(TELL, TELL)
    fflush(stdout);
    ++inside;
    pshmem_finalize();
}
