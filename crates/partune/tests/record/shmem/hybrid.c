/* MPI and OpenSHMEM in one program; ranks are not numbers of PEs, but Open MPI gives both alike. What OpenSHMEM does of MPI inside is not shown.
 *
 * expect 4 ranks
 * expect flags -lmpi
 * expect each: MPI_Barrier 1, MPI_Allreduce 1, collectives 2, shmem_barrier_all 2, shmem_long_p 1, puts 1, put 8
 */
#include <mpi.h>
#include <shmem.h>

static long there;

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    shmem_init();
    int one = 1, sum = 0, pe = shmem_my_pe(), size = shmem_n_pes();
    MPI_Barrier(MPI_COMM_WORLD);
    shmem_barrier_all();
    shmem_long_p(&there, pe, (pe + 1) % size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    shmem_barrier_all();
    int good = sum == size && there == (pe + size - 1) % size;
    shmem_finalize();
    int is_over;
    MPI_Finalized(&is_over);
    if (!is_over) MPI_Finalize();
    return good ? 0 : 1;
}
