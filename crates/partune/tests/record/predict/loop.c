/* A loop whose iterations grow, dealt out in order to four threads, and a part that one thread does for all. 8 turns of 30 + 120 ms.
 *
 * expect 1 ranks
 * 1: all threads have the mean, 30 + 75 ms; 2: the part that one thread does is shared, 7.5 + 120 ms; 3: both.
 */
#include <omp.h>
#include "pair.h"

void solve(int i) { work(repair == 1 || repair == 3 ? 37.5 : 15 * (i / 2 + 1)); }
void prepare(void) { work(30); }
void share(void) { work(7.5); }

int main(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    for (int turn = 0; turn < 8; ++turn) {
        if (repair < 2) prepare();
        #pragma omp parallel num_threads(4)
        {
            if (repair >= 2) share();
            #pragma omp for schedule(static)
            for (int i = 0; i < 8; ++i) solve(i);
        }
    }
    return 0;
}
