/* Threads of OpenMP with a file each, and one that they all read where each is told to. The first part of names is the first argument.
 *
 * expect 1 ranks
 * expect flags -fopenmp
 */
#include <fcntl.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv)
{
    static char data[4][4096];
    char name[4096];
    int bad = 0;
    snprintf(name, sizeof name, "%s.all", argv[1]);
    int all = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
#pragma omp parallel num_threads(4) reduction(+ : bad)
    {
        int me = omp_get_thread_num();
        for (int i = 0; i < 10; i++) bad += pwrite(all, data[me], 4096, 4096L * (10 * me + i)) != 4096;
    }
    return bad + close(all);
}
