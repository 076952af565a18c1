/* Two threads meet at barriers, with next to nothing to do between them. On one processor a thread that waits without giving it up keeps the other one
 * from coming. */
#include <omp.h>

int main(void)
{
    static volatile int turns[2][64];
    #pragma omp parallel num_threads(2)
    for (int i = 0; i < 10000; ++i) {
        ++turns[omp_get_thread_num()][0];
        #pragma omp barrier
    }
    return turns[0][0] != turns[1][0];
}
