/* The floor of a recorder of OpenSHMEM that is loaded before a program: a time before and after each call, two stores each, no more. */
#include <shmem.h>

#include "stamp.h"

#define WRAP(type, name, parameters, arguments)            \
    type pshmem_##name parameters;                         \
    type shmem_##name parameters                           \
    {                                                      \
        stamp(__LINE__);                                   \
        type result = pshmem_##name arguments;             \
        stamp(0);                                          \
        return result;                                     \
    }
#define WRAP_VOID(name, parameters, arguments)             \
    void pshmem_##name parameters;                         \
    void shmem_##name parameters                           \
    {                                                      \
        stamp(__LINE__);                                   \
        pshmem_##name arguments;                           \
        stamp(0);                                          \
    }

WRAP_VOID(long_put, (long* to, const long* from, size_t n, int pe), (to, from, n, pe))
WRAP_VOID(long_p, (long* to, long value, int pe), (to, value, pe))
WRAP_VOID(long_get, (long* to, const long* from, size_t n, int pe), (to, from, n, pe))
WRAP(long, long_g, (const long* from, int pe), (from, pe))
WRAP_VOID(long_atomic_add, (long* to, long value, int pe), (to, value, pe))
WRAP_VOID(quiet, (void), ())
