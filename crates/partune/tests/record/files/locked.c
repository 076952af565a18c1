/* Two processes that want the lock of a file, whose name is the first argument. The second says when it came to wait for it, and the first when it gave it
 * back: `came MARK SECONDS`, `gave MARK SECONDS`. With another argument each has its turn.
 *
 * expect 2 ranks
 * expect flags -D_GNU_SOURCE
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "line %d: %s\n", __LINE__, #what); MPI_Abort(MPI_COMM_WORLD, 2); } } while (0)

static int rank, balanced, file;

static void say(const char* what, const char* mark)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    printf("%s %s %ld.%09ld\n", what, mark, (long)time.tv_sec, time.tv_nsec);
    fflush(stdout);
}

static int control(int command, int kind)
{
    struct flock whole = { .l_type = kind, .l_whence = SEEK_SET };
    return fcntl(file, command, &whole);
}

static int locked(int kind) { return flock(file, kind); }
static int owned(int kind) { return control(F_SETLKW, kind); }
static int open_owned(int kind) { return control(F_OFD_SETLKW, kind); }

/* The first has the lock when the second comes, and gives it back after 0.3 s. */
__attribute__((noinline)) static void hold(int (*lock)(int), int exclusive, int release, const char* mark)
{
    CHECK(lock(exclusive) == 0);
    if (balanced) CHECK(lock(release) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!balanced) {
        nanosleep(&(struct timespec){ 0, 300000000L }, NULL);
        say("gave", mark);
        CHECK(lock(release) == 0);
    }
}

__attribute__((noinline)) static void want(void)
{
    struct flock whole = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
    say("came", "FLOCK");
    CHECK(flock(file, LOCK_SH) == 0); /* FLOCK */
    CHECK(flock(file, LOCK_UN) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    say("came", "FCNTL");
    CHECK(fcntl(file, F_SETLKW, &whole) == 0); /* FCNTL */
    CHECK(owned(F_UNLCK) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    whole.l_type = F_WRLCK;
    say("came", "OFD");
    CHECK(fcntl(file, F_OFD_SETLKW, &whole) == 0); /* OFD */
    CHECK(open_owned(F_UNLCK) == 0);
}

int main(int argc, char** argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc > 1);
    balanced = argc > 2;
    file = open(argv[1], O_RDWR | O_CREAT, 0644);
    CHECK(file >= 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        hold(locked, LOCK_EX, LOCK_UN, "FLOCK");
        MPI_Barrier(MPI_COMM_WORLD);
        hold(owned, F_WRLCK, F_UNLCK, "FCNTL");
        MPI_Barrier(MPI_COMM_WORLD);
        hold(open_owned, F_WRLCK, F_UNLCK, "OFD");
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        want();
    }
    close(file);
    MPI_Finalize();
    return 0;
}
