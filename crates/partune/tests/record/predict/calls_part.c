/* Calls that take a known time: a network of its own, in place of the functions that a recorder calls. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <time.h>

double call_takes; /* milliseconds */

static void sleeps(void) { nanosleep(&(struct timespec){ 0, (long)(call_takes * 1e6) }, NULL); }

int PMPI_Barrier(MPI_Comm comm)
{
    int (*real)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Barrier");
    int result = real(comm);
    sleeps();
    return result;
}

int PMPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int (*real)(const void*, int, MPI_Datatype, int, int, MPI_Comm) = (int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm))dlsym(RTLD_NEXT, "PMPI_Send");
    sleeps();
    return real(data, count, type, to, tag, comm);
}
