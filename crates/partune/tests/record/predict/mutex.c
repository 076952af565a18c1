/* Four threads whose work is uneven, so that they never meet at the lock of 30 ms after it. 8 turns of 150 + 30 ms.
 *
 * expect 1 ranks
 * 1: each has the mean, 82.5 ms, and they meet; 2: what is under the lock takes 7.5 ms; 3: both.
 */
#include <pthread.h>
#include "pair.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

void solve(long number) { work(repair == 1 || repair == 3 ? 82.5 : 15 + 45 * number); }
void update(void) { work(repair >= 2 ? 7.5 : 30); }

static void* turns(void* number)
{
    for (int i = 0; i < 8; ++i) {
        solve((long)number);
        pthread_mutex_lock(&lock);
        update();
        pthread_mutex_unlock(&lock);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char** argv)
{
    pthread_t threads[4];
    repair = argc > 1 ? atoi(argv[1]) : 0;
    pthread_barrier_init(&barrier, NULL, 4);
    for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, turns, (void*)i);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    return 0;
}
