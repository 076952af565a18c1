/* A program that opens a library that uses of MPI what there is.
 *
 * expect 2 ranks
 * expect plugin symbols_part.c
 * expect each: MPI_Init 1, MPI_Barrier 3, collectives 3, MPI_Finalize 1
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    void* opened = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    int (*run)(int) = opened ? (int (*)(int))dlsym(opened, "run") : 0;
    if (!run) return fprintf(stderr, "plugin: %s\n", dlerror()), 1;
    return run(3);
}
