/* The floor of a recorder that is loaded before a program: a time before and after each call, two stores each, no more.
 *
 * It writes nothing out: its buffer is used again from its begin. What a real recorder costs above this is what it does.
 */
#include <mpi.h>

#include "stamp.h"

/* A construct: its result, its name, its parameters, and how it is called. */
#define WRAP(name, parameters, arguments)        \
    int MPI_##name parameters                    \
    {                                            \
        stamp(__LINE__);                         \
        int result = PMPI_##name arguments;      \
        stamp(0);                                \
        return result;                           \
    }

WRAP(Comm_rank, (MPI_Comm c, int* r), (c, r))
WRAP(Iprobe, (int p, int t, MPI_Comm c, int* f, MPI_Status* s), (p, t, c, f, s))
WRAP(Test, (MPI_Request * q, int* f, MPI_Status* s), (q, f, s))
WRAP(Send, (const void* b, int n, MPI_Datatype d, int p, int t, MPI_Comm c), (b, n, d, p, t, c))
WRAP(Recv, (void* b, int n, MPI_Datatype d, int p, int t, MPI_Comm c, MPI_Status* s), (b, n, d, p, t, c, s))
WRAP(Isend, (const void* b, int n, MPI_Datatype d, int p, int t, MPI_Comm c, MPI_Request* q), (b, n, d, p, t, c, q))
WRAP(Irecv, (void* b, int n, MPI_Datatype d, int p, int t, MPI_Comm c, MPI_Request* q), (b, n, d, p, t, c, q))
WRAP(Waitall, (int n, MPI_Request q[], MPI_Status s[]), (n, q, s))
WRAP(Barrier, (MPI_Comm c), (c))
WRAP(Sendrecv,
    (const void* b, int n, MPI_Datatype d, int p, int t, void* rb, int rn, MPI_Datatype rd, int rp, int rt, MPI_Comm c,
        MPI_Status* s),
    (b, n, d, p, t, rb, rn, rd, rp, rt, c, s))
