/* A thousand threads, one after the other, each with a message: the next one takes over what a thread had. The program has few descriptors and looks
 * at its own memory.
 *
 * expect 2 ranks
 * expect flags -pthread
 * expect rank 0: MPI_Send 1000, sends 1000, sent 4000, receives 0, threads 2
 * expect rank 1: MPI_Recv 1000, sends 0, receives 1000, received 4000, threads 2
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { THREADS = 1000, FIRST = 100, FILES = 100, MOST = 64 };

static int rank;

static void* talk(void* argument)
{
    int word = 0;
    if (rank == 0) MPI_Send(&word, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    else MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return argument;
}

/* Resident memory in MiB. */
static long resident(void)
{
    long all = 0, here = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &all, &here) != 2) return -1;
    fclose(file);
    return here * sysconf(_SC_PAGESIZE) >> 20;
}

int main(int argc, char** argv)
{
    int provided, failures = 0;
    long before = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    struct rlimit few = {FILES, FILES};
    setrlimit(RLIMIT_NOFILE, &few);
    for (int i = 0; i < THREADS; ++i) {
        pthread_t thread;
        if (i == FIRST) before = resident();
        if (pthread_create(&thread, NULL, talk, NULL)) ++failures;
        else pthread_join(thread, NULL);
    }
    long after = resident();
    int fine = failures == 0 && before > 0 && after > 0 && after - before < MOST;
    if (!fine) fprintf(stderr, "rank %d: %d failures, %ld MiB before, %ld after\n", rank, failures, before, after);
    MPI_Finalize();
    return !fine;
}
