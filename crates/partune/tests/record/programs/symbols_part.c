/* The shared library of symbols.c and symbols_opened.c: it looks which functions this MPI has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define NAMES(X) X(MPI_Init) X(MPI_Session_init) X(MPI_Send_c) X(MPI_Abi_get_version) X(MPIX_Comm_shrink) X(MPI_Psend_init)
#define DECLARE(name) extern char weak_##name[] __asm__(#name) __attribute__((weak));
#define CHECK(name) wrong += check(#name, "P" #name, weak_##name);

NAMES(DECLARE)

/* The profiling name says what is true. */
static int check(const char* name, const char* profiling, const char* weak)
{
    int is_there = dlsym(RTLD_DEFAULT, profiling) != 0;
    if ((weak != 0) == is_there && (dlsym(RTLD_DEFAULT, name) != 0) == is_there) return 0;
    fprintf(stderr, "%s: there %d, weak %d, looked up %d\n", name, is_there, weak != 0, dlsym(RTLD_DEFAULT, name) != 0);
    return 1;
}

/* Found before that of the C library, and asks for the next one: that depends on who asks. */
pid_t getppid(void)
{
    static int depth;
    pid_t (*next)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "getppid");
    return next && ++depth < 3 ? next() : -1;
}

int run(int times)
{
    int wrong = getppid() <= 0;
    NAMES(CHECK)
    MPI_Init(0, 0);
    for (int i = 0; i < times; ++i) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
