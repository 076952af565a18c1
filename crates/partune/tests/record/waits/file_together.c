/* One late rank where all access a file together. Open MPI lets two ranks go without waiting for each other.
 *
 * expect 4 ranks
 * expect wait wait_at_nxn at WRITE: MPI_File_write_at_all, ranks 0 2 3, 0.30 s, causes 1
 * expect wait wait_at_nxn at READ: MPI_File_read_all, ranks 1 2 3, 0.18 s, causes 0
 */
#include "work.h"

static MPI_File file;
static char block[4096];

int main(int argc, char** argv)
{
    start(argc, argv);
    MPI_File_open(MPI_COMM_WORLD, "together.out", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD); /* START */
    part("WRITE");
    for (int i = 0; i < 3; ++i) {
        late(rank == 1, 100);
        MEET(MPI_File_write_at_all(file, (4 * i + rank) * sizeof block, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE)); /* WRITE */
    }
    part("READ");
    for (int i = 0; i < 3; ++i) {
        late(rank == 0, 60);
        MEET(MPI_File_read_all(file, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE)); /* READ */
    }
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
