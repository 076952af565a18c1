/* A program that finds MPI at run time by name. The first argument is its library.
 *
 * expect 2 ranks
 * expect flags -ldl
 * expect unlinked
 * expect each: MPI_Init 1, MPI_Barrier 3, collectives 3, MPI_Finalize 1
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

int main(int argc, char** argv)
{
    /* The names are asked of everything that is loaded, as bindings of other languages do. */
    if (argc < 2 || !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) return fprintf(stderr, "dlopen_mpi: %s\n", dlerror()), 1;
    int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(RTLD_DEFAULT, "MPI_Init");
    int (*barrier)(uintptr_t) = (int (*)(uintptr_t))dlsym(RTLD_DEFAULT, "MPI_Barrier");
    int (*finalize)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "MPI_Finalize");
    uintptr_t world = (uintptr_t)dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world");
    if (!world) world = 0x44000000; /* MPICH */
    init(&argc, &argv);
    for (int i = 0; i < 3; ++i) barrier(world);
    finalize();
    return 0;
}
