/* What is wrong with how files are used, each at a line of its own; and the same well done, where nothing is found. The first part of names is the first
 * argument, the second says which.
 *
 * expect 3 ranks
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data[1 << 20];

static void small(int file) { for (int i = 0; i < 20000; i++) if (write(file, data, 64) != 64) abort(); } /* SMALL */
static void large(int file) { for (int i = 0; i < 2; i++) if (write(file, data, 640000) != 640000) abort(); }
static void streamed(FILE* file) { for (int i = 0; i < 20000; i++) if (fwrite(data, 64, 1, file) != 1) abort(); }
static void synced(int file) { for (int i = 0; i < 200; i++) if (write(file, data, 5000) != 5000 || fsync(file)) abort(); } /* SYNC */
static void alone(int file) { for (int i = 0; i < 64; i++) if (write(file, data, sizeof data) != sizeof data) abort(); } /* ALONE */
static void same(int file) { for (int i = 0; i < 64; i++) if (read(file, data, sizeof data) != sizeof data) abort(); } /* SAME */

int main(int argc, char** argv)
{
    int rank;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int is_good = !strcmp(argv[2], "good"), is_own = !strcmp(argv[2], "own");
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    int file = rank == 0 || is_good || is_own ? open(name, O_RDWR | O_CREAT | O_TRUNC, 0644) : -1;
    if (is_good) {
        large(file);
        FILE* stream = fopen(name, "w");
        streamed(stream);
        fclose(stream);
        fsync(file);
    } else if (is_own) {
        small(file);
        synced(file);
    } else {
        if (rank == 0) alone(file);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!strcmp(argv[2], "same")) {
        snprintf(name, sizeof name, "%s.0", argv[1]);
        int input = open(name, O_RDONLY);
        same(input);
        close(input);
    }
    if (file >= 0) close(file);
    MPI_Finalize();
    return 0;
}
