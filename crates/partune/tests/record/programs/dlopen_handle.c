/* A program that opens MPI for itself alone, and looks for its functions in what it opened. The first argument is the library.
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

/* Whether it is found, and the loader's words agree. */
static int found(void* handle, const char* name)
{
    dlerror();
    int is_found = dlsym(handle, name) != 0;
    if (is_found == (dlerror() != 0)) printf("%s: %d, and dlerror says otherwise\n", name, is_found);
    return is_found;
}

int main(int argc, char** argv)
{
    int wrong = found(RTLD_DEFAULT, "MPI_Init") || !found(RTLD_DEFAULT, "puts");
    void* mpi = argc < 2 ? 0 : dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!mpi) return fprintf(stderr, "dlopen_handle: %s\n", dlerror()), 1;

    /* It is there for who has the handle, and for nobody else. */
    wrong += found(RTLD_DEFAULT, "MPI_Init") + found(dlopen(0, RTLD_NOW), "MPI_Init");
    /* What the library has, it has under the profiling names as well. */
    static const char* const names[] = {"PMPI_Init",           "PMPI_Barrier",      "PMPI_Abi_get_version", "PMPI_Session_init",
                                        "PMPI_Send_c",         "PMPI_Psend_init",   "PMPIX_Comm_shrink",    "PMPI_Bcast_init"};
    for (int i = 0; i < 8; ++i)
        if (found(mpi, names[i]) != found(mpi, names[i] + 1)) wrong += fprintf(stderr, "dlopen_handle: %s\n", names[i]);
    if (wrong) return 1;

    int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(mpi, "MPI_Init");
    int (*barrier)(uintptr_t) = (int (*)(uintptr_t))dlsym(mpi, "MPI_Barrier");
    int (*finalize)(void) = (int (*)(void))dlsym(mpi, "MPI_Finalize");
    uintptr_t world = (uintptr_t)dlsym(mpi, "ompi_mpi_comm_world");
    if (!world) world = 0x44000000; /* MPICH */
    init(&argc, &argv);
    for (int i = 0; i < 3; ++i) barrier(world);
    finalize();
    return 0;
}
