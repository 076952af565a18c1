/* Counts calls that a program makes of OpenSHMEM, and not those that the library makes of itself; by the library's names for tools, and with none of our
 * code. Says them when the program is done: `counted RANK NAME CALLS`.
 */
#include <pshmem.h>
#include <shmem.h>
#include <stdio.h>

static __thread int inside;

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
    DOES(void, shmem_set_lock, (volatile long* a), (a)) \
    DOES(void, shmem_clear_lock, (volatile long* a), (a)) \
    GIVES(int, shmem_test_lock, (volatile long* a), (a)) \
    DOES(void, shmem_long_wait_until, (volatile long* a, int b, long c), (a, b, c)) \
    GIVES(void*, shmem_malloc, (size_t a), (a)) \
    GIVES(void*, shmem_realloc, (void* a, size_t b), (a, b)) \
    DOES(void, shmem_free, (void* a), (a)) \
    GIVES(int, shmem_ctx_create, (long a, shmem_ctx_t* b), (a, b)) \
    DOES(void, shmem_ctx_destroy, (shmem_ctx_t a), (a))

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
