/* Counts calls of some functions of threads, by coming before the C library, and says them at the end: `counted NAME COUNT`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define COUNT(name, parameters, ...)                                             \
    static atomic_long count_##name;                                             \
    int name parameters                                                          \
    {                                                                            \
        static int (*real) parameters;                                           \
        if (!real) real = (int(*) parameters)dlvsym(RTLD_NEXT, #name, "GLIBC_2.3.2"); \
        if (!real) real = (int(*) parameters)dlsym(RTLD_NEXT, #name);            \
        atomic_fetch_add(&count_##name, 1);                                      \
        return real(__VA_ARGS__);                                                \
    }

COUNT(pthread_create, (pthread_t * thread, const pthread_attr_t* a, void* (*run)(void*), void* data), thread, a, run, data)
COUNT(pthread_join, (pthread_t thread, void** value), thread, value)
COUNT(pthread_barrier_wait, (pthread_barrier_t * barrier), barrier)
COUNT(pthread_mutex_lock, (pthread_mutex_t * mutex), mutex)

#define SAY(name) fprintf(stderr, "counted " #name " %ld\n", count_##name)

__attribute__((destructor)) static void say(void)
{
    SAY(pthread_create);
    SAY(pthread_join);
    SAY(pthread_barrier_wait);
    SAY(pthread_mutex_lock);
}
