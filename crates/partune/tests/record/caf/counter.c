/* Counts calls that a program makes of its coarray library, and not those that the library makes of itself; with none of our code. Says them when the
 * program is done: `counted RANK is CALLS: STATEMENT`. What a recorder asks the library for itself (images, communicators) is not counted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int inside;
static struct { const char* name; long calls; } all[100];
static void* critical[10];
static void* components[10];

static void count(const char* name)
{
    if (inside) return;
    for (int i = 0;; ++i) {
        if (!all[i].name) all[i].name = name;
        if (strcmp(all[i].name, name) == 0) {
            ++all[i].calls;
            return;
        }
    }
}

static void* next(const char* name)
{
    return dlsym(RTLD_NEXT, name);
}

static int is_critical(long token)
{
    for (int i = 0; i < 10; ++i)
        if (critical[i] && critical[i] == (void*)token) return 1;
    return 0;
}

static const char* operation(long code, long old)
{
    static const char* names[2][4] = { { "atomic_add", "atomic_and", "atomic_or", "atomic_xor" },
        { "atomic_fetch_add", "atomic_fetch_and", "atomic_fetch_or", "atomic_fetch_xor" } };
    return names[old != 0][((int)code - 1) & 3];
}

#define A long a, long b, long c, long d, long e, long f
#define MORE A, long g, long h, long i, long j, long k, long l, long m, long n, long o
#define CALL(name, parameters, arguments, statement)                                          \
    long _gfortran_caf_##name parameters                                                      \
    {                                                                                         \
        static long (*real)parameters;                                                        \
        if (!real) real = (long (*)parameters)next("_gfortran_caf_" #name);                   \
        count(statement);                                                                     \
        ++inside;                                                                             \
        long result = real arguments;                                                         \
        --inside;                                                                             \
        return result;                                                                        \
    }
#define SIX(name, statement) CALL(name, (A), (a, b, c, d, e, f), statement)
#define MANY(name, statement) CALL(name, (MORE), (a, b, c, d, e, f, g, h, i, j, k, l, m, n, o), statement)

MANY(send, "puts")
MANY(send_by_ref, "puts")
MANY(get, "gets")
MANY(get_by_ref, "gets")
MANY(sendget, "copy")
SIX(is_present, "allocated")
SIX(failed_images, "failed_images")
SIX(stopped_images, "stopped_images")
SIX(image_status, "image_status")
SIX(team_number, "team_number")
SIX(random_init, "random_init")
SIX(sync_all, "sync all")
SIX(sync_images, "sync images")
SIX(sync_memory, "sync memory")
SIX(sync_team, "sync team")
SIX(form_team, "form team")
SIX(change_team, "change team")
SIX(end_team, "end team")
MANY(lock, is_critical(a) ? "critical" : d ? "lock acquired_lock" : "lock")
SIX(unlock, is_critical(a) ? "end critical" : "unlock")
SIX(event_post, "event post")
SIX(event_wait, "event wait")
SIX(event_query, "event_query")
MANY(atomic_define, "atomic_define")
MANY(atomic_ref, "atomic_ref")
MANY(atomic_cas, "atomic_cas")
MANY(atomic_op, operation(a, f))
SIX(co_broadcast, "co_broadcast")
SIX(co_sum, b ? "co_sum result_image" : "co_sum")
SIX(co_min, b ? "co_min result_image" : "co_min")
SIX(co_max, b ? "co_max result_image" : "co_max")
MANY(co_reduce, d ? "co_reduce result_image" : "co_reduce")

static void keep(void** list, void* token)
{
    int i = 0;
    while (list[i]) ++i;
    list[i] = token;
}

void _gfortran_caf_register(size_t size, int kind, void** token, void* array, int* status, char* message, size_t length)
{
    count(kind < 7 ? "allocate" : "allocate component");
    ++inside;
    ((void (*)(size_t, int, void**, void*, int*, char*, size_t))next("_gfortran_caf_register"))(
        size, kind, token, array, status, message, length);
    --inside;
    if (kind == 4) keep(critical, *token);
    if (kind >= 7) keep(components, *token);
}

void _gfortran_caf_deregister(void** token, int kind, int* status, char* message, size_t length)
{
    int is_component = kind == 1;
    for (int i = 0; i < 10; ++i) is_component |= components[i] && components[i] == *token;
    count(is_component ? "deallocate component" : "deallocate");
    ++inside;
    ((void (*)(void**, int, int*, char*, size_t))next("_gfortran_caf_deregister"))(token, kind, status, message, length);
    --inside;
}

void _gfortran_caf_finalize(void)
{
    int rank = ((int (*)(int))next("_gfortran_caf_this_image"))(0) - 1;
    for (int i = 0; all[i].name; ++i) printf("counted %d is %ld: %s\n", rank, all[i].calls, all[i].name);
    fflush(stdout);
    ++inside;
    ((void (*)(void))next("_gfortran_caf_finalize"))();
}
