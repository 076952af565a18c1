/* Three teams of three with a barrier in each, then an end inside of the fourth, or after a child was made there. */
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(const char* way)
{
    if (strcmp(way, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "exit") == 0) exit(7);
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
}

int main(int argc, char** argv)
{
    for (int turn = 0; turn < 4; ++turn) {
        #pragma omp parallel num_threads(3)
        {
            #pragma omp barrier
            if (turn == 3 && omp_get_thread_num() == 1) end(argc > 1 ? argv[1] : "");
        }
    }
    return 0;
}
