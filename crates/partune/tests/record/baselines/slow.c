/* Stands between a program and the function FUNCTION of a runtime: it sleeps for SLEEP_US before the call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#define TEXT(name) #name
#define NAME(name) TEXT(name)

long FUNCTION(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j)
{
    static long (*real)(long, long, long, long, long, long, long, long, long, long);
    if (!real) real = (long (*)(long, long, long, long, long, long, long, long, long, long)) dlsym(RTLD_NEXT, NAME(FUNCTION));
    usleep(SLEEP_US);
    return real(a, b, c, d, e, f, g, h, i, j);
}
