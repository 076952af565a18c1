/* Files of POSIX and of the C library, all of whose calls are known. The folder and first part of names is the first argument. Built as distributions
 * build: with fortified functions.
 *
 * expect 2 ranks
 * expect flags -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE
 * expect each: preadv2 2, pwritev2 3, rename 1, renameat 1, unlink 1, unlinkat 1, remove 1
 * expect each: open 5, close 4, main/read 5, write 101, pread 1, pwrite 1, readv 1, writev 1, lseek 2, fsync 1, ftruncate 1
 * expect each: fopen 1, fclose 1, fprintf 50, fputs 1, fwrite 1, fflush 1, rewind 1, fscanf 51, fgets 1, getdelim 1, fseek 1, fread 1
 * expect each: flock 2, fcntl 1, dup 0, writes 159, wrote 15358, MPI_File_write_at 1
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what) do { if (!(what)) { fprintf(stderr, "line %d: %s\n", __LINE__, #what); MPI_Abort(MPI_COMM_WORLD, 2); } } while (0)

int main(int argc, char** argv)
{
    static char buffer[8192];
    char name[4096], word[20], line[100], *got = NULL;
    int rank, pipes[2];
    size_t room = 0;
    memset(buffer, 'a', sizeof buffer);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(argc == 2);
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);

    /* Descriptors: 100 times 100 bytes, one block by its offset, and all of it again; a copy goes on where the other one is. */
    int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 100; i++) CHECK(write(file, buffer, 100) == 100);
    CHECK(fsync(file) == 0);
    CHECK(pwrite(file, buffer, 4096, 8192) == 4096);
    CHECK(lseek(file, -8192, SEEK_CUR) == 1808 && lseek(file, 0, SEEK_SET) == 0);
    long total = 0;
    ssize_t count;
    while ((count = read(file, buffer, 4096)) > 0) total += count;
    CHECK(total == 12288);
    CHECK(pread(file, buffer, 100, 4096) == 100);
    int copy = dup(file);
    CHECK(close(file) == 0);
    struct iovec parts[2] = { { buffer, 30 }, { buffer + 100, 12 } };
    CHECK(writev(copy, parts, 2) == 42);
    CHECK(readv(copy, parts, 2) == 0);
    CHECK(ftruncate(copy, 8192) == 0);
    void* there = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, copy, 0);
    CHECK(there != MAP_FAILED && ((char*)there)[0] == 'a' && munmap(there, 4096) == 0);
    errno = 7;
    CHECK(close(copy) == 0 && errno == 7);
    CHECK(read(copy, buffer, 1) == -1 && errno == EBADF);
    CHECK(open("/does/not/exist", O_RDONLY) == -1 && errno == ENOENT);

    /* Streams. */
    FILE* stream = fopen(name, "w+");
    for (int i = 0; i < 50; i++) fprintf(stream, "%02d %s %05.2f %Lf\n", i, "text", i * 0.5, (long double)i / 64);
    const char* volatile text = "hello\nworld\n";
    fputs(text, stream);
    fwrite(buffer, 8, 4, stream);
    CHECK(fflush(stream) == 0);
    fputc('x', stream);
    rewind(stream);
    int number, lines = 0;
    double half;
    long double part;
    while (fscanf(stream, "%d %19s %lf %Lf", &number, word, &half, &part) == 4) {
        CHECK(number == lines && !strcmp(word, "text") && half == lines * 0.5 && part == (long double)lines / 64);
        lines++;
    }
    CHECK(lines == 50);
    CHECK(fgets(line, 100, stream) && !strcmp(line, "hello\n"));
    CHECK(getline(&got, &room, stream) == 6 && !strcmp(got, "world\n"));
    CHECK(fseek(stream, -1, SEEK_END) == 0);
    CHECK(fread(line, 1, 10, stream) == 1 && line[0] == 'x' && feof(stream));
    CHECK(fclose(stream) == 0);

    /* What is no file. */
    CHECK(pipe(pipes) == 0 && write(pipes[1], "abc", 3) == 3 && read(pipes[0], line, 3) == 3);
    int zero = open("/dev/zero", O_RDONLY);
    CHECK(zero >= 0 && read(zero, line, 10) == 10 && close(zero) == 0);
    CHECK(close(pipes[0]) == 0 && close(pipes[1]) == 0);

    /* Locks of a whole file, of one that all open. */
    int shared = open(argv[1], O_RDWR | O_CREAT, 0644);
    struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    CHECK(flock(shared, LOCK_EX) == 0 && flock(shared, LOCK_UN) == 0);
    CHECK(fcntl(shared, F_SETLKW, &whole) == 0);
    CHECK(write(shared, "x", 1) == 1);
    CHECK(close(shared) == 0);

    /* A child of `vfork` closes what is its own; the parent's stays. */
    file = open(name, O_RDONLY);
    pid_t child = vfork();
    if (child == 0) {
        close(file);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(file, line, 2) == 2 && line[0] == '0');

    /* Where they say, and where the last one ended; to the end, wherever that is. Names that are no file's are not looked at. */
    char other[4200];
    snprintf(name, sizeof name, "%s.v%d", argv[1], rank);
    snprintf(other, sizeof other, "%s.w%d", argv[1], rank);
    struct iovec five = { buffer, 5 };
    file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    CHECK(pwritev2(file, &five, 1, 100, 0) == 5 && pwritev2(file, &five, 1, -1, 0) == 5);
    CHECK(preadv2(file, &five, 1, -1, 0) == 5 && preadv2(file, &five, 1, 100, 0) == 5);
    CHECK(pwritev2(file, &five, 1, 0, RWF_APPEND) == 5);
    CHECK(close(file) == 0);
    CHECK(rename(name, other) == 0 && renameat(AT_FDCWD, other, AT_FDCWD, name) == 0);
    errno = 7;
    CHECK(unlink(name) == 0 && errno == 7);
    CHECK(unlinkat(AT_FDCWD, name, 0) == -1 && remove(name) == -1 && errno == ENOENT);
    CHECK(unlink("/dev/shm/none/such") == -1);

    /* What MPI does with its file is not the program's doing. */
    MPI_File together;
    snprintf(name, sizeof name, "%s.mpi", argv[1]);
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &together);
    MPI_File_write_at(together, 1000 * rank, buffer, 10, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&together);
    MPI_Finalize();
    return 0;
}
