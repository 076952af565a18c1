/* Files: opened together, written and read by each and by all. The file is the first argument.
 *
 * expect 4 ranks
 * expect each: MPI_File_open 1, MPI_File_set_view 1, MPI_File_write_at 1, MPI_File_read_at 1, MPI_File_write_at_all 1
 * expect each: MPI_File_read_at_all 1, MPI_File_write_all 1, MPI_File_iwrite_at 1, MPI_File_seek 1, MPI_File_read 1
 * expect each: MPI_File_sync 2, MPI_File_close 1, writes 4, wrote 32, reads 3, read 24
 */
#include <mpi.h>

int main(int argc, char** argv)
{
    int rank, size;
    double mine, seen[3] = { -1, -1, -1 };
    MPI_File file;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
    mine = rank;
    int right = (rank + 1) % size;

    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL);
    MPI_File_write_at(file, rank, &mine, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_write_at_all(file, size + rank, &mine, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_seek(file, 2 * size + rank, MPI_SEEK_SET);
    MPI_File_write_all(file, &mine, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 3 * size + rank, &mine, 1, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at(file, right, &seen[0], 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, size + right, &seen[1], 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_read(file, &seen[2], 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return seen[0] == right && seen[1] == right && seen[2] == (rank + 1 < size ? right : 0) ? 0 : 1;
}
