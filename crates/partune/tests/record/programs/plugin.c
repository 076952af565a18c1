/* A program that does not know MPI and opens a library that does, as an interpreter does with its modules.
 *
 * expect 2 ranks
 * expect plugin library_part.c
 * expect each: MPI_Init 1, MPI_Sendrecv 3, sends 3, sent 12, receives 3, received 12, MPI_Finalize 1
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
