/* A library that is stripped after it was linked, and a static function in it that calls MPI.
 *
 * expect 2 ranks
 * expect library stripped_part.c
 */
#include <mpi.h>

void exported(void);

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    exported();
    MPI_Finalize();
    return 0;
}
