/* Four threads with a critical section of 36 ms and 45 ms outside of it. 8 turns: 144 ms a turn.
 *
 * expect 1 ranks
 * 1: it takes 9 ms, so that the work outside of it is what takes time.
 */
#include <omp.h>
#include "pair.h"

void update(void) { work(repair == 1 ? 9 : 36); }
void solve(void) { work(45); }

int main(int argc, char** argv)
{
    repair = argc > 1 ? atoi(argv[1]) : 0;
    #pragma omp parallel num_threads(4)
    for (int i = 0; i < 8; ++i) {
        #pragma omp critical
        update();
        solve();
    }
    return 0;
}
