/* A handler writes six times, and the program five times while it holds the handler's signal back, into a file of its rank: the first argument is the first
 * part of its name.
 *
 * expect 2 ranks
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int file;

static void handler(int number) {
    (void)number;
    for (int i = 0; i < 3; i++)
        if (write(file, "handler", 7) != 7) _exit(1);
}

int main(int count, char **arguments) {
    MPI_Init(&count, &arguments);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", arguments[1], rank);
    file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    signal(SIGUSR1, handler);
    raise(SIGUSR1);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 5; i++)
        if (write(file, "programpro", 10) != 10) return 1;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(SIGUSR1);
    close(file);
    MPI_Finalize();
    return 0;
}
