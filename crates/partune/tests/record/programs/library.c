/* Calls of MPI in a shared library: linked, or with an argument opened at run time.
 *
 * expect 2 ranks
 * expect library library_part.c
 * expect each: MPI_Sendrecv 3, sends 3, sent 12, receives 3, received 12, MPI_Barrier 1
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int exchange(int times);

int main(int argc, char** argv)
{
    int (*call)(int) = exchange;
    MPI_Init(&argc, &argv);
    if (argc > 1) {
        void* opened = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        call = opened ? (int (*)(int))dlsym(opened, "exchange") : NULL;
    }
    int wrong = call ? call(3) : 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return wrong;
}
